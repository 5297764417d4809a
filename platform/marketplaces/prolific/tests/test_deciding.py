"""What only Prolific has of decisions: asking for the return of a submission, and paying part of the reward."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from audit.models import Record
from exports.tests import building
from llm_agents.standins.kit import WITHOUT_EFFECT, Fault
from marketplaces.kinds import MarketplaceError, NotPossible
from marketplaces.models import Offer
from marketplaces.prolific import deciding
from marketplaces.prolific.paying import payer_of
from participants import services as people
from payouts import books
from payouts.models import LedgerRow
from payouts.payers import AssignmentStatus, Outcome
from rights.roles import Role
from tests.visitors import breadcrumb_urls, text_of

pytestmark = pytest.mark.django_db

FAULTS = [fault for fault in Fault if fault not in (Fault.SLOW, Fault.TWICE)]


@pytest.fixture
def owner(desk):
    return desk.sign_in(Role.OWNER)


class TestAskingForReturn:
    @pytest.fixture
    def worker(self, desk):
        """A participant who finished here and submitted there without the code."""
        worker = desk.worker()
        worker.finish()
        worker.submit("NOCODE")
        desk.sync()
        return worker

    def test_owner_asks_once_with_reasons(self, desk, worker, owner):
        assert "Ask to return …" in text_of(owner.get(desk.page))
        page = worker.act("ask_return")
        assert "does not count against them" in text_of(owner.get(page))
        assert breadcrumb_urls(owner.get(page))[-1] == desk.page
        assert "Choose a reason" in text_of(owner.post(page, {}))
        assert not worker.there.return_requested and not Record.objects.filter(action="return_asked").exists()
        form = {"reasons": ["You did not finish the study."], "other": "<i>Thank you all the same.</i>"}
        assert "to return their submission" in text_of(owner.post(page, form, follow=True))
        assert worker.there.return_reasons == ["You did not finish the study.", "<i>Thank you all the same.</i>"]
        assert worker.status == "AWAITING REVIEW"
        assert Record.objects.get(action="return_asked").details["person"] == worker.person.pseudonym
        desk.sync()
        shown = text_of(owner.get(desk.page))
        assert "Ask to return …" not in shown and "asked to return their submission" in shown
        with pytest.raises(NotPossible, match="already"):
            deciding.ask_return(worker.row, reasons=["Again."])
        worker.leave()
        desk.sync()
        assert deciding.not_reviewable(worker.row)

    @pytest.mark.parametrize("fault", FAULTS)
    def test_request_with_lost_answer_is_not_repeated(self, desk, worker, fault):
        desk.standin.misbehave(fault, "request-return")
        if fault in WITHOUT_EFFECT:
            with pytest.raises(MarketplaceError):
                deciding.ask_return(worker.row, reasons=["You did not finish."])
        else:
            deciding.ask_return(worker.row, reasons=["You did not finish."])
        assert bool(worker.there.return_requested) is worker.row.return_asked is (fault not in WITHOUT_EFFECT)

    def test_rejection_requires_a_long_reason_and_confirmation(self, desk, worker, owner):
        form = {"category": "NO_CODE", "reason": "Too short.", "sure": "on"}
        assert "at least 100" in text_of(owner.post(worker.act("reject"), form))
        owner.post(worker.act("reject"), {**form, "reason": "The code word was not the one typed. " * 4, "sure": ""})
        assert worker.status == "AWAITING REVIEW"


class TestDynamicPayment:
    """Tests of partial payments for participants who ended early, if the workspace supports them."""

    PAYMENT = {"percent": 25, "message": "For the time that you spent."}

    @pytest.fixture
    def leaver(self, desk):
        """A participant who left here and has not submitted on Prolific."""
        desk.publish(parts=True)
        worker = desk.worker()
        person = worker.arrive()
        building.consent(person)
        people.withdraw(enrolment_id=person.pk)
        desk.sync()
        return worker

    def test_unsupported_partial_payment_creates_nothing(self, desk):
        desk.market.pays_parts = False
        with pytest.raises(NotPossible, match="may not support them"):
            desk.draft(parts=True)
        assert not Offer.objects.exists() and not desk.market.studies
        study = desk.market.studies[desk.draft().remote_id]
        assert "DYNAMIC_PAYMENT" not in json.dumps(study["completion_codes"])

    def test_owner_pays_part_once(self, desk, leaver, owner):
        assert "Ended here without pay" in text_of(owner.get(desk.page))
        page = leaver.act("pay_part")
        assert "percent" in owner.get(page).content.decode()
        response = owner.post(page, {**self.PAYMENT, "sure": "on"}, follow=True)
        assert "25 percent of the reward" in text_of(response) and "partially paid 1" in text_of(response)
        for _again in range(2):
            desk.sync()
        assert "who ended without pay" in text_of(owner.get(page, follow=True))
        assert desk.market.paid == [(leaver.key, "part", 25)]
        row = LedgerRow.objects.get()
        assert (row.reason, row.amount, row.state) == ("part", Decimal("0.25"), "elsewhere")
        assert not books.check(desk.study.slug)

    @pytest.mark.parametrize("fault", FAULTS)
    def test_partial_payment_with_lost_answer_is_made_once(self, desk, leaver, fault):
        desk.standin.misbehave(fault, desk.reject_call)
        if fault in WITHOUT_EFFECT:
            with pytest.raises(MarketplaceError):
                deciding.pay_part(leaver.row, **self.PAYMENT)
            assert not desk.market.paid and not LedgerRow.objects.exists()
        deciding.pay_part(leaver.row, **self.PAYMENT)
        assert len(desk.market.paid) == 1 == LedgerRow.objects.count()

    @pytest.mark.parametrize("percent", [7, 100, 0, -5])
    def test_partial_payment_must_be_within_limits(self, desk, leaver, percent):
        with pytest.raises(NotPossible):
            deciding.pay_part(leaver.row, **{**self.PAYMENT, "percent": percent})
        assert not desk.market.paid

    def test_partial_payment_requires_an_unpaid_unsubmitted_ending(self, desk, leaver):
        finisher = desk.worker()
        finisher.finish()
        desk.sync()
        assert not deciding.not_payable_in_part(leaver.row) and deciding.not_payable_in_part(finisher.row)
        leaver.submit("returned")
        with pytest.raises(NotPossible, match="no longer active"):
            deciding.pay_part(leaver.row, **self.PAYMENT)
        assert not desk.market.paid

    def test_partial_approval_does_not_count_as_full_payment(self, desk):
        worker = desk.worker().work()
        worker.decide("PARTIALLY APPROVED")
        payer, order = payer_of(desk.study.slug), worker.order("base")
        assert payer.assignment_status(order) == AssignmentStatus.APPROVED
        for answer in (payer.pay(order), payer.look_up(order)):
            assert answer.outcome == Outcome.UNCLEAR and "only part" in answer.reason
        assert not desk.market.paid
