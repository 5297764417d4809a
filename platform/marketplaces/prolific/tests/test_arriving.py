"""Which links from Prolific are accepted, and what participants with other links see."""

from __future__ import annotations

import logging
from datetime import timedelta
from urllib.parse import parse_qsl, urlencode, urlsplit

import jwt
import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from exports.tests import building
from marketplaces.prolific import publishing
from marketplaces.prolific.models import KeySet, Publication
from marketplaces.prolific.standin.market import Key, new_id
from participants.models import Enrolment
from recruiters.models import Identity
from tests.visitors import heading_of, text_of

pytestmark = pytest.mark.django_db

ENTRY_PATH = "/join/splitting/"


def open_changed(worker, **changes: str | None) -> HttpResponse:
    """Return the page behind the participant's link with some parameters changed or (None) removed."""
    parameters = {**dict(parse_qsl(urlsplit(worker.link).query)), **changes}
    return Client().get(
        f"{ENTRY_PATH}?{urlencode({name: value for name, value in parameters.items() if value is not None})}"
    )


def open_resigned(worker, **claims) -> HttpResponse:
    """Return the page behind a link whose signed claims, or the key that signs them, differ from the real ones."""
    return open_changed(worker, prolific_token=worker.desk.standin.market.signed(worker.submission, **claims))


def assert_refused(response: HttpResponse, status: int, expected_text: str) -> None:
    """Check that the participant was refused with the reason, and that nothing was stored."""
    assert response.status_code == status, text_of(response)
    assert expected_text in text_of(response)
    assert not Enrolment.objects.exists() and not Identity.objects.exists()


def test_signed_link_starts_and_resumes_the_study(desk):
    desk.publish()
    worker = desk.worker()
    person = worker.arrive()
    assert person.identity.worker == worker.participant
    assert person.identity.proof == f"{worker.submission.id}/{worker.participant}"
    assert worker.open()["location"] == person.get_absolute_url()
    assert Enrolment.objects.count() == 1


def test_signed_token_alone_identifies_the_participant(desk):
    desk.publish()
    worker = desk.worker()
    response = open_changed(worker, PROLIFIC_PID=None, STUDY_ID=None, SESSION_ID=None)
    assert response["location"] == worker.person.get_absolute_url()


@pytest.mark.parametrize(
    "audience",
    [
        "http://testserver",
        "http://testserver/",
        "testserver",
        ENTRY_PATH,
        ["https://else.example", "http://testserver"],
    ],
)
def test_every_common_audience_format_is_accepted(desk, audience):
    desk.publish()
    worker = desk.worker()
    audience_value = f"http://testserver{audience}?PROLIFIC_PID=x" if audience == ENTRY_PATH else audience
    assert open_resigned(worker, aud=audience_value).status_code == 302


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
def test_token_for_another_audience_is_refused(desk, claims):
    desk.publish()
    assert_refused(open_resigned(desk.worker(), **claims), 403, "open the study from Prolific")


def test_token_signed_with_another_key_is_refused(desk):
    desk.publish()
    worker = desk.worker()
    forger = Key(kid=desk.standin.market.key.kid)
    assert_refused(open_resigned(worker, key=forger), 403, "Prolific did not sign this link")


@pytest.mark.parametrize("algorithm", ["none", "HS256"])
def test_other_signature_algorithms_are_refused(desk, algorithm):
    desk.publish()
    worker = desk.worker()
    valid_claims = jwt.decode(desk.standin.market.signed(worker.submission), options={"verify_signature": False})
    header = {"kid": desk.standin.market.key.kid}
    secret = None if algorithm == "none" else "a secret that is long enough for the algorithm"
    token = jwt.encode(valid_claims, secret, algorithm=algorithm, headers=header)
    assert_refused(open_changed(worker, prolific_token=token), 403, "Prolific did not sign this link")


@pytest.mark.parametrize("token", ["x", "a.b.c", "." * 50, "ü" * 30, "A" * 7000])
def test_malformed_token_is_refused(desk, token):
    desk.publish()
    assert_refused(open_changed(desk.worker(), prolific_token=token), 403, "Prolific did not sign this link")


def test_expired_link_says_how_to_get_a_new_one(desk):
    desk.publish()
    response = open_resigned(desk.worker(), exp=int(timezone.now().timestamp()) - 3600)
    assert_refused(response, 410, "open the study there again")


def test_unsigned_link_is_refused_if_a_signature_is_required(desk):
    desk.publish()
    assert_refused(open_changed(desk.worker(), prolific_token=None), 403, "no signature from Prolific")


def test_changed_parameters_are_refused(desk):
    desk.publish()
    worker = desk.worker()
    for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"):
        assert_refused(open_changed(worker, **{name: new_id()}), 403, "differ")


def test_link_of_another_study_is_refused(desk):
    desk.publish(requires_signature=False)
    assert_refused(open_changed(desk.worker(), STUDY_ID=new_id()), 403, "belongs to another study")


@pytest.mark.parametrize("worker_id", ["", "5", "A1WORKEROFMTURK", "z" * 24, "1" * 25, "1" * 500, "\x00" * 24])
def test_invalid_prolific_id_is_refused(desk, worker_id):
    desk.publish(requires_signature=False)
    assert_refused(open_changed(desk.worker(), PROLIFIC_PID=worker_id), 400, "own page on Prolific")


def test_participant_id_alone_opens_no_enrolment(desk):
    desk.publish(requires_signature=False)
    worker = desk.worker()
    person = worker.arrive()
    response = open_changed(worker, SESSION_ID=new_id())
    assert response.status_code == 403 and person.token not in response.content.decode()
    assert "already started" in text_of(response)


# ---- Prolific's keys -------------------------------------------------------------------------------


def test_unknown_key_is_fetched(desk):
    desk.publish()
    desk.worker().arrive()
    KeySet.objects.update(asked_at=timezone.now() - timedelta(minutes=5))
    desk.standin.market.key = Key()
    desk.worker().arrive()


def test_known_keys_remain_valid_while_prolific_is_down(desk):
    desk.publish()
    first, second = desk.worker(), desk.worker()
    first.arrive()
    KeySet.objects.update(heard_at=timezone.now() - timedelta(days=3), asked_at=None)
    desk.standin.misbehave("refused", "jwks", times=99)
    second.arrive()


@pytest.mark.parametrize("kind", ["cut", "refused", "garbage", "rate"])
def test_missing_keys_make_the_participant_wait(desk, kind):
    desk.publish()
    worker = desk.worker()
    desk.standin.misbehave(kind, "jwks")
    response = worker.open()
    assert_refused(response, 503, "wait a minute and reload this page")
    assert "please return it" not in text_of(response)
    KeySet.objects.update(asked_at=timezone.now() - timedelta(minutes=1))
    worker.arrive()


def test_invented_keys_cause_no_calls_to_prolific(desk):
    desk.publish()
    worker = desk.worker()
    worker.arrive()
    asked_at = KeySet.objects.get().asked_at
    for _i in range(5):
        assert open_resigned(worker, key=Key()).status_code == 403
    assert KeySet.objects.get().asked_at == asked_at


# ---- before publication ----------------------------------------------------------------------------


def test_link_to_a_draft_opens_a_preview(desk):
    desk.draft()
    ids = {"PROLIFIC_PID": new_id(), "STUDY_ID": desk.publication.prolific_id, "SESSION_ID": new_id()}
    response = Client().get(ENTRY_PATH, ids)
    assert heading_of(response) == "Preview: A decision study"
    assert not Enrolment.objects.exists()


def test_link_with_placeholders_opens_a_preview(desk):
    desk.publish()
    response = Client().get(publishing.PARAMETERS.join([ENTRY_PATH, ""]))
    assert heading_of(response).startswith("Preview") and not Enrolment.objects.exists()


def test_study_published_on_prolific_admits_at_once(desk):
    desk.draft()
    desk.standin.market.transition(desk.publication.prolific_id, "PUBLISH")
    Publication.objects.update(said_at=timezone.now() - timedelta(minutes=1))
    desk.worker().arrive()
    assert desk.publication.status == "ACTIVE"


def test_study_not_on_prolific_is_reported(desk):
    assert_refused(Client().get(ENTRY_PATH, {"PROLIFIC_PID": new_id()}), 403, "not on Prolific")


# ---- arriving again --------------------------------------------------------------------------------


def test_refusal_within_the_rest_period_says_when_it_ends(desk):
    building.launch_with(desk.study, participations=None, rest_hours=12)
    desk.publish(requires_signature=False)
    worker = desk.worker()
    worker.finish()
    response = open_changed(worker, SESSION_ID=new_id())
    assert response.status_code == 403
    assert "come back in 12 hours" in text_of(response)


def test_logs_contain_no_identifiers(desk, caplog):
    caplog.set_level(logging.DEBUG)
    desk.publish()
    worker = desk.worker()
    worker.arrive()
    open_resigned(worker, exp=1)
    desk.standin.misbehave("cut", "submissions")
    log_text = "\n".join(
        f"{record.name} {record.getMessage()}" for record in caplog.records if record.name.startswith("marketplaces")
    )
    assert worker.participant not in log_text and worker.submission.id not in log_text
