"""One way for tests to speak to every marketplace's stand-in: a study, its participants, and what becomes of them."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import count
from typing import Any, ClassVar

from django.test import Client
from django.utils import timezone

from exports.tests import building
from marketplaces import syncing
from marketplaces.models import Account, Recruitment, Submission
from marketplaces.mturk.tests.staged import staged_at
from marketplaces.prolific.tests.staging import staged_on
from marketplaces.tests import doing
from participants.models import Enrolment
from payouts.models import LedgerRow
from payouts.payers import Order
from rights.roles import Role
from studies.models import Study

STATUS = Submission.Status
WORDS = "Every answer was typed within a second, and none of them had to do with the question. " * 2


class Stage:
    """A launched study on a stand-in.

    Attributes:
        there: the marketplace's name.
        reason: what an owner enters to reject.
        reject_call, list_call, status_call: patterns of calls, for faults.
        pay_calls: the same, by the reason that is paid.
        id_name: where an identity's details keep its submission's identifier.
    """

    kind: ClassVar[str]
    there: ClassVar[str]
    reason: ClassVar[dict[str, str]]
    reject_call: ClassVar[str]
    list_call: ClassVar[str]
    status_call: ClassVar[str]
    pay_calls: ClassVar[dict[str, str]]
    id_name: ClassVar[str]
    study: Study
    standin: Any

    @property
    def account(self) -> Account:
        return self.study.recruitment.account

    @property
    def desk(self) -> str:
        raise NotImplementedError

    def worker(self) -> Worker:
        """Return a participant who takes a place."""
        raise NotImplementedError

    def spend_all(self) -> None:
        """Leave no money in the account."""
        raise NotImplementedError

    def sync(self) -> Recruitment:
        """Sync the study, as the sweep does."""
        Recruitment.objects.update(next_at=timezone.now())
        recruitment = Recruitment.objects.select_related("account", "study").get(study=self.study)
        assert syncing.sync(recruitment)
        recruitment.refresh_from_db()
        return recruitment

    def submitted(self) -> Worker:
        """Return a participant who finished and submitted, as synced."""
        worker = self.worker()
        worker.finish()
        worker.submit()
        assert self.sync().problem == ""
        return worker

    def sign_in(self, role: Role, *, account: Role | None = Role.OWNER) -> Client:
        return doing.sign_in(self.study, self.account, role=role, account_role=account)

    def pay_all(self) -> dict[str, LedgerRow]:
        return doing.pay_all(self.study)


@dataclass
class Worker:
    """A participant; `there` is their submission at the stand-in."""

    stage: Any
    there: Any

    @property
    def participant(self) -> str:
        raise NotImplementedError

    @property
    def status(self) -> str:
        """Its status at the stand-in, in Parley's words."""
        raise NotImplementedError

    def arrive(self) -> Enrolment:
        raise NotImplementedError

    def submit(self) -> None:
        raise NotImplementedError

    def decide(self, status: str) -> None:
        """Approve or reject it on the marketplace itself."""
        raise NotImplementedError

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
        return doing.order(self.person, reason, amount, **changes)

    def paid(self, reason: str) -> list[Decimal]:
        """Return each payment that the stand-in made to them for this reason."""
        raise NotImplementedError

    def finish(self) -> Enrolment:
        """Go from the link to the last page."""
        return doing.finish(self.arrive())

    def fail(self) -> Enrolment:
        """Go from the link to an ending that pays nothing."""
        person = self.arrive()
        building.consent(person)
        building.read_instructions(person, word="wrong")
        return self.person


class MturkStage(Stage):
    kind, there = "mturk", "Mechanical Turk"
    reason = {"reason": WORDS}
    reject_call, list_call = "RejectAssignment", "ListAssignmentsForHIT"
    status_call, id_name = "GetAssignment", "assignmentId"
    pay_calls: ClassVar = {"base": "ApproveAssignment", "bonus": "SendBonus"}

    def __init__(self, standin: Any):
        self.standin, self.staged = standin, staged_at(standin)
        self.study, self._numbers = self.staged.study, count(1)

    @cached_property
    def hit(self) -> Any:
        return self.staged.published()

    @property
    def desk(self) -> str:
        return f"/admin/mturk/hit/of/{self.study.pk}/"

    def spend_all(self) -> None:
        market = self.standin.market
        market.total = market.spent + market.held

    def worker(self) -> Worker:
        return MturkWorker(self, self.staged.accept(self.hit, f"AWORKER{next(self._numbers)}"))


class MturkWorker(Worker):
    @property
    def participant(self) -> str:
        return self.there.worker

    @property
    def status(self) -> str:
        words = {"Submitted": STATUS.SUBMITTED, "Approved": STATUS.APPROVED, "Rejected": STATUS.REJECTED}
        return words.get(self.there.status, STATUS.WORKING)

    def arrive(self) -> Enrolment:
        return self.stage.staged.arrive(self.there)

    def submit(self) -> None:
        self.stage.staged.submit(self.there)

    def decide(self, status: str) -> None:
        self.there.status = status.title()

    def paid(self, reason: str) -> list[Decimal]:
        if reason == "base":
            return [self.there.hit.reward] if self.there.status == "Approved" else []
        own = [one for one in self.stage.standin.market.bonuses if one["AssignmentId"] == self.there.id]
        return [Decimal(one["BonusAmount"]) for one in own]


class ProlificStage(Stage):
    kind, there = "prolific", "Prolific"
    reason = {"category": "LOW_EFFORT", "reason": WORDS, "sure": "on"}
    reject_call, list_call = r"POST /api/v1/submissions/\w+/transition/", "GET /api/v1/submissions/$"
    status_call, id_name = r"GET /api/v1/submissions/\w+/", "SESSION_ID"
    pay_calls: ClassVar = {"base": reject_call, "bonus": "POST /api/v1/bulk-bonus-payments/"}

    def __init__(self, standin: Any):
        self.standin, self.offer = standin, staged_on(standin)
        self.study = self.offer.study

    @cached_property
    def publication(self) -> Any:
        return self.offer.publish()

    @property
    def desk(self) -> str:
        return f"/admin/prolific/publication/{self.publication.pk}/change/"

    def spend_all(self) -> None:
        self.standin.market.balance = 0

    def worker(self) -> Worker:
        assert self.publication
        one = self.offer.worker()
        return ProlificWorker(self, one)


class ProlificWorker(Worker):
    @property
    def participant(self) -> str:
        return self.there.participant

    @property
    def status(self) -> str:
        return self.there.submission.status

    def arrive(self) -> Enrolment:
        return self.there.arrive()

    def submit(self) -> None:
        self.there.submit("NOCODE" if not self.person_here() else "completed")

    def person_here(self) -> bool:
        return Enrolment.objects.filter(identity__worker=self.participant).exists()

    def decide(self, status: str) -> None:
        self.there.submission.status = status

    def paid(self, reason: str) -> list[Decimal]:
        name = "reward" if reason == "base" else reason
        own = (self.there.submission.id, name)
        return [Decimal(cents) / 100 for key, kind, cents in self.stage.standin.market.paid if (key, kind) == own]
