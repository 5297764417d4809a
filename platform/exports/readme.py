"""The README of a dataset: its files, how to load, check and cite them, and their licence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from exports import figure, metadata, versions
from exports.alike import mask
from exports.citing import citation
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


def readme(
    details: Mapping[str, str],
    *,
    notice: str,
    cutoff: str,
    times: str,
    flow: Mapping[str, Any],
    meanings: Mapping[str, str],
    rows: Mapping[str, int | None],
) -> Iterator[str]:
    """Yield the document, piece by piece.

    Args:
        details: the publication details from `as_data`.
        meanings: of the tables, by name.
        rows: number of rows by file name; None for files without rows.
    """
    yield f"# {_line(details['title'])}\n\n"
    if details["authors"]:
        yield f"{_line(details['authors'])}\n\n"
    cut = "" if times == "exact" else f" Points in time are cut to the {times}; durations are exact."
    yield f"{notice} Data as of {cutoff}.{cut}\n\n"
    for key in ("description", "limitations"):
        if details.get(key):
            yield f"{_plain(details[key].strip())}\n\n"
    yield from _counts(flow)
    yield "## Files\n\n| file | rows | content |\n|---|---|---|\n"
    for name, count in sorted(rows.items()):
        yield f"| `{name}` | {'' if count is None else f'{count:,}'} | {_line(_meaning(name, meanings))} |\n"
    yield "\nIf a table is there as both .csv and .parquet, both hold the same values.\n\n"
    yield from _loading(rows)
    yield (
        "## Pseudonyms\n\nParticipants have pseudonyms, which are the same in every file and in every later dataset of "
        "this study. Names, identifiers, addresses and keys in anything that was written, by people or "
        "models, are replaced by markers such as [name]; addresses, identifiers and keys also in what the researchers "
        "wrote: consent, instructions, questions, prompts.\n\n"
    )
    yield (
        "## Checking\n\nEvery number of every match follows from its transcript and the rules of its game. With Parley "
        f"(code revision: see {_MANIFEST}), from the folder above this one:\n\n"
        "```\npython manage.py verify_dataset THIS-FOLDER\n```\n\n"
        "hashes every file, replays every match and compares. Without it, compare the SHA-256 of a file with the "
        f"one in {_MANIFEST} (`sha256sum FILE`).\n\n"
    )
    licence = details["licence"]
    yield f"## Licence\n\n{_line(licence) if licence else UNDECIDED}\n\n"
    yield "## Citation\n\n"
    yield f"{_plain(citation(details, cutoff))}\n"


_MANIFEST = "manifest.json"


def _counts(flow: Mapping[str, Any]) -> Iterator[str]:
    matches = flow["matches"]
    yield "## What is in it\n\n"
    if flow["arrived"]:
        yield f"{flow['in_dataset']:,} of {flow['arrived']:,} participants, in "
    yield f"{matches['in_dataset']:,} of {matches['seen']:,} matches.\n\n"
    yield "".join(f"- {sentence}\n" for sentence in figure.flow_lines(flow))
    yield "\n"
    if flow["arrived"]:
        yield (
            "The table participants has a row for everybody randomised, that is placed in a cell, and for those who "
            "left before a cell was drawn (`cell` is empty): `stage` says how far they came, and `in_dataset` whether "
            "they are analysed. Count attrition from all these rows. Answers of "
            "people without a match in the dataset are empty, unless it was exported with excluded rows.\n\n"
        )


def _meaning(name: str, meanings: Mapping[str, str]) -> str:
    table = name.rpartition(".")[0]
    if name.startswith("plan-v"):
        return versions.PLAN_MEANING
    return _FILES.get(name) or meanings.get(table, "")


def _loading(rows: Mapping[str, int | None]) -> Iterator[str]:
    """Return examples that load the matches and decisions in pandas, R and DuckDB."""
    endings = {ending for ending in (".csv", ENDING) if {f"matches{ending}", f"decisions{ending}"} <= set(rows)}
    if endings:
        has_parquet = ENDING in endings
        reader, ending = ("read_parquet", ENDING) if has_parquet else ("read_csv", ".csv")
        yield "## Loading\n\nIn Python, with pandas:\n\n```python\nimport pandas as pd\n"
        yield f'matches = pd.{reader}("matches{ending}")\n'
        yield f'both = pd.{reader}("decisions{ending}").merge(matches, on="match", suffixes=("", "_match"))\n```\n\n'
        reader, ending = ("read.csv", ".csv") if ".csv" in endings else ("arrow::read_parquet", ENDING)
        yield f'In R:\n\n```r\nmatches <- {reader}("matches{ending}")\ndecisions <- {reader}("decisions{ending}")\n'
        yield 'both <- merge(decisions, matches, by = "match", suffixes = c("", "_match"))\n```\n\n'
        ending = ENDING if has_parquet else ".csv"
        yield f"In SQL, with DuckDB:\n\n```sql\nCREATE VIEW matches AS FROM 'matches{ending}';\n"
        yield f"CREATE VIEW decisions AS FROM 'decisions{ending}';\n"
        yield 'SELECT * FROM decisions JOIN matches USING ("match");\n```\n\n'
    if any(name.endswith(".csv") for name in rows):
        yield (
            "The CSV files are safe to open in a spreadsheet: text that it would read as a formula has an apostrophe "
            "before it. An empty cell means no value.\n\n"
        )


def _plain(text: str) -> str:
    """Return entered text, escaped for a document that many programs show as HTML."""
    return escape(text, quote=False)


def _line(text: str) -> str:
    return _plain(" ".join(text.split()).replace("|", "\\|"))
