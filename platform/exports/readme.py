"""The README of a dataset: its files, how to load, check and cite them, and their licence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from exports import documents, figure, metadata, versions
from exports.alike import mask
from exports.metadata.facts import DatasetFacts
from exports.models import Publication, lookup
from exports.parquet import ENDING

FILE = "README.md"
_FILES: Mapping[str, str] = {
    "transcripts.jsonl": "Every match in the dataset, one per line as JSON: configuration, players, every event.",
    "codebook.md": "The codebook as a document: meaning, unit and values of every column and key.",
    "flow.json": "Numbers of participants by stage, and why the others are not in the dataset, for programs.",
    figure.FILE: "The same numbers as a figure.",
    versions.FILE: versions.MEANING,
    versions.CHANGES: versions.CHANGES_MEANING,
    "glee.sha256": "The list of files in the folder glee/, which holds the matches in the published GLEE layout.",
    "all_apps_wide.csv": "One row per person, with the columns of oTree's wide export.",
    "manifest.json": "Counts, versions, code revision, and the SHA-256 of every file.",
    **metadata.MEANINGS,
}
UNDECIDED = "No licence has been chosen yet: ask the authors before you use or share these data."


def publication_of(parent: Any) -> Publication:
    """Return the publication details of a study or collection; empty ones if none have been entered."""
    return Publication.objects.filter(**lookup(parent)).first() or Publication(**lookup(parent))


def as_data(publication: Publication, *, title: str) -> dict[str, str]:
    """Return the publication details for the manifest, without e-mail addresses, like everything in a dataset."""
    details = {
        "title": publication.title or title,
        "authors": publication.authors,
        "licence": publication.terms,
        "citation": publication.citation,
        "doi": publication.doi,
        "description": publication.description,
        "limitations": publication.limitations,
    }
    return {name: mask(text) for name, text in details.items()}


def readme(facts: DatasetFacts) -> Iterator[bytes]:
    """Yield the document, piece by piece.

    Args:
        facts: with every file but this one and the manifest.
    """
    rows = {name: entry.rows for name, entry in facts.files.items()}
    rows |= {"manifest.json": None, f"{metadata.psych_ds.TREE}/": None}
    meanings = {table.name: table.meaning for table in facts.tables}

    def meaning(name: str) -> str:
        if name.startswith("plan-v"):
            return versions.PLAN_MEANING
        return _FILES.get(name) or meanings.get(name.rpartition(".")[0], "")

    return documents.rendered(
        FILE,
        details=facts.publication,
        notice=facts.notice,
        cutoff=facts.cutoff,
        times=facts.reading.times,
        flow=facts.flow,
        sentences=figure.flow_lines(facts.flow),
        files=[(name, count, meaning(name)) for name, count in sorted(rows.items())],
        csv={"matches.csv", "decisions.csv"} <= set(rows),
        parquet={f"matches{ENDING}", f"decisions{ENDING}"} <= set(rows),
        any_csv=any(name.endswith(".csv") for name in rows),
        undecided=UNDECIDED,
        citation=facts.citation,
    )
