"""A complete group is asked whether it is ready: its match opens with all, or they are told what happened."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from random import Random

import pytest
from django.test import Client
from django.utils import timezone

from lobby import services
from lobby.models import Group, Place
from lobby.step import answer_request, say_ready
from lobby.tests.test_lobby import (
    BARGAINING_SEATS,
    arrive_at_lobby,
    expire_wait,
    load_page,
    make_absent,
    refreshed_states,
    waiting_enrolment,
)
from matches.models import Match, Seat
from participants import services as people
from participants.models import Enrolment
from participants.states import State
from studies.tests.kit import at_once

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
SECONDS = 20


def arrive(number: int, **lobby: object) -> list[Enrolment]:
    return arrive_at_lobby(number, ready=SECONDS, **lobby)


def place(enrolment: Enrolment) -> Place:
    return Place.objects.select_related("group").get(enrolment=enrolment)


def press(*enrolments: Enrolment) -> None:
    """Press the button of the group that asks each of them now."""
    for enrolment in enrolments:
        say_ready(enrolment.token, place(enrolment).group_id)


def run_out_of_time(*, silent: Enrolment | None = None, silent_for: float = 0) -> None:
    """Let the time to get ready run out, and the sweep notice it; the page of `silent` last called long ago."""
    moment = timezone.now() - timedelta(seconds=1)
    Group.objects.filter(match=None).update(made_at=moment - timedelta(seconds=SECONDS), until=moment)
    Place.objects.filter(enrolment=silent).update(heard_at=timezone.now() - timedelta(seconds=silent_for))
    services.sweep()


def stages(enrolments: list[Enrolment]) -> list[str]:
    return [answer_request(enrolment.token).get("stage", "begin") for enrolment in enrolments]


class TestAsking:
    def test_match_opens_when_the_last_has_pressed_with_the_seats_announced(self):
        enrolments = arrive(4)
        assert refreshed_states(enrolments) == [State.WAITING] * 4
        announced = [answer_request(enrolment.token)["seat"] for enrolment in enrolments]
        assert sorted(announced) == ["Player 1", "Player 2", "Player 3", "Player 4"]
        press(*enrolments[:3])
        assert refreshed_states(enrolments) == [State.WAITING] * 4
        assert [answer_request(enrolment.token)["others"] for enrolment in enrolments] == [1, 1, 1, 0]
        press(enrolments[3])
        assert refreshed_states(enrolments) == [State.PLAYING] * 4
        game = Match.objects.get().configured()
        assert announced == [game.role_title(Seat.objects.get(enrolment=enrolment).role) for enrolment in enrolments]

    def test_seat_is_named_in_the_participant_s_language(self):
        enrolments = arrive(4)
        Enrolment.objects.update(language="es")
        seats = [answer_request(enrolment.token)["seat"] for enrolment in enrolments]
        assert sorted(seats) == ["Jugador 1", "Jugador 2", "Jugador 3", "Jugador 4"]

    def test_no_number_is_named_before(self, client: Client):
        enrolment, *_others = arrive(3)
        assert "Player " not in client.get(enrolment.get_absolute_url()).content.decode().partition("<main")[2]
        assert "seat" not in answer_request(enrolment.token)

    def test_form_works_without_a_script_and_twice(self, client: Client):
        enrolments = arrive(4)
        for enrolment in [*enrolments, enrolments[0]]:
            fields = {"position": "0", "group": str(place(enrolment).group_id)}
            assert client.post(enrolment.get_absolute_url(), fields).status_code == 302
        assert refreshed_states(enrolments) == [State.PLAYING] * 4
        assert Match.objects.count() == 1

    def test_answer_to_a_group_that_is_gone_counts_for_no_other(self):
        enrolments = arrive(4)
        old = place(enrolments[0]).group_id
        press(*enrolments[1:])
        run_out_of_time()
        arrive(1)
        run_out_of_time()  # the next group, which still waits for everyone
        say_ready(enrolments[0].token, old)
        assert place(enrolments[0]).ready_at is None

    def test_second_tab_and_reload_show_the_same(self):
        enrolments = arrive(4)
        press(enrolments[0])
        for _tab in range(2):
            load_page(enrolments[0])
            assert answer_request(enrolments[0].token)["pressed"]
        assert refreshed_states(enrolments) == [State.WAITING] * 4

    def test_blind_pages_show_no_counts(self, client: Client):
        enrolments = [waiting_enrolment(ready=SECONDS) for _person in range(4)]
        for enrolment in enrolments:
            enrolment.steps[1]["timers"] = {"blind": True, "told": {"others": "none"}}
            enrolment.save()
        for number, enrolment in enumerate(enrolments, start=1):
            load_page(enrolment)
            assert answer_request(enrolment.token)["stage"] == ("ready" if number == 4 else "waiting")
            assert answer_request(enrolment.token)["others"] is answer_request(enrolment.token)["missing"] is None
            page = client.get(enrolment.get_absolute_url()).content.decode()
            assert "program" not in page.partition("<main")[2].partition("</main")[0]


class TestMissing:
    def test_first_miss_leads_to_the_end_of_the_queue(self):
        missing, *ready = enrolments = arrive(4)
        press(*ready)
        run_out_of_time()
        assert refreshed_states(enrolments) == [State.WAITING] * 4
        assert answer_request(missing.token)["setback"] == "missed"
        assert answer_request(missing.token)["missed"], "the next miss is the last"
        assert {answer_request(enrolment.token)["setback"] for enrolment in ready} == {"others"}
        # All are here, so the same four are asked again; those who missed nothing are first in the queue.
        queue = Place.objects.order_by("queued_at", "pk").values_list("enrolment", flat=True)
        assert list(queue) == [enrolment.pk for enrolment in [*ready, missing]]

    @pytest.mark.parametrize("silent_for", [SECONDS + 10, 10])
    def test_page_that_could_not_be_asked_or_answer_misses_nothing(self, silent_for: int):
        """Such as one whose connection was lost before or while it was asked, or a server slower than the limit."""
        unreached, *ready = arrive(4)
        press(*ready)
        run_out_of_time(silent=unreached, silent_for=silent_for)
        assert (place(unreached).missed, place(unreached).setback) == (0, "others")
        load_page(unreached)
        assert stages([unreached, *ready]) == ["ready"] * 4

    def test_replacement_comes_from_the_queue(self):
        missing, *ready = arrive(4)
        make_absent(missing)
        press(*ready)
        run_out_of_time()
        (newcomer,) = arrive(1)
        assert stages([*ready, newcomer]) == ["ready"] * 4
        press(*ready, newcomer)
        assert refreshed_states([*ready, newcomer, missing]) == [*[State.PLAYING] * 4, State.WAITING]

    def test_second_miss_ends_the_study_with_pay_for_all_the_waiting(self):
        missing, *ready = arrive(4)
        for _start in range(2):
            press(*ready)
            run_out_of_time()
        assert refreshed_states([missing]) == [State.NO_PARTNER]
        waited = (timezone.now() - place(missing).since).total_seconds()
        assert services.waited_seconds(missing) == pytest.approx(waited, abs=1)
        assert refreshed_states(ready) == [State.WAITING] * 3
        assert services.last_unsuccessful_place(missing).missed == 2

    def test_waiting_in_a_group_beyond_the_limit_is_paid_too(self):
        missing, *ready = arrive(4)
        for enrolment in ready:
            Place.objects.filter(enrolment=enrolment).update(
                since=timezone.now() - timedelta(seconds=315), until=timezone.now() - timedelta(seconds=15)
            )
        make_absent(missing)
        press(*ready)
        run_out_of_time()
        assert refreshed_states(ready) == [State.NO_PARTNER] * 3
        assert services.waited_seconds(ready[0]) == pytest.approx(315, abs=3)

    def test_someone_who_leaves_sends_nobody_to_the_end(self):
        leaver, *others = arrive(4)
        press(others[0])
        people.withdraw(enrolment_id=leaver.pk)
        assert stages(others) == ["waiting"] * 3
        assert {place(other).missed for other in others} == {0}
        arrive(1)
        assert stages(others) == ["ready"] * 3

    def test_whole_group_that_misses_two_starts_ends(self):
        enrolments = arrive(4)
        for _start in range(2):
            run_out_of_time()
        assert refreshed_states(enrolments) == [State.NO_PARTNER] * 4
        assert not Group.objects.exists() and not Match.objects.exists()


class TestIncompleteGroups:
    def test_those_who_are_ready_start_with_agents(self):
        ready, missing = arrive(2, after="agents")
        expire_wait(ready)
        services.sweep()
        assert stages([ready, missing]) == ["ready"] * 2
        press(ready)
        run_out_of_time()
        assert refreshed_states([ready, missing]) == [State.PLAYING, State.WAITING]
        assert Seat.objects.filter(fills_in=True).count() == 3
        assert answer_request(missing.token)["setback"] == "missed"

    def test_everyone_of_a_smaller_group_is_asked(self):
        enrolments = arrive(2, after="fewer")
        expire_wait(enrolments[0])
        services.sweep()
        announced = [answer_request(enrolment.token)["seat"] for enrolment in enrolments]
        assert sorted(announced) == ["Player 1", "Player 2"]
        press(*enrolments)
        assert refreshed_states(enrolments) == [State.PLAYING] * 2
        match = Match.objects.get()
        assert match.config["players"] == 3
        titles = [match.configured().role_title(Seat.objects.get(enrolment=one).role) for one in enrolments]
        assert announced == titles

    def test_surplus_of_one_kind_is_told_how_many_are_missing(self):
        alices = [load_page(waiting_enrolment(BARGAINING_SEATS, "alice", ready=SECONDS)) for _arrival in range(2)]
        assert [answer_request(alice.token)["missing"] for alice in alices] == [1, 2]


def test_press_and_end_of_time_at_the_same_moment_agree(transactional_db: None):
    """Either the match opens with everyone, or everyone is back in the queue."""
    for _attempt in range(3):
        Group.objects.all().delete()
        enrolments = arrive(4)
        press(*enrolments[1:])
        group = place(enrolments[0]).group_id
        Group.objects.filter(pk=group).update(until=timezone.now())
        pressing = partial(say_ready, enrolments[0].token, group)
        at_once([pressing, services.sweep, partial(answer_request, enrolments[1].token)])
        states = refreshed_states(enrolments)
        assert len(set(states)) == 1
        opened = Match.objects.filter(seats__enrolment=enrolments[0]).count()
        assert opened == (states[0] == State.PLAYING)
        for enrolment in enrolments:
            people.withdraw(enrolment_id=enrolment.pk)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_any_course_of_events_seats_everyone_once_in_the_seat_announced(seed: int):
    rng = Random(seed)
    enrolments: list[Enrolment] = []
    announced: dict[int, tuple[int, str]] = {}
    for _event in range(60):
        event = rng.choice(["arrive", "arrive", "press", "press", "press", "time", "leave", "absent", "ask"])
        refreshed_states(enrolments)
        waiting = [enrolment for enrolment in enrolments if enrolment.state == State.WAITING]
        if event == "arrive":
            enrolments += arrive(1, after=["leave", "agents", "fewer"][seed % 3])
        elif event == "time":
            run_out_of_time()
        elif waiting:
            one = rng.choice(waiting)
            if event == "press" and place(one).group_id:
                press(one)
            elif event == "leave":
                people.withdraw(enrolment_id=one.pk)
            elif event == "absent":
                make_absent(one)
            else:
                answer_request(one.token)
        for one in Place.objects.filter(group__isnull=False, group__match=None):
            announced[one.enrolment_id] = (one.group_id, one.role)
    for seat in Seat.objects.filter(enrolment__isnull=False).select_related("match__lobby_group"):
        assert announced[seat.enrolment_id] == (seat.match.lobby_group.pk, seat.role)
    assert Seat.objects.filter(enrolment__isnull=False).count() == sum(
        state == State.PLAYING for state in refreshed_states(enrolments)
    )
    assert all(one.missed <= 2 and (one.missed < 2 or one.left_at) for one in Place.objects.all())
