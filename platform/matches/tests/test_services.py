"""Matches: every move is made once and in the same way, and the clock leaves nobody waiting."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

import games.play
from games.errors import Refused
from matches import services, sweeps
from matches.errors import Stale
from matches.models import Event, Match
from matches.tests.kit import opened
from matches.turns import OpenTurn, dump
from participants.models import Enrolment
from participants.states import State

pytestmark = pytest.mark.django_db

OFFER = {"alice_gain": 6000, "bob_gain": 4000}


@pytest.fixture
def match() -> Match:
    """Open a match between a participant as alice and an agent as bob that no worker runs."""
    return opened()


@pytest.fixture
def person(match: Match) -> Enrolment:
    return Enrolment.objects.get()


def open_turn(match: Match) -> OpenTurn:
    match.refresh_from_db()
    (turn,) = match.open_turns().values()
    return turn


def make_overdue(match: Match) -> None:
    a_second_ago = timezone.now() - timedelta(seconds=1)
    match.refresh_from_db()
    turns = {role: replace(turn, deadline=a_second_ago) for role, turn in match.open_turns().items()}
    Match.objects.filter(pk=match.pk).update(turns=dump(turns), deadline=a_second_ago)


def submit(match: Match, role: str, move: dict, answering: int | None = None) -> services.MoveResult:
    return services.submit_move(
        match_id=match.pk, role=role, move=move, answering=answering or open_turn(match).answering
    )


def log_of(match: Match) -> list[tuple[int, str]]:
    return list(Event.objects.filter(match=match).order_by("number").values_list("number", "kind"))


def test_a_move_is_logged_with_when_it_was_asked_for_and_opens_the_others_turn_once(match):
    assert log_of(match) == [(1, "start")]
    first = open_turn(match)
    assert (first.role, first.answering, first.by_agent) == ("alice", 1, False)
    submit(match, "alice", OFFER)
    with pytest.raises(Stale):
        submit(match, "alice", OFFER, answering=1)
    assert log_of(match) == [(1, "start"), (2, "move")]
    turn = open_turn(match)
    assert (turn.role, turn.answering, turn.by_agent) == ("bob", 2, True)
    move = Event.objects.get(match=match, kind="move")
    assert move.asked_at == first.opened_at <= move.at


def test_agreement_ends_the_match_with_payoffs_and_metrics(match):
    submit(match, "alice", OFFER)
    assert submit(match, "bob", {"decision": "accept"}).over
    match.refresh_from_db()
    assert match.status == Match.Status.FINISHED
    assert match.payoffs == {"alice": 6000, "bob": 4000}
    assert match.metrics["agreement"] is True
    assert match.open_turns() == {}
    assert match.deadline is None
    assert match.requeue_at is None
    with pytest.raises(Stale, match="over"):
        submit(match, "alice", OFFER, answering=1)


@pytest.mark.parametrize(
    ("role", "move", "answering", "error"),
    [
        pytest.param("alice", {"alice_gain": 6000, "bob_gain": 5000}, 1, Refused, id="does not sum"),
        pytest.param("alice", {"alice_gain": -1, "bob_gain": 10001}, 1, Refused, id="negative"),
        pytest.param("alice", {"alice_gain": "x", "bob_gain": 1}, 1, Refused, id="not a number"),
        pytest.param("alice", {"alice_gain": float("nan"), "bob_gain": 1}, 1, Refused, id="NaN"),
        pytest.param("alice", {"alice_gain": float("inf"), "bob_gain": 1}, 1, Refused, id="infinity"),
        pytest.param("alice", {**OFFER, "message": "x" * 10_000}, 1, Refused, id="10,000-character message"),
        pytest.param("alice", {**OFFER, "message": "a\x00b"}, 1, Refused, id="unstorable message"),
        pytest.param("alice", {**OFFER, "extra": 1}, 1, Refused, id="unknown key"),
        pytest.param("bob", {"decision": "accept"}, 1, Stale, id="out of turn"),
        pytest.param("alice", OFFER, 7, Stale, id="wrong event number"),
        pytest.param("carol", OFFER, 1, Stale, id="no such role"),
    ],
)
def test_a_bad_move_is_refused_and_changes_nothing(match, role, move, answering, error):
    before = Match.objects.filter(pk=match.pk).values().get()
    with pytest.raises(error):
        submit(match, role, move, answering)
    assert Match.objects.filter(pk=match.pk).values().get() == before
    assert log_of(match) == [(1, "start")]
    assert open_turn(match).role == "alice"


def test_the_log_replays_to_the_stored_result(match):
    submit(match, "alice", OFFER)
    submit(match, "bob", {"decision": "reject"})
    submit(match, "bob", {"alice_gain": 5000, "bob_gain": 5000, "message": "Half each?"})
    submit(match, "alice", {"decision": "accept"})
    match.refresh_from_db()
    replayed = games.play.replay_events(match.configured(), match.log())
    assert replayed.payoffs() == match.payoffs
    assert replayed.metrics() == match.metrics


class TestClock:
    def test_the_first_time_out_gives_extra_time_once(self, match, person):
        sweeps.sweep()
        assert not open_turn(match).extended
        make_overdue(match)
        sweeps.sweep()
        turn = open_turn(match)
        assert turn.extended
        assert turn.deadline > timezone.now()
        person.refresh_from_db()
        assert person.state == State.PLAYING

    @pytest.mark.every_case
    @pytest.mark.parametrize(("silent", "state"), [(False, State.TIMED_OUT), (True, State.DROPPED_OUT)])
    def test_the_second_time_out_ends_the_match_and_a_silent_page_has_dropped_out(self, match, person, silent, state):
        if silent:
            Match.objects.filter(pk=match.pk).update(timers={"absence": 0})
            Enrolment.objects.filter(pk=person.pk).update(last_seen_at=timezone.now() - timedelta(minutes=5))
        self.expire_turn_twice(match)
        match.refresh_from_db()
        person.refresh_from_db()
        assert (match.status, match.payoffs) == (Match.Status.ABANDONED, None)
        assert person.state == state

    def test_default_move_is_played_and_flagged_if_configured(self, match):
        Match.objects.filter(pk=match.pk).update(timers={"on_timeout": "default"})
        self.expire_turn_twice(match)
        move = Event.objects.get(match=match, kind="move")
        assert move.data["by"] == "clock"
        assert open_turn(match).role == "bob"

    def test_an_agent_that_never_answers_counts_as_failed(self, match, person):
        submit(match, "alice", OFFER)
        make_overdue(match)
        sweeps.sweep()
        match.refresh_from_db()
        person.refresh_from_db()
        assert match.ending == State.OPPONENT_FAILED
        assert person.state == State.OPPONENT_FAILED

    @staticmethod
    def expire_turn_twice(match):
        for _time in range(2):
            make_overdue(match)
            sweeps.sweep()


def test_a_withdrawal_ends_the_match_in_the_same_transaction(match, person):
    from participants import services as people

    people.withdraw(enrolment_id=person.pk)
    match.refresh_from_db()
    assert (match.status, match.ending) == (Match.Status.ABANDONED, State.WITHDREW)
    abandoned = Event.objects.get(match=match, kind="abandoned")
    assert abandoned.data == {"reason": "withdrew", "role": "alice"}
