"""Drawings in which no text is cut off, whatever sans-serif font a reader has.

Vega-Lite leaves room for text in the font it knows; in a wider font, labels would end beyond the drawing's edge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import ceil, cos, floor, radians, sin
from textwrap import wrap
from xml.etree import ElementTree

NARROW, WIDE, UPPER, OTHER, BOLD = 0.42, 1.02, 0.79, 0.65, 1.13
"""Widths of characters in parts of the font's size, and of bold ones in parts of these: at least those of DejaVu Sans,
one of the widest fonts that a system may choose as sans-serif."""
_NARROW, _WIDE = frozenset("ijlItfr.,:;'|!()[]/ "), frozenset("mMWw%@&×−=<>+~")
ASCENT, DESCENT = 1.0, 0.3
LINE_OF_LABEL = 56
"""Characters after which a category's name goes on in another line."""
_STEP = re.compile(r"(translate|rotate)\((-?[\d.e-]+)(?:,(-?[\d.e-]+))?\)")
_SIZE = re.compile(r'(<svg[^>]*?) width="[^"]+" height="[^"]+" viewBox="[^"]+"')
_BACKGROUND = re.compile(r"<rect width=\"[^\"]+\" height=\"[^\"]+\"")
Affine = tuple[float, float, float, float, float, float]


def lines_of(label: str) -> list[str]:
    """Return a category's name in lines."""
    return wrap(label, LINE_OF_LABEL, break_long_words=False, break_on_hyphens=False) or [label]


def text_width(text: str, size: float = 1.0, *, bold: bool = False) -> float:
    """Return an upper bound of the width of a text in a sans-serif font of this size."""
    width = sum(_width(sign) for sign in text)
    return width * size * (BOLD if bold else 1)


def _width(sign: str) -> float:
    if sign in _NARROW:
        return NARROW
    return WIDE if sign in _WIDE or ord(sign) > 0x2E80 else UPPER if sign.isupper() else OTHER


def fitted(svg: str) -> str:
    """Return a drawing that is widened where a text may reach beyond its edges."""
    root = ElementTree.fromstring(svg)
    _x, _y, width, height = map(float, root.attrib["viewBox"].split())
    corners = [(0.0, 0.0), (width, height), *_corners(root, (1, 0, 0, 1, 0, 0))]
    left, top = (floor(min(of)) for of in zip(*corners, strict=True))
    right, bottom = (ceil(max(of)) for of in zip(*corners, strict=True))
    if (left, top, right, bottom) == (0, 0, width, height):
        return svg
    size = f'width="{right - left}" height="{bottom - top}"'
    svg = _SIZE.sub(rf'\1 {size} viewBox="{left} {top} {right - left} {bottom - top}"', svg, count=1)
    return _BACKGROUND.sub(f'<rect x="{left}" y="{top}" {size}', svg, count=1)


def _corners(element: ElementTree.Element, at: Affine) -> Iterator[tuple[float, float]]:
    """Yield the corners of the boxes around all texts in an element."""
    at = _moved(at, element.get("transform", ""))
    if element.tag.endswith("}text"):
        lines = ["".join(line.itertext()) for line in element] or [element.text or ""]
        size = float(element.get("font-size", "12px").removesuffix("px"))
        bold = element.get("font-weight") == "bold"
        width = max(text_width(line, size, bold=bold) for line in lines)
        start = {"middle": -width / 2, "end": -width}.get(element.get("text-anchor", "start"), 0.0)
        below = DESCENT * size + (len(lines) - 1) * 1.3 * size
        a, b, c, d, e, f = at
        for x in (start, start + width):
            for y in (-ASCENT * size, below):
                yield a * x + c * y + e, b * x + d * y + f
    for child in element:
        yield from _corners(child, at)


def _moved(at: Affine, transform: str) -> Affine:
    a, b, c, d, e, f = at
    for kind, first, second in _STEP.findall(transform):
        if kind == "translate":
            x, y = float(first), float(second or 0)
            e, f = a * x + c * y + e, b * x + d * y + f
        else:
            cosine, sine = cos(radians(float(first))), sin(radians(float(first)))
            a, b, c, d = a * cosine + c * sine, b * cosine + d * sine, c * cosine - a * sine, d * cosine - b * sine
    return a, b, c, d, e, f
