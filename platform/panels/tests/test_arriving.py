"""Which panel links are accepted: missing, repeated, forged, expired or uninvited IDs are refused with a reason."""

from __future__ import annotations

import json
import time
from urllib.parse import urlencode

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from django.core.cache import cache
from django.test import Client, override_settings

from panels.models import Panel
from panels.tests.staging import Visitor
from participants.models import Enrolment
from recruiters.models import Identity, LabCode
from tests.visitors import heading_of, text_of

pytestmark = pytest.mark.django_db
SECRET = "a secret of the panel's"
COMPLETE = {"pid": "A1", "job": "T1", "visit": "S1"}
NAMES = {"person": "pid, participant", "task": "job", "session": "visit"}


def join(query: str | dict[str, str], client: Client | None = None):
    text = query if isinstance(query, str) else urlencode(query)
    return (client or Client()).get(f"/join/splitting?{text}")


def refused(answer, *words: str) -> bool:
    assert 400 <= answer.status_code < 500 and not Enrolment.objects.exists() and not Identity.objects.exists()
    return all(word in text_of(answer) for word in words)


class TestFields:
    @pytest.fixture(autouse=True)
    def panel(self, panel_of):
        return panel_of(**NAMES)[0]

    def test_link_values_are_stored_and_resume_the_enrolment(self):
        first = join(COMPLETE)
        assert first.status_code == 302 and join(COMPLETE)["Location"] == first["Location"]
        identity = Identity.objects.get()
        assert identity.details == {"person": "A1", "task": "T1", "session": "S1"}

    def test_any_of_several_field_names_is_accepted(self):
        assert join({"participant": "A1", "job": "T1", "visit": "S1"}).status_code == 302
        assert Identity.objects.get().details["person"] == "A1"

    def test_person_id_alone_opens_no_enrolment(self):
        join(COMPLETE)
        answer = join({**COMPLETE, "visit": "S2"})
        assert answer.status_code == 403 and Identity.objects.count() == 1

    @pytest.mark.parametrize("name", ["pid", "job", "visit"])
    def test_missing_field_is_named(self, name):
        incomplete = {key: value for key, value in COMPLETE.items() if key != name}
        assert refused(join(incomplete), f"does not contain “{name}”")
        assert refused(join({**COMPLETE, name: ""}), f"does not contain “{name}”")

    @pytest.mark.parametrize("name", ["pid", "job", "visit"])
    def test_repeated_field_is_refused(self, name):
        assert refused(join(f"{urlencode(COMPLETE)}&{name}=other"), f"“{name}” more than once")
        assert refused(join(f"{urlencode(COMPLETE)}&{name}={COMPLETE[name]}"), "more than once")

    def test_contradicting_fields_are_refused(self):
        assert refused(join({**COMPLETE, "participant": "B2"}), "two different values")

    @pytest.mark.parametrize("value", ["%SURVEY_CODE%", "{{participantId}}", "=cmd()", "a b", "x" * 81, "<b>", "é"])
    def test_invalid_id_is_refused(self, value):
        answer = join({**COMPLETE, "pid": value})
        assert refused(answer, "is not a valid ID") and b"<b>" not in answer.content


class TestUncheckedIds:
    """Without a session, only the browser that began can continue."""

    def test_link_preview_starts_nothing(self, panel_of):
        panel_of()
        assert join({"id": "A1"}).status_code == 200 and not Enrolment.objects.exists()

    def test_other_browser_is_refused(self, panel_of):
        _panel, standin = panel_of()
        visitor, other_browser = Visitor(standin, standin.guests[0]), Visitor(standin, standin.guests[0])
        person = visitor.enter()
        assert visitor.arrive()["Location"] == person.get_absolute_url()
        answer = other_browser.arrive()
        assert answer.status_code == 403 and "has already been used" in heading_of(answer)
        assert Enrolment.objects.count() == 1


class TestInvitedIds:
    def test_only_listed_ids_are_admitted(self, panel_of):
        _panel, standin = panel_of(check_by="invited")
        LabCode.objects.create(study="splitting", code=standin.guests[0].person)
        assert refused(Visitor(standin, standin.guests[1]).arrive(), "exactly as it was sent")
        Visitor(standin, standin.guests[0]).enter()

    def test_erased_participant_is_no_longer_on_the_list(self, panel_of):
        from erasing.services import _delete_identity

        _panel, standin = panel_of(check_by="invited")
        LabCode.objects.create(study="splitting", code=standin.guests[0].person)
        _delete_identity(Visitor(standin, standin.guests[0]).enter())
        assert not LabCode.objects.exists() and not Identity.objects.exists()

    def test_short_ids_can_be_uploaded_as_codes(self, panel_of, admin_client):
        from django.core.files.uploadedfile import SimpleUploadedFile

        panel, _standin = panel_of(check_by="invited")
        posted = {"file": SimpleUploadedFile("ids.csv", b"code\n17\n18\n"), "kind": "resumable"}
        answer = admin_client.post(f"/admin/studies/study/{panel.study.pk}/codes/upload/", posted)
        assert answer.status_code == 302 and LabCode.objects.count() == 2


class TestSignedLinks:
    @pytest.fixture
    def standin(self, panel_of):
        panel, standin = panel_of(check_by="signed")
        panel.keep_secret(SECRET)
        panel.save()
        standin.secret = SECRET
        return standin

    def test_signed_link_works_in_any_browser(self, standin):
        person = Visitor(standin, standin.guests[0]).enter()
        assert Visitor(standin, standin.guests[0]).enter() == person

    def test_secret_is_stored_encrypted(self, standin):
        assert SECRET not in Panel.objects.get().sealed_secret

    @pytest.mark.parametrize(
        ("change", "expected_text"),
        [
            (lambda q: q.replace("id=P01", "id=P02"), "not signed by the panel"),
            (lambda q: q.rpartition("&signature=")[0], "has no signature"),
            (lambda q: q + "&id=P02", "added after the signature"),
            (lambda q: q + "&more=1", "added after the signature"),
            (lambda q: q[:-1] + ("0" if q[-1] != "0" else "1"), "not signed by the panel"),
            (lambda q: q + "&signature=" + "0" * 64, "more than once"),
            (lambda q: "more=1&" + q, "not signed by the panel"),
            (lambda q: q.rpartition("=")[0] + "=é", "not signed by the panel"),
        ],
    )
    def test_forged_or_changed_link_is_refused(self, standin, change, expected_text):
        query = standin.link(standin.guests[0]).partition("?")[2]
        assert refused(join(change(query)), expected_text)

    def test_expired_code_is_refused(self, standin):
        query = urlencode({"id": "A1", "expires": int(time.time()) - 1})
        assert refused(join(f"{query}&signature={standin.sign(query)}"), "follow the new link")

    def test_panel_without_a_secret_admits_nobody(self, standin):
        link = standin.link(standin.guests[0]).partition("?")[2]
        Panel.objects.update(sealed_secret="")
        assert refused(join(link), "enter the panel's secret again")

    @override_settings(JOINS_PER_HOUR=0)
    def test_signed_links_do_not_count_towards_the_rate_limit(self, standin):
        cache.clear()
        for guest in standin.guests[:3]:
            Visitor(standin, guest).enter()
        forged = join({"id": "P04", "signature": "0" * 64})
        assert forged.status_code == 403 and Enrolment.objects.count() == 3

    @override_settings(JOINS_PER_HOUR=1)
    def test_unchecked_links_count_towards_the_rate_limit(self, panel_of):
        cache.clear()
        panel_of(**NAMES)
        Panel.objects.update(check_by="nothing")
        assert join(COMPLETE).status_code == 302
        assert join({"pid": "B2", "job": "T1", "visit": "S2"}).status_code == 429
        assert join(COMPLETE).status_code == 302 and Enrolment.objects.count() == 1


@pytest.fixture(scope="module")
def key():
    return rsa.generate_private_key(65537, 2048)


def pem(key) -> str:
    kinds = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public_key().public_bytes(*kinds).decode()


def jwks(key) -> str:
    jwk = jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)
    return json.dumps({"keys": [{**jwk, "kid": "1", "alg": "RS256", "use": "sig"}]})


class TestToken:
    @pytest.mark.parametrize("form", [pem, jwks])
    def test_token_identifies_the_participant(self, panel_of, key, form):
        panel_of(check_by="token", signature="token", public_keys=form(key))
        claims = {"id": "A1", "exp": time.time() + 60}
        assert join({"token": jwt.encode(claims, key, "RS256"), "id": "B2"}).status_code == 302
        assert Identity.objects.get().details["person"] == "A1"

    @pytest.mark.parametrize(
        ("claims", "expected_text"),
        [
            ({"id": "A1"}, "not signed by the panel"),
            ({"id": "A1", "exp": 1}, "follow the new link"),
            ({"exp": 2**33}, "does not contain “id”"),
            ({"id": "A1", "exp": 2**33, "study": "another"}, "not signed by the panel"),
        ],
    )
    def test_incomplete_token_is_refused(self, panel_of, key, claims, expected_text):
        panel_of(check_by="token", signature="token", public_keys=pem(key))
        assert refused(join({"token": jwt.encode(claims, key, "RS256")}), expected_text)

    def test_token_signed_with_another_key_is_refused(self, panel_of, key):
        panel_of(check_by="token", signature="token", public_keys=pem(key))
        claims = {"id": "A1", "exp": time.time() + 60}
        hmac_token = jwt.encode(claims, "x" * 40, "HS256")
        unsigned_token = jwt.encode(claims, None, "none")
        for token in (hmac_token, unsigned_token, "a.b.c", "x" * 7000):
            assert refused(join({"token": token}), "not signed by the panel")
        assert refused(join({"id": "A1"}), "does not contain “token”")


def test_study_without_a_panel_admits_nobody(panel_of):
    panel, _standin = panel_of()
    panel.delete()
    assert refused(join({"id": "A1"}), "set up the panel")


def test_rest_period_applies_across_studies_of_a_panel(panel_of):
    panel, _standin = panel_of("cloudresearch_connect")
    assert panel.worker("A1") == "cloudresearch_connect:A1"
    panel.lasting = False
    assert panel.worker("A1") == f"study-{panel.study_id}:A1"
