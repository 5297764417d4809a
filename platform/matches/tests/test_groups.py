"""Matches of several participants: small messages in a sealed round, and what happens to each seat."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

import games.play
from matches import announce, screens, services, sweeps
from matches.models import Event, Match, Seat
from matches.tests.kit import opened, participant
from matches.turns import dump
from opponents.agents import Agent
from participants import services as people
from participants.models import Enrolment
from participants.states import State

pytestmark = pytest.mark.django_db
STANDIN = Agent(spec="script:rational").frozen()


def new_participant() -> Enrolment:
    return participant(steps=[{"kind": "match", "game": "beauty_contest"}])


def open_contest(*, seats: int = 4, people: int = 3, runs: int = 4, **timers: object) -> Match:
    """Open a contest with participants in the first seats and scripts in the others."""
    players = {f"p{n}": new_participant() if n <= people else "script:rational" for n in range(1, seats + 1)}
    config = {"players": seats, "runs": runs}
    return opened(players, game="beauty_contest", config=config, timers={"extension_seconds": 0, **timers})


def person_in(match: Match, role: str) -> Enrolment:
    return Enrolment.objects.get(seats__match=match, seats__role=role)


def answer(match: Match, role: str, number: float = 10) -> None:
    match.refresh_from_db()
    services.submit_move(
        match_id=match.pk, role=role, move={"answer": number}, answering=match.open_turns()[role].answering
    )


def expire_turns(match: Match) -> None:
    """Let the time of all open turns run out."""
    match.refresh_from_db()
    a_second_ago = timezone.now() - timedelta(seconds=1)
    turns = {
        role: turn if turn.by_agent else replace(turn, deadline=a_second_ago)
        for role, turn in match.open_turns().items()
    }
    Match.objects.filter(pk=match.pk).update(turns=dump(turns), deadline=a_second_ago)
    services.handle_time_outs(match_id=match.pk)
    match.refresh_from_db()


def finish_round(match: Match, roles: list[str]) -> None:
    """Play the current round to its end with these participants and the script."""
    for role in roles:
        answer(match, role)
    match.refresh_from_db()
    for role, turn in match.open_turns().items():
        if turn.by_agent:
            answer(match, role)
    match.refresh_from_db()


def movers(match: Match, role: str) -> list[str | None]:
    return [
        event.data.get("by") for event in Event.objects.filter(match=match, kind="move", role=role).order_by("number")
    ]


class TestPageMessages:
    @pytest.fixture
    def sent_messages(self, monkeypatch: pytest.MonkeyPatch) -> list[dict]:
        """Collect the messages to the pages, in order."""
        messages: list[dict] = []
        monkeypatch.setattr(announce, "_send", lambda match, message: messages.append(message))
        monkeypatch.setattr(announce, "queue_turn", lambda match, turn: None)
        return messages

    def test_sealed_round_sends_small_messages_then_frames(
        self, sent_messages: list[dict], django_capture_on_commit_callbacks: Callable
    ):
        with django_capture_on_commit_callbacks(execute=True):
            match = open_contest(seats=3)
        sent_messages.clear()
        for role in ("p1", "p2", "p3"):
            with django_capture_on_commit_callbacks(execute=True):
                answer(match, role)
        assert [message["type"] for message in sent_messages] == ["match.marked", "match.marked", "match.moved"]
        assert sorted(sent_messages[-1]["frames"]) == ["p1", "p2", "p3"]

    def test_small_message_says_who_answered_but_not_what(
        self, sent_messages: list[dict], django_capture_on_commit_callbacks: Callable
    ):
        match = open_contest(seats=3)
        with django_capture_on_commit_callbacks(execute=True):
            answer(match, "p2", 77.25)
        (message,) = sent_messages
        assert message["news"]["seats"] == {"p1": "asked", "p2": "answered", "p3": "asked"}
        assert "77.25" not in str(message)
        assert message["news"]["awaited"].startswith("Waiting for Player 1 and Player 3.")

    def test_a_reloaded_page_shows_the_same_marks_and_who_is_awaited(self):
        match = open_contest(seats=3)
        answer(match, "p2", 77.25)
        match.refresh_from_db()
        own_screen, other_screen = (screens.frame(match, role)["html"] for role in ("p2", "p1"))
        assert 'data-seat="p2" data-mark="answered"' in other_screen
        assert 'data-seat="p3" data-mark="asked"' in other_screen
        assert "77.25" not in other_screen
        assert "Waiting for Player 1 and Player 3." in own_screen
        assert "You have answered." in own_screen and "Choose a number" not in own_screen
        assert "Choose a number" in other_screen


class TestNames:
    """Chosen names are shown to the other participants of the match."""

    def page(self, match: Match, role: str) -> str:
        person = person_in(match, role)
        return Client().get(person.get_absolute_url()).content.decode()

    def test_names_are_shown_as_text(self):
        match = open_contest(seats=3, people=3)
        Enrolment.objects.filter(seats__match=match, seats__role="p2").update(display_name="Kim")
        Enrolment.objects.filter(seats__match=match).exclude(seats__role="p2").update(display_name="Sam <b>")
        html = self.page(match, "p1")
        assert "Player 2: “<bdi>Kim</bdi>”" in html
        assert "Player 3: “<bdi>Sam &lt;b&gt;</bdi>”" in html

    def test_names_never_reveal_who_is_a_participant(self):
        match = open_contest(seats=3, people=2)
        Enrolment.objects.filter(seats__match=match, seats__role="p1").update(display_name="Sam")
        Enrolment.objects.filter(seats__match=match, seats__role="p2").update(display_name="Kim")
        html = self.page(match, "p1")
        assert "Player 1 (you): “<bdi>Sam</bdi>”" in html
        assert "Kim" not in html


class TestEnd:
    """`on_timeout` is "end"."""

    def test_silent_participant_times_out_and_ends_the_match(self):
        match = open_contest()
        answer(match, "p1")
        answer(match, "p2")
        expire_turns(match)
        assert match.status == Match.Status.ABANDONED
        assert person_in(match, "p3").state == State.TIMED_OUT
        assert {person_in(match, role).state for role in ("p1", "p2")} == {State.PARTNER_LEFT}

    def test_a_withdrawal_ends_the_match_for_the_others_too(self):
        match = open_contest()
        people.withdraw(enrolment_id=person_in(match, "p2").pk)
        sweeps.leave_for_ended_enrolments()
        match.refresh_from_db()
        assert match.status == Match.Status.ABANDONED
        assert [person_in(match, role).state for role in ("p1", "p2", "p3")] == [
            State.PARTNER_LEFT,
            State.WITHDREW,
            State.PARTNER_LEFT,
        ]


def test_the_last_round_completes_everyone_who_played_it_themselves():
    match = open_contest(runs=1, on_timeout="default")
    finish_round(match, ["p1", "p2"])
    assert not person_in(match, "p1").ended
    expire_turns(match)
    assert match.status == Match.Status.FINISHED
    assert {person_in(match, role).state for role in ("p1", "p2")} == {State.COMPLETED}
    assert not person_in(match, "p3").ended, "the clock answered for them"


class TestDefault:
    """`on_timeout` is "default"."""

    @pytest.fixture
    def match(self) -> Match:
        return open_contest(on_timeout="default")

    def test_clock_moves_for_silent_participants_and_at_once_after_two_missed_turns(self, match: Match):
        finish_round(match, ["p1", "p2"])
        expire_turns(match)
        assert movers(match, "p3") == ["clock"]
        assert set(match.open_turns()) == {"p1", "p2", "p3", "p4"}
        finish_round(match, ["p1", "p2"])
        expire_turns(match)
        finish_round(match, ["p1", "p2"])
        assert movers(match, "p3") == ["clock"] * 4
        assert "p3" not in match.open_turns()

    def test_a_returning_participant_is_asked_again(self, match: Match):
        for _round in range(2):
            finish_round(match, ["p1", "p2"])
            expire_turns(match)
        assert "Are you there?" in screens.frame(match, "p3")["html"]
        services.come_back(match_id=match.pk, role="p3")
        finish_round(match, ["p1", "p2"])
        assert "p3" in match.open_turns()
        assert "Are you there?" not in screens.frame(match, "p3")["html"]

    def test_a_single_missed_turn_does_not_count_as_away(self, match: Match):
        finish_round(match, ["p1", "p2"])
        expire_turns(match)
        finish_round(match, ["p1", "p2", "p3"])
        finish_round(match, ["p1", "p2"])
        expire_turns(match)
        assert match.open_turns() and "p3" in match.open_turns()

    def test_clock_plays_for_a_withdrawn_participant(self, match: Match):
        people.withdraw(enrolment_id=person_in(match, "p3").pk)
        sweeps.leave_for_ended_enrolments()
        sweeps.leave_for_ended_enrolments()
        for _round in range(4):
            finish_round(match, ["p1", "p2"])
        assert match.status == Match.Status.FINISHED
        assert movers(match, "p3") == ["clock"] * 4
        assert Seat.objects.get(match=match, role="p3").left_at is not None

    def test_the_match_ends_when_the_last_participant_leaves(self, match: Match):
        for role in ("p1", "p2", "p3"):
            people.withdraw(enrolment_id=person_in(match, role).pk)
            sweeps.leave_for_ended_enrolments()
        match.refresh_from_db()
        assert match.status == Match.Status.ABANDONED


class TestAgent:
    """`on_timeout` is "agent"."""

    @pytest.fixture
    def match(self) -> Match:
        return open_contest(on_timeout="agent", standin=STANDIN, returns=False)

    def test_agent_takes_a_silent_participants_seat_which_is_flagged_and_the_others_finish(self, match: Match):
        finish_round(match, ["p1", "p2"])
        expire_turns(match)
        assert person_in(match, "p3").state == State.REPLACED
        assert match.open_turns()["p3"].by_agent
        assert 'data-note="program"' in screens.frame(match, "p1")["html"]
        finish_round(match, [])
        assert movers(match, "p3") == ["script:rational"]
        for _round in range(3):
            finish_round(match, ["p1", "p2"])
        assert match.status == Match.Status.FINISHED
        assert set(movers(match, "p3")) == {"script:rational"}
        assert set(movers(match, "p1")) == {None}

    def test_withdrawn_participant_keeps_the_state_and_is_replaced(self, match: Match):
        people.withdraw(enrolment_id=person_in(match, "p3").pk)
        sweeps.leave_for_ended_enrolments()
        match.refresh_from_db()
        assert person_in(match, "p3").state == State.WITHDREW
        assert match.people() == {"p1", "p2"}

    def test_a_single_participant_among_agents_is_not_replaced(self):
        match = open_contest(people=1, on_timeout="agent", standin=STANDIN)
        expire_turns(match)
        assert match.status == Match.Status.ABANDONED


def test_the_log_of_a_match_with_a_replaced_participant_replays(django_capture_on_commit_callbacks: Callable):
    match = open_contest(on_timeout="agent", standin=STANDIN)
    finish_round(match, ["p1", "p2"])
    expire_turns(match)
    finish_round(match, [])
    assert games.play.replay_events(match.configured(), match.log()).last == match.play().last


def test_first_turn_of_a_large_auction_has_triple_time():
    config = {"players": 2, "items": [{"name": "A", "start_price": 10}], "order": "listed", "tie_break": "first_seat"}
    players = {"p1": "person", "p2": "openai:m"}
    match = opened(players, game="item_auction", config=config, timers={"turn_seconds": 60})

    def seconds() -> float:
        turn = match.open_turns()["p1"]
        return (turn.deadline - turn.opened_at).total_seconds()

    assert seconds() == 180
    for role, bid in (("p1", 10), ("p2", 12)):
        services.submit_move(
            match_id=match.pk, role=role, move={"bid": bid}, answering=match.open_turns()[role].answering
        )
        match.refresh_from_db()
    assert seconds() == 60
