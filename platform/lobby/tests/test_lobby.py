"""The lobby: participants present form groups, each joins one group, and waiting ends in time."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import pytest
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
from studies.tests.kit import at_once

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
CONTEST_SEATS = {"p1": "person", "p2": "person", "p3": "person", "p4": "person", "p5": "rational"}
BARGAINING_SEATS = {"alice": "person", "bob": "person"}


def steps(seats: dict[str, str], role: str, *, game: str, config: dict, **lobby: object) -> list[dict]:
    match_step = {
        "kind": "match", "game": game, "config": config, "role": role, "seats": seats,
        "agents": {"rational": Agent(spec="script:rational" if game == "beauty_contest" else "script:fair").frozen()},
        "purpose": "study", "timers": {"turn_seconds": 60},
    }  # fmt: skip
    lobby_step = {
        "kind": "lobby", "hall": "v1", "pool": "1", "limit": 300, "ready": 0, "after": "leave", "fill": "rational",
        "seed": "1/1",
    }  # fmt: skip
    quiz = {"kind": "quiz", "game": game, "config": config, "role": role}
    return [{**lobby_step, **lobby}, match_step, quiz]


def waiting_enrolment(seats: dict[str, str] = CONTEST_SEATS, role: str = "p1", **lobby: object) -> Enrolment:
    """A participant whose first step is a lobby."""
    game, config = ("bargaining", {}) if "alice" in seats else ("beauty_contest", {"players": len(seats), "runs": 2})
    return Enrolment.objects.create(
        steps=steps(seats, role, game=game, config=config, **lobby), expires_at=expiry_after(60), state=State.CONSENTED
    )


def load_page(enrolment: Enrolment) -> Enrolment:
    """Load the page."""
    people.show_step(enrolment_id=enrolment.pk)
    enrolment.refresh_from_db()
    return enrolment


def arrive_at_lobby(number: int, **lobby: object) -> list[Enrolment]:
    return [load_page(waiting_enrolment(**lobby)) for _arrival in range(number)]


def refreshed_states(enrolments: list[Enrolment]) -> list[State]:
    for enrolment in enrolments:
        enrolment.refresh_from_db()
    return [State(enrolment.state) for enrolment in enrolments]


def expire_wait(enrolment: Enrolment) -> None:
    """Move the end of the participant's waiting time into the past."""
    Place.objects.filter(enrolment=enrolment).update(
        since=timezone.now() - timedelta(seconds=301), until=timezone.now() - timedelta(seconds=1)
    )


def make_absent(enrolment: Enrolment) -> None:
    """Make the participant absent: their page has not sent a request for too long."""
    Place.objects.filter(enrolment=enrolment).update(heard_at=timezone.now() - timedelta(seconds=16))


class TestGroups:
    def test_fourth_arrival_starts_a_match_of_four_and_a_script_each_with_their_own_seat_and_quiz(self):
        enrolments = arrive_at_lobby(3)
        assert refreshed_states(enrolments) == [State.WAITING] * 3
        enrolments += arrive_at_lobby(1)
        assert refreshed_states(enrolments) == [State.PLAYING] * 4
        match = Match.objects.get()
        assert sorted(Seat.objects.filter(match=match).values_list("role", "agent")) == [
            ("p1", ""), ("p2", ""), ("p3", ""), ("p4", ""), ("p5", "script:rational"),
        ]  # fmt: skip
        for enrolment in enrolments:
            seat = Seat.objects.get(enrolment=enrolment)
            assert enrolment.position == seat.step == 1
            assert enrolment.steps[1]["role"] == enrolment.steps[2]["role"] == seat.role

    def test_each_group_has_its_own_seed(self):
        arrive_at_lobby(8)
        assert Match.objects.values("seed").distinct().count() == 2

    def test_each_kind_of_seat_needs_its_own_participant(self):
        alices = [load_page(waiting_enrolment(BARGAINING_SEATS, "alice")) for _arrival in range(3)]
        assert refreshed_states(alices) == [State.WAITING] * 3
        bob = load_page(waiting_enrolment(BARGAINING_SEATS, "bob"))
        assert refreshed_states([*alices, bob]) == [State.PLAYING, State.WAITING, State.WAITING, State.PLAYING]

    def test_pools_are_not_mixed(self):
        assert refreshed_states(arrive_at_lobby(2, pool="1") + arrive_at_lobby(2, pool="2")) == [State.WAITING] * 4


class TestPresence:
    def test_absent_participants_join_no_group(self):
        absent, *others = arrive_at_lobby(3)
        make_absent(absent)
        others += arrive_at_lobby(1)
        assert refreshed_states([absent, *others]) == [State.WAITING] * 4
        others += arrive_at_lobby(1)
        assert refreshed_states([absent, *others]) == [State.WAITING, *[State.PLAYING] * 4]

    @pytest.mark.parametrize("returns", [load_page, lambda absent: answer_request(absent.token)])
    def test_returning_or_polling_participant_keeps_the_place_and_completes_the_group(self, returns):
        absent, *others = arrive_at_lobby(3)
        make_absent(absent)
        others += arrive_at_lobby(1)
        returns(absent)
        assert refreshed_states([absent, *others]) == [State.PLAYING] * 4
        assert Place.objects.filter(enrolment=absent).count() == 1

    def test_withdrawn_participant_leaves_the_lobby_at_once(self):
        leaver, *others = arrive_at_lobby(3)
        people.withdraw(enrolment_id=leaver.pk)
        assert refreshed_states([*others, *arrive_at_lobby(1)]) == [State.WAITING] * 3
        assert refreshed_states([*others, *arrive_at_lobby(1)])[:2] == [State.PLAYING] * 2

    def test_second_tab_and_reload_change_nothing(self):
        enrolment, other = arrive_at_lobby(2)
        for _load in range(3):
            load_page(enrolment)
        assert refreshed_states([enrolment, other]) == [State.WAITING] * 2
        assert Group.objects.count() == 0


class TestExpiredWaits:
    def test_unsuccessful_wait_ends_and_is_recorded(self):
        enrolment, other = arrive_at_lobby(2)
        expire_wait(enrolment)
        services.sweep()
        assert refreshed_states([enrolment, other]) == [State.NO_PARTNER, State.WAITING]
        assert services.waited_seconds(enrolment) == pytest.approx(300, abs=0.1)

    def test_agents_take_free_seats_and_are_flagged(self):
        enrolments = arrive_at_lobby(2, after="agents")
        expire_wait(enrolments[0])
        services.sweep()
        assert refreshed_states(enrolments) == [State.PLAYING] * 2
        assert sorted(Seat.objects.values_list("agent", "fills_in")) == [
            ("", False), ("", False), ("script:rational", False), ("script:rational", True), ("script:rational", True),
        ]  # fmt: skip

    def test_smaller_game_is_played_if_the_rules_allow_it(self):
        enrolments = arrive_at_lobby(2, after="fewer")
        expire_wait(enrolments[0])
        services.sweep()
        assert refreshed_states(enrolments) == [State.PLAYING] * 2
        match = Match.objects.get()
        assert match.config["players"] == 3
        assert sorted(Seat.objects.values_list("role", "agent")) == [("p1", ""), ("p2", ""), ("p3", "script:rational")]
        assert all(enrolment.steps[2]["config"]["players"] == 3 for enrolment in enrolments)

    def test_two_player_game_cannot_be_smaller(self):
        alice = load_page(waiting_enrolment(BARGAINING_SEATS, "alice", after="fewer"))
        expire_wait(alice)
        services.sweep()
        assert refreshed_states([alice]) == [State.NO_PARTNER]

    def test_own_page_ends_the_wait(self):
        (enrolment,) = arrive_at_lobby(1)
        expire_wait(enrolment)
        assert answer_request(enrolment.token) == {"type": "begin"}
        assert refreshed_states([enrolment]) == [State.NO_PARTNER]

    def test_absent_participant_is_not_ended_until_they_return(self):
        (enrolment,) = arrive_at_lobby(1)
        expire_wait(enrolment)
        make_absent(enrolment)
        services.sweep()
        assert refreshed_states([enrolment]) == [State.WAITING]
        load_page(enrolment)
        assert refreshed_states([enrolment]) == [State.NO_PARTNER]


class TestNewPartners:
    @pytest.fixture
    def past_partners(self) -> list[Enrolment]:
        """Two participants who have played together, at the lobby before their second match."""
        partners = [waiting_enrolment(BARGAINING_SEATS, role, strangers=True, pool="2") for role in BARGAINING_SEATS]
        roles = list(BARGAINING_SEATS)
        seats = [Seat(role=role, enrolment=partner, step=9) for role, partner in zip(roles, partners, strict=True)]
        match = Match.objects.create(game="bargaining", config={}, rules_version=1, seed=1, status="finished")
        for seat in seats:
            seat.match = match
            seat.save()
        return [load_page(enrolment) for enrolment in partners]

    def test_past_partners_are_kept_apart(self, past_partners: list[Enrolment]):
        assert refreshed_states(past_partners) == [State.WAITING] * 2
        stranger = load_page(waiting_enrolment(BARGAINING_SEATS, "bob", strangers=True, pool="2"))
        assert refreshed_states([*past_partners, stranger]) == [State.PLAYING, State.WAITING, State.PLAYING]

    def test_past_partners_meet_again_after_waiting(self, past_partners: list[Enrolment]):
        Place.objects.update(since=timezone.now() - timedelta(seconds=150))
        services.sweep()
        assert refreshed_states(past_partners) == [State.PLAYING] * 2


def test_page_shows_who_is_present_and_how_many_are_missing(client: Client):
    enrolment, _other = arrive_at_lobby(2)
    page = client.get(enrolment.get_absolute_url()).content.decode()
    assert page.count('<li class="here') == 2
    assert "2 more players are needed." in page
    assert "you are paid for waiting" in page


def test_whoever_completes_the_group_is_shown_the_game_at_once(client: Client):
    arrive_at_lobby(3)
    response = client.get(waiting_enrolment().get_absolute_url(), follow=True)
    assert "The wait ends" not in response.text
    assert response.context["step"] == "match"


def test_simultaneous_arrivals_join_one_group_each(transactional_db: None):
    enrolments = [waiting_enrolment(role=f"p{number % 4 + 1}") for number in range(16)]
    at_once([partial(people.show_step, enrolment_id=enrolment.pk) for enrolment in enrolments])
    services.sweep()
    assert refreshed_states(enrolments) == [State.PLAYING] * 16
    assert Group.objects.count() == Match.objects.count() == 4
    assert Seat.objects.filter(enrolment__isnull=False).values("enrolment").distinct().count() == 16
