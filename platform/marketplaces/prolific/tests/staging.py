"""Helpers for tests: a study on the stand-in, and the participants who arrive from there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.test import Client

from exports.tests import building
from marketplaces.models import Account, Recruitment
from marketplaces.models import Submission as Recorded
from marketplaces.prolific import publishing
from marketplaces.prolific.models import Publication
from marketplaces.prolific.standin import TOKEN, StandIn
from marketplaces.prolific.standin.market import Submission, new_id
from marketplaces.tests.doing import finish, order
from participants.models import Enrolment
from payouts.payers import Order
from studies.models import Study

ENTRY_ADDRESS = "http://testserver/join/splitting/"


@dataclass
class Worker:
    """A participant on the stand-in."""

    desk: Desk
    participant: str
    submission: Submission

    @property
    def link(self) -> str:
        """Return the path and query of their link, newly created."""
        return self.desk.standin.market.link(self.submission).removeprefix("http://testserver")

    def open(self) -> HttpResponse:
        return Client().get(self.link)

    @property
    def person(self) -> Enrolment:
        """Return their enrolment here."""
        return Enrolment.objects.get(identity__worker=self.participant, identity__study=self.desk.study.slug)

    @property
    def row(self) -> Recorded:
        """Return what was recorded of their submission."""
        return Recorded.objects.get(enrolment=self.person)

    def arrive(self) -> Enrolment:
        response = self.open()
        assert response.status_code == 302, response.content.decode()
        return self.person

    def finish(self, *, correctly: bool = True) -> Enrolment:
        """Go from the link to the last page here."""
        return finish(self.arrive(), correctly=correctly)

    def submit(self, kind: str = "completed") -> None:
        """Submit at the stand-in with one of the study's codes, or any other."""
        codes = self.desk.publication.codes
        self.desk.standin.market.complete(self.submission.id, codes.get(kind, kind))

    def order(self, reason: str, amount: str | None = None) -> Order:
        return order(self.person, reason, amount)


class Desk:
    """A study on the stand-in, with actions of its researcher and its participants."""

    def __init__(self, study: Study, standin: StandIn) -> None:
        self.study, self.standin = study, standin

    @property
    def publication(self) -> Publication:
        return Publication.objects.select_related("account", "study").get(study=self.study)

    def draft(self, **offer: Any) -> Publication:
        values = {
            "name": "Splitting money",
            "description": "You share money with another player.",
            "places": 20,
            "minutes": 10,
            "devices": ["desktop", "mobile"],
            "requires_signature": True,
            **offer,
        }
        return publishing.create_draft(self.study, address=ENTRY_ADDRESS, **values)

    def publish(self, **offer: Any) -> Publication:
        self.draft(**offer)
        publishing.publish(self.publication)
        return self.publication

    def worker(self) -> Worker:
        """Return a participant who takes a place."""
        participant = new_id()
        self.standin.market.start(self.publication.prolific_id, participant)
        return Worker(self, participant, self.standin.market.submission_of(self.publication.prolific_id, participant))


def staged_on(standin: StandIn) -> Desk:
    """Return a launched study with an account on this stand-in."""
    account = Account(title="Lab", kind="prolific", place=Account.Place.REHEARSAL, address=standin.address)
    account.keep_credentials({"token": TOKEN})
    account.save()
    study = building.new_study(via="prolific", quota=20)
    Recruitment.objects.create(study=study, account=account)
    return Desk(study, standin)
