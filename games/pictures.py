"""Games' pictures: what a game is about, at a glance.

A picture is `games/<game>/picture.svg`, 320 × 180 units. Pages contain it as it is, many on one page, so it has no
ids, and its colours are design tokens: it follows the page's light or dark theme.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

from games import tokens

FOLDER = Path(__file__).parent
MAX_BYTES = 4096
NAMESPACE = "{http://www.w3.org/2000/svg}"
SHAPES = frozenset({"svg", "g", "rect", "circle", "ellipse", "line", "path", "polygon", "polyline"})
TOKENS = ("accent", "second", "card", "line", "ink", "muted", *(f"seat-{number}" for number in range(1, 9)))
COLOURS = frozenset({"none", "currentColor", *(f"var(--{token}, {tokens.colour(token)})" for token in TOKENS)})
"""Tokens, each with its light value for where there is no style sheet."""
EXAMPLE = f"var(--accent, {tokens.colour('accent')})"
NOT_ALLOWED = re.compile(r"style|class|id|href|src|on\w+", re.IGNORECASE)


@cache
def picture(game: str) -> str:
    """Return a game's picture, an `<svg>` element for a page; a neutral one if the game has none of its own."""
    own = FOLDER / game / "picture.svg"
    return (own if own.exists() else FOLDER / "picture.svg").read_text(encoding="utf-8")


def problems(svg: str) -> Iterator[str]:
    """Yield the reasons why pages cannot contain this picture."""
    if len(svg.encode()) > MAX_BYTES:
        yield f"the picture has more than {MAX_BYTES} bytes"
    try:
        root = ElementTree.fromstring(svg)
    except ElementTree.ParseError as error:
        yield f"the picture is not valid XML: {error}"
        return
    if root.tag != f"{NAMESPACE}svg" or root.get("viewBox") != "0 0 320 180":
        yield 'the picture must be an <svg> with viewBox="0 0 320 180"'
    if root.get("aria-hidden") != "true":
        yield 'the picture must be aria-hidden="true": the game\'s title stands beside it'
    for element in root.iter():
        name = element.tag.removeprefix(NAMESPACE)
        if name not in SHAPES:
            yield f"the picture contains <{name}>; it may only contain {', '.join(sorted(SHAPES))}"
        if (element.text or "").strip() or (element.tail or "").strip():
            yield "the picture contains text"
        for attribute, value in element.items():
            if NOT_ALLOWED.fullmatch(attribute.rpartition("}")[2]) or "url(" in value.lower():
                yield f"the picture contains {attribute}={value!r}"
            if attribute in ("fill", "stroke") and value not in COLOURS:
                yield f"{attribute}={value!r} is not a token with its light value, such as {EXAMPLE}"
