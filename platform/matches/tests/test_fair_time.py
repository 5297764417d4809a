"""Time that participants are charged for: our outages and short losses of connection cost nobody a turn.

The tests set the clock; `second` is the time since the match was opened.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from matches import presence, screens, services, sweeps
from matches.errors import Stale
from matches.models import Event, Match, Seat
from matches.turns import dump
from opponents.agents import Agent
from participants import services as people
from participants.models import Enrolment
from participants.states import State
from uptime import services as uptime

START = datetime(2026, 11, 23, 12, tzinfo=UTC)
STANDIN = Agent(spec="script:rational").frozen()
ROLES = ("p1", "p2", "p3", "p4")
REST = ROLES[:3]


class Table:
    """A sealed round of four participants who have sixty seconds each, and a clock to set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **timers: object):
        self.second = 0.0
        monkeypatch.setattr(timezone, "now", lambda: START + timedelta(seconds=self.second))
        monkeypatch.setattr(uptime, "MEMORY_SECONDS", -1)
        self.match = services.open_match(
            game="beauty_contest",
            config={"players": 4, "runs": 4},
            players={role: services.Player(enrolment=self._person(), step=0) for role in ROLES},
            seed=1,
            timers={"turn_seconds": 60, "extension_seconds": 0, **timers},
        )

    def _person(self) -> Enrolment:
        steps = [{"kind": "match", "game": "beauty_contest"}, {"kind": "survey_after"}]
        return Enrolment.objects.create(
            steps=steps,
            expires_at=START + timedelta(minutes=60),
            arrived_at=START,
            last_seen_at=START,
            state=State.PLAYING,
        )

    def pass_time(
        self, until: float, *, calling: tuple[str, ...] = ROLES, served: bool = True, sweeping: bool = True
    ) -> None:
        """Let time pass, with heartbeats, and every five seconds calls of these participants' pages and a sweep."""
        while self.second < until:
            self.second += 2.5
            if served:
                uptime.beat()
            if self.second % 5:
                continue
            for role in calling if served else ():
                self.call(role)
            if sweeping:
                sweeps.note_absences()
                sweeps.time_out_overdue()
        self.match.refresh_from_db()

    def call(self, role: str) -> bool:
        return presence.heard(Seat.objects.select_related("enrolment").get(match=self.match, role=role))

    def answer(self, role: str, *, made_at: float | None = None) -> None:
        self.match.refresh_from_db()
        services.submit_move(
            match_id=self.match.pk,
            role=role,
            move={"answer": 10},
            answering=self.match.open_turns()[role].answering,
            made_at=START + timedelta(seconds=self.second if made_at is None else made_at),
        )
        self.match.refresh_from_db()

    def play_round(self, *roles: str) -> None:
        """Answer for these participants, and let the agents answer."""
        for role in roles:
            self.answer(role)
        for role, turn in self.match.open_turns().items():
            if turn.by_agent:
                self.let_agent_answer(role)

    def let_agent_answer(self, role: str) -> None:
        answering = self.match.open_turns()[role].answering
        services.submit_move(match_id=self.match.pk, role=role, move={"answer": 20}, answering=answering)
        self.match.refresh_from_db()

    def frame(self, role: str) -> dict:
        self.match.refresh_from_db()
        return screens.frame(self.match, role)

    def countdowns(self) -> list[int]:
        """Return the seconds for which p1's page says that the game waits for someone who has lost the connection."""
        return [int(seconds) for seconds in re.findall(r'data-countdown="(\d+)"', self.frame("p1")["html"])]

    def state(self, role: str) -> str:
        return Enrolment.objects.get(seats__match=self.match, seats__role=role).state

    def states(self) -> list[str]:
        return [self.state(role) for role in ROLES]

    def movers(self, role: str) -> list[str | None]:
        moves = Event.objects.filter(match=self.match, kind="move", role=role).order_by("number")
        return [move.data.get("by") for move in moves]

    @property
    def is_live(self) -> bool:
        self.match.refresh_from_db()
        return self.match.status == Match.Status.LIVE


@pytest.fixture
def seat_people(db: None, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Table]:
    uptime.forget()
    return lambda **timers: Table(monkeypatch, **timers)


class TestOurOutages:
    def test_an_outage_costs_nobody_a_second(self, seat_people):
        table = seat_people()
        table.pass_time(50)
        table.pass_time(80, served=False)
        table.pass_time(90)
        assert table.is_live
        assert [table.frame(role)["remaining"] for role in ROLES] == [2] * 4  # the heartbeat was missing for 32.5 s
        for role in ROLES:
            table.answer(role)
        assert set(table.match.open_turns()) == set(ROLES)

    @pytest.mark.slow
    def test_time_stands_still_on_the_page_during_an_outage_that_others_notice(self, seat_people):
        table = seat_people()
        table.pass_time(50)
        table.pass_time(75, served=False)
        assert table.frame("p1")["remaining"] == 10

    def test_nobody_is_judged_by_a_server_that_has_just_died(self, seat_people):
        table = seat_people()
        table.pass_time(57.5)
        table.second = 60.4
        sweeps.time_out_overdue()
        assert table.is_live

    def test_a_move_made_in_time_counts_when_delivered_after_the_outage(self, seat_people):
        table = seat_people()
        table.pass_time(57.5)
        table.pass_time(87.5, served=False)
        table.pass_time(95, calling=())
        table.answer("p1", made_at=57)
        assert table.movers("p1") == [None]

    @pytest.mark.slow
    def test_a_move_made_after_the_limit_does_not(self, seat_people):
        table = seat_people()
        table.pass_time(57.5)
        table.pass_time(87.5, served=False)
        table.pass_time(100)
        with pytest.raises(Stale, match="time was up"):
            table.answer("p1", made_at=96)
        assert table.movers("p1") == []

    @pytest.mark.slow
    def test_a_page_cannot_claim_to_have_waited_longer_than_the_outage(self, seat_people):
        table = seat_people()
        table.pass_time(40)
        table.pass_time(45, served=False)
        table.pass_time(80, sweeping=False)
        with pytest.raises(Stale):
            table.answer("p1", made_at=30)

    @pytest.mark.slow
    def test_a_late_move_is_refused_with_the_reason_and_changes_nothing(self, seat_people):
        table = seat_people()
        table.pass_time(70, sweeping=False)
        before = Match.objects.filter(pk=table.match.pk).values().get()
        with pytest.raises(Stale, match="Your time was up"):
            table.answer("p1")
        assert Match.objects.filter(pk=table.match.pk).values().get() == before

    def test_people_who_never_come_back_from_an_outage_and_their_partners_end_by_our_outage(self, seat_people):
        table = seat_people(absence=20)
        table.pass_time(10)
        table.pass_time(40, served=False)
        table.pass_time(60, calling=REST)
        table.play_round(*REST)
        table.pass_time(150, calling=REST)
        assert table.states() == [State.OUR_OUTAGE] * 4
        assert table.match.ending == State.OUR_OUTAGE

    def test_an_enrolments_time_is_extended_too(self, seat_people):
        table = seat_people(turn_seconds=1000)
        Enrolment.objects.update(expires_at=START + timedelta(seconds=30))
        table.pass_time(20)
        table.pass_time(50, served=False)
        table.pass_time(60)
        assert people.end_expired() == 0
        table.pass_time(67.5)
        assert people.end_expired() == 4
        assert set(table.states()) == {State.DROPPED_OUT}


class TestAbsence:
    def test_the_match_waits_for_someone_who_has_lost_the_connection(self, seat_people):
        table = seat_people()
        table.play_round(*REST)
        table.pass_time(100, calling=REST)
        assert table.is_live
        assert table.countdowns() == [20]
        assert table.frame("p4")["absence_left"] == 20

    def test_who_comes_back_has_time_to_deliver_the_answer(self, seat_people):
        table = seat_people()
        table.pass_time(90, calling=())
        table.call("p4")
        assert table.frame("p4")["remaining"] == 60
        assert table.frame("p4")["absence_left"] == 30
        assert len(table.countdowns()) == 2  # those of p2 and p3
        table.answer("p4", made_at=55)
        assert table.movers("p4") == [None]

    @pytest.mark.slow
    def test_the_budget_is_for_the_whole_match(self, seat_people):
        table = seat_people(absence=30)
        table.play_round(*REST)
        table.pass_time(25, calling=REST)
        table.call("p4")
        table.answer("p4")
        assert table.frame("p4")["absence_left"] == 5
        table.play_round(*REST)
        table.pass_time(80, calling=REST)
        assert table.is_live
        table.pass_time(90, calling=REST)
        assert table.state("p4") == State.DROPPED_OUT

    @pytest.mark.slow
    def test_absence_while_others_are_asked_costs_nothing(self, seat_people):
        table = seat_people()
        table.answer("p4")
        table.pass_time(50, calling=REST)
        assert table.countdowns() == []
        table.call("p4")
        assert table.frame("p4")["absence_left"] == 120

    @pytest.mark.slow
    def test_our_outages_do_not_use_up_the_budget(self, seat_people):
        table = seat_people()
        table.pass_time(10)
        table.pass_time(50, served=False)
        table.pass_time(55)
        assert table.frame("p4")["absence_left"] >= 115

    def test_others_learn_nothing_in_a_blind_match(self, seat_people):
        table = seat_people(told={"others": "none"})
        table.pass_time(20, calling=("p1",))
        assert table.countdowns() == []

    def test_someone_who_merely_does_not_answer_gets_no_budget(self, seat_people):
        table = seat_people()
        table.play_round(*REST)
        table.pass_time(70)
        assert table.state("p4") == State.TIMED_OUT


POLICIES = [
    ("end", [State.TIMED_OUT, State.TIMED_OUT, State.PARTNER_LEFT, State.PARTNER_LEFT]),
    ("default", [State.PLAYING] * 4),
    ("agent", [State.PLAYING] * 4),
]


@pytest.mark.every_case
class TestLateSeats:
    @pytest.mark.parametrize(("policy", "states"), POLICIES)
    def test_equally_idle_people_are_treated_alike(self, seat_people, policy, states):
        table = seat_people(on_timeout=policy, standin=STANDIN)
        table.answer("p3")
        table.answer("p4")
        turns = table.match.open_turns()
        turns["p2"] = replace(turns["p2"], deadline=turns["p2"].deadline + timedelta(seconds=1, microseconds=3))
        Match.objects.filter(pk=table.match.pk).update(turns=dump(turns))
        table.pass_time(70)
        assert table.states() == states
        late = {"end": [[], []], "default": [["clock"]] * 2, "agent": [[], []]}[policy]
        assert [table.movers(role) for role in ("p1", "p2")] == late
        if policy == "agent":
            assert [table.match.open_turns()[role].by_agent for role in ("p1", "p2")] == [True, True]

    def test_if_nobody_else_is_left_the_match_ends_for_all_alike(self, seat_people):
        table = seat_people(on_timeout="agent", standin=STANDIN)
        table.pass_time(70)
        assert table.states() == [State.TIMED_OUT] * 4


class TestReturning:
    """An agent takes the seat of participants whose time is up."""

    @pytest.fixture
    def table(self, seat_people) -> Table:
        """Leave p4's seat to an agent because p4 has lost the connection."""
        table = seat_people(on_timeout="agent", standin=STANDIN, absence=30)
        table.play_round(*REST)
        table.pass_time(70, calling=REST)
        assert table.match.open_turns()["p4"].by_agent
        return table

    def test_who_is_heard_again_plays_again_from_the_next_turn(self, table):
        assert table.call("p4")
        assert table.frame("p4")["answering"] is None and "<form" not in table.frame("p4")["html"]
        assert "A program is answering this" in table.frame("p4")["html"]
        with pytest.raises(Stale, match="A program answers"):
            table.answer("p4")
        table.let_agent_answer("p4")
        assert "A program made 1 move" in table.frame("p4")["html"]
        assert "A program made" not in table.frame("p1")["html"]
        table.answer("p4")
        assert table.movers("p4") == ["script:rational", None]
        assert "A program made" not in table.frame("p4")["html"]

    @pytest.mark.slow
    def test_the_others_see_which_seat_a_program_plays_and_when_no_longer(self, table):
        assert 'data-note="program"' in table.frame("p1")["html"]
        table.call("p4")
        table.let_agent_answer("p4")
        assert 'data-note="program"' not in table.frame("p1")["html"]

    @pytest.mark.slow
    def test_who_never_comes_back_was_replaced(self, table):
        table.play_round()
        for _round in range(3):
            table.play_round(*REST)
        assert table.match.status == Match.Status.FINISHED
        assert table.state("p4") == State.REPLACED
        assert Seat.objects.get(match=table.match, role="p4").left_at == START + timedelta(seconds=65)
        assert not table.call("p4")
        assert table.match.absences["p4"]["lent"]["played"] == 0  # the program's moves are not p4's

    @pytest.mark.slow
    def test_a_page_that_was_there_does_not_take_the_seat_back_until_its_participant_says_so(self, seat_people):
        table = seat_people(on_timeout="agent", standin=STANDIN)
        table.answer("p1")
        table.pass_time(90, calling=("p2", "p3", "p4", "p1"))
        table.play_round()
        assert "Are you there?" in table.frame("p4")["html"]
        assert table.match.open_turns()["p4"].by_agent
        services.come_back(match_id=table.match.pk, role="p4")
        table.answer("p1")
        table.let_agent_answer("p4")
        table.play_round()
        assert not table.match.open_turns()["p4"].by_agent

    @pytest.mark.slow
    def test_who_has_left_for_good_never_gets_the_seat_back(self, table):
        people.withdraw(enrolment_id=Enrolment.objects.get(seats__match=table.match, seats__role="p4").pk)
        sweeps.sweep()
        assert not table.call("p4")
        table.let_agent_answer("p4")
        assert table.match.open_turns()["p4"].by_agent
        assert table.state("p4") == State.WITHDREW

    def test_the_match_ends_for_all_alike_when_everyone_is_replaced(self, table):
        table.play_round()
        table.pass_time(150, calling=())
        assert table.states() == [State.DROPPED_OUT] * 4

    @pytest.mark.slow
    def test_without_returning_the_seat_is_gone_at_once(self, seat_people):
        table = seat_people(on_timeout="agent", standin=STANDIN, absence=30, returns=False)
        table.play_round(*REST)
        table.pass_time(70, calling=REST)
        assert table.state("p4") == State.REPLACED
        assert not table.call("p4")

    @pytest.mark.slow
    def test_who_lost_the_connection_plays_again_once_the_page_calls_though_the_clock_moved(self, seat_people):
        table = seat_people(on_timeout="default", absence=20)
        for _round in range(2):
            table.play_round(*REST)
            table.pass_time(table.second + 70, calling=REST)
        assert table.movers("p4") == ["clock", "clock", "clock"]
        table.call("p4")
        table.play_round(*REST)
        assert "p4" in table.match.open_turns()
