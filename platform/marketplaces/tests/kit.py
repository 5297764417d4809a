"""One way for tests to speak to every marketplace's stand-in: a study, its participants, and what becomes of them."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from functools import cached_property
from itertools import count
from typing import Any, ClassVar, Self
from urllib.parse import parse_qsl, urlencode

from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from exports.tests import building
from marketplaces import comparing, modules, syncing
from marketplaces.models import Account, Offer, Recruitment, Submission
from marketplaces.mturk import client as mturk
from marketplaces.mturk import standin as mturk_standin
from marketplaces.mturk.standin import server as mturk_server
from marketplaces.mturk.standin.market import Assignment
from marketplaces.prolific import publishing
from marketplaces.prolific import standin as prolific_standin
from marketplaces.prolific.standin import market
from participants.models import Enrolment
from payouts import deciding, paying
from payouts.models import LedgerRow, Transfer
from payouts.payers import Order
from rights.members import give
from rights.roles import Role

STATUS = Submission.Status
WORDS = "Every answer was typed within a second, and none of them had to do with the question. " * 2
ENTRY_ADDRESS = "http://testserver/join/splitting/"
CODES = [
    {"code": "DONE1234", "code_type": "COMPLETED", "actions": [{"action": "MANUALLY_REVIEW"}]},
    {"code": "BACK1234", "code_type": "NO_CONSENT", "actions": [{"action": "REQUEST_RETURN", "return_reason": "-"}]},
]  # fmt: skip
MADE_THERE: dict[str, Any] = {
    "name": "Sharing", "internal_name": "lab 7", "description": "Share money.",
    "external_study_url": f"{ENTRY_ADDRESS}{publishing.PARAMETERS}", "is_external_study_url_secure": True,
    "prolific_id_option": "url_parameters", "completion_codes": CODES, "total_available_places": 5,
    "estimated_completion_time": 8, "reward": 100, "device_compatibility": ["desktop"],
}  # fmt: skip
"""A study as researchers create it on Prolific itself."""


class Stage:
    """A launched study on a stand-in; it pays one dollar and an average bonus of one dollar.

    Attributes:
        there: the marketplace's name.
        served: makes its stand-in.
        reason: what an owner enters to reject.
        create_call, reject_call, list_call, status_call: patterns of calls, for faults.
        pay_calls: the same, by the reason that is paid.
        id_name, worker_name: the link's fields for the submission and the participant.
        acts: the names of actions that ask on a page of their own.
        form, usual: what a researcher enters to offer the study, and the fields and terms of an offer without a form.

    Each marketplace's own stage adds `offers` (at the stand-in), `made_there()`, which creates and publishes something
    on the marketplace itself and returns its identifier, `worker_of(key)` and `worker()`, who takes a place in it or in
    the study, which is published first, and `spend_all()`.
    """

    kind = there = create_call = reject_call = list_call = status_call = id_name = worker_name = ""
    acts: ClassVar[tuple[str, ...]] = ()
    served: ClassVar[Any]
    plan: ClassVar[dict[str, Any]] = {}

    def __init__(self, standin: Any, **plan: Any):
        self.standin, self.market = standin, standin.market
        self.study = building.new_study(**{"via": self.kind, "base": Decimal("1.00"), **self.plan, **plan})
        self.account = Account(title=f"rehearsal of {self.study.slug}", kind=self.kind, address=standin.address)
        self.account.keep_credentials(self.credentials)
        self.account.save()
        self.recruitment = Recruitment.objects.create(study=self.study, account=self.account)

    def beside(self, **plan: Any) -> Any:
        """Return another study on the same stand-in."""
        return type(self)(self.standin, **{"slug": "other", **plan})

    @property
    def page(self) -> str:
        """The address of the admin page where the study recruits."""
        return f"/admin/marketplaces/offer/of/{self.study.pk}/"

    @property
    def offering(self) -> str:
        """The address of the form that offers the study."""
        return f"{self.page}offer/"

    @property
    def offered(self) -> Offer:
        """What the study offers, if it is only one."""
        return Offer.objects.select_related("account", "study").get(study=self.study)

    def act(self, name: str) -> str:
        """Return the address of an action on the study's only task or study there."""
        return f"/admin/marketplaces/offer/{self.offered.pk}/{name}/"

    def draft(self, **offer: Any) -> Offer:
        """Make a draft with the usual fields and terms, changed by these."""
        values = {**self.usual, **offer}
        own = modules.terms(self.kind).Terms.model_fields
        terms = {name: values.pop(name) for name in list(values) if name in own}
        recruiting = modules.recruiting(self.kind)
        return recruiting.create(self.study, address=ENTRY_ADDRESS, by=None, terms=terms, **values)

    def publish(self, **offer: Any) -> Offer:
        """Offer the study to the stand-in's participants."""
        draft = self.draft(**offer)
        modules.recruiting(self.kind).publish(draft)
        return draft

    def sync(self) -> Recruitment:
        """Sync the study, as the sweep does."""
        Recruitment.objects.update(next_at=timezone.now())
        recruitment = Recruitment.objects.select_related("account", "study").get(study=self.study)
        assert syncing.sync(recruitment)
        recruitment.refresh_from_db()
        return recruitment

    def submitted(self) -> Any:
        """Return a participant who finished and submitted, as synced."""
        worker = self.worker().work()
        assert self.sync().problem == ""
        return worker

    def lines(self) -> dict[str, comparing.Line]:
        """Return what differs, by the label of whom it concerns."""
        return {line.label: line for line in comparing.lines_of(self.study, self.account)}

    def sign_in(self, role: Role | None, *, account: Role | None = Role.OWNER) -> Client:
        """Return the browser of a user who has these roles in the study and in the account."""
        user, _new = User.objects.get_or_create(username=f"{role}-{account}", is_staff=True)
        for target, given in ((self.study, role), (self.account, account)):
            if given is not None:
                give(target, user=user, role=given, by=None)
        client = Client()
        client.force_login(user)
        return client

    def approve_due(self) -> None:
        due = LedgerRow.objects.filter(study=self.study.slug, state__in=("due", "failed"))
        deciding.approve(study=self.study.slug, rows=list(due.values_list("pk", flat=True)), user=None)

    def sweep(self) -> None:
        """Pay as if much time had passed."""
        long_ago = timezone.now() - timedelta(hours=1)
        Transfer.objects.update(next_at=long_ago, until=long_ago, asked_at=long_ago)
        paying.pay_due()

    def pay_all(self) -> dict[str, LedgerRow]:
        """Approve what is due, sweep until nothing changes, and return the rows by reason."""
        rows = LedgerRow.objects.filter(study=self.study.slug)
        self.approve_due()
        for _round in range(12):
            self.sweep()
            if not rows.filter(state__in=("approved", "sent")).exists():
                break
        return {row.reason: row for row in rows.all()}


@dataclass
class Worker:
    """A participant; `there` is their submission at the stand-in.

    Each marketplace's own worker adds `participant` (their ID), `status` (of `there`, in Parley's words), `open()`,
    which follows their link, `again()` (the same participant with another submission), `submit()`, `decide(status)` on
    the marketplace itself, and `paid(reason)`, the payments that the stand-in made to them.
    """

    stage: Any
    there: Any

    @property
    def key(self) -> str:
        """The submission's identifier."""
        return str(self.there.id)

    def arrive(self) -> Enrolment:
        response: Any = self.open()
        assert response.status_code == 302, response.content.decode()
        return Enrolment.objects.get(token=response["Location"].split("/")[2])

    @property
    def person(self) -> Enrolment:
        return Enrolment.objects.get(identity__worker=self.participant, identity__study=self.stage.study.slug)

    @property
    def row(self) -> Submission:
        return Submission.objects.get(enrolment=self.person)

    @property
    def states(self) -> set[str]:
        """States of what the ledger owes them."""
        return set(self.person.ledger.values_list("state", flat=True))

    def act(self, name: str) -> str:
        return f"/admin/marketplaces/submission/{self.row.pk}/{name}/"

    def order(self, reason: str, amount: str | None = None, **changes: Any) -> Order:
        """Return the order that the ledger would have paid."""
        person = self.person
        row, identity = person.ledger.get(reason=reason), person.identity
        own = Order(row.uid, reason, row.amount, row.currency, identity.worker, identity.details)
        return replace(own, **{**({"amount": Decimal(amount)} if amount else {}), **changes})

    def finish(self, *, correctly: bool = True) -> Enrolment:
        """Go from the link to the last page."""
        return finish(self.arrive(), correctly=correctly)

    def work(self) -> Self:
        """Go from the link to the last page, and submit."""
        self.finish()
        self.submit()
        return self

    def fail(self) -> Enrolment:
        """Go from the link to an ending that pays nothing."""
        person = self.arrive()
        building.consent(person)
        building.read_instructions(person, word="wrong")
        return self.person


def finish(person: Enrolment, *, correctly: bool = True) -> Enrolment:
    """Go from the first page to the last."""
    building.consent(person)
    building.read_instructions(person)
    building.play(person)
    building.answer_quiz(person, correctly=correctly)
    person.refresh_from_db()
    return person


# ---- Mechanical Turk -------------------------------------------------------------------------------


class MturkStage(Stage):
    kind, there, served = "mturk", "Mechanical Turk", mturk_standin.StandIn
    credentials: ClassVar = {mturk.KEY_ID: mturk_server.KEY_ID, mturk.SECRET: mturk_server.SECRET}
    reason: ClassVar = {"reason": WORDS}
    create_call, reject_call, list_call = "CreateHIT", "RejectAssignment", "ListAssignmentsForHIT"
    status_call, id_name, worker_name = "GetAssignment", "assignmentId", "workerId"
    pay_calls: ClassVar = {"base": "ApproveAssignment", "bonus": "SendBonus"}

    acts = ("places", "prolong", "dispose")
    form: ClassVar = {
        "token": str(uuid.uuid4()), "name": "Split some money", "description": "A short game with a bonus",
        "keywords": "game", "places": 5, "days": 3, "minutes": 120, "approval_days": 3, "approved_percent": 95,
        "approved_number": "", "countries": "us, gb, US",
    }  # fmt: skip
    usual: ClassVar = {
        "name": "Split some money", "description": "A short game with a bonus", "keywords": "game, bonus",
        "places": 9, "days": 1, "minutes": 120, "approval_days": 3,
    }  # fmt: skip

    @property
    def offers(self) -> dict[str, Any]:
        return self.market.hits

    def made_there(self) -> str:
        hit = self.publish(places=3)
        hit.delete()
        return str(hit.remote_id)

    def worker_of(self, key: str) -> MturkWorker:
        return self.accept(Offer.objects.get(remote_id=key), "AWORKERONE")

    @property
    def requester(self) -> mturk.Requester:
        return mturk.requester_of(self.account)

    def draft(self, **offer: Any) -> Offer:
        return super().draft(**{"token": uuid.uuid4(), **offer})

    def ordered(self, **offer: Any) -> Offer:
        """Order a task, which mTurk never receives."""
        hit = self.draft(**offer)
        hit.keep(status="ordered", ordered_at=timezone.now())
        return hit

    @cached_property
    def _hit(self) -> Offer:
        return self.publish()

    @cached_property
    def _numbers(self) -> Any:
        return count(1)

    def spend_all(self) -> None:
        self.market.total = self.market.spent + self.market.held

    def worker(self) -> MturkWorker:
        return self.accept(self._hit, f"AWORKER{next(self._numbers)}")

    def accept(self, hit: Offer, name: str, **options: Any) -> MturkWorker:
        """Accept a task as a worker at the stand-in."""
        task = self.market.hits[str(hit.remote_id)]
        return MturkWorker(self, self.market.accept(self.market.worker(name), task, **options))

    def follow(self, link: dict[str, str]) -> HttpResponse:
        """Return our response to a visitor who follows this link."""
        return Client().get(f"/join/{self.study.slug}?{urlencode(link)}")


class MturkWorker(Worker):
    there: Assignment

    @property
    def participant(self) -> str:
        return self.there.worker

    @property
    def status(self) -> str:
        words = {"Submitted": STATUS.SUBMITTED, "Approved": STATUS.APPROVED, "Rejected": STATUS.REJECTED}
        return words.get(self.there.status, STATUS.WORKING)

    def link(self, **changes: str) -> dict[str, str]:
        """Return the query parameters with which the stand-in opens our page."""
        one, own = self.there, {"turkSubmitTo": self.stage.standin.address}
        return {"workerId": one.worker, "assignmentId": one.id, "hitId": one.hit.id, **own, **changes}

    def again(self) -> Self:
        return type(self)(self.stage, self.stage.accept(self.stage.publish(), self.participant).there)

    def open(self, **changes: str) -> HttpResponse:
        response: HttpResponse = self.stage.follow(self.link(**changes))
        return response

    def submit(self) -> None:
        """Submit the form on the last page, as the worker's browser does."""
        self.stage.market.submit(self.there, {"assignmentId": self.there.id, "completionCode": "X"})

    def leave(self) -> None:
        self.stage.market.leave(self.there)

    def decide(self, status: str) -> None:
        self.there.status = status.title()

    def paid(self, reason: str) -> list[Decimal]:
        if reason == "base":
            return [self.there.hit.reward] if self.there.status == "Approved" else []
        own = [one for one in self.stage.market.bonuses if one["AssignmentId"] == self.there.id]
        return [Decimal(one["BonusAmount"]) for one in own]


# ---- Prolific --------------------------------------------------------------------------------------


class ProlificStage(Stage):
    kind, there, served = "prolific", "Prolific", prolific_standin.StandIn
    credentials: ClassVar = {"token": prolific_standin.TOKEN}
    plan: ClassVar = {"quota": 20}
    reason: ClassVar = {"category": "LOW_EFFORT", "reason": WORDS, "sure": "on"}
    create_call, list_call = "POST /api/v1/studies/$", "GET /api/v1/submissions/$"
    reject_call, status_call = r"POST /api/v1/submissions/\w+/transition/", r"GET /api/v1/submissions/\w+/"
    pay_calls: ClassVar = {"base": reject_call, "bonus": "POST /api/v1/bulk-bonus-payments/"}
    id_name, worker_name = "SESSION_ID", "PROLIFIC_PID"

    acts = ("publish",)
    form: ClassVar = {
        "name": "Splitting money", "description": "You share money.", "places": "20", "minutes": "10",
        "devices": ["desktop", "mobile"], "requires_signature": "on",
    }  # fmt: skip
    usual: ClassVar = {
        "name": "Splitting money", "description": "You share money with another player.", "places": 20,
        "minutes": 10, "devices": ["desktop", "mobile"],
    }  # fmt: skip

    @property
    def offers(self) -> dict[str, Any]:
        return self.market.studies

    def made_there(self, **fields: Any) -> str:
        return str(self.market.create({**MADE_THERE, **fields})["id"])

    def worker_of(self, key: str) -> ProlificWorker:
        self.market.transition(key, "PUBLISH")
        publishing.refresh(self.offered)
        return self.worker()

    def spend_all(self) -> None:
        self.market.balance = 0

    def worker(self) -> ProlificWorker:
        if not self.study.offers.exists():
            self.publish()
        participant, key = market.new_id(), str(self.offered.remote_id)
        self.market.start(key, participant)
        return ProlificWorker(self, self.market.submission_of(key, participant))


class ProlificWorker(Worker):
    there: market.Submission

    @property
    def participant(self) -> str:
        return self.there.participant

    @property
    def status(self) -> str:
        return self.there.status

    @property
    def link(self) -> str:
        """The path and query of their link, newly created."""
        link: str = self.stage.market.link(self.there)
        return link.removeprefix("http://testserver")

    def again(self) -> Self:
        other = market.Submission(market.new_id(), self.there.study, self.participant)
        self.stage.market.submissions[other.id] = other
        return type(self)(self.stage, other)

    def open(self, **changes: str | None) -> HttpResponse:
        """Follow their link, with some fields changed, or (None) removed."""
        address, _mark, query = self.link.partition("?")
        fields = {**dict(parse_qsl(query)), **changes}
        return Client().get(address, {name: value for name, value in fields.items() if value is not None})

    def submit(self, kind: str = "") -> None:
        """Submit with one of the study's codes, or any other; by default, with that of those who arrived here."""
        arrived = Enrolment.objects.filter(identity__worker=self.participant).exists()
        kind = kind or ("completed" if arrived else "NOCODE")
        self.stage.market.complete(self.there.id, self.stage.offered.terms.codes.get(kind, kind))

    def leave(self) -> None:
        self.stage.market.give_back(self.there.id)

    def decide(self, status: str) -> None:
        self.there.status = status

    def paid(self, reason: str) -> list[Decimal]:
        own = (self.there.id, "reward" if reason == "base" else reason)
        return [Decimal(cents) / 100 for key, kind, cents in self.stage.market.paid if (key, kind) == own]


STAGES: dict[str, type[Stage]] = {stage.kind: stage for stage in (MturkStage, ProlificStage)}
