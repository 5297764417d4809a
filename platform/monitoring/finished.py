"""Sums of finished matches' outcomes for `monitoring.tallies`; a match counts once its last participant ends."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from games import registry
from games.errors import UnknownGame
from matches.forms import fields_of
from matches.models import Match, Seat
from participants.states import State
from studies.models import Version

PAYOFF = "payoff"
MAX_METRICS = 4
"""How many of a game's numeric or boolean metrics are shown, in the game's order."""
SUM_COLUMNS = ("number", "truths", "total", "squares")
Sums = dict[str, dict[tuple[int, str], Any]]


def outcome_sums(placements: Sequence[int]) -> Sums:
    """Return sums by column, then by cell and outcome, of the matches completed by the enrolments just tallied."""
    seats = Seat.objects.filter(match__seats__enrolment__placement__in=placements, enrolment__isnull=False).distinct()
    people: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for match, *person in seats.filter(match__status=Match.Status.FINISHED).values_list(
        "match", "role", "enrolment__placement__cell", "enrolment__placement__version", "enrolment__state",
        "enrolment__placement__tallied", "enrolment__placement__released_at",
    ):  # fmt: skip
        people[match].append(tuple(person))
    counted_matches = {
        match: members for match, members in people.items() if all(_counts(*person[3:]) for person in members)
    }
    versions = {person[2] for members in counted_matches.values() for person in members}
    first_games = {version.pk: version.games[0] for version in Version.objects.filter(pk__in=versions)}
    sums: Sums = {column: defaultdict(int) for column in SUM_COLUMNS}
    rows = Match.objects.filter(pk__in=counted_matches).order_by()
    for pk, game, payoffs, metrics in rows.values_list("pk", "game", "payoffs", "metrics").iterator():
        _role, cell, version, *_other_columns = counted_matches[pk][0]
        if game != first_games[version]:
            continue  # another game of the same journey
        for outcome, value in _values(
            game, payoffs or {}, metrics or {}, [person[0] for person in counted_matches[pk]]
        ):
            number = float(value)
            for column, addend in zip(SUM_COLUMNS, (1, isinstance(value, bool), number, number**2), strict=True):
                sums[column][cell, outcome] += addend
    return sums


def _counts(state: str, tallied: bool, released_at: Any) -> bool:
    return state == State.COMPLETED and tallied and released_at is None


def _values(
    game: str, payoffs: Mapping[str, float], metrics: Mapping[str, Any], people: Sequence[str]
) -> Iterator[tuple[str, float | bool]]:
    """Return a match's outcomes: its participants' mean payoff, then the game's first metrics."""
    own_payoffs = [payoffs[role] for role in people if role in payoffs]
    if own_payoffs:
        yield PAYOFF, sum(own_payoffs) / len(own_payoffs)
    for name in meanings_of(game):
        if isinstance(metrics.get(name), int | float):
            yield name, metrics[name]


def meanings_of(game: str) -> dict[str, str]:
    """Return the meanings of a game's first metrics, in order; empty if the game no longer exists."""
    try:
        fields = registry.get(game).Results.model_fields
    except UnknownGame:
        return {}
    return {name: str(field.description) for name, field in list(fields.items())[:MAX_METRICS]}


def ranges_of(game: str) -> dict[str, tuple[float | None, float | None]]:
    """Return the smallest and largest possible value of a game's metrics, None where there is none."""
    if game not in registry.known():
        return {}
    return {field.name: (field.minimum, field.maximum) for field in fields_of(registry.get(game).Results)}
