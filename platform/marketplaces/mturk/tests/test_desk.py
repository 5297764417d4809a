"""The pages where researchers publish tasks and decide about assignments: what each changes and what it does not."""

from __future__ import annotations

import uuid
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from audit.models import Record
from exports.tests import building
from llm_agents.standins.kit import Fault
from marketplaces.models import Account, Recruitment, Submission
from marketplaces.mturk.deciding import sync
from marketplaces.mturk.models import Hit, Qualification
from marketplaces.syncing import sync as sync_generally
from marketplaces.tests import doing
from payouts import books, deciding
from payouts.models import LedgerRow
from rights.roles import Role
from studies.models import Study
from tests.visitors import breadcrumb_urls, text_of

pytestmark = pytest.mark.django_db
REASON = "The task was submitted without a single move in the game."


def signed_in(staged: Any, *, study: Role | None, account: Role | None, name: str = "") -> Client:
    return doing.sign_in(staged.study, staged.account, role=study, account_role=account, name=name)


@pytest.fixture
def owner(staged) -> Client:
    return signed_in(staged, study=Role.OWNER, account=Role.OWNER)


def desk(staged: Any, route: str = "") -> str:
    return f"/admin/mturk/hit/of/{staged.study.pk}/{route}"


def task_fields(**fields: Any) -> dict[str, Any]:
    """Return the values that a researcher enters in the task form."""
    values = {
        "token": str(uuid.uuid4()),
        "title": "Split some money",
        "description": "A short game with a bonus",
        "keywords": "game",
        "assignments": 5,
        "days": 3,
        "minutes": 120,
        "approval_days": 3,
        "approved_percent": 95,
        "approved_number": "",
        "countries": "us, gb, US",
        "frame_height": 0,
    }
    return {**values, **fields}


class TestPublishing:
    def test_form_is_prefilled_from_the_study(self, staged, owner):
        building.launch_with(staged.study, listing={"title": "Splitting money"})
        page = owner.get(desk(staged, "publish/"))
        form = page.context["form"]
        assert form["title"].value() == "Splitting money"
        assert form["minutes"].value() == 120
        assert form["assignments"].value() == 100_000
        assert "The reward is $1.00" in text_of(page)
        assert not staged.standin.calls, "viewing sends no request"

    def test_prefilled_number_excludes_places_already_offered(self, staged, owner):
        staged.published(assignments=9)
        assert owner.get(desk(staged, "publish/")).context["form"]["assignments"].value() == 100_000 - 9

    def test_cost_is_shown_and_must_be_confirmed(self, staged, owner):
        form = task_fields()
        cost_page = owner.post(desk(staged, "publish/"), form)
        assert "Fee: 20% of base pay and 20% of bonuses" in text_of(cost_page)
        assert cost_page.context["cost"].costs.expected == Decimal("5.00") + Decimal("1.00") + Decimal(
            "5.00"
        ) + Decimal("1.00")
        assert not staged.market.hits and not Hit.objects.exists()
        result = owner.post(desk(staged, "publish/"), {**form, "confirmed": "yes"}, follow=True)
        assert "workers can find the task" in text_of(result)
        (task,) = staged.market.hits.values()
        assert task.address == f"http://testserver/join/{staged.study.slug}/"
        assert (task.assignments, task.duration, task.auto_approval) == (5, 7200, 3 * 86400)
        assert Hit.objects.get().demands == {"approved_percent": 95, "countries": ["US", "GB"]}
        assert Record.objects.get(action="published").details["assignments"] == 5

    def test_confirming_twice_publishes_once(self, staged, owner):
        form = task_fields(confirmed="yes")
        for _time in range(3):
            owner.post(desk(staged, "publish/"), form)
        assert len(staged.market.hits) == Hit.objects.count() == 1
        assert Record.objects.filter(action="published").count() == 1

    def test_higher_fee_of_large_tasks_is_shown(self, staged, owner):
        page = owner.post(desk(staged, "publish/"), task_fields(assignments=10))
        assert "40%" in text_of(page) and "20% for tasks with up to 9" in text_of(page)
        assert page.context["cost"].costs.fee(Decimal(0)) == Decimal("4.00")

    def test_insufficient_balance_prevents_publishing(self, staged, owner):
        staged.market.total = Decimal("11.99")
        page = owner.post(desk(staged, "publish/"), task_fields(confirmed="yes"))
        assert "$0.01 too little" in text_of(page)
        assert not staged.market.hits and not Hit.objects.exists()
        staged.market.total = Decimal("12.00")
        owner.post(desk(staged, "publish/"), task_fields(confirmed="yes"))
        assert len(staged.market.hits) == 1

    @pytest.mark.parametrize(
        ("field", "value", "expected_text"),
        [
            ("minutes", 60, "The study itself allows 120 minutes"),
            ("countries", "USA", "two letters"),
            ("assignments", 0, "greater than or equal to 1"),
            ("title", "", "required"),
            ("title", "x" * 129, "128"),
            ("approved_percent", 101, "less than or equal to 100"),
            ("days", 31, "30"),
            ("token", "x", ""),
        ],
    )
    def test_invalid_value_is_reported_at_its_field(self, staged, owner, field, value, expected_text):
        page = owner.post(desk(staged, "publish/"), task_fields(confirmed="yes", **{field: value}))
        assert page.status_code == 200
        assert expected_text in " ".join(map(str, page.context["form"].errors[field]))
        assert not staged.market.hits and not Hit.objects.exists()

    @pytest.mark.parametrize(
        ("change", "expected_text"),
        [
            ({"currency": "EUR"}, "pays only in US dollars"),
            ({"base": Decimal("0.00")}, "this study has none"),
            ({"purpose": "demo"}, "This study is a trial"),
        ],
    )
    def test_pay_that_mturk_cannot_pay_is_explained(self, standin, db, change, expected_text):
        from marketplaces.mturk.tests.staged import staged_at

        staged = staged_at(standin, **change)
        page = signed_in(staged, study=Role.OWNER, account=Role.OWNER).get(desk(staged, "publish/"))
        assert expected_text in text_of(page)

    def test_production_requires_https(self, staged, owner):
        Account.objects.update(place="sandbox")
        assert "begins with https://" in text_of(owner.get(desk(staged, "publish/")))

    def test_missing_launch_or_account_is_reported(self, staged, owner):
        Study.objects.update(status="closed")
        assert "First launch the study" in text_of(owner.get(desk(staged, "publish/")))
        Recruitment.objects.all().delete()
        assert "choose the Mechanical Turk account" in text_of(owner.get(desk(staged, "publish/")))
        assert "no Mechanical Turk account yet" in text_of(owner.get(desk(staged)))

    def test_recruiting_requires_a_role_in_the_account(self, staged):
        client = signed_in(staged, study=Role.EDITOR, account=Role.VIEWER)
        page = client.post(desk(staged, "publish/"), task_fields(confirmed="yes"))
        assert "owners of the study's account" in text_of(page)
        hit = staged.published()
        assert client.post(f"/admin/mturk/hit/{hit.pk}/expire/").status_code == 403
        assert staged.requester.hit(hit.hit_id).status == "Assignable"

    @pytest.mark.parametrize("failure", [Fault.LOST, Fault.REFUSED, Fault.GARBAGE_LATE])
    def test_repeating_a_lost_order_creates_one_task(self, staged, owner, failure):
        staged.standin.misbehave(failure, "CreateHIT")
        page = owner.post(desk(staged, "publish/"), task_fields(confirmed="yes"), follow=True)
        assert "not known yet" in text_of(page) and "not confirmed yet" in text_of(page)
        page = owner.post(f"/admin/mturk/hit/{Hit.objects.get().pk}/again/", follow=True)
        assert "workers can find the task" in text_of(page)
        assert len(staged.market.hits) == 1

    def test_unavailable_balance_keeps_the_entered_values(self, staged, owner):
        staged.standin.misbehave(Fault.CUT, "GetAccountBalance")
        page = owner.post(desk(staged, "publish/"), task_fields(title="Typed with care"))
        assert "Nothing was published" in text_of(page)
        assert "Typed with care" in page.content.decode()

    def test_rest_period_becomes_our_own_qualification(self, standin, db):
        from marketplaces.mturk.tests.staged import staged_at

        staged = staged_at(standin, rest_hours=12)
        client = signed_in(staged, study=Role.EDITOR, account=Role.EDITOR)
        assert "12 hours" in text_of(client.get(desk(staged, "publish/")))
        client.post(desk(staged, "publish/"), task_fields(confirmed="yes", hides_from_unrested="on"))
        qualification = Qualification.objects.get()
        assert (qualification.game, qualification.hours) == ("bargaining", 12)
        (task,) = staged.market.hits.values()
        assert {"QualificationTypeId": qualification.qualification_id, "Comparator": "DoesNotExist"}.items() <= dict(
            task.requirements[-1]
        ).items()

    def test_entered_text_is_escaped(self, staged, owner):
        attack = "<script>alert(1)</script>"
        owner.post(desk(staged, "publish/"), task_fields(confirmed="yes", title=attack))
        assert attack not in owner.get(desk(staged)).content.decode()
        assert next(iter(staged.market.hits.values())).title == attack


class TestOneTask:
    @pytest.fixture
    def hit(self, staged) -> Hit:
        return staged.published(assignments=3)

    @pytest.mark.parametrize("action", ["extend", "prolong", "expire", "dispose"])
    def test_viewing_changes_nothing(self, staged, owner, hit, action):
        calls_before = list(staged.standin.calls)
        page = owner.get(f"/admin/mturk/hit/{hit.pk}/{action}/")
        assert breadcrumb_urls(page)[1:] == [f"/admin/studies/study/{staged.study.pk}/change/", desk(staged)]
        assert staged.standin.calls == calls_before
        assert not Record.objects.filter(kind="mturk.hit").exists()

    def test_reward_that_differs_from_base_pay_is_reported(self, staged, owner, hit):
        assert "launched again" not in text_of(owner.get(desk(staged)))
        building.launch_with(staged.study, base=Decimal("2.00"))
        assert "The study was launched again with a base pay of $2.00" in text_of(owner.get(desk(staged)))
        owner.post(f"/admin/mturk/hit/{hit.pk}/expire/")
        assert "launched again" not in text_of(owner.get(desk(staged))), "no more workers arrive through it"

    def test_assignments_are_added(self, staged, owner, hit):
        page = f"/admin/mturk/hit/{hit.pk}/extend/"
        assert "$1.20" in text_of(owner.get(page))
        form = {"token": str(uuid.uuid4()), "number": 4}
        for _time in range(2):
            owner.post(page, form)
        hit.refresh_from_db()
        assert hit.assignments == staged.market.hits[hit.hit_id].assignments == 7
        refused = owner.post(page, {"token": str(uuid.uuid4()), "number": 3}, follow=True)
        assert "can never have 10 or more" in text_of(refused)
        assert staged.market.hits[hit.hit_id].assignments == 7

    def test_repeated_form_adds_assignments_once(self, staged, owner, hit):
        staged.standin.misbehave(Fault.LOST, "CreateAdditionalAssignmentsForHIT")
        page, form = f"/admin/mturk/hit/{hit.pk}/extend/", {"token": str(uuid.uuid4()), "number": 2}
        page_again = owner.post(page, form)
        assert "unknown whether this took effect" in text_of(page_again)
        assert f'value="{form["token"]}"' in page_again.content.decode()
        owner.post(page, form)
        assert staged.market.hits[hit.hit_id].assignments == 5

    def test_task_is_ended_extended_and_deleted(self, staged, owner, hit):
        owner.post(f"/admin/mturk/hit/{hit.pk}/expire/")
        hit.refresh_from_db()
        assert hit.state == Hit.State.REVIEWABLE
        owner.post(f"/admin/mturk/hit/{hit.pk}/prolong/", {"hours": 5})
        hit.refresh_from_db()
        assert hit.state == Hit.State.ASSIGNABLE
        refused = owner.post(f"/admin/mturk/hit/{hit.pk}/dispose/", follow=True)
        assert "nobody is working on it" in text_of(refused)
        owner.post(f"/admin/mturk/hit/{hit.pk}/expire/")
        owner.post(f"/admin/mturk/hit/{hit.pk}/dispose/")
        hit.refresh_from_db()
        assert hit.state == Hit.State.DISPOSED and staged.market.hits[hit.hit_id].disposed
        assert set(Record.objects.filter(kind="mturk.hit").values_list("action", flat=True)) == {
            "expired",
            "extended",
            "deleted",
        }

    def test_task_created_elsewhere_is_imported(self, staged, owner, hit):
        Hit.objects.all().delete()
        page = owner.post(desk(staged, "adopt/"), {"hit_id": hit.hit_id}, follow=True)
        assert "now pay its workers here" in text_of(page)
        imported = Hit.objects.get()
        assert (imported.hit_id, imported.reward, imported.assignments) == (hit.hit_id, Decimal("1.00"), 3)
        for invalid_id in ("3UNKNOWN", "", "<b>"):
            page = owner.post(desk(staged, "adopt/"), {"hit_id": invalid_id}, follow=True)
            assert "Not imported" in text_of(page)
        assert Hit.objects.count() == 1

    def test_task_of_another_study_is_not_imported(self, staged, owner, hit, standin):
        from marketplaces.mturk.tests.staged import staged_at

        other_study = staged_at(standin, slug="other")
        client = signed_in(other_study, study=Role.OWNER, account=Role.OWNER, name="other")
        assert "belongs to another study" in text_of(
            client.post(desk(other_study, "adopt/"), {"hit_id": hit.hit_id}, follow=True)
        )


class TestUndoingARejection:
    @pytest.fixture
    def submitted(self, staged) -> Submission:
        staged.work_through(staged.published(), "AWORKERONE")
        sync(staged.recruitment)
        return Submission.objects.get()

    def test_undone_rejection_is_paid_from_the_ledger(self, staged, owner, submitted):
        owner.post(f"/admin/marketplaces/submission/{submitted.pk}/reject/", {"reason": REASON})
        sync_generally(staged.recruitment)
        assert "Undo rejection" in text_of(owner.get(desk(staged)))
        page = f"/admin/marketplaces/submission/{submitted.pk}/take_back/"
        assert "approve the rejected assignment" in text_of(owner.get(page))
        assert {row.state for row in LedgerRow.objects.all()} == {LedgerRow.State.WRITTEN_OFF}
        assert "written off are due again" in text_of(owner.post(page, follow=True))
        assert "The rejection was undone here" in text_of(owner.get(desk(staged)))
        (assignment,) = staged.market.assignments.values()
        assert assignment.status == "Rejected", "approving is what pays"
        rows = doing.pay_all(staged.study)
        assert {row.state for row in rows.values()} == {LedgerRow.State.CONFIRMED}
        assert (assignment.status, len(staged.market.bonuses)) == ("Approved", 1)
        sync(staged.recruitment)
        assert {row.state for row in LedgerRow.objects.all()} == {LedgerRow.State.CONFIRMED}
        assert not books.check(staged.study.slug)
        assert Record.objects.filter(action="rejection_taken_back").count() == 1

    def test_rejection_that_cannot_be_undone_is_explained(self, staged, owner, submitted):
        page = f"/admin/marketplaces/submission/{submitted.pk}/take_back/"
        assert "not, or no longer, rejected" in text_of(owner.post(page, follow=True))
        owner.post(f"/admin/marketplaces/submission/{submitted.pk}/reject/", {"reason": REASON})
        Submission.objects.update(submitted_at=timezone.now() - timedelta(days=31))
        assert "30 days" in text_of(owner.post(page))
        Submission.objects.update(submitted_at=timezone.now())
        rows = list(LedgerRow.objects.values_list("pk", flat=True))
        for change, reason in ((deciding.put_back, "An error."), (deciding.write_off, "They asked for it.")):
            change(study=staged.study.slug, rows=rows, user=None, reason=reason)
        assert "due again on the page" in text_of(owner.post(page))
        assert {row.state for row in LedgerRow.objects.all()} == {LedgerRow.State.WRITTEN_OFF}
        assert Submission.objects.get().taken_back_at is None
        assert not Record.objects.filter(action="rejection_taken_back").exists()
