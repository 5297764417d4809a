"""A study created on Prolific itself is linked to the study here, or the researcher is told what to change there."""

from __future__ import annotations

import pytest
from django.test import Client

from exports.tests import building
from marketplaces import recruiting
from marketplaces.kinds import NotPossible
from marketplaces.models import Offer, Recruitment
from marketplaces.prolific.publishing import PARAMETERS, UnsuitableSettings
from marketplaces.tests.kit import CODES, ENTRY_ADDRESS
from rights.roles import Role
from tests.visitors import text_of

pytestmark = pytest.mark.django_db


def adopt(desk, key: str) -> Offer:
    return recruiting.adopt(desk.study, "prolific", typed=key, address=ENTRY_ADDRESS, by=None)


def test_import_changes_nothing_on_prolific(desk):
    key = desk.made_there()
    desk.market.transition(key, "PUBLISH")
    study_before = dict(desk.market.studies[key])
    desk.standin.calls.clear()
    publication = adopt(desk, key)
    assert {call.method for call in desk.standin.calls} == {"GET"}
    assert desk.market.studies[key] == study_before
    terms = publication.terms
    assert (publication.name, publication.reference, publication.places) == ("Sharing", "lab 7", 5)
    assert (terms.minutes, terms.devices, terms.requires_signature) == (8, ["desktop"], True)
    assert publication.status == "ACTIVE"
    assert publication.terms.workspace == desk.market.workspace
    assert publication.terms.codes == {"completed": "DONE1234", "returned": "BACK1234", "screened_out": "BACK1234"}
    person = desk.worker().finish()
    assert "cc=DONE1234" in Client().get(person.get_absolute_url()).content.decode()


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
            "DONE1234 makes Prolific pay automatically",
        ),
        ({"completion_codes": CODES[:1]}, "endings that pay nothing"),
        ({"completion_codes": CODES[1:]}, "for participants who finished"),
    ],
)  # fmt: skip
def test_unsuitable_settings_are_reported_and_not_imported(desk, fields, expected_text):
    with pytest.raises(UnsuitableSettings) as error:
        adopt(desk, desk.made_there(**fields))
    (change,) = error.value.changes
    assert expected_text in change
    assert not Offer.objects.exists()


def test_unsuitable_settings_are_shown_on_the_page(desk):
    key = desk.made_there(reward=150, prolific_id_option="question")
    owner = desk.sign_in(Role.OWNER, account=Role.EDITOR)
    page = text_of(owner.post(f"{desk.page}adopt/", {"remote_id": key.upper()}, follow=True))
    assert "Please change this on Prolific" in page and "1.00 USD" in page and "through URL parameters" in page


def test_published_study_must_be_copied_on_prolific(desk):
    key = desk.made_there(reward=150)
    desk.market.transition(key, "PUBLISH")
    with pytest.raises(UnsuitableSettings, match="Copy the study there"):
        adopt(desk, key)


def test_different_currency_is_reported(desk):
    desk.market.currency = "GBP"
    with pytest.raises(UnsuitableSettings, match="pays in GBP"):
        adopt(desk, desk.made_there())


def test_prolific_study_is_linked_to_one_study_only(desk):
    key = desk.made_there()
    adopt(desk, key)
    with pytest.raises(NotPossible, match="already on Prolific"):
        adopt(desk, desk.made_there())
    other_study = building.new_study(slug="other", via="prolific")
    Recruitment.objects.create(study=other_study, account=desk.account)
    desk.market.studies[key]["external_study_url"] = f"http://testserver/join/other/{PARAMETERS}"
    with pytest.raises(NotPossible, match="linked to another study"):
        recruiting.adopt(other_study, "prolific", typed=key, address="http://testserver/join/other/", by=None)
