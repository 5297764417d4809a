"""What every ending pays, computed apart from the code that pays, on participants who walk into it.

In a bargaining match of two rounds, four moves can be made: an offer and an answer in each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from itertools import product
from statistics import fmean

import pytest
from django.core.management import call_command

from matches import agents
from matches.models import Seat
from participants.states import ENDED, State
from payouts.models import LedgerRow
from plans.pay import CAN_PAY
from studies.tests import test_states as reaching
from tests.visitors import Visitor, arrived_participant, launched_study, text_of

pytestmark = pytest.mark.django_db

BASE, AVERAGE, CAP, RATE = Decimal("1.50"), Decimal("0.80"), Decimal("0.85"), Decimal("0.0002")
MONEY = 10_000
KEPT = (5000, 4000, 3000)
"""What the participant keeps in each match of a session."""

BY_DEFAULT = {
    "completed": "base and bonus", "failed_quiz": "base", "opponent_failed": "base and average",
    "our_outage": "base and average", "partner_left": "base and average", "no_partner": "base",
    "replaced": "base after half", "timed_out": "base after half", "dropped_out": "base after half",
    "screened_out": "nothing", "failed_code_word": "nothing", "failed_comprehension": "nothing", "withdrew": "nothing",
    "returned": "nothing",
}  # fmt: skip
"""The specification: what each ending pays."""
FINISHED = ("completed", "failed_quiz")
ABSENT = ("replaced", "timed_out", "dropped_out")


@dataclass(frozen=True)
class Case:
    """An ending, reached after a number of the moves that can be made, four in each match."""

    ending: str
    moves: int = 0
    pays: str = ""
    rule: str = "share"
    matches: int = 1
    counts: str = "all"

    def __str__(self) -> str:
        parts = (
            self.ending,
            self.pays or "by default",
            self.rule,
            f"{self.matches} {self.counts}",
            f"{self.moves} moves",
        )
        return ", ".join(parts)


def expected(case: Case) -> list[dict[str, Decimal]]:
    """Return the amounts that are right for a case; several if one match is drawn."""
    pays = case.pays.replace("_", " ") or BY_DEFAULT[case.ending]
    if pays == "base after half":
        pays = "base" if case.moves >= 4 * case.matches / 2 else "nothing"
    if pays == "nothing":
        return [{}]
    if pays == "base":
        return [{"base": BASE}]
    if pays == "base and average":
        return [{"base": BASE, "bonus": min(AVERAGE, CAP)}]
    kept = KEPT[: case.matches]
    results = {"all": [fmean(kept)], "last": [kept[-1]], "random": list(kept)}[case.counts]
    return [{"base": BASE, "bonus": bonus(case.rule, result)} for result in results]


def bonus(rule: str, payoff: float) -> Decimal:
    amounts = {
        "share": 2 * AVERAGE * Decimal(str(payoff)) / MONEY,
        "linear": RATE * Decimal(str(payoff)),
        "fixed": AVERAGE,
    }
    return min(amounts[rule], CAP).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)


def walk(case: Case) -> Visitor:
    """Let a participant reach the case's ending."""
    screens = {"before": reaching.ADULTS} if case.ending == "screened_out" else {}
    study = launched_study(
        config={"rounds": 2},
        base=BASE,
        average=AVERAGE,
        cap=CAP,
        rate=RATE,
        rule=case.rule,
        repeats=case.matches,
        of=case.counts,
        endings={case.ending: case.pays} if case.pays else {},
        **screens,
    )
    visitor = Visitor(arrived_participant(study))
    if case.ending not in (*FINISHED, *ABSENT):
        reaching.REACH_STATE[State(case.ending)](visitor)
        return visitor
    visitor.walk_to("match")
    if case.ending in FINISHED:
        for kept in KEPT[: case.matches]:
            agree(visitor, kept)
        visitor.send(loss_rate="10%" if case.ending == "completed" else "5%")
        return visitor
    for kept in KEPT[: case.moves // 4]:
        agree(visitor, kept)
    if case.moves % 4:
        offer(visitor, 9000)
    if case.moves % 4 == 3:
        let_agent_answer(visitor)
    {
        "dropped_out": reaching.stay_away,
        "timed_out": reaching.run_out_of_time,
        "replaced": reaching.end_now(State.REPLACED),
    }[case.ending](visitor)
    return visitor


def seat_of(visitor: Visitor) -> Seat:
    return Seat.objects.select_related("match").filter(enrolment=visitor.enrolment).order_by("step").last()


def offer(visitor: Visitor, kept: int) -> None:
    answering = seat_of(visitor).match.open_turns()["alice"].answering
    move = {"answering": answering, "alice_gain": str(kept), "bob_gain": str(MONEY - kept)}
    visitor.client.post(f"{visitor.url}match", move)


def let_agent_answer(visitor: Visitor) -> None:
    agents.answer_turn(
        match_uid=(match := seat_of(visitor).match).uid, role="bob", answering=match.open_turns()["bob"].answering
    )


def agree(visitor: Visitor, kept: int) -> None:
    """Play a match to an agreement in its first round, and go on."""
    offer(visitor, kept)
    let_agent_answer(visitor)
    visitor.send()
    visitor.see()


def reached(case: Case) -> tuple[str, dict[str, Decimal], str]:
    """Return the ending that a case's participant reached, the amounts owed, and the last page."""
    visitor = walk(case)
    owed = {row.reason: row.amount for row in LedgerRow.objects.filter(enrolment=visitor.enrolment)}
    return visitor.now().state, owed, text_of(visitor.see())


def check(case: Case) -> None:
    ending, owed, page = reached(case)
    assert ending == case.ending
    assert owed in expected(case)
    assert f"${sum(owed.values(), Decimal('0.00'))}" in page.split("Your pay")[1]
    if case.ending in ABSENT and not case.pays:
        assert ("half or more" if owed else "less than half") in page
    pretends = reaching.REACH_STATE.get(State(case.ending)) in reaching.PRETENDED
    if not pretends:
        call_command("check_people", verbosity=0)


def choices() -> Iterator[Case]:
    """Yield every ending with everything that a study may choose to pay for it."""
    for ending in BY_DEFAULT:
        yield from (Case(ending, moves) for moves in moves_before(ending, 1))
        yield from (Case(ending, 0, pays) for pays in CAN_PAY.get(ending, ()) if pays != "base_after_half")


def combinations() -> Iterator[Case]:
    """Yield every ending under every pay rule in sessions of every kind."""
    sessions = [(2, "all"), (2, "last"), (2, "random"), (3, "all")]
    for ending, rule, (matches, counts) in product(BY_DEFAULT, ("share", "linear", "fixed"), sessions):
        yield from (Case(ending, moves, "", rule, matches, counts) for moves in moves_before(ending, matches))


def moves_before(ending: str, matches: int) -> list[int]:
    """Return after how many moves to reach an ending: before half, at half and after it, if its pay may differ."""
    if ending not in ABSENT:
        return [0]
    # The agent rejects an offer and makes its own at once.
    around_half = {1: [0, 1, 3], 2: [0, 3, 4, 7], 3: [4, 5, 7]}[matches]
    # Time only runs out on one's own turn: with the first move of a match, or the answer in its last round.
    return [moves for moves in around_half if ending != "timed_out" or moves % 4 in (0, 3)]


def test_the_specification_names_every_ending():
    assert set(BY_DEFAULT) == set(ENDED)


@pytest.mark.parametrize("case", list(choices()), ids=str)
def test_every_ending_pays_what_the_study_chose(case: Case):
    check(case)


@pytest.mark.slow
@pytest.mark.parametrize("case", list(combinations()), ids=str)
def test_every_ending_pays_under_every_rule_in_every_session(case: Case):
    check(case)
