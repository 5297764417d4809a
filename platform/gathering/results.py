"""The results of a room as figures: how its people chose and what they earned, without anybody's data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from games import registry
from games.play import configure
from games.words import number
from gathering.models import Session
from matches.forms import Field, fields_of
from matches.models import Event, Match, Seat
from matches.picturing import DrawnBar, Picture
from participants.states import State

FEWEST_PEOPLE = 5
"""A figure needs this many people, so that nobody is recognised."""
MOST_BARS = 8


def figures(session: Session) -> list[Picture]:
    """Return a figure for each of the games' choices and payoffs with enough people.

    Of each person who completed, the first choice of a kind in a game counts, and the mean of their payoffs.
    """
    people = session.attendances.filter(enrolment__state=State.COMPLETED).values("enrolment")
    seats = Seat.objects.filter(enrolment__in=people, match__status=Match.Status.FINISHED)
    rows = list(seats.values_list("match", "role", "enrolment").order_by("match"))
    matches = {match.pk: match for match in Match.objects.filter(pk__in={row[0] for row in rows})}
    seated = {(match, role): person for match, role, person in rows}
    choices = _first_choices(matches, seated)
    payoffs: dict[str, dict[int, list[float]]] = {}
    for (pk, role), person in seated.items():
        match = matches[pk]
        if (payoff := (match.payoffs or {}).get(role)) is not None:
            payoffs.setdefault(match.game, {}).setdefault(person, []).append(payoff)
    drawn = []
    for game in sorted({match.game for match in matches.values()}, key=_title):
        for label, values in choices.get(game, {}).items():
            drawn.append(_figure(f"{_title(game)}: {label}", list(values.values())))
        means = [sum(each) / len(each) for each in payoffs.get(game, {}).values()]
        drawn.append(_figure(_("{game}: payoff").format(game=_title(game)), means))
    return [picture for picture in drawn if picture is not None]


def _title(game: str) -> str:
    return str(registry.get(game).title) if game in registry.known() else game


def _first_choices(
    matches: Mapping[int, Match], seated: Mapping[tuple[int, str], int]
) -> dict[str, dict[str, dict[int, Any]]]:
    """Return each person's first value of every field that is no free text, by game and the field's label."""
    found: dict[str, dict[str, dict[int, Any]]] = {}
    fields = {pk: _fields(match) for pk, match in matches.items()}
    moves = Event.objects.filter(match__in=matches, kind="move", shown_at__isnull=False).order_by("match", "number")
    for pk, role, data in moves.values_list("match", "role", "data"):
        person = seated.get((pk, role or data.get("role", "")))
        if person is None or "by" in data:
            continue
        for name, value in data.get("move", {}).items():
            if (field := fields[pk].get(name)) is not None and isinstance(value, str | int | float):
                found.setdefault(matches[pk].game, {}).setdefault(field.label, {}).setdefault(person, value)
    return found


def _fields(match: Match) -> dict[str, Field]:
    """Return the fields of a match's moves that are numbers, yes or no, or one of some choices."""
    if match.game not in registry.known():
        return {}
    game = configure(registry.get(match.game), match.config)
    fields = [field for model in game.move_types for field in fields_of(model)]
    return {field.name: field for field in fields if field.kind in ("number", "integer", "boolean", "choice")}


def _figure(title: str, values: Sequence[Any]) -> Picture | None:
    """Return bars of how many people have each value, or each range of many values; None for too few people."""
    if len(values) < FEWEST_PEOPLE:
        return None
    numeric = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    counts = _binned([float(value) for value in values]) if numeric else Counter(map(_said, values)).most_common()
    shown = _("{number} people").format(number=len(values))
    if numeric:
        shown += ", " + _("mean {mean}").format(mean=number(sum(map(float, values)) / len(values)))
    most = max(count for _label, count in counts)
    bars = (DrawnBar(label, str(n), "tone-plain", False, 0.0, round(100 * n / most, 2)) for label, n in counts)
    return Picture(
        title=f"{title} ({shown})", bars=tuple(bars), moves=(), zero=None, line=None, line_label="", left_out=""
    )


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return str(value).replace("_", " ")


def _binned(values: Sequence[float]) -> list[tuple[str, int]]:
    """Return how many values there are of each, or in each of equal ranges if they differ much."""
    distinct = sorted(set(values))
    if len(distinct) <= MOST_BARS:
        counts = Counter(values)
        return [(number(value), counts[value]) for value in distinct]
    low, width = distinct[0], (distinct[-1] - distinct[0]) / MOST_BARS
    bins = Counter(min(MOST_BARS - 1, int((value - low) / width)) for value in values)
    ends = [low + width * index for index in range(MOST_BARS + 1)]
    return [(f"{number(ends[i])} – {number(ends[i + 1])}", bins[i]) for i in range(MOST_BARS)]
