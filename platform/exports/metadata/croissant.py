"""The dataset in Croissant 1.1 with its responsible-AI vocabulary (docs.mlcommons.org/croissant).

It states what the data show; what only the authors know (biases, social impact) is omitted, not guessed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from exports.citing import citation
from exports.columns import Column, Table
from exports.metadata.facts import DatasetFacts
from exports.metadata.licences import LICENCES
from exports.parquet import ENDING

FILE = "croissant.json"
MEANING = "This dataset described for machines: files, tables, columns, licence, how it was collected (Croissant 1.1)."
CONFORMS_TO = ("http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0")
_CONTEXT = json.loads(Path(__file__).with_name("croissant_context.json").read_text("utf-8"))
"""The context from the specification."""
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
    details = facts.publication
    licence = LICENCES.get(details["licence"])
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
        "license": licence.url if licence else details["licence"],
        "citeAs": citation(details, facts.cutoff),
        "url": f"https://doi.org/{facts.doi}" if facts.doi else "",
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
    matches, people = facts.flow["matches"], facts.people
    excluded_count, seen_count = sum(matches["excluded"].values()), matches["seen"]
    limitations = [
        f"{excluded_count:,} of {seen_count:,} matches are excluded by rules listed in flow.json with their counts."
        if not facts.reading.excluded
        else f"{excluded_count:,} of {seen_count:,} matches are excluded; they are flagged, with the reason.",
        "Models' answers change with their providers' versions: llm_calls records which model answered, and when.",
    ]
    own_limitations = " ".join(facts.publication.get("limitations", "").split())
    if own_limitations:
        limitations.insert(0, own_limitations)
    collection_method = (
        "People arrived by recruiters' links, agreed to a consent text, and played in a browser against the players "
        "listed in versions.json; every move was checked by the game's rules and logged when it was made."
        if people
        else "Language models and scripted players played each other by a fixed plan (versions.json); every move was "
        "checked by the game's rules and logged when it was made."
        if facts.source.origin == "parley"
        else "Games published elsewhere, imported and recomputed with their rules."
    )
    personal = (
        "Participants have pseudonyms. Names, identifiers, addresses and keys in text are replaced by markers. Survey "
        "answers are in participants; free text may still reveal something about its writer."
        if people
        else "None about people: no people took part."
    )
    launch_dates = [version.launched_at.date().isoformat() for version in facts.versions][:1]
    return {
        "rai:dataCollection": collection_method,
        "rai:dataCollectionType": ["Experiments"] + (["Surveys"] if people else []),
        "rai:dataCollectionTimeframe": [*launch_dates, facts.cutoff[:10]],
        "rai:dataCollectionMissingData": (
            "An empty cell means no value: an unanswered turn, a skipped question, a column of another game. The "
            "codebook says when each column is empty."
        ),
        "rai:dataCollectionRawData": "transcripts.jsonl holds every event; all tables of matches are derived from it.",
        "rai:dataManipulationProtocol": (
            "None except replacing identifying text; text of erased participants is replaced by markers."
        ),
        "rai:dataPreprocessingProtocol": [
            "Text that a spreadsheet would read as a formula has an apostrophe before it in CSV, not in Parquet."
        ],
        "rai:dataLimitations": limitations,
        "rai:personalSensitiveInformation": [personal],
        "rai:dataUseCases": ["Comparing how people and language models act in economic games; replaying every match."],
        "rai:dataReleaseMaintenancePlan": (
            "A later dataset of the same study uses the same pseudonyms and match identifiers and has its own manifest."
        ),
    }
