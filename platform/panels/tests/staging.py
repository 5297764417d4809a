"""Helpers for tests: a panel's participants, and the addresses to which each preset returns them."""

from __future__ import annotations

import html
import re
from typing import Any
from urllib.request import Request, urlopen

from django.test import Client

from exports.tests import building
from panels.standin.server import Guest, StandIn
from participants import services as people
from participants.models import Enrolment


def destinations_at(key: str, standin: StandIn) -> dict[str, str]:
    """Return a preset's own form of addresses on the stand-in's server, or that of any site."""
    address = standin.address
    connect = f"{address}/participant/project/{standin.task}"
    credit = f"{address}/webstudy_credit.aspx?experiment_id=7&credit_token=ab12&survey_code={{person}}"
    own = {
        "cloudresearch_connect": {
            "to_completed": f"{connect}/complete",
            "to_partial": f"{connect}/partial/1",
            "to_screened_out": f"{connect}/partial/2",
        },
        "respondent": {"to_completed": f"{address}/complete?cc=c0de"},
        "sona": {"to_completed": credit, "to_partial": credit},
        "external_question": {"to_completed": f"POST {address}/mturk/externalSubmit?assignmentId={{session}}"},
    }
    any_site = {
        "to_completed": f"{address}/done?id={{person}}&code={{code}}",
        "to_screened_out": f"{address}/screened-out?id={{person}}",
        "to_partial": f"{address}/early?id={{person}}",
        "to_over_quota": f"{address}/full?id={{person}}",
        "to_withdrew": "LEFT-EARLY",
    }
    return own.get(key, any_site)


class Visitor:
    """A participant of the panel in their own browser."""

    def __init__(self, standin: StandIn, guest: Guest) -> None:
        self.standin, self.guest, self.client = standin, guest, Client()
        self.cookie = ""

    @property
    def link(self) -> str:
        link, self.cookie = self.standin.send_participant(self.guest)
        return link.removeprefix("http://testserver")

    def arrive(self) -> Any:
        """Follow the panel's link, and confirm the page if it asks first."""
        link = self.link
        answer = self.client.get(link)
        if answer.status_code == 200 and b'name="form"' in answer.content:
            form = re.search(rb'name="form" value="([^"]+)"', answer.content)
            assert form is not None
            answer = self.client.post(link, {"form": form[1].decode()})
        return answer

    def enter(self) -> Enrolment:
        answer = self.arrive()
        assert answer.status_code == 302, answer.content.decode()
        return Enrolment.objects.get(token=answer["Location"].split("/")[2])

    def go(self, ending: str) -> Enrolment:
        """Take the participant from the link to this ending."""
        person = self.enter()
        people.show_step(enrolment_id=person.pk)
        if ending == "dropped_out":
            Enrolment.objects.filter(pk=person.pk).update(expires_at=person.arrived_at)
            people.end_expired()
            return Enrolment.objects.get(pk=person.pk)
        building.consent(person)
        if ending == "withdrew":
            people.withdraw(enrolment_id=person.pk)
            return Enrolment.objects.get(pk=person.pk)
        building.answer(person, question_known="Yes" if ending == "screened_out" else "No")
        if ending != "screened_out":
            building.read_instructions(person, word="certainly-not-it" if ending == "failed_code_word" else None)
        if ending in ("completed", "failed_quiz"):
            building.play(person)
            building.answer_quiz(person, correctly=ending == "completed")
        return Enrolment.objects.get(pk=person.pk)

    def last_page(self, person: Enrolment) -> str:
        return html.unescape(self.client.get(person.get_absolute_url()).content.decode())

    def go_back(self, page: str) -> str:
        """Press the button that leads back to the panel; return the address it opened there, or "" without a button."""
        link = re.search(rf'href="({re.escape(self.standin.address)}[^"]*)"', page)
        if link is None:
            return ""
        with urlopen(Request(link[1], headers={"Cookie": f"panel={self.cookie}"})) as answer:
            assert "Noted for" in answer.read().decode()
        return link[1].removeprefix(self.standin.address)
