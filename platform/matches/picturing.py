"""Seats and results as pages draw them: each seat's colour and mark, and who got what as bars in SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from games import tokens
from games.interface import Bar, Bars, Game, Role
from games.words import cached_by_language

MOST_BARS = 12
"""The most bars of a picture; of more seats, those with the largest values are drawn, and always the reader's."""
WIDTH = 100
"""The width of a bar's track in units of its SVG."""
SeatNames = tuple[tuple[str, str], ...]
"""How pages write seats to one reader, each with the classes of its colour and mark."""


def seat_class(game: Game[Any, Any], role: Role) -> str:
    """Return the classes that give an element the seat's colour and mark; they follow only from the seat's number."""
    return tokens.css_class(game.roles().index(role))


@cached_by_language
def seat_names(game: Game[Any, Any], reader: Role) -> SeatNames:
    """Return the words by which views name each seat, such as "Bob", "Bidder 2 (you)" or "You", and its role."""
    names = []
    for index, seat in enumerate(game.roles()):
        title, style = game.role_title(seat), tokens.css_class(index)
        names += [(seat, style), (title, style)]
        if seat == reader:
            names += [(game.seat_name(seat, reader), style), (_("You"), style), (_("you"), style)]
    return tuple(names) if len(game.roles()) > 1 else ()


def mark_path_of(style: str) -> str:
    """Return the mark of these classes, named in the last of them, as an SVG path ten units wide; else a circle."""
    return tokens.mark_path(int(style.rpartition("-")[2] or 1), size=10)


@dataclass(frozen=True)
class DrawnBar:
    """A bar with its classes; `x` and `width` are None if it has no length."""

    label: str
    shown: str
    style: str
    own: bool
    x: float | None
    width: float | None


@dataclass(frozen=True)
class DrawnMove:
    """One of the moves that led to the result: the seat, its classes, and what it did."""

    name: str
    style: str
    words: str


@dataclass(frozen=True)
class Picture:
    """Everything that the template of a result draws.

    Attributes:
        zero, line: positions of 0, if the axis goes below it, and of the value to compare with.
        left_out: what is said of bars that are not drawn.
    """

    title: str
    bars: tuple[DrawnBar, ...]
    moves: tuple[DrawnMove, ...]
    zero: float | None
    line: float | None
    line_label: str
    left_out: str


def picture(game: Game[Any, Any], bars: Bars, reader: Role) -> Picture:
    """Return where the bars of a result begin and end."""
    drawn = _largest(bars.bars, reader)
    ends = [end for bar in bars.bars if bar.end is not None for end in (bar.start, bar.end)]
    ends += [] if bars.line is None else [bars.line]
    low = min([0.0, *ends]) if bars.low is None else bars.low
    high = max([0.0, *ends]) if bars.high is None else max([bars.high, low, *ends])

    def place(value: float) -> float:
        return round(WIDTH * (value - low) / (high - low), 2) if high > low else 0.0

    missing = len(bars.bars) - len(drawn)
    return Picture(
        title=bars.title,
        bars=tuple(_drawn(game, bar, reader, place) for bar in drawn),
        moves=tuple(DrawnMove(_name(game, role, reader), seat_class(game, role), did) for role, did in bars.moves),
        zero=place(0.0) if low < 0 < high else None,
        line=None if bars.line is None else place(bars.line),
        line_label=bars.line_label,
        left_out=ngettext("{n} more is not shown.", "{n} more are not shown.", missing).format(n=missing)
        if missing
        else "",
    )


def _drawn(game: Game[Any, Any], bar: Bar, reader: Role, place: Any) -> DrawnBar:
    style = seat_class(game, bar.role) if bar.role else f"tone-{bar.tone}"
    own = bar.role == reader and bool(bar.role)
    if bar.end is None:
        return DrawnBar(bar.label, bar.shown, style, own, None, None)
    left, right = sorted((place(bar.start), place(bar.end)))
    return DrawnBar(bar.label, bar.shown, style, own, left, round(right - left, 2))


def _largest(bars: Sequence[Bar], reader: Role) -> list[Bar]:
    """Return the bars to draw, in their order."""
    if len(bars) <= MOST_BARS:
        return list(bars)
    order = sorted(bars, key=lambda bar: (bar.role != reader, bar.end is None, -(bar.end or 0.0)))
    kept = {id(bar) for bar in order[:MOST_BARS]}
    return [bar for bar in bars if id(bar) in kept]


def _name(game: Game[Any, Any], role: Role, reader: Role) -> str:
    return _("You") if role == reader else game.role_title(role)
