"""The dataset in the Psych-DS layout (psych-ds.github.io), in its own folder.

The folder's tables are links to the CSV files beside it, under names that follow its pattern: they take no disk
space. Records of model calls and tables about the dataset are left out.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from analysis.formulas import encoded
from exports.manifest import FileEntry
from exports.metadata.facts import DatasetFacts

TREE, LISTING = "psych-ds", "psych-ds.sha256"
MEANING = "The tables of what people and models did, in the layout of the Psych-DS standard."
MEANING_OF_LISTING = "The list of the files in the folder psych-ds/."
_README = (
    "# {title}\n\n{description}\n\nThe whole dataset, with README, codebook and transcripts, is in the folder above.\n"
)
_DATA_TABLES = ("matches", "seats", "rounds", "decisions", "messages", "chat", "participants", "signals", "behaviour")
"""Tables of what people and models did. If none exists as CSV, the flow is used instead."""
_FALLBACK = "flow"
_OMITTED = re.compile(r"[^a-zA-Z0-9]")


def tables_in(files: Mapping[str, FileEntry]) -> list[str]:
    """Return the tables that the folder holds for a dataset with these files."""
    measured = [table for table in _DATA_TABLES if (entry := files.get(f"{table}.csv")) and entry.rows]
    return measured or [_FALLBACK]


def write_folder(folder: Path, facts: DatasetFacts) -> str:
    """Create the folder within the dataset's own, and return the list of its files with their SHA-256.

    If the file system has no links, the tables are copied.
    """
    target = folder / TREE
    (target / "data").mkdir(parents=True)
    document = json.dumps(_description(facts), ensure_ascii=False, indent=2) + "\n"
    readme = _README.format(title=escape(facts.title), description=escape(facts.description))
    hashes = {}
    for name, text in (("README.md", readme), ("dataset_description.json", document)):
        (target / name).write_bytes(encoded(text))
        hashes[f"{TREE}/{name}"] = hashlib.sha256(encoded(text)).hexdigest()
    for table in tables_in(facts.files):
        name = f"{TREE}/data/description-{_OMITTED.sub('', table)}_data.csv"
        _link(folder / f"{table}.csv", folder / name)
        hashes[name] = facts.files[f"{table}.csv"].sha256
    return "".join(f"{digest}  {name}\n" for name, digest in sorted(hashes.items()))


def _link(original: Path, name: Path) -> None:
    try:
        os.link(original, name)
    except OSError:
        shutil.copyfile(original, name)


def _description(facts: DatasetFacts) -> dict[str, Any]:
    """Return the document at the root: schema.org's Dataset with every column."""
    document: dict[str, Any] = {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": facts.title,
        "description": facts.description,
        "schemaVersion": "Psych-DS 1.0.0",
        "author": [
            _person(creator.name, creator.given, creator.family, creator.orcid_url) for creator in facts.creators
        ],
        "citation": facts.citation,
        "license": facts.terms,
        "identifier": facts.address,
        "keywords": facts.keywords,
        "datePublished": facts.cutoff[:10],
        "version": facts.version,
        "variableMeasured": list(_variables(facts)),
    }
    return {name: value for name, value in document.items() if value not in ("", [])}


def _person(name: str, given: str, family: str, orcid: str) -> dict[str, str]:
    person = {"@type": "Person", "name": name, "givenName": given, "familyName": family, "sameAs": orcid}
    return {key: value for key, value in person.items() if value}


def _variables(facts: DatasetFacts) -> Iterator[dict[str, str]]:
    """Yield every column once, with its meaning in each table that has it."""
    table_names = tables_in(facts.files)
    by_column: dict[str, dict[str, list[str]]] = {}
    for table in facts.tables:
        for column in table.columns if table.name in table_names else ():
            unit = f" Unit: {column.unit}." if column.unit else ""
            by_column.setdefault(column.name, {}).setdefault(_line(column.meaning + unit), []).append(table.name)
    for name, meanings in by_column.items():
        descriptions = [
            meaning if len(meanings) == 1 else f"{', '.join(tables)}: {meaning}" for meaning, tables in meanings.items()
        ]
        yield {"@type": "PropertyValue", "name": name, "description": " ".join(descriptions)}


def _line(text: str) -> str:
    return " ".join(text.split())
