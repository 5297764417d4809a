"""Which links from Prolific are accepted, and what participants with other links see."""

from __future__ import annotations

from datetime import timedelta

import jwt
import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from marketplaces.models import Offer
from marketplaces.prolific import publishing
from marketplaces.prolific.models import KeySet
from marketplaces.prolific.standin.market import Key, new_id
from participants import services as people
from participants.models import Enrolment
from participants.states import ENDINGS, State
from tests.visitors import heading_of, text_of

pytestmark = pytest.mark.django_db

ENTRY_PATH = "/join/splitting/"


@pytest.fixture
def worker(desk):
    """A participant with a signed link."""
    return desk.worker()


def open_resigned(worker, **claims) -> HttpResponse:
    """Return the page behind a link whose signed claims, or the key that signs them, differ from the real ones."""
    return worker.open(prolific_token=worker.stage.market.signed(worker.there, **claims))


def assert_refused(response: HttpResponse, status: int, expected_text: str) -> None:
    """Check that the participant was refused with the reason, and that nothing was stored."""
    assert response.status_code == status, text_of(response)
    assert expected_text in text_of(response)
    assert not Enrolment.objects.exists()


def test_signed_token_alone_identifies_the_participant(worker):
    response = worker.open(PROLIFIC_PID=None, STUDY_ID=None, SESSION_ID=None)
    assert response["location"] == worker.person.get_absolute_url()


@pytest.mark.parametrize(
    "audience",
    [
        "http://testserver",
        "http://testserver/",
        "testserver",
        f"http://testserver{ENTRY_PATH}?PROLIFIC_PID=x",
        ["https://else.example", "http://testserver"],
    ],
)
def test_every_common_audience_format_is_accepted(worker, audience):
    assert open_resigned(worker, aud=audience).status_code == 302


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "https://evil.example"},
        {"aud": "http://testserver.evil.example"},
        {"aud": "http://testserver/join/other/"},
        {"aud": 7},
        {"iss": "https://evil.example"},
        {"sub": "0" * 24},
        {"prolific": {"PROLIFIC_PID": "1" * 24}},
        {"prolific": "nothing"},
    ],
)
def test_token_for_another_audience_is_refused(worker, claims):
    assert_refused(open_resigned(worker, **claims), 403, "open the study from Prolific")


def test_token_signed_with_another_key_is_refused(desk, worker):
    forger = Key(kid=desk.market.key.kid)
    assert_refused(open_resigned(worker, key=forger), 403, "did not sign this link")


@pytest.mark.parametrize("algorithm", ["none", "HS256"])
def test_other_signature_algorithms_are_refused(desk, worker, algorithm):
    valid_claims = jwt.decode(desk.market.signed(worker.there), options={"verify_signature": False})
    header = {"kid": desk.market.key.kid}
    secret = None if algorithm == "none" else "a secret that is long enough for the algorithm"
    token = jwt.encode(valid_claims, secret, algorithm=algorithm, headers=header)
    assert_refused(worker.open(prolific_token=token), 403, "did not sign this link")


@pytest.mark.parametrize("token", ["x", "a.b.c", "." * 50, "ü" * 30, "A" * 7000])
def test_malformed_token_is_refused(worker, token):
    assert_refused(worker.open(prolific_token=token), 403, "did not sign this link")


def test_expired_link_says_how_to_get_a_new_one(worker):
    response = open_resigned(worker, exp=int(timezone.now().timestamp()) - 3600)
    assert_refused(response, 410, "open the study there again")


def test_unsigned_link_is_refused_if_a_signature_is_required(worker):
    assert_refused(worker.open(prolific_token=None), 403, "no signature from Prolific")


@pytest.mark.parametrize("name", ["PROLIFIC_PID", "STUDY_ID", "SESSION_ID"])
def test_changed_parameter_is_refused(worker, name):
    assert_refused(worker.open(**{name: new_id()}), 403, "differ")


def test_link_of_another_study_is_refused(desk):
    desk.publish(requires_signature=False)
    assert_refused(desk.worker().open(STUDY_ID=new_id()), 403, "belongs to another study")


# ---- Prolific's keys -------------------------------------------------------------------------------


def test_unknown_key_is_fetched(desk, worker):
    worker.arrive()
    KeySet.objects.update(asked_at=timezone.now() - timedelta(minutes=5))
    desk.market.key = Key()
    desk.worker().arrive()


def test_known_keys_remain_valid_while_prolific_is_down(desk, worker):
    worker.arrive()
    KeySet.objects.update(heard_at=timezone.now() - timedelta(days=3), asked_at=None)
    desk.standin.misbehave("refused", "jwks", times=99)
    desk.worker().arrive()


@pytest.mark.parametrize("kind", ["cut", "refused", "garbage", "rate"])
def test_missing_keys_make_the_participant_wait(desk, worker, kind):
    desk.standin.misbehave(kind, "jwks")
    response = worker.open()
    assert_refused(response, 503, "reload this page")
    assert "please return it" not in text_of(response)
    KeySet.objects.update(asked_at=timezone.now() - timedelta(minutes=1))
    worker.arrive()


def test_invented_keys_cause_no_calls_to_prolific(worker):
    worker.arrive()
    asked_at = KeySet.objects.get().asked_at
    for _i in range(5):
        assert open_resigned(worker, key=Key()).status_code == 403
    assert KeySet.objects.get().asked_at == asked_at


# ---- before publication, and at the end ------------------------------------------------------------


def test_link_to_a_draft_opens_a_preview(desk):
    desk.draft()
    ids = {"PROLIFIC_PID": new_id(), "STUDY_ID": desk.offered.remote_id, "SESSION_ID": new_id()}
    response = Client().get(ENTRY_PATH, ids)
    assert heading_of(response) == "Preview: A decision study"
    assert not Enrolment.objects.exists()


def test_link_with_placeholders_opens_a_preview(desk):
    desk.publish()
    response = Client().get(f"{ENTRY_PATH}{publishing.PARAMETERS}")
    assert heading_of(response).startswith("Preview") and not Enrolment.objects.exists()


def test_study_published_on_prolific_admits_at_once(desk):
    desk.draft()
    desk.market.transition(desk.offered.remote_id, "PUBLISH")
    Offer.objects.update(heard_at=timezone.now() - timedelta(minutes=1))
    desk.worker().arrive()
    assert desk.offered.status == "ACTIVE"


def test_study_not_on_prolific_is_reported(desk):
    assert_refused(Client().get(ENTRY_PATH, {"PROLIFIC_PID": new_id()}), 403, "not on Prolific")


@pytest.mark.parametrize("state", list(ENDINGS))
def test_last_page_of_each_ending_returns_with_its_code(desk, worker, state):
    person = worker.arrive()
    people.end(person, State(state))
    page = Client().get(person.get_absolute_url()).content.decode()
    expected_kind = {"completed": "completed", "failed_quiz": "completed", "opponent_failed": "completed",
             "our_outage": "completed", "partner_left": "completed", "no_partner": "completed",
             "screened_out": "screened_out", "returned": ""}.get(state, "returned")  # fmt: skip
    for kind, code in desk.offered.terms.codes.items():
        address = f"{desk.standin.address}/submissions/complete?cc={code}"
        assert (code in page) == (kind == expected_kind) and (address in page) == (kind == expected_kind)
    assert person.completion_code not in page
