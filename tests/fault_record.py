"""The record of a fault test: what every person's page showed, second by second, what was true, and what they did."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from typing import Any

Truth = Mapping[str, Any]

LAG = 3.0
"""Seconds that a page may lag behind the truth, and that a clock may be wrong."""
ROUNDING = 0.6
NOTICE = 6.0
"""Seconds within which a page must notice that it is cut off, and that it no longer is.

A web server that has just started may take as long to answer after its first heartbeat.
"""
PRESENCE = 16.0
"""Seconds after which the others are told that somebody is missing."""
SERVING = ("web", "database")
"""The services without which nobody can be served; without Redis, pages are served more slowly."""
NOTICES = re.compile(r"Connection lost|You are offline|can't reach|Our server is unavailable")


@dataclass(frozen=True)
class Terms:
    """What the study promises: seconds, dollars, and how many play.

    Attributes:
        turn, extension: for an answer, and once more.
        absence: without a connection, in all.
        rate: dollars per unit of the payoff.
    """

    turn: float
    extension: float
    absence: float
    grace: float
    rounds: int
    seats: int
    people: int
    on_timeout: str = "end"
    base: Decimal = Decimal("1.00")
    average: Decimal = Decimal("2.00")
    rate: Decimal = Decimal("4.00")
    waiting_rate: Decimal = Decimal(0)


@dataclass(frozen=True)
class Seen:
    """What one person's page showed at one moment, and the last that was known of the truth then."""

    at: float
    who: str
    view: Mapping[str, Any]
    offline: bool
    truth: Truth


@dataclass
class Doing:
    """What one person did; see `fault_people.Person`."""

    pressed: list[tuple[float, int, int]] = field(default_factory=list)
    away: list[tuple[float, float]] = field(default_factory=list)
    left: float | None = None


@dataclass
class Record:
    """Everything that a scenario showed.

    Attributes:
        outages: (service, start, end), up to the moment in which the service answered again.
    """

    terms: Terms
    doing: dict[str, Doing] = field(default_factory=dict)
    seen: list[Seen] = field(default_factory=list)
    outages: list[tuple[str, float, float]] = field(default_factory=list)
    _by_person: dict[str, list[Seen]] = field(default_factory=dict, init=False, repr=False)
    _sorted: int = field(default=0, init=False, repr=False)

    def of(self, who: str) -> list[Seen]:
        """Return this person's looks, in order."""
        if len(self.seen) != self._sorted:
            self._by_person = {name: [seen for seen in self.seen if seen.who == name] for name in self.doing}
            self._sorted = len(self.seen)
        return self._by_person[who]

    def last(self, who: str) -> Seen:
        return self.of(who)[-1]

    def lost_seconds(self, start: float, end: float, services: Sequence[str] = SERVING) -> float:
        """Return for how many seconds of this interval nobody could be served."""
        return _overlap(((a, b) for service, a, b in self.outages if service in services), start, end)

    def slack_of_start(self, start: float, end: float) -> float:
        """Return how many lost seconds a clock may miss because a starting web server sent heartbeats already."""
        return min(NOTICE, self.lost_seconds(start, end, ("web",)))

    def away_seconds(self, who: str, start: float, end: float) -> float:
        """Return for how many seconds this person was away though we could have served them."""
        parts = [(max(a, start), min(b, end)) for a, b in self.doing[who].away]
        return sum(b - a - self.lost_seconds(a, b) for a, b in parts if b > a)

    def down(self, at: float, slack: float = 0.0) -> list[str]:
        """Return the services that are down, or were until `slack` seconds ago."""
        return [service for service, start, end in self.outages if start - 1 <= at <= end + slack]

    def cut_at(self, who: str, at: float) -> tuple[float, float] | None:
        """Return from when to when this person's page could not reach a server that works; None if it could.

        Pages may notice late that they reach it again.
        """
        cuts = [(start, end) for service, start, end in self.outages if service in SERVING]
        cuts += self.doing[who].away
        return min(((start, end) for start, end in cuts if start <= at <= end + NOTICE), default=None)

    def cut_off_since(self, who: str, at: float) -> float | None:
        cut = self.cut_at(who, at)
        return cut[0] if cut else None


def _overlap(intervals: Iterable[tuple[float, float]], start: float, end: float) -> float:
    return sum(max(0.0, min(b, end) - max(a, start)) for a, b in intervals)


@dataclass(eq=False)
class Moment:
    """One page at one moment, with everything that its sentences can be judged by.

    Attributes:
        groups: the parts of the sentence that is judged now.
    """

    record: Record
    seen: Seen
    groups: tuple[str, ...] = ()

    @property
    def notices(self) -> bool:
        """Whether the page says that it cannot reach the server."""
        return any(NOTICES.search(line) for line in self.seen.view["lines"])

    @cached_property
    def lag(self) -> float:
        """The seconds by which the page may be late: more on a machine that is too busy to look every second."""
        looks = [seen.at for seen in self.record.of(self.seen.who) if self.seen.at - 20 <= seen.at <= self.seen.at]
        gaps = [after - before for before, after in pairwise(looks)]
        return ROUNDING + LAG + min(2 * LAG, max(0.0, max(gaps, default=0.0) - 1.2))

    @cached_property
    def heard(self) -> float:
        """The earliest moment of which the page may speak: seconds ago, or the last contact if it says so."""
        at = self.seen.at
        cut = self.record.cut_at(self.seen.who, at)
        if cut is not None and (self.notices or at - cut[0] < NOTICE or at > cut[1] - NOTICE):
            return min(at, cut[0]) - self.lag
        return at - self.lag - (NOTICE if "redis" in self.record.down(at, NOTICE) else 0)

    @cached_property
    def known(self) -> list[Truth]:
        """Return what was true between `heard` and now."""
        own = self.record.of(self.seen.who)
        before = [seen.truth for seen in own if seen.at < self.heard][-2:]
        return before + [seen.truth for seen in own if self.heard <= seen.at <= self.seen.at + 1]

    def ever(self, condition: Callable[[Truth], bool]) -> bool:
        return any(condition(truth) for truth in self.known)

    def in_match(self, condition: Callable[[Truth, str], bool]) -> bool:
        """Return whether this was true of the match and the person's own role in it."""
        return self.ever(lambda truth: truth["match"] is not None and condition(truth["match"], truth["role"]))

    def round_changes(self) -> bool:
        """Return whether a round has just begun: scripts answer between two looks at the database."""
        return len({len(truth["match"]["rounds"]) if truth["match"] else -1 for truth in self.known}) > 1

    def later(self) -> Iterator[Seen]:
        return (seen for seen in self.record.of(self.seen.who) if seen.at >= self.seen.at)

    def cut_off(self) -> bool:
        return self.record.cut_off_since(self.seen.who, self.seen.at) is not None

    def server_unreachable(self) -> bool:
        """Return whether one of the services that pages need is or has just been down."""
        return bool(set(self.record.down(self.seen.at, NOTICE)) - {"worker"})

    def is_offline(self) -> bool:
        return any(a <= self.seen.at <= b + LAG for a, b in self.record.doing[self.seen.who].away)

    def clock_runs(self) -> bool:
        """Return whether the time of the person's own open turn runs."""
        return self.in_match(asked) and not set(self.record.down(self.seen.at)) & set(SERVING)


def asked(match: Truth, role: str) -> bool:
    return role in match["turns"]


# ---- what everyone did


def own_moves(truth: Truth) -> list[float]:
    """Return the person's own answer in each round, the last of those they sent before everyone had answered."""
    match, answers = truth["match"], [dict[str, tuple[str, float]]()]
    for role, by, number, _at in match["moves"] if match else ():
        answers[-1][role] = by, number
        if answers[-1].keys() == match["titles"].keys():
            answers.append({})
    own = (answered[truth["role"]] for answered in answers if truth["role"] in answered)
    return [number for by, number in own if not by]


def conduct(record: Record, who: str) -> str:
    """Return "left", "absent" (beyond the budget), "late" (with an answer), or "did their part"."""
    doing, terms = record.doing[who], record.terms
    if doing.left is not None:
        return "left"
    playing = [seen for seen in record.of(who) if seen.truth["match"] and not seen.truth["match"]["over"]]
    if playing and record.away_seconds(who, playing[0].at, playing[-1].at) > terms.absence - LAG:
        return "absent"
    turns: dict[int, list[Seen]] = {}
    for seen in playing:
        if turn := seen.truth["match"]["turns"].get(seen.truth["role"]):
            turns.setdefault(turn["answering"], []).append(seen)
    limit = terms.turn + terms.extension
    for open_at in turns.values():
        match, role = open_at[0].truth["match"], open_at[0].truth["role"]
        opened, number = match["turns"][role]["opened"], len(match["rounds"]) + 1

        def used(until: float, opened: float = opened) -> float:
            lost = record.lost_seconds(opened, until, (*SERVING, "redis"))
            return until - opened - lost - record.away_seconds(who, opened, until)

        in_time = any(used(at) <= limit + 1 for at, round_number, _number in doing.pressed if round_number == number)
        if not in_time and used(open_at[-1].at) >= limit - LAG:
            return "late"
    return "did their part"


def prize(record: Record, who: str) -> Decimal:
    """Return the mean of the prizes won over the rounds played."""
    truth = record.last(who).truth
    return won(truth["match"], truth["role"]) / len(truth["match"]["rounds"])


def won(match: Truth, role: str) -> Decimal:
    """Return the sum of the prizes won, from the numbers in the log: closest to two thirds of the mean wins 1."""
    total = Decimal(0)
    for numbers in match["rounds"]:
        valid = {one: number for one, number in numbers.items() if number is not None}
        target = sum(valid.values()) / len(valid) * 2 / 3
        closest = min(abs(number - target) for number in valid.values())
        winners = [one for one, number in valid.items() if abs(abs(number - target) - closest) < 1e-6]
        if role in winners:
            total += Decimal(1) / len(winners)
    return total
