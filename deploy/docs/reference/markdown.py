"""Converts text from the code to equivalent Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from inspect import cleandoc

_CODE = re.compile(r"(`+[^`]+`+)")
_SPECIAL = re.compile(r"([\\*\[\]<>{}$~])")
_EMPHASIS = re.compile(r"(?<!\w)_|_(?!\w)")


def text(words: object) -> str:
    """Return plain text as Markdown: markup is escaped; code between backticks stays code."""
    parts = _CODE.split(str(words))
    return "".join(
        part if part.startswith("`") else _EMPHASIS.sub(r"\_", _SPECIAL.sub(r"\\\1", part)) for part in parts
    )


def line(words: object) -> str:
    """Return plain text as one line of Markdown."""
    return " ".join(text(words).split())


def code(words: object) -> str:
    """Return text as inline code; an empty text stays empty."""
    shown = " ".join(str(words).split())
    if not shown:
        return ""
    return f"`` {shown} ``" if "`" in shown else f"`{shown}`"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of cells that are already Markdown; columns that are empty in every row are left out."""
    listed = [tuple(cell.replace("|", "\\|") for cell in row) for row in rows]
    if not listed:
        return ""
    used = [i for i, _name in enumerate(columns) if any(row[i] for row in listed)]
    head = [columns[i] for i in used]
    lines = [head, ["---"] * len(used), *([row[i] for i in used] for row in listed)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n\n"


def docstring(words: str | None) -> str:
    """Return a docstring's prose, without its sections on arguments, results, errors and attributes."""
    prose = re.split(r"\n\s*(?:Args|Returns|Raises|Attributes):\n", cleandoc(words or ""))[0]
    return text(prose).strip()


def quotation(markdown: str) -> str:
    """Return Markdown as a quotation: headings become bold lines, and every line is quoted."""
    plain = re.sub(r"^#+ +(.*)$", r"**\1**", markdown.strip(), flags=re.MULTILINE)
    return "\n".join(f"> {row}".rstrip() for row in plain.splitlines()) + "\n\n"
