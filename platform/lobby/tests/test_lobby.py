"""The lobby: participants present form groups, each joins one group, and waiting ends in time."""

from __future__ import annotations

from datetime import timedelta
from threading import Thread

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from lobby import services
from lobby.models import Group, Place
from lobby.step import answer_request
from matches.models import Match, Seat
from opponents.agents import Agent
from participants import services as people
from participants.models import Enrolment
from participants.services import expiry_after
from participants.states import State

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
FOUR = {"p1": "person", "p2": "person", "p3": "person", "p4": "person", "p5": "rational"}
TWO = {"alice": "person", "bob": "person"}


def steps(seats: dict[str, str], role: str, *, game: str, config: dict, **lobby: object) -> list[dict]:
    match = {
        "kind": "match",
        "game": game,
        "config": config,
        "role": role,
        "seats": seats,
        "agents": {"rational": Agent(spec="script:rational" if game == "beauty_contest" else "script:fair").frozen()},
        "purpose": "study",
        "timers": {"turn_seconds": 60},
    }
    waiting = {
        "kind": "lobby",
        "hall": "v1",
        "pool": "1",
        "limit": 300,
        "after": "leave",
        "fill": "rational",
        "seed": "1/1",
    }
    quiz = {"kind": "quiz", "game": game, "config": config, "role": role}
    return [{**waiting, **lobby}, match, quiz]


def newcomer(seats: dict[str, str] = FOUR, role: str = "p1", **lobby: object) -> Enrolment:
    """A participant whose first step is a lobby."""
    game, config = ("bargaining", {}) if "alice" in seats else ("beauty_contest", {"players": len(seats), "runs": 2})
    return Enrolment.objects.create(
        steps=steps(seats, role, game=game, config=config, **lobby), expires_at=expiry_after(60), state=State.CONSENTED
    )


def come(enrolment: Enrolment) -> Enrolment:
    """Load the page."""
    people.show_step(enrolment_id=enrolment.pk)
    enrolment.refresh_from_db()
    return enrolment


def arrive(number: int, **lobby: object) -> list[Enrolment]:
    return [come(newcomer(**lobby)) for _one in range(number)]


def again(enrolments: list[Enrolment]) -> list[State]:
    for one in enrolments:
        one.refresh_from_db()
    return [State(one.state) for one in enrolments]


def late(enrolment: Enrolment) -> None:
    """Move the end of the participant's waiting time into the past."""
    Place.objects.filter(enrolment=enrolment).update(
        since=timezone.now() - timedelta(seconds=301), until=timezone.now() - timedelta(seconds=1)
    )


def gone(enrolment: Enrolment) -> None:
    """Make the participant absent: their page has not sent a request for too long."""
    Place.objects.filter(enrolment=enrolment).update(heard_at=timezone.now() - timedelta(seconds=16))


class TestGroups:
    def test_match_of_four_and_a_script_starts_at_the_fourth_arrival(self):
        enrolments = arrive(3)
        assert again(enrolments) == [State.WAITING] * 3
        enrolments += arrive(1)
        assert again(enrolments) == [State.PLAYING] * 4
        match = Match.objects.get()
        assert sorted(Seat.objects.filter(match=match).values_list("role", "agent")) == [
            ("p1", ""), ("p2", ""), ("p3", ""), ("p4", ""), ("p5", "script:rational"),
        ]  # fmt: skip

    def test_each_participant_has_an_own_seat_and_quiz(self):
        enrolments = arrive(4)
        again(enrolments)
        for one in enrolments:
            seat = Seat.objects.get(enrolment=one)
            assert one.position == seat.step == 1
            assert one.steps[1]["role"] == one.steps[2]["role"] == seat.role

    def test_each_group_has_its_own_seed(self):
        arrive(8)
        assert Match.objects.values("seed").distinct().count() == 2

    def test_each_kind_of_seat_needs_its_own_participant(self):
        alices = [come(newcomer(TWO, "alice")) for _one in range(3)]
        assert again(alices) == [State.WAITING] * 3
        bob = come(newcomer(TWO, "bob"))
        assert again([*alices, bob]) == [State.PLAYING, State.WAITING, State.WAITING, State.PLAYING]

    def test_pools_are_not_mixed(self):
        assert again(arrive(2, pool="1") + arrive(2, pool="2")) == [State.WAITING] * 4


class TestPresence:
    def test_absent_participants_join_no_group(self):
        away, *others = arrive(3)
        gone(away)
        others += arrive(1)
        assert again([away, *others]) == [State.WAITING] * 4
        others += arrive(1)
        assert again([away, *others]) == [State.WAITING, *[State.PLAYING] * 4]

    def test_returning_participant_keeps_the_place_and_completes_the_group(self):
        away, *others = arrive(3)
        gone(away)
        others += arrive(1)
        come(away)
        assert again([away, *others]) == [State.PLAYING] * 4
        assert Place.objects.filter(enrolment=away).count() == 1

    def test_polling_page_counts_as_present(self):
        away, *others = arrive(3)
        gone(away)
        others += arrive(1)
        assert answer_request(away.token) == {"type": "begin"}
        assert again([away, *others]) == [State.PLAYING] * 4

    def test_withdrawn_participant_leaves_the_lobby_at_once(self):
        leaver, *others = arrive(3)
        people.withdraw(enrolment_id=leaver.pk)
        assert again([*others, *arrive(1)]) == [State.WAITING] * 3
        assert again([*others, *arrive(1)])[:2] == [State.PLAYING] * 2

    def test_second_tab_and_reload_change_nothing(self):
        one, other = arrive(2)
        for _load in range(3):
            come(one)
        assert again([one, other]) == [State.WAITING] * 2
        assert Group.objects.count() == 0


class TestWaitingInVain:
    def test_waiting_in_vain_ends_with_the_waiting_time_recorded(self):
        one, other = arrive(2)
        late(one)
        services.sweep()
        assert again([one, other]) == [State.NO_PARTNER, State.WAITING]
        assert services.waited_seconds(one) == pytest.approx(300, abs=0.1)

    def test_agents_take_free_seats_and_are_flagged(self):
        enrolments = arrive(2, after="agents")
        late(enrolments[0])
        services.sweep()
        assert again(enrolments) == [State.PLAYING] * 2
        assert sorted(Seat.objects.values_list("agent", "fills_in")) == [
            ("", False), ("", False), ("script:rational", False), ("script:rational", True), ("script:rational", True),
        ]  # fmt: skip

    def test_smaller_game_is_played_if_the_rules_allow_it(self):
        enrolments = arrive(2, after="fewer")
        late(enrolments[0])
        services.sweep()
        assert again(enrolments) == [State.PLAYING] * 2
        match = Match.objects.get()
        assert match.config["players"] == 3
        assert sorted(Seat.objects.values_list("role", "agent")) == [("p1", ""), ("p2", ""), ("p3", "script:rational")]
        assert all(one.steps[2]["config"]["players"] == 3 for one in enrolments)

    def test_game_of_two_cannot_be_smaller(self):
        alice = come(newcomer(TWO, "alice", after="fewer"))
        late(alice)
        services.sweep()
        assert again([alice]) == [State.NO_PARTNER]

    def test_own_page_ends_the_wait(self):
        (one,) = arrive(1)
        late(one)
        assert answer_request(one.token) == {"type": "begin"}
        assert again([one]) == [State.NO_PARTNER]

    def test_absent_participant_is_not_ended_until_they_return(self):
        (one,) = arrive(1)
        late(one)
        gone(one)
        services.sweep()
        assert again([one]) == [State.WAITING]
        come(one)
        assert again([one]) == [State.NO_PARTNER]


class TestStrangers:
    @pytest.fixture
    def acquainted(self) -> list[Enrolment]:
        """Two participants who have played together, at the lobby before their second match."""
        pair = [newcomer(TWO, role, strangers=True, pool="2") for role in TWO]
        seats = [Seat(role=role, enrolment=one, step=9) for role, one in zip(TWO, pair, strict=True)]
        match = Match.objects.create(game="bargaining", config={}, rules_version=1, seed=1, status="finished")
        for seat in seats:
            seat.match = match
            seat.save()
        return [come(one) for one in pair]

    def test_acquainted_participants_are_kept_apart(self, acquainted: list[Enrolment]):
        assert again(acquainted) == [State.WAITING] * 2
        stranger = come(newcomer(TWO, "bob", strangers=True, pool="2"))
        assert again([*acquainted, stranger]) == [State.PLAYING, State.WAITING, State.PLAYING]

    def test_acquainted_participants_meet_again_after_waiting(self, acquainted: list[Enrolment]):
        Place.objects.update(since=timezone.now() - timedelta(seconds=150))
        services.sweep()
        assert again(acquainted) == [State.PLAYING] * 2


def test_page_shows_who_is_present_and_how_many_are_missing(client: Client):
    one, _other = arrive(2)
    page = client.get(one.get_absolute_url()).content.decode()
    assert page.count('class="seat-1 here"') == page.count('class="seat-2 here"') == 1
    assert "2 more players are needed." in page
    assert "you are paid for waiting" in page


def test_simultaneous_arrivals_join_one_group_each(transactional_db: None):
    enrolments = [newcomer(role=f"p{number % 4 + 1}") for number in range(16)]

    def load(one: Enrolment) -> None:
        try:
            people.show_step(enrolment_id=one.pk)
        finally:
            connection.close()

    threads = [Thread(target=load, args=[one]) for one in enrolments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    services.sweep()
    assert again(enrolments) == [State.PLAYING] * 16
    assert Group.objects.count() == Match.objects.count() == 4
    assert Seat.objects.filter(enrolment__isnull=False).values("enrolment").distinct().count() == 16
