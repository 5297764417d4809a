"""What happens when a participant's session ends: amounts due, the last page, and the freed place."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from random import Random
from statistics import fmean
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.dispatch import receiver
from django.utils.translation import gettext as _

from checks.steps import Quiz
from games import registry
from lobby.services import last_unsuccessful_place, waited_seconds
from matches.models import Event, Match, Seat
from opponents.agents import counted_movers
from participants import services as people
from participants.models import Enrolment
from participants.signals import enrolment_ended
from participants.states import State
from participants.values import values_of
from payouts.services import record_due
from plans import pay as rules
from plans import stages
from plans.conditions import Condition
from plans.plan import Plan
from plans.stages import DEFAULT_TEXT
from recruiters.models import Identity
from studies import disclosure, enrolling, faults, journeys, texts
from studies.models import Placement


@receiver(enrolment_ended)
def settle(sender: type[Enrolment], enrolment: Enrolment, **_signal) -> None:
    """Write the ledger and the last page's earnings; release the place of a session without valid data."""
    related = Placement.objects.select_related("version__study", "cell")
    placement = related.filter(enrolment=enrolment).first()
    if placement is None:
        return
    placement.enrolment = enrolment
    plan, version = placement.plan, placement.version
    rule = placement.pay()
    earnings = earnings_of(enrolment, plan)
    if version.purpose.has_ledger:
        slug = version.study.slug
        amounts_due = record_due(enrolment, rule, study=slug, **earnings.rule_inputs(), games=earnings.games)
    else:
        amounts_due = rules.due(rule, ending=enrolment.state, **earnings.rule_inputs())
    contact = version.study.entry_rules().contact
    show_earnings(placement, rule, amounts_due, earnings, purpose=version.purpose, contact=contact)
    if enrolment.state == State.OPPONENT_FAILED:
        # The match's log, which says whose failure it was, is written last in this transaction.
        transaction.on_commit(partial(faults.pause_after_failure, version.study, enrolment), robust=True)
        faults.pause_over_cap(version.study)
    counts = counted_movers(version.agents().values())
    left_check = Quiz.kind in people.unanswered(enrolment)
    if enrolment.state != State.COMPLETED or left_check or has_substitute_moves(enrolment, counts):
        enrolling.release(enrolment)


def debriefing_of(placement: Placement, contact: str) -> str:
    """Return the text of the last page for those who played; empty if there is none, or not for them."""
    stage = next((stage for stage in placement.plan.stages() if isinstance(stage, stages.Debriefing)), None)
    if stage is None or not stage.text:
        return ""
    if stage.show_if and not Condition.parse(stage.show_if).holds(values_of(placement.enrolment)):
        return ""
    if stage.text == DEFAULT_TEXT:
        return texts.default_debriefing(contact)
    levels = placement.cell.factors if placement.cell is not None else {}
    return journeys.rendered(stage.text, journeys.variables_of(placement.version.reader, levels))


def show_earnings(
    placement: Placement,
    rule: rules.PayRule,
    amounts_due: Mapping[str, Decimal],
    earned: Earnings,
    *,
    purpose: str,
    contact: str,
) -> None:
    """Write what the last page shows: the pay and, for those who played, the debriefing and the disclosure.

    Args:
        contact: whom to ask about the pay; empty if the study names nobody.
    """
    enrolment, plan = placement.enrolment, placement.plan
    came_by = Identity.objects.filter(enrolment=enrolment).values_list("recruiter", flat=True).first()
    entry = came_by or plan.entry.via
    total = rules.cents(sum(amounts_due.values(), Decimal(0)))
    seats = Seat.objects.select_related("match").filter(enrolment=enrolment).order_by("step")
    games = {number: seat.match.configured() for number, seat in enumerate(seats, start=1)}
    lines = pay_lines(enrolment.state, rule, amounts_due, earned, games)
    amounts = [
        {"reason": _shown_reason(enrolment.state, reason), "amount": texts.in_currency(amount, rule.currency)}
        for reason, amount in amounts_due.items()
    ]
    enrolment.earnings = {
        "amounts": amounts,
        "lines": [line.as_data(rule.currency) for line in lines],
        "total": texts.in_currency(total, rule.currency),
        "within": texts.paid_within(plan.pay.within),
        "ask": texts.whom_to_ask(contact, entry),
        "purpose": purpose,
        "entry": entry,
    }
    if enrolment.state == State.NO_PARTNER and (place := last_unsuccessful_place(enrolment)):
        enrolment.earnings["missed_starts"] = place.missed
    if earned.until:
        enrolment.earnings |= {"played": earned.played, "until": dict(earned.until)}
    if enrolment.seats.exists() and (debriefing := debriefing_of(placement, contact)):
        enrolment.earnings["debriefing"] = debriefing
    if enrolment.seats.exists() and (sentences := disclosure.late_disclosure(enrolment)):
        enrolment.earnings["kept_back"] = sentences
    enrolment.save(update_fields=["earnings"])


@dataclass(frozen=True)
class Line:
    """One line of the sum on the last page.

    Attributes:
        reason: "base", "bonus", "waiting", "limit" (of the bonus) or "lost" (by a wrong answer).
        amount: in whole cents; the lines of a page add up to what is owed.
        because: where the amount comes from.
        game: the number of the match that it is for, if there are several.
    """

    reason: str
    amount: Decimal
    because: str = ""
    game: int | None = None

    def as_data(self, currency: str) -> dict[str, Any]:
        amount = texts.in_currency(self.amount, currency)
        return {"reason": self.reason, "amount": amount, "because": self.because, "game": self.game}


def pay_lines(
    ending: str, rule: rules.PayRule, amounts_due: Mapping[str, Decimal], earned: Earnings, games: Mapping[int, Any]
) -> list[Line]:
    """Return the sum on the last page, line by line; a wrong answer's cost is one line, however many were wrong.

    Args:
        games: of the participant's matches, by number.
    """
    owed, lost = dict(amounts_due), Decimal(0)
    if ending == State.FAILED_QUIZ:
        completing = rules.due(rule, ending=State.COMPLETED, **earned.rule_inputs())
        lost = sum(owed.values(), Decimal(0)) - sum(completing.values(), Decimal(0))
        if lost < 0:
            ending, owed = State.COMPLETED, completing
    because = texts.base_reason(rule, ending=ending, played=earned.played)
    lines = [Line("base", rules.cents(owed.get("base", Decimal(0))), because)]
    lines += _bonus_lines(ending, rule, rules.cents(owed.get("bonus", Decimal(0))), earned, games)
    if lost < 0:
        lines.append(Line("lost", lost, _("not every answer after the game was right")))
    return lines


def _bonus_lines(
    ending: str, rule: rules.PayRule, amount: Decimal, earned: Earnings, games: Mapping[int, Any]
) -> Iterator[Line]:
    """Yield a line for the bonus; with several matches, one for each; and one for what the bonus's limits change."""
    counted = earned.counted if rule.endings.get(ending) == "base_and_bonus" else ()
    if not counted:
        because = texts.bonus_reason(rule, ending=ending, result=None, game=None, waited=earned.waited)
        yield Line(_shown_reason(ending, "bonus"), amount, because)
        return
    own = [earned.own[result.number] for result in counted if earned.own]
    parts, change = rules.bonus_parts(rule, [(result.payoff, result.share) for result in counted], own)
    part_of = dict(zip((result.number for result in counted), parts, strict=True))
    for result in earned.results:
        game = games[result.number]
        if result.number not in part_of:
            because = _("{earned}; this game does not count").format(earned=texts.earned_in(game, result.payoff))
        elif own:
            bonus = texts.in_currency(earned.own[result.number], rule.currency)
            because = _("{earned}, which pays {bonus}").format(earned=texts.earned_in(game, result.payoff), bonus=bonus)
        else:
            because = texts.bonus_reason(rule, ending=ending, result=(result.payoff, result.share), game=game)
        if len(parts) > 1:
            because = _("{reason}, divided by {games} games").format(reason=because, games=len(parts))
        number = result.number if len(earned.results) > 1 else None
        yield Line("bonus", part_of.get(result.number, rules.cents(Decimal(0))), because, number)
    if change:
        yield Line("limit", change, texts.limit_reason(rule, change))


def _shown_reason(ending: str, reason: str) -> str:
    """Return the reason as shown to the participant: pay for waiting is a bonus with its own name."""
    return "waiting" if reason == "bonus" and ending == State.NO_PARTNER else reason


def has_substitute_moves(enrolment: Enrolment, counts: Collection[str]) -> bool:
    """Return whether the clock or an agent moved for this participant, or for an agent, in one of their matches.

    Such a match is kept and paid but stays out of the dataset (`exports.gate`) and does not count towards the quota.
    A move made for another participant concerns only that participant.

    Args:
        counts: whose substitute moves still count as data (`opponents.agents.counted_movers`).
    """
    seats = Seat.objects.filter(enrolment=enrolment)
    matches = seats.values("match")
    others = Seat.objects.filter(match__in=matches, enrolment__isnull=False).exclude(enrolment=enrolment)
    others_moves = others.filter(match=OuterRef("match"), role=OuterRef("role"))
    moves = Event.objects.filter(match__in=matches, kind="move", data__by__isnull=False)
    return moves.exclude(data__by__in=list(counts)).exclude(Exists(others_moves)).exists()


@dataclass(frozen=True)
class Earnings:
    """The results that a participant's pay is computed from.

    Attributes:
        payoff, share: of the matches that count; None if no match was finished.
        waited: seconds of waiting for a group that never formed.
        games: with several matches, each one's number, payoff, share and whether it counts, and its own bonus.
        bonus: if a game pays by a rule of its own: the mean of the bonuses of the matches that count.
        results, counted: of the finished matches, and of those that the bonus is computed from.
        own: each match's bonus by its number, if a game pays by a rule of its own.
        played: how much of all matches of the session was played, from 0 to 1; 0 if the ending's pay does not ask.
        until: the number of the last event that `played` counts, by the match's uid.
    """

    payoff: float | None
    share: float | None
    waited: float = 0
    games: tuple[Mapping[str, Any], ...] = ()
    played: float = 0
    until: Mapping[str, int] = field(default_factory=dict)
    bonus: Decimal | None = None
    results: Sequence[Result] = ()
    counted: Sequence[Result] = ()
    own: Mapping[int, Decimal] = field(default_factory=dict)

    def rule_inputs(self) -> dict[str, Any]:
        """Return the numbers that `plans.pay.due` reads."""
        numbers = {"payoff": self.payoff, "share": self.share, "waited": self.waited, "played": self.played}
        return {**numbers, "own_bonus": self.bonus}


def earnings_of(enrolment: Enrolment, plan: Plan) -> Earnings:
    """Return the results that a participant's pay is computed from, under their plan."""
    rule, matches = plan.pay.rule_for(), matches_in(enrolment)
    results = _results_of(enrolment)
    payoff, share, counted_numbers = counted_matches(results, plan.pay.bonus.of, seed=enrolment.seed)
    own = own_bonuses(plan, results)
    games: tuple[Mapping[str, Any], ...] = ()
    if matches > 1:
        games = tuple(
            {
                "game": result.number,
                "payoff": result.payoff,
                "share": result.share,
                "counts": result.number in counted_numbers,
                **({"bonus": str(own[result.number])} if own else {}),
            }
            for result in results
        )
    waited = waited_seconds(enrolment) if enrolment.state == State.NO_PARTNER else 0
    played, until = 0.0, dict[str, int]()
    if rule.endings.get(enrolment.state) == "base_after_half":
        played, until = _played(enrolment, matches)
    bonus = mean_bonus(rule, own, counted_numbers)
    counted = [result for result in results if result.number in counted_numbers]
    return Earnings(payoff, share, waited, games, played, until, bonus, results, counted, own)


def matches_in(enrolment: Enrolment) -> int:
    """Return how many matches a participant's path has, without those that a condition leaves out; at least 1."""
    return max(1, sum(step["kind"] == "match" and step.get("shown", True) for step in enrolment.steps))


@dataclass(frozen=True)
class Result:
    """One finished match of a participant.

    Attributes:
        number: among the participant's matches, from 1.
        stage: the name of the stage that played it.
    """

    number: int
    stage: str
    payoff: float
    share: float


def counted_matches(results: Sequence[Result], of: str, *, seed: int) -> tuple[float | None, float | None, list[int]]:
    """Return the payoff and share that the bonus is computed from, and the numbers of the matches that count.

    Args:
        results: of the finished matches.
        of: which matches count (`plans.pay.Bonus.of`).
        seed: determines which match is drawn.
    """
    if not results:
        return None, None, []
    counted = {
        "all": list(results),
        "last": [results[-1]],
        "random": [Random(f"{seed}/paid").choice(list(results))],
    }[of]
    return (
        fmean(result.payoff for result in counted),
        fmean(result.share for result in counted),
        [result.number for result in counted],
    )


def own_bonuses(plan: Plan, results: Sequence[Result]) -> dict[int, Decimal]:
    """Return each match's bonus by its number; empty if no game pays by a rule of its own."""
    pays = {stage.name: stage.pay for stage in plan.games()}
    if not any(pays.values()):
        return {}
    return {
        result.number: rules.bonus(plan.pay.rule_for(pays.get(result.stage)), payoff=result.payoff, share=result.share)
        for result in results
    }


def mean_bonus(rule: rules.PayRule, own: Mapping[int, Decimal], counted: Sequence[int]) -> Decimal | None:
    """Return the mean bonus of the matches that count, at most the study's maximum; None without own bonuses."""
    if not own or not counted:
        return None
    mean = sum((own[number] for number in counted), Decimal(0)) / len(counted)
    return rules.cents(min(mean, rule.cap))


def _played(enrolment: Enrolment, matches: int) -> tuple[float, dict[str, int]]:
    """Return how much of the session's matches was played until the participant stopped, and the last events counted.

    Others may play on without the participant, so this is computed once, when the enrolment ends. An agent's moves for
    the participant do not count.
    """
    if enrolment.earnings and "until" in enrolment.earnings:
        return enrolment.earnings["played"], enrolment.earnings["until"]
    shares, until = 0.0, dict[str, int]()
    for seat in Seat.objects.select_related("match").filter(enrolment=enrolment):
        if lent := seat.match.absences.get(seat.role, {}).get("lent"):
            played, last = lent["played"], lent["last"]
        else:
            play = seat.match.play()
            played, last = play.game.share_played(play.state), play.last
        shares += played
        until[str(seat.match.uid)] = last
    return shares / matches, until


def _results_of(enrolment: Enrolment) -> list[Result]:
    """Return a participant's finished matches that pay in the order they were played."""
    seats = Seat.objects.select_related("match").filter(enrolment=enrolment).order_by("step")
    results = []
    for number, seat in enumerate(seats, start=1):
        if seat.match.status == Match.Status.FINISHED and registry.get(seat.match.game).pays:
            payoff = (seat.match.payoffs or {})[seat.role]
            share = seat.match.configured().pay_share(seat.match.play().state, seat.role)
            results.append(Result(number, stage_of(enrolment, seat), payoff, share))
    return results


def stage_of(enrolment: Enrolment, seat: Seat) -> str:
    """Return the name of the stage that a match was played in."""
    stage: str = enrolment.steps[seat.step].get("stage", "")
    return stage
