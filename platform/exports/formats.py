"""The formats of datasets. The command, the admin and the API offer all formats listed here.

A new format names its files: the tables, rows and lines that `exports.portions` gives them are written as they come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from exports import glee_files, otree_wide
from exports.columns import Table
from exports.errors import UnknownFormat
from exports.parquet import ENDING
from exports.participants import Reading
from exports.transcripts import TRANSCRIPTS

ABOUT_TABLES = ("flow", "codebook", "cells", "ratings")
"""Tables about the dataset itself, written last."""
ALWAYS = ("excluded", *ABOUT_TABLES)
"""Tables that every dataset has as CSV, whatever its formats."""

Tables = Mapping[str, Table]


@dataclass(frozen=True)
class Format:
    """One way of writing a dataset.

    Attributes:
        name: the name by which it is requested.
        title: a description for researchers who choose formats.
        files: returns the names of its files, given the names of the tables.
        check: raises UnknownFormat for data that the format cannot hold.
        default: whether it is written unless other formats are requested.
    """

    name: str
    title: str | Promise
    files: Callable[[Iterable[str]], list[str]]
    check: Callable[[Reading], None] = lambda reading: None
    default: bool = False


def _each(ending: str) -> Callable[[Iterable[str]], list[str]]:
    return lambda tables: [f"{name}{ending}" for name in tables if name != otree_wide.NAME]


FORMATS: dict[str, Format] = {
    output.name: output
    for output in (
        Format("csv", _("Tables as CSV: for spreadsheets and every statistics program"), _each(".csv"), default=True),
        Format(
            "parquet",
            _("Tables as Parquet: small and fast, with real types, for Python and R"),
            _each(ENDING),
            default=True,
        ),
        Format(
            "jsonl",
            _("Transcripts as JSON lines: every match in full; everything else can be checked against them"),
            lambda tables: [TRANSCRIPTS],
            default=True,
        ),
        Format(
            "glee",
            _("The published GLEE layout: two files per match"),
            lambda tables: [glee_files.LISTING],
            check=lambda reading: glee_files.refuse_other_games(reading.shape.games),
        ),
        Format(
            otree_wide.FORMAT,
            _("oTree's wide format: one row per person, as in its file all_apps_wide"),
            lambda tables: [f"{otree_wide.NAME}.csv"],
            check=otree_wide.refuse_collections,
        ),
    )
}
DEFAULT_FORMATS = tuple(name for name, output in FORMATS.items() if output.default)
"""Default formats."""


def validate_formats(formats: Iterable[str]) -> tuple[str, ...]:
    """Return the requested formats in their usual order.

    Raises:
        UnknownFormat
    """
    requested = tuple(dict.fromkeys(formats))
    unknown = [name for name in requested if name not in FORMATS]
    if unknown or not requested:
        raise UnknownFormat(f"Unknown format: {', '.join(unknown) or 'none given'}. Use {', '.join(FORMATS)}.")
    return tuple(name for name in FORMATS if name in requested)


def files_of(formats: Iterable[str], tables: Tables, *, about: bool) -> dict[str, Table | None]:
    """Return the files of these formats, and those that every dataset has; each with its table, None: lines.

    Args:
        about: whether of the tables about the dataset itself, or all others.
    """
    names = [f"{name}.csv" for name in ALWAYS if name in tables] + [
        name for each in formats for name in FORMATS[each].files(tables)
    ]
    stems = {name: name.rpartition(".")[0] for name in names}
    return {name: tables.get(stem) for name, stem in stems.items() if (stem in ABOUT_TABLES) == about}
