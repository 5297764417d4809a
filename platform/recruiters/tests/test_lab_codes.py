"""Lists of personal codes: file format, and all-or-nothing imports."""

from __future__ import annotations

import csv
import io
import time
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from exports.dataset import export
from participants.models import Enrolment
from recruiters import lab_codes
from recruiters.lab_codes import BadFile, UploadedCode
from recruiters.models import LabCode
from studies.models import Study
from studies.tests.kit import launch_again
from tests.visitors import Visitor, heading_of, launched_study, text_of

VALID_FILE = b"code,label\r\nANTON-01,row 1\r\nBERTA-02,\r\n"


def problems_of(data: bytes) -> list[tuple[int, str]]:
    with pytest.raises(BadFile) as refused:
        lab_codes.read(data)
    return [(problem.line, problem.reason) for problem in refused.value.problems]


@pytest.mark.parametrize(
    "data",
    [
        VALID_FILE, b"\xef\xbb\xbf" + VALID_FILE, VALID_FILE.decode().encode("utf-16"), VALID_FILE.replace(b",", b";"),
        VALID_FILE.replace(b",", b"\t"), b"sep=;\r\n" + VALID_FILE.replace(b",", b";"),
        b'"Label","Code"\n"row 1","ANTON-01"\n\n,BERTA-02\n,\n',
    ],
    ids=["plain", "BOM", "UTF-16", "semicolons", "tabs", "sep=", "other order and empty lines"],
)  # fmt: skip
def test_csv_dialects_of_spreadsheets_are_read(data):
    assert [(uploaded.code, uploaded.label) for uploaded in lab_codes.read(data)] == [
        ("ANTON-01", "row 1"),
        ("BERTA-02", ""),
    ]


def test_labels_may_contain_any_text():
    (uploaded,) = lab_codes.read("code;label\nANTON-01;Zoë, „Platz 3“ <b>\n".encode())
    assert uploaded == UploadedCode(2, "ANTON-01", "Zoë, „Platz 3“ <b>")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (",nobody", "missing"), ("short", "6 to 40 characters"), ("x" * 41, "6 to 40 characters"),
        ("ANTÓN-01", "only letters (A–Z)"), ("ANTON 01", "only letters"), ("ANTON/01", "only letters"),
        ("1.2E+10", "only letters"), ("٣٣٣٣٣٣٣", "only letters"), ("_anton1", "must start with a letter"),
        ('"=HYPERLINK(""http://x"")"', "formula"), ("-ANTON1", "formula"), ("@ANTON1", "formula"),
        ("＝ANTON1", "formula"), ("ANTON-01,=1+1", "label must not start like"),
        ("ANTON-01," + "x" * 121, "at most 120"), ('ANTON-01,"two\nlines"', "single line"),
        ("ANTON-01,a\x07", "single line"), ("ANTON-01,a,b", "more cells"),
    ],
)  # fmt: skip
def test_invalid_line_is_reported_with_its_reason(line, reason):
    ((number, expected_text),) = problems_of(f"code,label\nGOODCODE1,fine\n{line}\nGOODCODE2,fine\n".encode())
    assert number in (3, 4) and reason in expected_text


def test_all_problems_are_reported_at_once():
    problems = problems_of(b"code\nGOODCODE1\nx\ngoodcode1\nGOODCODE2\n=1+1\n")
    assert [line for line, _reason in problems] == [3, 4, 6]
    assert "Line 2 has the same code" in problems[1][1]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"), (b"\xef\xbb\xbf", "empty"), (b"\n\n", "empty"), (b"code\n", "no code"),
        (b"ANTON-01\nBERTA-02\n", "first line must name"), (b"code,email\nANTON-01,a@b.c\n", "and no others"),
        (b"code,code\nANTON-01,ANTON-01\n", "first line must name"), (b"code\n\xe4\xf6\xfc\xdf\xe4\xf6\n", "UTF-8"),
        (b'code\n"ANTON-01\n', "quotation mark"), (b"\x00\x01\x02\x03PK", "first line must name"),
        (b"code\n" + b"ANTON-01" * 300_000, "larger than 2 MB"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_invalid_file_is_refused(data, reason):
    assert reason in " ".join(expected_text for _line, expected_text in problems_of(data))


def test_file_has_at_most_ten_thousand_codes():
    lines = [f"CODE{i:06}" for i in range(lab_codes.MOST)]
    assert len(lab_codes.read("\n".join(["code", *lines]).encode())) == lab_codes.MOST
    (problem,) = problems_of("\n".join(["code", *lines, "ONE-MORE"]).encode())
    assert problem[0] == lab_codes.MOST + 2 and "at most 10,000 codes" in problem[1]


@pytest.mark.django_db
class TestTaking:
    def take(self, data: bytes = VALID_FILE, study: str = "splitting") -> int:
        return lab_codes.add_codes(study=study, codes=lab_codes.read(data), kind=LabCode.Kind.ONCE, expires_at=None)

    def test_list_is_stored_with_labels_and_kind(self):
        assert self.take() == 2
        assert set(LabCode.objects.values_list("code", "label", "kind")) == {
            ("ANTON-01", "row 1", "once"),
            ("BERTA-02", "", "once"),
        }

    def test_duplicate_code_refuses_the_whole_list(self):
        LabCode.objects.create(study="splitting", code="Berta-02")
        with pytest.raises(BadFile) as refused:
            self.take()
        (problem,) = refused.value.problems
        assert problem.line == 3 and "already has this code" in problem.reason
        assert LabCode.objects.count() == 1

    def test_studies_may_share_codes(self):
        self.take()
        assert self.take(study="other") == 2

    @pytest.mark.slow
    def test_ten_thousand_codes_are_stored_and_listed(self):
        data = "\n".join(["code,label", *(f"CODE{i:06},seat {i}" for i in range(lab_codes.MOST))]).encode()
        started_at = time.monotonic()
        assert self.take(data) == lab_codes.MOST
        rows = list(lab_codes.as_csv("splitting", "https://x.example/join/splitting/"))
        assert len(rows) == lab_codes.MOST + 1
        assert time.monotonic() - started_at < 60

    def test_downloaded_file_has_links_and_states_but_no_labels(self):
        study = launched_study(via="codes")
        self.take(b"code,label\nANTON-01,Anton Meier\nBERTA-02,Berta\n")
        LabCode.objects.create(study=study.slug, code="=1+1")
        client = Client()
        client.post("/join/splitting?code=ANTON-01")
        text = io.StringIO()
        csv.writer(text).writerows(lab_codes.as_csv(study.slug, "https://x.example/join/splitting/"))
        assert "Meier" not in text.getvalue()
        rows = {row["code"]: row for row in csv.DictReader(io.StringIO(text.getvalue()))}
        assert set(rows) == {"ANTON-01", "BERTA-02", "'=1+1"}
        assert (rows["ANTON-01"]["used"], rows["ANTON-01"]["state"]) == ("yes", "arrived")
        assert (rows["BERTA-02"]["used"], rows["BERTA-02"]["state"]) == ("no", "")
        assert rows["BERTA-02"]["link"] == "https://x.example/join/splitting/?code=BERTA-02"

    def test_codes_in_use_are_not_deleted(self):
        study = launched_study(via="codes")
        self.take()
        Client().post("/join/splitting?code=ANTON-01")
        assert lab_codes.delete_unused(study=study.slug, codes=["ANTON-01"]) == 0
        assert lab_codes.delete_unused(study=study.slug, codes=None) == 1
        assert LabCode.objects.get().code == "ANTON-01"


# ---- what each kind does on arrival -------------------------------------------------------------------------

LINK = "/join/splitting?code=ANTON-01"


@pytest.mark.django_db
class TestOnce:
    @pytest.fixture(autouse=True)
    def code(self) -> LabCode:
        launched_study(via="codes")
        return LabCode.objects.create(study="splitting", code="ANTON-01", kind=LabCode.Kind.ONCE)

    def test_opening_the_link_starts_nothing(self):
        page = Client().get(LINK)
        assert page.status_code == 200 and "Begin" in text_of(page)
        assert not Enrolment.objects.exists()

    def test_same_browser_resumes(self):
        own_browser = Client()
        address = own_browser.post(LINK)["Location"]
        assert own_browser.get(LINK)["Location"] == address
        assert own_browser.post(LINK)["Location"] == address
        assert Enrolment.objects.count() == 1

    @pytest.mark.parametrize("method", ["get", "post"])
    def test_other_browser_is_refused_and_learns_nothing(self, method):
        address = Client().post(LINK)["Location"]
        answer = getattr(Client(), method)(LINK)
        assert answer.status_code == 403
        assert "already been used" in heading_of(answer)
        assert address not in answer.content.decode() and "tell the people who invited" in text_of(answer)
        assert Enrolment.objects.count() == 1

    def test_participants_own_url_works_in_every_browser(self):
        address = Client().post(LINK)["Location"]
        assert Client().get(address).status_code == 200

    def test_forged_cookie_does_not_resume(self):
        address = Client().post(LINK)["Location"]
        forger = Client()
        forger.cookies["parley-splitting"] = address.split("/")[2]
        assert forger.get(LINK).status_code == 403

    def test_one_browser_may_use_several_codes(self):
        LabCode.objects.create(study="splitting", code="BERTA-02", kind=LabCode.Kind.ONCE)
        browser = Client()
        first_address = browser.post(LINK)["Location"]
        second_address = browser.post("/join/splitting?code=BERTA-02")["Location"]
        assert first_address != second_address
        assert browser.get(LINK).status_code == 403

    def test_ended_enrolment_shows_the_last_page_and_starts_no_other_game(self):
        launch_again(Study.objects.get(), participations=None)
        own_browser = Client()
        visitor = Visitor(Enrolment.objects.get(token=own_browser.post(LINK)["Location"].split("/")[2]))
        visitor.client.post(f"{visitor.url}leave/")
        assert own_browser.post(LINK, {"again": "yes"})["Location"] == visitor.url
        assert Enrolment.objects.count() == 1

    def test_closed_study_refuses_new_codes(self):
        Study.objects.update(status=Study.Status.CLOSED)
        assert "not open" in heading_of(Client().get(LINK))


@pytest.mark.django_db
def test_expired_code_resumes_but_starts_nothing():
    study = launched_study(via="codes", participations=None)
    for code in ("ANTON-01", "BERTA-02"):
        LabCode.objects.create(study=study.slug, code=code, expires_at=timezone.now() + timedelta(hours=1))
    address = Client().get(LINK)["Location"]
    LabCode.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert Client().get(LINK)["Location"] == address
    refused = Client().get("/join/splitting?code=BERTA-02")
    assert refused.status_code == 410 and "expired" in heading_of(refused)
    visitor = Visitor(Enrolment.objects.get())
    visitor.client.post(f"{visitor.url}leave/")
    assert Client().post(LINK, {"again": "yes"})["Location"] == address
    assert Enrolment.objects.count() == 1


@pytest.mark.django_db
def test_labels_are_in_no_dataset(tmp_path):
    study = launched_study(via="codes")
    LabCode.objects.create(study=study.slug, code="ANTON-01", label="Meierchen Zoë")
    Client().get(LINK)
    Visitor(Enrolment.objects.get()).walk_to("quiz").send(loss_rate="10%")
    export(study, tmp_path / "data")
    exported = b"".join(path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file())
    assert b"Meierchen" not in exported and b"ANTON-01" not in exported
    assert b"participant" in exported
