"""The design tokens of static/parley/tokens.css, for figures and pages that Python draws."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).resolve().parents[1] / "static" / "parley" / "tokens.css"
SEATS = 8
"""Seats with a colour and a mark of their own; further ones combine them differently."""

_TOKEN = re.compile(r"--([a-z0-9-]+):\s*([^;]*);")
_SCHEMES = re.compile(r"var\(--light, (#[0-9a-f]{6})\) var\(--dark, (#[0-9a-f]{6})\)")
_POINT = re.compile(r"([\d.]+)% ([\d.]+)%")


class Style(NamedTuple):
    """The numbers of a seat's colour and mark, from 1."""

    colour: int
    mark: int


@cache
def tokens() -> dict[str, str]:
    """Return the values of all tokens by name, without the dashes; the first value counts."""
    return dict(reversed(_TOKEN.findall(FILE.read_text())))


def colour(name: str, *, dark: bool = False) -> str:
    """Return a colour such as "seat-1" as "#rrggbb".

    Raises:
        KeyError: there is no such colour.
    """
    schemes = _SCHEMES.fullmatch(tokens().get(name, ""))
    if schemes is None:
        raise KeyError(name)
    return schemes[2 if dark else 1]


def style(index: int) -> Style:
    """Return the style of the seat with this index in the game's order of roles (from 0); all below 64 differ."""
    return Style(index % SEATS + 1, (index + index // SEATS) % SEATS + 1)


def css_class(index: int) -> str:
    """Return the classes that give an element a seat's colour and mark: "seat-3", or "seat-1 mark-2" for the ninth."""
    colour_number, mark_number = style(index)
    return f"seat-{colour_number}" + (f" mark-{mark_number}" if mark_number != colour_number else "")


def mark_path(number: int, *, size: float = 2) -> str:
    """Return a mark as an SVG path around the origin, `size` wide."""
    half = size / 2
    points = _POINT.findall(tokens()[f"mark-{number}"])
    if not points:
        return f"M{-half:g},0A{half:g},{half:g},0,1,1,{half:g},0A{half:g},{half:g},0,1,1,{-half:g},0Z"
    return "M" + "L".join(f"{_at(x, size):g},{_at(y, size):g}" for x, y in points) + "Z"


def _at(percent: str, size: float) -> float:
    return round((float(percent) / 100 - 0.5) * size, 3)
