"""A study created on Prolific itself is linked to the study here, or the researcher is told what to change there."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from audit.models import Record
from exports.tests import building
from marketplaces.kinds import MarketplaceError, NotPossible
from marketplaces.models import Recruitment
from marketplaces.prolific import publishing as adopting
from marketplaces.prolific.models import Publication
from marketplaces.prolific.publishing import PARAMETERS
from marketplaces.prolific.tests.staging import ENTRY_ADDRESS
from marketplaces.prolific.tests.test_ledger import paid, pay_all
from marketplaces.prolific.tests.test_pages import page_text, page_url
from rights.roles import Role

pytestmark = pytest.mark.django_db

CODES = [
    {"code": "DONE1234", "code_type": "COMPLETED", "actions": [{"action": "MANUALLY_REVIEW"}]},
    {"code": "BACK1234", "code_type": "NO_CONSENT", "actions": [{"action": "REQUEST_RETURN", "return_reason": "-"}]},
]  # fmt: skip
STUDY: dict[str, Any] = {
    "name": "Sharing", "internal_name": "lab 7", "description": "Share money.",
    "external_study_url": f"{ENTRY_ADDRESS}{PARAMETERS}", "is_external_study_url_secure": True,
    "prolific_id_option": "url_parameters", "completion_codes": CODES, "total_available_places": 5,
    "estimated_completion_time": 8, "reward": 100, "device_compatibility": ["desktop"],
}  # fmt: skip


def new_prolific_study(desk, **fields: Any) -> str:
    """Create a study as on Prolific itself; return its ID."""
    study_id: str = desk.standin.market.create({**STUDY, **fields})["id"]
    return study_id


def adopt(desk, prolific_id: str) -> Publication:
    return adopting.adopt(desk.study, desk.study.recruitment.account, key=prolific_id, address=ENTRY_ADDRESS)


def test_import_changes_nothing_on_prolific(desk):
    prolific_id = new_prolific_study(desk)
    desk.standin.market.transition(prolific_id, "PUBLISH")
    study_before = dict(desk.standin.market.studies[prolific_id])
    desk.standin.calls.clear()
    publication = adopt(desk, prolific_id)
    assert {call.method for call in desk.standin.calls} == {"GET"}
    assert desk.standin.market.studies[prolific_id] == study_before
    assert (publication.name, publication.internal_name, publication.places, publication.minutes) == (
        "Sharing",
        "lab 7",
        5,
        8,
    )
    assert (publication.status, publication.requires_signature, publication.devices) == ("ACTIVE", True, ["desktop"])
    assert publication.workspace == desk.standin.market.workspace
    assert publication.codes == {"completed": "DONE1234", "returned": "BACK1234", "screened_out": "BACK1234"}


def test_participants_of_an_imported_study_are_paid(desk):
    prolific_id = new_prolific_study(desk)
    desk.standin.market.transition(prolific_id, "PUBLISH")
    adopt(desk, prolific_id)
    worker = desk.worker()
    person = worker.finish()
    assert "cc=DONE1234" in Client().get(person.get_absolute_url()).content.decode()
    worker.submit()
    assert {row.state for row in pay_all(desk).values()} == {"confirmed"}
    assert paid(desk) == {"reward": 1, "bonus": 1}


@pytest.mark.parametrize(
    ("fields", "expected_text"),
    [
        ({"external_study_url": f"http://elsewhere.example/{PARAMETERS}"}, "Set it to http://testserver/join/splitting/"),
        ({"external_study_url": f"http://testserver/join/another/{PARAMETERS}"}, "does not lead here"),
        ({"external_study_url": f"{ENTRY_ADDRESS}?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}"}, "does not lead here"),
        ({"external_study_url": f"{ENTRY_ADDRESS}?PROLIFIC_PID=1&STUDY_ID=2&SESSION_ID=3"}, "does not lead here"),
        ({"reward": 150}, "Set it to 1.00 USD"),
        ({"prolific_id_option": "question"}, "through URL parameters"),
        (
            {"completion_codes": [{**CODES[0], "actions": [{"action": "AUTOMATICALLY_APPROVE"}]}, CODES[1]]},
            "The code DONE1234 makes Prolific pay automatically",
        ),
        ({"completion_codes": CODES[:1]}, "no code for endings that pay nothing"),
        ({"completion_codes": CODES[1:]}, "no code for participants who finished"),
    ],
)  # fmt: skip
def test_unsuitable_settings_are_reported_and_not_imported(desk, fields, expected_text):
    with pytest.raises(adopting.UnsuitableSettings) as error:
        adopt(desk, new_prolific_study(desk, **fields))
    (change,) = error.value.changes
    assert expected_text in change
    assert not Publication.objects.exists()


def test_published_study_must_be_copied_on_prolific(desk):
    prolific_id = new_prolific_study(desk, reward=150)
    desk.standin.market.transition(prolific_id, "PUBLISH")
    with pytest.raises(adopting.UnsuitableSettings, match="Copy the study there"):
        adopt(desk, prolific_id)


def test_different_currency_is_reported(desk):
    desk.standin.market.currency = "GBP"
    with pytest.raises(adopting.UnsuitableSettings, match="pays in GBP"):
        adopt(desk, new_prolific_study(desk))


def test_prolific_study_is_linked_to_one_study_only(desk):
    prolific_id = new_prolific_study(desk)
    adopt(desk, prolific_id)
    with pytest.raises(NotPossible, match="already on Prolific"):
        adopt(desk, new_prolific_study(desk))
    other_study = building.new_study(slug="other", via="prolific")
    Recruitment.objects.create(study=other_study, account=desk.publication.account)
    link = f"http://testserver/join/other/{PARAMETERS}"
    desk.standin.market.studies[prolific_id]["external_study_url"] = link
    with pytest.raises(NotPossible, match="already linked to another study"):
        adopting.adopt(other_study, desk.publication.account, key=prolific_id, address="http://testserver/join/other/")


@pytest.mark.parametrize("kind", ["cut", "refused", "garbage", "rate"])
def test_failed_import_changes_nothing(desk, kind):
    prolific_id = new_prolific_study(desk)
    desk.standin.misbehave(kind, "studies")
    with pytest.raises(MarketplaceError):
        adopt(desk, prolific_id)
    assert not Publication.objects.exists()


class TestThePage:
    def test_editor_imports_a_study_and_it_is_audited(self, desk, sign_in):
        editor = sign_in(study=Role.EDITOR, account_role=Role.EDITOR)
        assert "a study created on Prolific" in page_text(editor.get(page_url("of", desk.study.pk)))
        page = editor.post(
            page_url("adopt", desk.study.pk), {"prolific_id": f" {new_prolific_study(desk).upper()} "}, follow=True
        )
        assert "Imported" in page_text(page) and "DONE1234" in page_text(page)
        assert Record.objects.get(action="made", kind="prolific.publication")

    def test_unsuitable_settings_are_shown_on_the_page(self, desk, sign_in):
        owner = sign_in(study=Role.OWNER, account_role=Role.EDITOR)
        prolific_id = new_prolific_study(desk, reward=150, prolific_id_option="question")
        page = page_text(owner.post(page_url("adopt", desk.study.pk), {"prolific_id": prolific_id}, follow=True))
        assert "Please change this on Prolific" in page and "1.00 USD" in page and "through URL parameters" in page

    @pytest.mark.parametrize("typed", ["", "<b>", "f" * 23, "f" * 24])
    def test_invalid_study_id_is_refused(self, desk, sign_in, typed):
        owner = sign_in(study=Role.OWNER, account_role=Role.EDITOR)
        assert "Not imported" in page_text(
            owner.post(page_url("adopt", desk.study.pk), {"prolific_id": typed}, follow=True)
        )
        assert not Publication.objects.exists()

    def test_import_requires_a_role_in_the_account(self, desk, sign_in):
        owner = sign_in(study=Role.OWNER, account_role=Role.VIEWER)
        assert (
            owner.post(page_url("adopt", desk.study.pk), {"prolific_id": new_prolific_study(desk)}).status_code == 403
        )
        assert not Publication.objects.exists()
