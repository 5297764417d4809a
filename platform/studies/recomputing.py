"""Recompute every participant's pay from the log alone, and compare it with the ledger and the last page.

The results come from a replay of each match's events through the rules, never from snapshots or stored payoffs; the
endings' conditions and the shares played follow from the events, too.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cached_property

from django.db.models import Prefetch, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

import games.play
from games.errors import GameError
from games.interface import Event as GameEvent
from games.play import Play
from lobby.services import waited_seconds
from matches.models import Event, Match, Seat
from participants import services as people
from participants.models import Enrolment
from participants.states import State
from payouts.books import Discrepancy
from payouts.models import LedgerRow
from plans import pay as rules
from studies.endings import Result, counted_matches, matches_in, mean_bonus, own_bonuses, stage_of
from studies.models import PeopleCheck, Placement

log = logging.getLogger(__name__)
CHUNK = 50
"""Participants whose rows and logs are in memory at a time."""
SIMULTANEOUS = timedelta(seconds=60)
"""Events this close to the end of an enrolment may have been written before or after it."""
REASONS = ("base", "bonus")
"""What the study's own rule pays; recruiters' own payments have other reasons."""
_FINISHED = (State.COMPLETED, State.FAILED_QUIZ, State.RETURNED)
"""Possible states of participants who made every move. Someone who returned the assignment cannot be paid."""
_BY_OTHERS = (State.OPPONENT_FAILED, State.PARTNER_LEFT)


@dataclass(frozen=True)
class Logged:
    """One event of a match's log, with its time."""

    event: GameEvent
    at: datetime


class ReplayedMatch:
    """A match as its log gives it.

    Raises:
        GameError: the log does not replay; while reading any property.
    """

    def __init__(self, match: Match, log: Sequence[Logged]):
        self.match = match
        self.log = log

    @cached_property
    def play(self) -> Play:
        return self.play_until(None)

    def play_until(self, number: int | None) -> Play:
        """Return the play after event `number`, or at the end of the log."""
        events = [logged.event for logged in self.log if number is None or logged.event.number <= number]
        return games.play.replay_events(self.match.configured(), events)

    @property
    def ended_at(self) -> datetime | None:
        """When the match finished by its rules; None if it did not."""
        return self.log[-1].at if self.play.finished else None

    def result(self, role: str) -> tuple[float, float]:
        """Return the role's payoff and share."""
        return self.play.game.payoffs(self.play.state)[role], self.play.game.pay_share(self.play.state, role)

    def last_before(self, moment: datetime) -> int:
        """Return the number of the last event by this moment that was not the early end of the match."""
        return max((n.event.number for n in self.log if n.at <= moment and n.event.kind != "abandoned"), default=0)

    def moved_alone(self, role: str) -> bool:
        """Return whether the role's own player made every move of the role."""
        moves = [n.event.data for n in self.log if n.event.kind == "move" and n.event.data["role"] == role]
        return all("by" not in move for move in moves)


def discrepancies(study: str | None = None) -> Iterator[Discrepancy]:
    """Yield every difference between what participants' logs say they earned and what was recorded.

    Args:
        study: a short name; None: all studies.
    """
    for placement, matches in _participants(_placements(study)):
        if not any(Recomputed(placement, matches).problems()):
            continue
        # Look again: what was being written during the first look differs only apparently.
        for placement_now, matches_now in _participants(_placements(study).filter(pk=placement.pk)):
            slug, name = placement_now.version.study.slug, placement_now.enrolment.pseudonym
            for message in Recomputed(placement_now, matches_now).problems():
                yield Discrepancy(slug, f"{name}: {message}")


def check_and_store() -> PeopleCheck:
    """Check everyone and store the result in place of the last one, for the pay page and `/health/ready`."""
    started_at = timezone.now()
    found = [[each.study, each.message] for each in discrepancies()]
    for study, message in found:
        log.error("pay of study %s: %s", study, message)
    seconds = (timezone.now() - started_at).total_seconds()
    result = PeopleCheck.objects.create(people=count(), seconds=seconds, differences=found)
    PeopleCheck.objects.exclude(pk=result.pk).delete()
    return result


def stored_differences(study: str | None = None) -> list[str]:
    """Return the differences that the last nightly check found."""
    last = PeopleCheck.objects.order_by("-pk").first()
    return [message for slug, message in (last.differences if last else ()) if study in (None, slug)]


def count(study: str | None = None) -> int:
    """Return how many participants are checked."""
    return _placements(study).count()


class Recomputed:
    """What a participant's log says, beside what was recorded."""

    def __init__(self, placement: Placement, matches: Mapping[int, ReplayedMatch]):
        self.placement = placement
        self.enrolment: Enrolment = placement.enrolment
        self.plan = placement.plan
        self.rule = placement.pay()
        self.seats = [(seat, matches[seat.match_id]) for seat in self.enrolment.seats.all()]

    def problems(self) -> Iterator[str]:
        """Yield each difference as a sentence for operators."""
        try:
            if not self.enrolment.ended:
                is_last = self.enrolment.step is not None and not people.remaining(self.enrolment)
                if is_last and self._played_everything:
                    yield _("made every move, and no step is left, but is not completed")
                return
            yield from self._problems_of_ending()
            for _seat, match in self.seats:
                if match.play.finished and dict(match.match.payoffs or {}) != dict(match.play.payoffs()):
                    yield _("the stored payoffs of match {match} differ from the log").format(match=match.match.uid)
            expected = self._expected()
        except GameError as error:
            yield _("a match cannot be replayed: {error}").format(error=error)
            return
        if self.placement.version.purpose.has_ledger:
            yield from self._problems_of_ledger(expected)
        yield from self._problems_of_last_page(expected)

    # ---- the ending ------------------------------------------------------------------------------------

    @property
    def _played_everything(self) -> bool:
        """Whether they made every move of every match of the session before their enrolment ended."""
        ended_at = self.enrolment.ended_at
        return len(self.seats) == matches_in(self.enrolment) and all(
            (finished_at := match.ended_at) is not None
            and (ended_at is None or finished_at <= ended_at)
            and match.moved_alone(seat.role)
            for seat, match in self.seats
        )

    def _problems_of_ending(self) -> Iterator[str]:
        state = self.enrolment.state
        if self._played_everything and state not in _FINISHED:
            yield _("made every move, but ended as “{state}” instead of completed").format(state=State(state).label)
        results = [match.play.finished for _seat, match in self.seats]
        if state in (State.COMPLETED, State.FAILED_QUIZ) and results != [True] * matches_in(self.enrolment):
            yield _("ended as “{state}”, but a match has no result").format(state=State(state).label)
        if state in _BY_OTHERS and not any(match.play.abandoned for _seat, match in self.seats):
            yield _("ended as “{state}”, but no match was ended early").format(state=State(state).label)
        verdicts = [verdict for verdict in self.enrolment.verdicts.all() if verdict.decides]
        if state == State.COMPLETED and not all(verdict.passed for verdict in verdicts):
            yield _("is completed, but failed a check")

    # ---- the pay ---------------------------------------------------------------------------------------

    def _expected(self) -> dict[str, Decimal]:
        """Return the amounts owed by reason, computed from the log."""
        results = [
            Result(number, stage_of(self.enrolment, seat), *match.result(seat.role))
            for number, (seat, match) in enumerate(self.seats, start=1)
            if match.play.finished and match.play.game.pays
        ]
        payoff, share, counted = counted_matches(results, self.plan.pay.bonus.of, seed=self.enrolment.seed)
        waits = self.enrolment.state == State.NO_PARTNER
        return rules.due(
            self.rule,
            ending=self.enrolment.state,
            payoff=payoff,
            share=share,
            waited=waited_seconds(self.enrolment) if waits else 0,
            played=self._played() if self.rule.endings.get(self.enrolment.state) == "base_after_half" else 0,
            own_bonus=mean_bonus(self.rule, own_bonuses(self.plan, results), counted),
        )

    def _played(self) -> float:
        """Return how much of the session was played when the enrolment ended."""
        plays = (match.play_until(self._last_counted(match)) for _seat, match in self.seats)
        return sum(play.game.share_played(play.state) for play in plays) / matches_in(self.enrolment)

    def _last_counted(self, match: ReplayedMatch) -> int:
        """Return the last event that the ending counted: the recorded one, if it lies at the time of the ending."""
        ended_at = self.enrolment.ended_at
        assert ended_at is not None
        recorded = (self.enrolment.earnings or {}).get("until", {}).get(str(match.match.uid))
        by_time = match.last_before(ended_at)
        if recorded is None or recorded > match.log[-1].event.number:
            return by_time
        first, last = sorted((recorded, by_time))
        between = [logged.at for logged in match.log if first < logged.event.number <= last]
        is_simultaneous = all(abs(at - ended_at) <= SIMULTANEOUS for at in between)
        return int(recorded) if is_simultaneous else by_time

    def _problems_of_ledger(self, expected: Mapping[str, Decimal]) -> Iterator[str]:
        rows = {row.reason: row for row in self.enrolment.ledger.all() if row.reason in REASONS}
        for reason in REASONS:
            row, amount = rows.get(reason), expected.get(reason)
            title = _("base pay") if reason == "base" else _("bonus")
            if row is None and amount is not None:
                yield _("is owed {title} of {amount}, but the ledger has no such row").format(
                    title=title, amount=self._money(amount)
                )
            elif row is not None and amount is None:
                yield _("the ledger owes {title} of {recorded}, but the log gives none").format(
                    title=title, recorded=rules.in_currency(row.amount, row.currency)
                )
            elif row is not None and (row.amount, row.currency) != (amount, self.rule.currency):
                yield _("the ledger owes {title} of {recorded}, but the log gives {amount}").format(
                    title=title,
                    recorded=rules.in_currency(row.amount, row.currency),
                    amount=self._money(amount or Decimal(0)),
                )

    def _problems_of_last_page(self, expected: Mapping[str, Decimal]) -> Iterator[str]:
        shown = (self.enrolment.earnings or {}).get("total")
        total = self._money(sum(expected.values(), Decimal(0)))
        if shown is None:
            yield _("the last page shows no pay, but the log gives {amount}").format(amount=total)
        elif shown != total:
            yield _("the last page shows {shown}, but the log gives {amount}").format(shown=shown, amount=total)

    def _money(self, amount: Decimal) -> str:
        return rules.in_currency(rules.cents(amount), self.rule.currency)


# ---- reading -------------------------------------------------------------------------------------------


def _placements(study: str | None) -> QuerySet[Placement]:
    placements = Placement.objects.order_by("pk")
    return placements if study is None else placements.filter(version__study__slug=study)


def _participants(placements: QuerySet[Placement]) -> Iterator[tuple[Placement, Mapping[int, ReplayedMatch]]]:
    """Yield every participant with their replayed matches; memory does not grow with their number."""
    related = placements.select_related("version__study", "cell", "enrolment").prefetch_related(
        Prefetch("enrolment__ledger", LedgerRow.objects.order_by("pk")),
        Prefetch("enrolment__seats", Seat.objects.order_by("step")),
        Prefetch("enrolment__seats__match", Match.objects.defer("snapshot", "turns")),
        "enrolment__verdicts",
    )
    last_key = 0
    while chunk := list(related.filter(pk__gt=last_key)[:CHUNK]):
        matches = {seat.match_id: seat.match for placement in chunk for seat in placement.enrolment.seats.all()}
        logs = _logs_of(matches)
        replayed = {key: ReplayedMatch(match, logs.get(key, [])) for key, match in matches.items()}
        for placement in chunk:
            yield placement, replayed
        last_key = chunk[-1].pk


def _logs_of(matches: Iterable[int]) -> dict[int, list[Logged]]:
    rows = Event.objects.filter(match_id__in=list(matches)).order_by("match_id", "number")
    logs: dict[int, list[Logged]] = {}
    for match, number, kind, data, at in rows.values_list("match_id", "number", "kind", "data", "at").iterator():
        logs.setdefault(match, []).append(Logged(GameEvent(number, kind, data), at))
    return logs
