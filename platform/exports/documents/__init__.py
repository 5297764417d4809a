"""The documents in a dataset, as templates in this folder.

Their filters: `oneline` joins lines, `plain` escapes what many programs would show as HTML, `line` does both for a
cell of a Markdown table, and `cell` only joins lines for one.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from analysis.formulas import encoded

_ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)


def rendered(name: str, **values: Any) -> Iterator[bytes]:
    """Yield a document, piece by piece."""
    for piece in _ENVIRONMENT.get_template(name).generate(**values):
        yield encoded(piece)


def _oneline(text: str) -> str:
    return " ".join(text.split())


def _plain(text: str) -> str:
    return escape(text, quote=False)


def _cell(text: str) -> str:
    return _oneline(text).replace("|", "\\|")


def _line(text: str) -> str:
    return _plain(_cell(text))


_ENVIRONMENT.filters |= {"oneline": _oneline, "plain": _plain, "cell": _cell, "line": _line}
