"""What every marketplace's pages for offering a study promise: created once, spent by editors, and said in words."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from audit.models import Record
from exports.tests import building
from llm_agents.standins.kit import Fault
from marketplaces.models import Offer, Recruitment
from rights.roles import Role
from studies.models import Study
from tests.visitors import text_of

pytestmark = pytest.mark.django_db
ATTACK = "<script>alert(1)</script>"


@pytest.fixture
def owner(stage):
    return stage.sign_in(Role.OWNER, account=Role.EDITOR)


def test_viewing_changes_nothing(stage, owner):
    stage.publish()
    stage.standin.calls.clear()
    for address in (stage.page, stage.offering, *map(stage.act, stage.acts)):
        owner.get(address)
    assert {getattr(call, "method", "POST") for call in stage.standin.calls} <= {"GET"}
    assert not Record.objects.filter(kind="marketplaces.offer").exists()


def test_missing_requirements_are_reported(stage, owner):
    Study.objects.update(status="closed")
    assert "First launch the study" in text_of(owner.get(stage.offering))
    Recruitment.objects.all().delete()
    assert f"choose the {stage.there} account" in text_of(owner.get(stage.offering))
    assert not stage.standin.calls


@pytest.mark.parametrize(
    ("plan", "expected_text"),
    [
        ({"base": "0.00"}, "this study has none"),
        ({"via": "codes"}, "another way"),
        ({"purpose": "demo"}, "This study is a trial"),
        ({"factors": {"paid": {"levels": ["1.00", "2.00"]}}, "base": {"by": "paid"}}, "Vary the bonus"),
    ],
)
def test_study_that_cannot_be_paid_there_is_not_offered(stage, owner, plan, expected_text):
    building.launch_with(stage.study, **plan)
    assert expected_text in text_of(owner.get(stage.offering))
    owner.post(stage.offering, stage.form)
    assert not stage.offers and not stage.standin.calls


@pytest.mark.parametrize(
    "fault", [Fault.LOST, Fault.REFUSED_LATE, Fault.GARBAGE_LATE, Fault.CUT, Fault.REFUSED, Fault.GARBAGE]
)
def test_lost_answer_does_not_create_it_twice(stage, owner, fault):
    stage.standin.misbehave(fault, stage.create_call)
    owner.post(stage.offering, stage.form)
    if stage.kind == "mturk":
        owner.post(stage.act("publish"))
    page = text_of(owner.get(stage.page))
    assert ("not confirmed yet" if stage.kind == "mturk" else "reply was lost") in page
    if stage.kind == "mturk":
        owner.post(stage.act("again"))
    else:
        Offer.objects.update(ordered_at=timezone.now() - timedelta(minutes=5))
        assert stage.sync().problem == ""
    if not stage.offers:
        owner.post(stage.offering, stage.form)
    assert len(stage.offers) == 1


def test_entered_text_is_escaped(stage, owner):
    owner.post(stage.offering, {**stage.form, "name": ATTACK})
    assert stage.offered.name == ATTACK and ATTACK not in owner.get(stage.page).content.decode()


def test_reward_that_differs_from_base_pay_is_reported(stage, owner):
    stage.publish()
    assert "launched again" not in text_of(owner.get(stage.page))
    building.launch_with(stage.study, base="2.00")
    page = text_of(owner.get(stage.page))
    assert "launched again" in page and "2.00" in page


@pytest.mark.parametrize("role", [None, Role.VIEWER])
def test_spending_requires_a_role_in_the_account(stage, role):
    user = stage.sign_in(Role.OWNER, account=role)
    page = user.post(stage.offering, stage.form)
    assert page.status_code == 403
    assert not stage.offers
    stage.publish()
    assert user.post(stage.act("places"), {}).status_code == 403
    assert "Publish …" not in text_of(user.get(stage.page))


class TestImport:
    def post(self, stage, user, key: str):
        return user.post(f"{stage.page}adopt/", {"remote_id": key}, follow=True)

    def test_what_was_created_there_is_imported_and_paid(self, stage, owner):
        key = stage.made_there()
        assert "Imported" in text_of(self.post(stage, owner, f" {key} "))
        assert Record.objects.get(action="made", kind="marketplaces.offer")
        worker = stage.worker_of(key).work()
        assert stage.sync().problem == ""
        assert {row.state for row in stage.pay_all().values()} == {"confirmed"} and worker.paid("bonus")

    def test_invalid_identifier_is_refused(self, stage, owner):
        for typed in ("", "<b>", "f" * 23, "f" * 24):
            assert "Not imported" in text_of(self.post(stage, owner, typed))

    @pytest.mark.parametrize("fault", [Fault.CUT, Fault.REFUSED, Fault.GARBAGE, Fault.RATE])
    def test_failed_import_changes_nothing(self, stage, owner, fault):
        key = stage.made_there()
        stage.standin.misbehave(fault)
        assert "Not imported" in text_of(self.post(stage, owner, key))
        assert not Record.objects.filter(action="made", kind="marketplaces.offer").exists()

    def test_import_requires_a_role_in_the_account(self, stage):
        user = stage.sign_in(Role.OWNER, account=Role.VIEWER)
        assert self.post(stage, user, stage.made_there()).status_code == 403
