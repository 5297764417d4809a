"""One number per person: what the lobby says when a group is complete, every later page says too."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client

from lobby.models import Group
from matches.models import Match, Seat
from participants import services as people
from participants.models import Enrolment
from recruiters.arrivals import Arrival
from studies import enrolling
from studies.tests.kit import contest, leave_match_page, play

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
NUMBER = re.compile(r"Player \d")


def main_text(client: Client, enrolment: Enrolment) -> str:
    page = client.get(enrolment.get_absolute_url()).content.decode()
    return unescape(re.sub(r"<[^>]+>", " ", page.partition("<main")[2].partition("</main")[0]))


def own_number(client: Client, enrolment: Enrolment) -> str:
    """Return the number that the page gives the participant."""
    said = set(re.findall(r"You are\s+(Player \d)|(Player \d)\s+\(you\)", main_text(client, enrolment)))
    (number,) = {first or second for first, second in said}
    return number


def walk_to_instructions(to_study) -> Enrolment:
    enrolment = enrolling.enrol(to_study, Arrival(recruiter="open", proof="", worker=""))
    while enrolment.step["kind"] != "instructions":
        answers = {"consent": "yes", "agree": "yes", "name": "Kim"}
        people.answer_step(enrolment_id=enrolment.pk, position=enrolment.position, data=answers)
        enrolment.refresh_from_db()
    return enrolment


@pytest.mark.slow
def test_number_stays_the_same_from_ready_on(client: Client):
    config = {"players": 4, "runs": 1}
    fields = {"repeats": 2, "partners": "any", "quota": 5, "ready": 20}
    launched = contest(config=config, seats={"*": "person"}, agents={}, **fields)
    enrolments = [walk_to_instructions(launched) for _person in range(5)]
    leaver = enrolments[1]
    for enrolment in enrolments[:3]:
        assert not NUMBER.search(main_text(client, enrolment)), "the instructions name a number"
        people.answer_step(enrolment_id=enrolment.pk, position=enrolment.position, data={})
        assert not NUMBER.search(main_text(client, enrolment)), "the lobby names a number"
    people.withdraw(enrolment_id=leaver.pk)
    for enrolment in enrolments[3:]:
        people.answer_step(enrolment_id=enrolment.pk, position=enrolment.position, data={})
        main_text(client, enrolment)
    group = [enrolment for enrolment in enrolments if enrolment != leaver]
    for match_number in (1, 2):
        announced = {enrolment.pk: own_number(client, enrolment) for enrolment in group}
        assert sorted(announced.values()) == ["Player 1", "Player 2", "Player 3", "Player 4"]
        for enrolment in group:
            enrolment.refresh_from_db()
            fields = {"position": enrolment.position, "group": Group.objects.get(match=None).pk}
            client.post(enrolment.get_absolute_url(), fields)
            if Group.objects.filter(match=None).exists():
                assert own_number(client, enrolment) == announced[enrolment.pk]
        match = Match.objects.latest("pk")
        for enrolment in group:
            assert own_number(client, enrolment) == announced[enrolment.pk]
            seat = Seat.objects.get(match=match, enrolment=enrolment)
            assert match.configured().role_title(seat.role) == announced[enrolment.pk]
        play(match, {})
        for enrolment in group:
            assert own_number(client, enrolment) == announced[enrolment.pk]
            leave_match_page(enrolment)
        if match_number == 1:
            first_numbers = announced
    assert announced == first_numbers
