"""Text of the code as Markdown that says the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from inspect import cleandoc

_CODE = re.compile(r"(`+[^`]+`+)")
_SPECIAL = re.compile(r"([\\*\[\]<>{}$~])")
_EMPHASIS = re.compile(r"(?<!\w)_|_(?!\w)")


def text(words: object) -> str:
    """Plain words as Markdown: what would be markup is escaped; code between backticks stays code."""
    parts = _CODE.split(str(words))
    return "".join(
        part if part.startswith("`") else _EMPHASIS.sub(r"\_", _SPECIAL.sub(r"\\\1", part)) for part in parts
    )


def line(words: object) -> str:
    """The same in one line."""
    return " ".join(text(words).split())


def code(words: object) -> str:
    """Words as code; nothing for nothing."""
    shown = " ".join(str(words).split())
    if not shown:
        return ""
    return f"`` {shown} ``" if "`" in shown else f"`{shown}`"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose cells are Markdown already; columns that are empty in every row are left out."""
    listed = [tuple(rows_cell.replace("|", "\\|") for rows_cell in row) for row in rows]
    if not listed:
        return ""
    kept = [i for i, _name in enumerate(columns) if any(row[i] for row in listed)]
    head = [columns[i] for i in kept]
    lines = [head, ["---"] * len(kept), *([row[i] for i in kept] for row in listed)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n\n"


def docstring(words: str | None) -> str:
    """A docstring's prose, without the parts on arguments, results and errors."""
    prose = re.split(r"\n\s*(?:Args|Returns|Raises|Attributes):\n", cleandoc(words or ""))[0]
    return text(prose).strip()


def unheaded(markdown: str) -> str:
    """Markdown for a quotation: headings become bold lines, and every line is quoted."""
    plain = re.sub(r"^#+ +(.*)$", r"**\1**", markdown.strip(), flags=re.MULTILINE)
    return "\n".join(f"> {row}".rstrip() for row in plain.splitlines()) + "\n\n"
