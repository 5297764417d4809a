"""The dataset in Croissant 1.1 with its responsible-AI vocabulary (docs.mlcommons.org/croissant).

It states what the data show; what only the authors know (biases, social impact) is omitted, not guessed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from exports.columns import Column, Table
from exports.metadata.facts import DatasetFacts
from exports.parquet import ENDING

FILE = "croissant.json"
MEANING = "This dataset described for machines: files, tables, columns, licence, how it was collected (Croissant 1.1)."
CONFORMS_TO = ("http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0")
_CONTEXT = json.loads(Path(__file__).with_name("croissant_context.json").read_text("utf-8"))
"""The context from the specification."""
_RESPONSIBLE = YAML(typ="safe").load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))
_ENCODINGS = {
    ".csv": "text/csv",
    ENDING: "application/vnd.apache.parquet",
    ".json": "application/json",
    ".jsonl": "application/jsonlines",
    ".md": "text/markdown",
    ".svg": "image/svg+xml",
}
_TYPES = {"number": "sc:Float", "integer": "sc:Integer", "boolean": "sc:Boolean"}
"""Column types; everything else is text, including times, which are in ISO 8601 and may be missing."""
_KEYS = {"matches": "match", "participants": "participant"}
"""Columns by which other tables refer to the rows of a table."""


def croissant(facts: DatasetFacts) -> dict[str, Any]:
    """Return the whole document."""
    document: dict[str, Any] = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": list(CONFORMS_TO),
        "name": facts.title,
        "description": facts.description,
        "version": facts.version,
        "datePublished": facts.cutoff[:10],
        "inLanguage": "en",
        "keywords": facts.keywords,
        "isLiveDataset": False,
        "creator": [_creator(creator) for creator in facts.creators],
        "license": facts.terms,
        "citeAs": facts.citation,
        "url": facts.address,
        "distribution": list(_files(facts)),
        "recordSet": [_records(facts, table) for table in facts.tables if facts.file_of(table)],
        **_responsible(facts),
    }
    return {name: value for name, value in document.items() if value not in ("", [])}


def _creator(creator: Any) -> dict[str, str]:
    person = {"@type": "Person", "name": creator.name, "url": creator.orcid_url}
    return {name: value for name, value in person.items() if value}


def _files(facts: DatasetFacts) -> Iterator[dict[str, Any]]:
    for name, entry in sorted(facts.files.items()):
        ending = f".{name.rpartition('.')[2]}"
        yield {
            "@type": "cr:FileObject",
            "@id": name,
            "name": name,
            "contentUrl": name,
            "contentSize": f"{entry.bytes} B",
            "encodingFormat": _ENCODINGS.get(ending, "text/plain"),
            "sha256": entry.sha256,
        }


def _records(facts: DatasetFacts, table: Table) -> dict[str, Any]:
    file = facts.file_of(table)
    keys = {}
    if table.name in _KEYS:
        keys = {"key": {"@id": f"{table.name}/{_KEYS[table.name]}"}}
    fields = [_field(table, column, file) for column in table.columns]
    return {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": table.meaning,
        **keys,
        "field": fields,
    }


def _field(table: Table, column: Column, file: str | None) -> dict[str, Any]:
    sentences = [column.meaning]
    if column.unit:
        sentences.append(f"Unit: {column.unit}.")
    if column.values:
        sentences.append(f"Values: {column.values}.")
    return {
        "@type": "cr:Field",
        "@id": f"{table.name}/{column.name}",
        "name": column.name,
        "description": " ".join(" ".join(sentences).split()),
        "dataType": _TYPES.get(column.kind, "sc:Text"),
        "source": {"fileObject": {"@id": file}, "extract": {"column": column.name}},
    }


def _responsible(facts: DatasetFacts) -> dict[str, Any]:
    matches = facts.flow["matches"]
    excluded = f"{sum(matches['excluded'].values()):,} of {matches['seen']:,} matches are excluded"
    limitations = [
        " ".join(facts.publication.get("limitations", "").split()),
        f"{excluded}; they are flagged, with the reason."
        if facts.reading.excluded
        else f"{excluded} by rules listed in flow.json with their counts.",
        "Models' answers change with their providers' versions: llm_calls records which model answered, and when.",
    ]
    launch_dates = [version.launched_at.date().isoformat() for version in facts.versions][:1]
    filled_in = {
        "rai:dataCollectionTimeframe": [*launch_dates, facts.cutoff[:10]],
        "rai:dataLimitations": [text for text in limitations if text],
    }
    kind = "people" if facts.people else "agents" if facts.source.origin == "parley" else "imported"
    said = {name: text[kind] if isinstance(text, dict) else text for name, text in _RESPONSIBLE.items()}
    return said | filled_in
