"""What a study does about a participant whose connection is lost for good: each policy, from the plan to the pay."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from matches.models import Match, Seat
from matches.tests.test_fair_time import START, Table
from participants.states import State
from payouts.models import LedgerRow
from recruiters.arrivals import Arrival
from studies import enrolling
from studies.models import Placement
from studies.tests.kit import launched, walk_to_lobby
from uptime import services as uptime

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
PRESENT = ("p1", "p2")


class Journey(Table):
    """Three participants of a launched study in the round of a contest, and a clock to set; p3's page is lost."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **timing: object):
        self.second = 0.0
        monkeypatch.setattr(timezone, "now", lambda: START + timedelta(seconds=self.second))
        monkeypatch.setattr(uptime, "MEMORY_SECONDS", -1)
        uptime.forget()
        study = launched(
            "absent", game="beauty_contest", config={"players": 4, "runs": 2}, via="open", quota=5, code_word=None,
            seats={"p1": "person", "p2": "person", "p3": "person", "p4": "script:rational"}, ready=0,
            agents=["script:rational"], turn=60, extension=0, report=0, absence=20, average="2.00",
            stand_in="script:rational", **timing,
        )  # fmt: skip
        for _person in range(3):
            walk_to_lobby(enrolling.enrol(study, Arrival("open", worker="", proof="")))
        self.match = Match.objects.get()
        self.play_round(*PRESENT)
        self.pass_time(90, calling=PRESENT)

    def answer_again(self) -> None:
        """Play the second round without p3."""
        self.play_round(*PRESENT)
        self.pass_time(self.second + 90, calling=PRESENT)

    def pay(self, role: str) -> dict[str, str]:
        seat = Seat.objects.get(match=self.match, role=role)
        return {row.reason: str(row.amount) for row in LedgerRow.objects.filter(enrolment=seat.enrolment)}

    def holders(self) -> set[str]:
        """Return the seats whose participants still hold their places."""
        return set(Placement.objects.filter(released_at=None).values_list("role", flat=True))


def test_end_ends_the_match_for_all_and_pays_those_who_stayed(monkeypatch):
    study = Journey(monkeypatch, on_timeout="default", on_absence="end")
    assert [study.state(role) for role in ("p1", "p2", "p3")] == [State.PARTNER_LEFT] * 2 + [State.DROPPED_OUT]
    assert study.pay("p1") == {"base": "1.00", "bonus": "2.00"} and study.pay("p3") == {}
    assert study.holders() == set()


@pytest.mark.parametrize(
    "timing", [{"on_timeout": "default"}, {"on_timeout": "end", "on_absence": "default"}], ids=["as_timeout", "default"]
)
def test_default_moves_and_the_others_go_on(monkeypatch, timing):
    study = Journey(monkeypatch, **timing)
    assert study.is_live and study.movers("p3") == ["clock"]
    study.answer_again()
    assert not study.is_live and study.movers("p3") == ["clock", "clock"]
    assert [study.state(role) for role in PRESENT] == [State.COMPLETED] * 2
    assert study.pay("p1")["base"] == "1.00"
    assert study.state("p3") != State.COMPLETED and study.holders() >= set(PRESENT)


@pytest.mark.parametrize("returns", [True, False])
def test_agent_takes_the_seat_and_gives_it_back_if_the_study_says_so(monkeypatch, returns):
    study = Journey(monkeypatch, on_timeout="end", on_absence="agent", returns=returns)
    assert study.is_live and study.state("p3") == (State.PLAYING if returns else State.REPLACED)
    study.call("p3")
    study.let_agent_answer("p3")
    if returns:
        study.play_round(*PRESENT, "p3")
        assert study.movers("p3") == ["script:rational", None]
        assert study.state("p3") == State.COMPLETED
    else:
        study.answer_again()
    assert not study.is_live
    assert [study.state(role) for role in PRESENT] == [State.COMPLETED] * 2
    assert study.holders() == set(PRESENT)
