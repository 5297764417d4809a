"""A study for tests that recruits from the stand-in for Mechanical Turk."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.test import Client

from exports.tests import building
from marketplaces.models import Account, Recruitment
from marketplaces.mturk import publishing
from marketplaces.mturk.client import KEY_ID as KEY_NAME
from marketplaces.mturk.client import SECRET as SECRET_NAME
from marketplaces.mturk.client import Requester, requester_of
from marketplaces.mturk.models import Hit
from marketplaces.mturk.standin import StandIn, market
from marketplaces.mturk.standin.server import KEY_ID, SECRET
from marketplaces.tests.doing import finish
from participants.models import Enrolment
from studies.models import Study

ADDRESS = "http://127.0.0.1:1/join/splitting/"


def account_at(standin: StandIn, **fields: Any) -> Account:
    """Return a rehearsal account at this stand-in."""
    account = Account(**{"title": "rehearsal", "kind": "mturk", "address": standin.address, **fields})
    account.keep_credentials({KEY_NAME: KEY_ID, SECRET_NAME: SECRET})
    account.save()
    return account


def task(**fields: Any) -> dict[str, Any]:
    """Return a task that every worker may do."""
    defaults = {
        "title": "Split some money",
        "description": "A short game with a bonus",
        "keywords": "game, bonus",
        "assignments": 9,
        "lifetime": 86400,
        "duration": 7200,
        "auto_approval": 3 * 86400,
        "frame_height": 0,
        "demands": {},
    }
    return {**defaults, **fields}


@dataclass
class StagedStudy:
    """A launched study, its account, and the stand-in."""

    standin: StandIn
    study: Study
    account: Account
    recruitment: Recruitment

    @property
    def market(self) -> market.Market:
        return self.standin.market

    @property
    def requester(self) -> Requester:
        return requester_of(self.account)

    def ordered(self, **fields: Any) -> Hit:
        """Order a task without publishing it."""
        hit, _new = publishing.order(study=self.study, token=uuid.uuid4(), by=None, **task(**fields))
        return hit

    def published(self, **fields: Any) -> Hit:
        """Publish a task that workers can find."""
        return publishing.publish(self.ordered(**fields), address=ADDRESS)

    def accept(self, hit: Hit, worker: str, **options: Any) -> market.Assignment:
        """Accept a task as a worker at the stand-in."""
        return self.market.accept(self.market.worker(worker), self.market.hits[str(hit.hit_id)], **options)

    def link(self, assignment: market.Assignment, **changes: str) -> dict[str, str]:
        """Return the query parameters with which the stand-in opens our page."""
        return {
            "workerId": assignment.worker,
            "assignmentId": assignment.id,
            "hitId": assignment.hit.id,
            "turkSubmitTo": self.standin.address,
            **changes,
        }

    def follow(self, link: dict[str, str]) -> HttpResponse:
        """Return our response to a visitor who follows this link."""
        return Client().get(f"/join/{self.study.slug}?{urlencode(link)}")

    def arrive(self, assignment: market.Assignment) -> Enrolment:
        """Let an assignment's worker arrive here, and return their enrolment."""
        answer = self.follow(self.link(assignment))
        assert answer.status_code == 302, answer.content.decode()
        return Enrolment.objects.get(token=answer["Location"].split("/")[2])

    def submit(self, assignment: market.Assignment) -> None:
        """Submit the form on the last page to the stand-in, as the worker's browser does."""
        self.market.submit(assignment, {"assignmentId": assignment.id, "completionCode": "X"})

    def work_through(self, hit: Hit, worker: str) -> tuple[Enrolment, market.Assignment]:
        """Take a worker through every step, including the submission."""
        assignment = self.accept(hit, worker)
        person = finish(self.arrive(assignment))
        self.submit(assignment)
        return person, assignment


def staged_at(standin: StandIn, **fields: Any) -> StagedStudy:
    """Return a study that pays one dollar plus an average bonus of one dollar, with its account and stand-in."""
    study = building.new_study(**{"via": "mturk", "base": Decimal("1.00"), **fields})
    account = account_at(standin, title=f"rehearsal of {study.slug}")
    return StagedStudy(standin, study, account, Recruitment.objects.create(study=study, account=account))
