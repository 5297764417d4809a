"""Converts text from the code to equivalent Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from inspect import cleandoc

_CODE = re.compile(r"(`+[^`]+`+)")
_SPECIAL = re.compile(r"([\\*\[\]<>{}$~])")
_EMPHASIS = re.compile(r"(?<!\w)_|_(?!\w)")


def text(plain: object) -> str:
    """Return plain text as Markdown: markup is escaped; code between backticks stays code."""
    segments = _CODE.split(str(plain))
    return "".join(
        segment if segment.startswith("`") else _EMPHASIS.sub(r"\_", _SPECIAL.sub(r"\\\1", segment))
        for segment in segments
    )


def line(plain: object) -> str:
    """Return plain text as one line of Markdown."""
    return " ".join(text(plain).split())


def code(plain: object) -> str:
    """Return text as inline code; an empty text stays empty."""
    one_line = " ".join(str(plain).split())
    if not one_line:
        return ""
    return f"`` {one_line} ``" if "`" in one_line else f"`{one_line}`"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of cells that are already Markdown; columns that are empty in every row are left out."""
    escaped_rows = [tuple(cell.replace("|", "\\|") for cell in row) for row in rows]
    if not escaped_rows:
        return ""
    used_columns = [i for i, _name in enumerate(columns) if any(row[i] for row in escaped_rows)]
    head = [columns[i] for i in used_columns]
    lines = [head, ["---"] * len(used_columns), *([row[i] for i in used_columns] for row in escaped_rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n\n"


def docstring(documentation: str | None) -> str:
    """Return a docstring's prose, without its sections on arguments, results, errors and attributes."""
    prose = re.split(r"\n\s*(?:Args|Returns|Raises|Attributes):\n", cleandoc(documentation or ""))[0]
    return text(prose).strip()


def quotation(markdown: str) -> str:
    """Return Markdown as a quotation: headings become bold lines, and every line is quoted."""
    plain = re.sub(r"^#+ +(.*)$", r"**\1**", markdown.strip(), flags=re.MULTILINE)
    return "\n".join(f"> {row}".rstrip() for row in plain.splitlines()) + "\n\n"
