"""Which links are accepted, and what refused visitors read."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import urlencode

import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from participants.models import Enrolment
from recruiters.models import Identity, LabCode
from studies.models import Placement, Study
from tests.visitors import Visitor, heading_of, launched_study, text_of

pytestmark = pytest.mark.django_db
COMPLETE = {"workerId": "W1", "assignmentId": "A1", "hitId": "H1"}


def join(**link: str) -> HttpResponse:
    return Client().get(f"/join/splitting?{urlencode(link)}")


def nothing_kept() -> bool:
    return not (Enrolment.objects.exists() or Identity.objects.exists() or Placement.objects.exists())


class TestLabCodes:
    @pytest.fixture(autouse=True)
    def study(self) -> Study:
        return launched_study(via="codes")

    @pytest.fixture
    def code(self) -> str:
        return LabCode.objects.create(study="splitting").code

    def test_code_starts_the_study(self, code):
        answer = join(code=f" {code} ")
        assert answer.status_code == 302
        assert answer["Location"] == Enrolment.objects.get().get_absolute_url()
        assert code not in answer["Location"]

    def test_same_code_resumes_the_enrolment(self, code):
        visitor = Visitor(Enrolment.objects.get(token=join(code=code)["Location"].split("/")[2])).walk_to("match")
        assert join(code=code)["Location"] == visitor.url
        assert "Step 4 of 5" in text_of(visitor.see())
        assert Enrolment.objects.count() == 1

    def test_code_leads_to_the_last_page_of_a_closed_study(self, study, code):
        address = join(code=code)["Location"]
        Study.objects.update(status=Study.Status.CLOSED)
        assert join(code=code)["Location"] == address

    def test_each_code_is_one_participant(self, code):
        other_code = LabCode.objects.create(study="splitting").code
        assert join(code=code)["Location"] != join(code=other_code)["Location"]

    @pytest.mark.parametrize("link", [{}, {"code": ""}, {"code": "  "}])
    def test_missing_code_is_asked_for(self, link):
        answer = join(**link)
        assert answer.status_code == 400
        assert 'name="code"' in answer.content.decode()
        assert nothing_kept()

    @pytest.mark.parametrize("code", ["NOSUCHCODE", "x" * 5000, "<script>", "' OR 1=1 --", "a\x00b"])
    def test_unknown_code_is_refused(self, code):
        answer = join(code=code)
        assert answer.status_code == 404
        assert "Invalid code" in heading_of(answer)
        assert b"<script>" not in answer.content
        assert nothing_kept()

    def test_code_of_another_study_is_refused(self):
        launched_study(slug="other")
        assert join(code=LabCode.objects.create(study="other").code).status_code == 404

    def test_expired_code_is_refused(self, code):
        LabCode.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        answer = join(code=code)
        assert answer.status_code == 410
        assert "expired" in heading_of(answer)
        assert "ask for a new one" in text_of(answer)
        assert nothing_kept()

    def test_code_works_until_it_expires(self, code):
        LabCode.objects.update(expires_at=timezone.now() + timedelta(minutes=1))
        assert join(code=code).status_code == 302


class TestMechanicalTurk:
    @pytest.fixture(autouse=True)
    def study(self) -> Study:
        return launched_study(via="mturk")

    @pytest.mark.parametrize("missing", COMPLETE)
    @pytest.mark.parametrize("fault", ["absent", "empty", "too long", "unstorable"])
    def test_incomplete_link_says_where_to_open_the_study(self, missing, fault):
        link = {**COMPLETE, missing: {"empty": " ", "too long": "x" * 500, "unstorable": "a\x00"}.get(fault, "")}
        if fault == "absent":
            del link[missing]
        answer = join(**link)
        assert answer.status_code == 400
        assert "Mechanical Turk" in text_of(answer)
        assert nothing_kept()

    def test_longest_accepted_link_fits_the_database(self):
        assert join(workerId="w" * 64, assignmentId="a" * 64, hitId="h" * 64).status_code == 302
        identity = Identity.objects.get()
        identity.full_clean()

    def test_preview_shows_the_consent_and_stores_nothing(self):
        answer = join(assignmentId="ASSIGNMENT_ID_NOT_AVAILABLE", hitId="H1")
        assert answer.status_code == 200
        assert heading_of(answer).startswith("Preview")
        assert "You are invited" in text_of(answer)
        assert b"<form" not in answer.content
        assert nothing_kept()


class TestOpenLinks:
    def test_each_browser_is_a_participant_and_resumes_its_enrolment(self):
        launched_study(via="open")
        browser, other_browser = Client(), Client()
        assert browser.get("/join/splitting").status_code == 200
        assert nothing_kept()
        address = browser.post("/join/splitting")["Location"]
        assert other_browser.post("/join/splitting")["Location"] != address
        assert browser.get("/join/splitting")["Location"] == address
        assert not Identity.objects.exists()

    def test_demonstration_lets_visitors_choose_their_role(self):
        launched_study(via="open", purpose="demo", roles=["alice", "bob"])
        for role in ("bob", "bob", "alice"):
            Client().post("/join/splitting", {"role": role})
        roles = Placement.objects.order_by("pk").values_list("cell__role", flat=True)
        assert list(roles) == ["bob", "bob", "alice"]

    @pytest.mark.parametrize("role", ["", "carol", "a\x00b"])
    def test_invalid_role_cannot_be_chosen(self, role):
        launched_study(via="open", purpose="demo")
        assert Client().post("/join/splitting", {"role": role}).status_code == 302
        assert Placement.objects.get().cell.role == "alice"

    def test_role_cannot_be_chosen_outside_demonstrations(self):
        launched_study(via="open", roles=["alice", "bob"], quota=1)
        for _time in range(2):
            assert Client().post("/join/splitting", {"role": "bob"}).status_code == 302
            Visitor(Enrolment.objects.latest("pk")).walk_to("instructions")
        assert sorted(Placement.objects.values_list("cell__role", flat=True)) == ["alice", "bob"]

    def test_forged_cookie_opens_no_enrolment(self):
        launched_study(via="open")
        participant, forger = Client(), Client()
        token = participant.post("/join/splitting")["Location"].split("/")[2]
        forger.cookies["parley-splitting"] = token
        assert forger.get("/join/splitting").status_code == 200
