"""The pages where researchers publish tasks on mTurk: what each changes and what it does not."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.test import Client
from django.utils import timezone

from audit.models import Record
from exports.tests import building
from llm_agents.standins.kit import Fault
from marketplaces.models import Account, Offer, Submission
from marketplaces.mturk.models import Qualification
from marketplaces.mturk.terms import Status
from payouts import books, deciding
from payouts.models import LedgerRow
from rights.roles import Role
from tests.visitors import breadcrumb_urls, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner(staged) -> Client:
    return staged.sign_in(Role.OWNER)


@pytest.fixture
def drafted(staged, owner):
    """Post the form with these changes, and return the page that shows the cost."""

    def post(**fields):
        owner.post(staged.offering, {**staged.form, **fields})
        return owner.get(staged.act("publish"))

    return post


class TestPublishing:
    def test_form_is_prefilled_from_the_study(self, staged, owner):
        building.launch_with(staged.study, listing={"title": "Splitting money"})
        page = owner.get(staged.offering)
        values = {name: page.context["form"][name].value() for name in ("name", "minutes", "places")}
        assert values == {"name": "Splitting money", "minutes": 120, "places": 100_000}
        assert "base pay, 1.00 USD" in text_of(page)
        staged.publish(places=9)
        form = owner.get(staged.offering).context["form"]
        assert form["places"].value() == 100_000 - 9, "without the places already offered"

    def test_cost_is_shown_and_must_be_confirmed_once(self, staged, owner, drafted):
        cost_page = drafted()
        assert "20% of base pay and 20%" in text_of(cost_page)
        assert cost_page.context["price"].costs.expected == Decimal("12.00")
        assert not staged.offers and staged.offered.status == Status.DRAFT
        assert "can find it now" in text_of(owner.post(staged.act("publish"), follow=True))
        for _again in range(2):
            owner.post(staged.offering, staged.form)
            owner.post(staged.act("publish"))
        (task,) = staged.offers.values()
        assert task.address == f"http://testserver/join/{staged.study.slug}/"
        assert (task.assignments, task.duration, task.auto_approval) == (5, 7200, 3 * 86400)
        terms = staged.offered.terms
        assert (terms.approved_percent, terms.approved_number, terms.countries) == (95, None, ["US", "GB"])
        assert Record.objects.get(action="published").details["places"] == 5

    def test_draft_can_be_changed_and_discarded(self, staged, owner, drafted):
        drafted(name="Typed with care", days=7)
        form = owner.get(staged.offering).context["form"]
        assert form["name"].value() == "Typed with care" and form["days"].value() == 7
        assert form["countries"].value() == "US, GB" and form["token"].value() == staged.form["token"]
        drafted(name="Typed again")
        assert staged.offered.name == "Typed again" and not staged.offers
        owner.post(staged.act("discard"))
        assert not Offer.objects.exists()

    def test_higher_fee_of_large_tasks_is_shown(self, drafted):
        page = drafted(places=10)
        assert "40%" in text_of(page) and "20% for tasks with up to 9" in text_of(page)
        assert page.context["price"].costs.fee(Decimal(0)) == Decimal("4.00")

    def test_insufficient_balance_prevents_publishing(self, staged, owner, drafted):
        staged.market.total = Decimal("11.99")
        assert "0.01 USD too little" in text_of(drafted())
        assert "0.01 USD too little" in text_of(owner.post(staged.act("publish"), follow=True))
        assert not staged.offers and staged.offered.status == Status.DRAFT

    @pytest.mark.parametrize(
        ("field", "value", "expected_text"),
        [
            ("minutes", 60, "The study itself allows 120 minutes"),
            ("countries", "USA", "two letters"),
            ("places", 0, "greater than or equal to 1"),
            ("name", "", "required"),
            ("name", "x" * 129, "128"),
            ("approved_percent", 101, "less than or equal to 100"),
            ("days", 31, "30"),
            ("token", "x", ""),
        ],
    )
    def test_invalid_value_is_reported_at_its_field(self, staged, owner, field, value, expected_text):
        page = owner.post(staged.offering, {**staged.form, field: value})
        assert page.status_code == 200
        assert expected_text in " ".join(map(str, page.context["form"].errors[field]))
        assert not staged.offers and not Offer.objects.exists()

    def test_other_currencies_and_addresses_are_refused(self, staged, owner):
        Account.objects.update(place="sandbox")
        assert "begins with https://" in text_of(owner.get(staged.offering))
        building.launch_with(staged.study, currency="EUR")
        assert "pays only in US dollars" in text_of(owner.get(staged.offering))

    def test_unavailable_balance_publishes_nothing(self, staged, owner, drafted):
        staged.standin.misbehave(Fault.CUT, "GetAccountBalance", times=2)
        assert "Nothing was published" in text_of(drafted())
        owner.post(staged.act("publish"))
        assert not staged.offers and staged.offered.status == Status.DRAFT

    def test_rest_period_becomes_our_own_qualification(self, staged, owner, drafted):
        building.launch_with(staged.study, rest_hours=12)
        assert "12 hours" in text_of(owner.get(staged.offering))
        drafted(hides_from_unrested="on")
        owner.post(staged.act("publish"))
        own = Qualification.objects.get()
        assert (own.game, own.hours) == ("bargaining", 12)
        (task,) = staged.offers.values()
        hidden = {"QualificationTypeId": own.qualification_id, "Comparator": "DoesNotExist"}
        assert hidden.items() <= task.requirements[-1].items()


class TestOneTask:
    @pytest.fixture
    def hit(self, staged) -> Offer:
        return staged.publish(places=3)

    def test_places_are_added_once(self, staged, owner, hit):
        page, form = staged.act("places"), {"places": 5}
        shown = owner.get(page)
        assert "$1.20" in text_of(shown)
        assert breadcrumb_urls(shown)[1:] == [f"/admin/studies/study/{staged.study.pk}/change/", staged.page]
        staged.standin.misbehave(Fault.LOST, "CreateAdditionalAssignmentsForHIT")
        assert "unknown whether this took effect" in text_of(owner.post(page, form))
        assert "There are 5 places now" in text_of(owner.post(page, form, follow=True))
        hit.refresh_from_db()
        assert hit.places == staged.offers[hit.remote_id].assignments == 5
        refused = owner.post(page, {"places": 10}, follow=True)
        assert "can never have 10 or more" in text_of(refused)
        assert staged.offers[hit.remote_id].assignments == 5

    def test_task_is_ended_extended_and_deleted(self, staged, owner, hit):
        building.launch_with(staged.study, base=Decimal("2.00"))
        assert "task ends" in text_of(owner.post(staged.act("pause"), follow=True))
        assert Offer.objects.get().status == Status.REVIEWABLE
        assert "launched again" not in text_of(owner.get(staged.page)), "no more workers arrive through it"
        owner.post(staged.act("resume"))
        assert Offer.objects.get().status == Status.ASSIGNABLE
        owner.post(staged.act("prolong"), {"hours": 5})
        assert Offer.objects.get().status == Status.ASSIGNABLE
        refused = owner.post(staged.act("dispose"), follow=True)
        assert "nobody is working on it" in text_of(refused)
        for name in ("pause", "dispose"):
            owner.post(staged.act(name))
        assert Offer.objects.get().status == Status.DISPOSED and staged.offers[hit.remote_id].disposed
        actions = Record.objects.filter(kind="marketplaces.offer").values_list("action", flat=True)
        assert set(actions) == {"paused", "resumed", "extended", "deleted"}

    def test_task_of_another_study_is_not_imported(self, staged, owner, hit):
        other = staged.beside()
        page = other.sign_in(Role.OWNER).post(f"{other.page}adopt/", {"remote_id": hit.remote_id}, follow=True)
        assert "linked to another study" in text_of(page)


class TestUndoingARejection:
    def test_undone_rejection_is_paid_from_the_ledger(self, staged, owner):
        worker = staged.submitted()
        owner.post(worker.act("reject"), staged.reason)
        assert "Undo rejection" in text_of(owner.get(staged.page))
        page = worker.act("take_back")
        assert "approve the rejected assignment" in text_of(owner.get(page))
        assert worker.states == {LedgerRow.State.WRITTEN_OFF}
        assert "written off are due again" in text_of(owner.post(page, follow=True))
        assert "The rejection was undone here" in text_of(owner.get(staged.page))
        assert worker.there.status == "Rejected", "approving is what pays"
        staged.pay_all()
        assert (worker.there.status, len(worker.paid("bonus"))) == ("Approved", 1)
        staged.sync()
        assert worker.states == {LedgerRow.State.CONFIRMED} and not books.check(staged.study.slug)
        assert Record.objects.filter(action="rejection_taken_back").count() == 1

    def test_rejection_that_cannot_be_undone_is_explained(self, staged, owner):
        worker = staged.submitted()
        page = worker.act("take_back")
        assert "not, or no longer, rejected" in text_of(owner.post(page, follow=True))
        owner.post(worker.act("reject"), staged.reason)
        Submission.objects.update(submitted_at=timezone.now() - timedelta(days=31))
        assert "30 days" in text_of(owner.post(page))
        Submission.objects.update(submitted_at=timezone.now())
        rows = list(LedgerRow.objects.values_list("pk", flat=True))
        for change, reason in ((deciding.put_back, "An error."), (deciding.write_off, "They asked for it.")):
            change(study=staged.study.slug, rows=rows, user=None, reason=reason)
        assert "due again on the page" in text_of(owner.post(page))
        assert worker.states == {LedgerRow.State.WRITTEN_OFF} and worker.row.taken_back_at is None
        assert not Record.objects.filter(action="rejection_taken_back").exists()
