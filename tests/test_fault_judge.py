"""The judge of the fault test: it finds what is false and unpaid, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from tests import fault_judge
from tests.fault_record import Doing, Record, Seen, Terms, conduct, own_moves

TERMS = Terms(turn=20, extension=10, absence=40, grace=15, rounds=2, seats=2, people=2)
TITLES = {"p1": "Player 1", "p2": "Player 2"}


def match(waiting: str = "p1 p2", *, opened: float = 0, moves: str = "", **fields: Any) -> dict[str, Any]:
    """Return a match with these roles to answer, and these moves of the seats' own people."""
    turn = {"answering": 1, "opened": opened, "deadline": opened + 20, "extended": False}
    return {
        "status": "live",
        "ending": "",
        "over": False,
        "titles": TITLES,
        "waiting": waiting.split(),
        "rounds": [],
        "turns": dict.fromkeys(waiting.split(), turn),
        "absences": {},
        "moves": [[role, "", 10, 0.0] for role in moves.split()],
        **fields,
    }


def truth(state: str = "playing", *, role: str = "p1", **fields: Any) -> dict[str, Any]:
    ended = state not in ("playing", "waiting")
    step = "" if ended else "match"
    return {
        "state": state, "ended": ended, "step": step, "code": "", "earnings": None, "ledger": {}, "place": None,
        "role": role, "left": False, "match": match(), **fields,
    }  # fmt: skip


def record(*looks: tuple[float, str, dict[str, Any]], clock: list[str] | None = None, **fields: Any) -> Record:
    """Return a record of Ann, from what her page showed when, and what was true then."""
    seen = [
        Seen(at, "Ann", {"lines": [line] if line else [], "clock": clock, "over": False, "ended": False}, False, known)
        for at, line, known in looks
    ]
    return Record(TERMS, **{"doing": {"Ann": Doing()}, "seen": seen, **fields})


def said(found: list[fault_judge.Finding]) -> list[str]:
    return [finding.said for finding in found]


WAITING = "Waiting for Player 2. This page updates automatically."


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("line", "known", "fields", "false"),
    [
        pytest.param(WAITING, truth(match=match("p2")), {}, [], id="waiting, and they are asked"),
        pytest.param(WAITING, truth(), {}, [WAITING.split(". ")[0] + "."], id="waiting, but asked oneself"),
        pytest.param("You have answered.", truth(match=match("p2")), {}, [], id="answered"),
        pytest.param("You have answered.", truth(), {}, ["You have answered."], id="not answered"),
        pytest.param("You are offline.", truth(), {"doing": {"Ann": Doing(away=[(0, 9)])}}, [], id="offline"),
        pytest.param("You are offline.", truth(), {"outages": [("web", 0, 9)]}, ["You are offline."], id="server down"),
        pytest.param(
            "Your time is still running.", truth(), {"outages": [("database", 0, 9)]}, ["Your time is still running."],
            id="time stands still",
        ),
        pytest.param("Something new.", truth(), {}, ["Something new."], id="a sentence without a rule"),
    ],
)  # fmt: skip
def test_sentence_is_judged_by_what_was_true(
    line: str, known: dict[str, Any], fields: dict[str, Any], false: list[str]
):
    assert said(fault_judge.false_sentences(record((5.0, line, known), **fields))) == false


@pytest.mark.parametrize(
    ("shown", "is_false"), [("0:10", False), ("0:08", False), ("0:15", True), ("0:00", True)], ids=str
)
def test_clock_counts_only_time_in_which_people_are_served(shown: str, is_false: bool):
    seen = record((20.0, "", truth()), clock=["Time for your answer:", shown], outages=[("web", 5.0, 15.0)])
    assert bool(fault_judge.false_sentences(seen)) == is_false


def test_page_may_lag_behind_for_a_few_seconds():
    answered = truth(match=match("p1"))
    looks = [(second, WAITING, truth(match=match("p2")) if second < 3 else answered) for second in range(12)]
    late = [finding.at for finding in fault_judge.false_sentences(record(*looks))]
    assert late == [8.0, 9.0, 10.0, 11.0]


def test_page_that_says_it_is_cut_off_may_show_what_it_last_knew():
    looks = [
        Seen(at, "Ann", {"lines": ["You are offline.", WAITING], "over": False, "ended": False}, True, known)
        for at, known in [
            (0, truth(match=match("p2"))),
            *((second, truth(match=match("p1"))) for second in range(2, 30)),
        ]
    ]
    assert fault_judge.false_sentences(Record(TERMS, {"Ann": Doing(away=[(0, 30)])}, looks)) == []


def test_page_that_promised_the_answer_is_safe_is_held_to_it():
    promise = "Nothing you did is lost."
    pressed = {"doing": {"Ann": Doing(pressed=[(4.0, 1, 10)])}, "outages": [("database", 3.0, 8.0)]}
    lost = record((5.0, promise, truth()), (20.0, "", truth("timed_out")), **pressed)
    assert said(fault_judge.false_sentences(lost)) == [promise]
    kept = record((5.0, promise, truth()), (20.0, "", truth(match=match("p2", moves="p1"))), **pressed)
    assert fault_judge.false_sentences(kept) == []


class TestConduct:
    def of(self, seconds: int, **fields: Any) -> str:
        return conduct(record(*((float(at), "", truth()) for at in range(seconds)), **fields), "Ann")

    def test_who_lets_all_time_pass_is_late(self):
        assert self.of(40) == "late"

    def test_who_pressed_in_time_is_not_late(self):
        assert self.of(40, doing={"Ann": Doing(pressed=[(29.0, 1, 10)])}) == "did their part"

    def test_our_outage_is_nobodys_fault(self):
        assert self.of(40, outages=[("web", 5.0, 35.0)]) == "did their part"

    def test_short_absence_is_not_leaving_and_a_long_one_is(self):
        assert self.of(50, doing={"Ann": Doing(away=[(1.0, 35.0)])}) == "did their part"
        assert self.of(50, doing={"Ann": Doing(away=[(1.0, 49.0)])}) == "absent"


class TestPay:
    ROUNDS = ({"p1": 10, "p2": 90}, {"p1": 50, "p2": 60})

    def finished(self, state: str, **ledger: str) -> Record:
        over = match("", moves="p1 p2 p1 p2", rounds=list(self.ROUNDS), status="finished", over=True)
        total = f"${sum(map(float, ledger.values())):.2f}"
        return record((9.0, "", truth(state, match=over, ledger=ledger, earnings={"total": total})))

    def test_who_made_every_move_is_paid_for_completing(self):
        assert fault_judge.unpaid_work(self.finished("completed", base="1.00", bonus="4.00")) == []
        (finding,) = fault_judge.unpaid_work(self.finished("playing"))
        assert "2 own moves of 2" in finding.truth

    def test_an_answer_that_is_sent_again_before_the_round_ends_is_one_move(self):
        known = truth("timed_out", match=match("", moves="p1 p1 p2 p2", status="abandoned", over=True))
        assert len(own_moves(known)) == 1

    def test_wrong_bonus_is_found(self):
        (finding,) = fault_judge.unpaid_work(self.finished("completed", base="1.00", bonus="2.00"))
        assert finding.truth.endswith("owed $5.00")

    def test_outage_that_costs_somebody_the_game_is_found(self):
        out = [truth() for _second in range(8)] + [truth("timed_out")]
        looks = [(float(second), "", known) for second, known in enumerate(out)]
        assert said(fault_judge.unpaid_work(record(*looks, outages=[("web", 1.0, 7.0)]))) == [
            "ended as timed_out, paid $0"
        ]

    def test_equally_idle_people_are_paid_alike(self):
        idle = [Seen(float(at), who, {"lines": []}, False, truth()) for who in ("Ann", "Ben") for at in range(40)]
        ledgers = {"Ann": {}, "Ben": {"base": "1.00", "bonus": "2.00"}}
        last = [Seen(41.0, who, {"lines": []}, False, truth("timed_out", ledger=ledgers[who])) for who in ledgers]
        found = fault_judge.unpaid_work(Record(TERMS, {"Ann": Doing(), "Ben": Doing()}, idle + last))
        assert "both equally idle" in [finding.truth for finding in found]
