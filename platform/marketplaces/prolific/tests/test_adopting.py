"""A study created on Prolific itself is linked to the study here, or the researcher is told what to change there."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from audit.models import Record
from exports.tests import building
from marketplaces.kinds import MarketplaceError, NotPossible
from marketplaces.models import Recruitment
from marketplaces.prolific import adopting
from marketplaces.prolific.models import Publication
from marketplaces.prolific.publishing import PARAMETERS
from marketplaces.prolific.tests.staging import DOOR
from marketplaces.prolific.tests.test_ledger import paid, pay_all
from marketplaces.prolific.tests.test_pages import at, said
from rights.roles import Role

pytestmark = pytest.mark.django_db

CODES = [
    {"code": "DONE1234", "code_type": "COMPLETED", "actions": [{"action": "MANUALLY_REVIEW"}]},
    {"code": "BACK1234", "code_type": "NO_CONSENT", "actions": [{"action": "REQUEST_RETURN", "return_reason": "-"}]},
]  # fmt: skip
STUDY: dict[str, Any] = {
    "name": "Sharing", "internal_name": "lab 7", "description": "Share money.",
    "external_study_url": f"{DOOR}{PARAMETERS}", "is_external_study_url_secure": True,
    "prolific_id_option": "url_parameters", "completion_codes": CODES, "total_available_places": 5,
    "estimated_completion_time": 8, "reward": 100, "device_compatibility": ["desktop"],
}  # fmt: skip


def made(desk, **fields: Any) -> str:
    """Create a study as on Prolific itself; return its ID."""
    found: str = desk.standin.market.create({**STUDY, **fields})["id"]
    return found


def adopt(desk, prolific_id: str) -> Publication:
    return adopting.adopt(desk.study, prolific_id=prolific_id, address=DOOR)


def test_it_is_taken_over_as_it_is_and_nothing_is_changed_there(desk):
    prolific_id = made(desk)
    desk.standin.market.transition(prolific_id, "PUBLISH")
    before = dict(desk.standin.market.studies[prolific_id])
    desk.standin.calls.clear()
    found = adopt(desk, prolific_id)
    assert {call.method for call in desk.standin.calls} == {"GET"}
    assert desk.standin.market.studies[prolific_id] == before
    assert (found.name, found.internal_name, found.places, found.minutes) == ("Sharing", "lab 7", 5, 8)
    assert (found.status, found.requires_signature, found.devices) == ("ACTIVE", True, ["desktop"])
    assert found.workspace == desk.standin.market.workspace
    assert found.codes == {"completed": "DONE1234", "returned": "BACK1234", "screened_out": "BACK1234"}


def test_its_workers_are_let_in_sent_back_with_its_codes_and_paid(desk):
    prolific_id = made(desk)
    desk.standin.market.transition(prolific_id, "PUBLISH")
    adopt(desk, prolific_id)
    worker = desk.worker()
    person = worker.finish()
    assert "cc=DONE1234" in Client().get(person.get_absolute_url()).content.decode()
    worker.submit()
    assert {row.state for row in pay_all(desk).values()} == {"confirmed"}
    assert paid(desk) == {"reward": 1, "bonus": 1}


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"external_study_url": f"http://elsewhere.example/{PARAMETERS}"}, "Set it to http://testserver/join/splitting/"),
        ({"external_study_url": f"http://testserver/join/another/{PARAMETERS}"}, "does not lead to this study"),
        ({"external_study_url": f"{DOOR}?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}"}, "does not lead to this study"),
        ({"external_study_url": f"{DOOR}?PROLIFIC_PID=1&STUDY_ID=2&SESSION_ID=3"}, "does not lead to this study"),
        ({"reward": 150}, "set it to 1.00 USD"),
        ({"prolific_id_option": "question"}, "by parameters of the link"),
        (
            {"completion_codes": [{**CODES[0], "actions": [{"action": "AUTOMATICALLY_APPROVE"}]}, CODES[1]]},
            "The code DONE1234 lets Prolific pay by itself",
        ),
        ({"completion_codes": CODES[:1]}, "No code asks for the place back"),
        ({"completion_codes": CODES[1:]}, "No code is for those who finished"),
    ],
)  # fmt: skip
def test_what_has_to_be_changed_is_said_and_nothing_is_taken_over(desk, fields, says):
    with pytest.raises(adopting.Unfit) as unfit:
        adopt(desk, made(desk, **fields))
    (change,) = unfit.value.changes
    assert says in change
    assert not Publication.objects.exists()


def test_what_is_published_already_has_to_be_made_anew_there(desk):
    prolific_id = made(desk, reward=150)
    desk.standin.market.transition(prolific_id, "PUBLISH")
    with pytest.raises(adopting.Unfit, match="copy the study there"):
        adopt(desk, prolific_id)


def test_another_currency_is_said(desk):
    desk.standin.market.currency = "GBP"
    with pytest.raises(adopting.Unfit, match="pays in GBP"):
        adopt(desk, made(desk))


def test_one_study_there_is_one_study_here(desk):
    prolific_id = made(desk)
    adopt(desk, prolific_id)
    with pytest.raises(NotPossible, match="on Prolific already"):
        adopt(desk, made(desk))
    other = building.new_study(slug="other", entry="prolific")
    Recruitment.objects.create(study=other, account=desk.publication.account)
    link = f"http://testserver/join/other/{PARAMETERS}"
    desk.standin.market.studies[prolific_id]["external_study_url"] = link
    with pytest.raises(NotPossible, match="belongs to another study"):
        adopting.adopt(other, prolific_id=prolific_id, address="http://testserver/join/other/")


@pytest.mark.parametrize("kind", ["drop", "error", "nonsense", "throttle"])
def test_failed_adoption_changes_nothing(desk, kind):
    prolific_id = made(desk)
    desk.standin.misbehave(kind, "studies")
    with pytest.raises(MarketplaceError):
        adopt(desk, prolific_id)
    assert not Publication.objects.exists()


class TestThePage:
    def test_an_editor_takes_it_over_and_that_is_written_down(self, desk, sign_in):
        editor = sign_in(study=Role.EDITOR, account_part=Role.EDITOR)
        assert "Import a study created on Prolific" in said(editor.get(at("of", desk.study.pk)))
        page = editor.post(at("adopt", desk.study.pk), {"prolific_id": f" {made(desk).upper()} "}, follow=True)
        assert "Taken over" in said(page) and "DONE1234" in said(page)
        assert Record.objects.get(action="made", kind="prolific.publication")

    def test_what_has_to_be_changed_is_on_the_page(self, desk, sign_in):
        owner = sign_in(study=Role.OWNER, account_part=Role.EDITOR)
        wrong = made(desk, reward=150, prolific_id_option="question")
        page = said(owner.post(at("adopt", desk.study.pk), {"prolific_id": wrong}, follow=True))
        assert "Please change at Prolific" in page and "1.00 USD" in page and "by parameters of the link" in page

    @pytest.mark.parametrize("typed", ["", "<b>", "f" * 23, "f" * 24])
    def test_what_is_no_study_of_theirs_is_refused(self, desk, sign_in, typed):
        owner = sign_in(study=Role.OWNER, account_part=Role.EDITOR)
        assert "Not taken over" in said(owner.post(at("adopt", desk.study.pk), {"prolific_id": typed}, follow=True))
        assert not Publication.objects.exists()

    def test_without_the_account_nothing_is_taken_over(self, desk, sign_in):
        owner = sign_in(study=Role.OWNER, account_part=Role.VIEWER)
        assert owner.post(at("adopt", desk.study.pk), {"prolific_id": made(desk)}).status_code == 403
        assert not Publication.objects.exists()
