"""In the admin, a researcher sets up a study, launches it, monitors it and exports its data."""

from __future__ import annotations

import html
import io
import re
import uuid
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from audit.models import Record
from exports import background
from exports.models import Dataset
from exports.tests import building
from exports.verify import verify
from matches import services
from opponents.models import Call
from participants.models import Enrolment, ProblemReport
from plans.asking import AgentSettings
from recruiters.models import LabCode
from rights.members import give
from rights.roles import Role
from studies.models import Study
from studies.tests import kit
from tests.visitors import breadcrumb_urls

pytestmark = pytest.mark.django_db

ADD = "/admin/studies/study/add/"
READ_ONLY = [
    "participants_enrolment", "participants_problemreport", "matches_match", "checks_verdict", "payouts_ledgerrow",
    "studies_version", "studies_placement", "opponents_call",
]  # fmt: skip


def page_of(study: Study) -> str:
    return reverse("admin:studies_study_change", args=[study.pk])


@pytest.mark.parametrize(("script", "consequence"), [("", "participants are paid"), ("fair", "“fair” moves instead")])
@pytest.mark.parametrize("cap", ["study", "day"])
def test_study_warns_when_a_cap_stops_its_models(client, boss, settings, cap, script, consequence):
    study = building.new_study(
        agents={
            "openai:m": kit.agent(
                "openai:m", fallback=script or None, **({"cap_study": 1.0} if cap == "study" else {})
            ),
            **({script: kit.agent(f"script:{script}")} if script else {}),
        },
        seats={"alice": "person", "bob": "openai:m"},
    )
    page = client.get(page_of(study))
    assert page.context["status"].cap_reached == ""
    settings.SPEND_CAP_PER_DAY = "1" if cap == "day" else ""
    Call.objects.create(
        match_uid=uuid.uuid4(), answering=1, role="bob", record={}, cost="1.25", budget_of=f"study:{study.slug}"
    )
    text = html.unescape(client.get(page_of(study)).content.decode())
    assert "have cost $1.2500" in text or "has cost $1.2500" in text
    assert "Model calls have stopped" in text and consequence in text


def test_match_shows_that_its_cap_was_reached(client, boss):
    player = services.Player(agent="openai:m", settings=AgentSettings(cap_match=1.0))
    match = services.open_match(game="bargaining", config={}, players={"alice": player, "bob": player}, seed=1)
    address = reverse("admin:matches_match_change", args=[match.pk])
    assert "its limit is" not in client.get(address).content.decode()
    Call.objects.create(match_uid=match.uid, answering=1, role="alice", record={}, cost="1.25")
    assert "has cost $1.2500; its limit is $1.00" in client.get(address).content.decode()


JUDGE = "You are a retired judge called {{ role }}."


def test_preview_of_a_saved_study_shows_prompt_page_and_difference(client, boss):
    agents = {"openai:gpt-test": kit.agent("openai:gpt-test", persona=JUDGE)}
    study = kit.new_study("splitting", roles=["bob"], agents=agents)
    address = reverse("admin:studies_study_prompts", args=[study.pk])
    assert address in client.get(page_of(study)).content.decode()
    page = client.get(address, {"preview_question": "2"})
    preview = page.context["shown"]
    assert (preview.chosen.role, preview.chosen.question, preview.role_title) == ("alice", 2, "Alice")
    assert ("+", "You are a retired judge called Alice.") in preview.sent.difference
    text = page.content.decode()
    assert preview.sent.sha256 in text and "has made you an offer" in text and "response_format" in text
    (frame,) = re.findall(r'<iframe [^>]*sandbox title="[^"]*" srcdoc="([^"]*)"></iframe>', text)
    assert "has made you an offer" in html.unescape(frame)


def test_prompts_are_shown_only_to_members(client):
    study = building.new_study()
    address = reverse("admin:studies_study_prompts", args=[study.pk])
    member = kit.staff(client)
    assert client.get(address).status_code == 404
    give(study, user=member, role=Role.VIEWER, by=None)
    assert client.get(address).status_code == 200


def test_launch_and_try_the_link(client, boss):
    study = kit.new_study("splitting", via="open")
    page = client.get(page_of(study)).content.decode()
    assert "This is a draft." in page and "Launch" in page
    client.post(reverse("admin:studies_study_launch", args=[study.pk]))
    page = client.get(page_of(study)).content.decode()
    link = re.search(r'value="(http://testserver/join/[^"]+)"', page)
    assert link, "the page shows the link for participants"
    assert study.versions.get().sha256 in page
    visitor = Client()
    answer = visitor.post(link[1].removeprefix("http://testserver"))
    assert answer.status_code == 302
    assert Enrolment.objects.count() == 1
    status = client.get(page_of(study)).context["status"]
    assert (status.arrived, status.live, status.completed) == (1, 1, 0)
    assert [(fill["cell"].held, fill["cell"].quota) for fill in status.cells] == [(1, 20)]


def test_edits_reach_participants_only_when_launched(client, boss):
    study = building.new_study()
    study.draft = kit.changed(study.draft, config={"money": 500})
    study.save()
    page = client.get(page_of(study))
    assert page.context["status"].unlaunched
    assert "New participants get version" in page.content.decode()
    assert study.versions.get().cells.get().config["money"] != 500
    client.post(reverse("admin:studies_study_launch", args=[study.pk]))
    assert not client.get(page_of(study)).context["status"].unlaunched
    assert [version.number for version in study.versions.all()] == [2, 1]


def test_pausing_closing_and_reopening(client, boss):
    study = building.new_study()
    for action, status in [("pause", "paused"), ("launch", "launched"), ("close", "closed"), ("launch", "launched")]:
        client.post(reverse(f"admin:studies_study_{action}", args=[study.pk]))
        study.refresh_from_db()
        assert study.status == status
    assert study.versions.count() == 1


@pytest.mark.parametrize("action", ["launch", "pause", "close", "codes"])
def test_get_requests_change_nothing(client, boss, action):
    study = building.new_study()
    assert client.get(reverse(f"admin:studies_study_{action}", args=[study.pk])).status_code == 405


def test_invalid_study_is_not_launched(client, boss):
    study = kit.new_study("broken")
    study.draft = kit.changed(study.draft, config={"delta_alice": 7})
    study.save()
    assert "This study can't be launched" in client.get(page_of(study)).content.decode()
    client.post(reverse("admin:studies_study_launch", args=[study.pk]))
    study.refresh_from_db()
    assert study.status == "draft" and not study.versions.exists()


def test_lab_codes_are_created_in_bulk_and_shown_as_links(client, boss):
    study = building.new_study()
    codes_url = reverse("admin:studies_study_codes", args=[study.pk])
    client.post(codes_url, {"number": "3"})
    codes = set(LabCode.objects.filter(study="splitting").values_list("code", flat=True))
    assert len(codes) == 3
    page = client.get(page_of(study)).content.decode()
    assert all(f"/join/splitting/?code={code}" in page for code in codes)
    listed = client.get(reverse("admin:studies_study_codes_file", args=[study.pk])).content.decode().splitlines()
    assert listed[0] == "code,link,used,state,kind,expires"
    assert {line.split(",")[0] for line in listed[1:]} == codes
    for invalid in ["", "0", "-1", "10001", "9" * 5000, "ten", "٣"]:
        client.post(codes_url, {"number": invalid})
    assert LabCode.objects.count() == 3


def test_lab_codes_have_a_kind_and_an_expiry(client, boss):
    study = building.new_study()
    codes_url = reverse("admin:studies_study_codes", args=[study.pk])
    client.post(codes_url, {"number": "2", "kind": "once", "expires": "2099-01-31T12:30"})
    code = LabCode.objects.first()
    assert (code.kind, code.expires_at.isoformat()) == ("once", "2099-01-31T12:30:00+00:00")
    for invalid, reason in [({"kind": "twice"}, "Choose whether"), ({"expires": "2001-01-01T00:00"}, "in the past"),
                            ({"expires": "soon"}, "Enter the expiry")]:  # fmt: skip
        assert reason in client.post(codes_url, {"number": "2", **invalid}, follow=True).content.decode()
    assert LabCode.objects.count() == 2


def test_uploaded_codes_can_be_deleted_unless_in_use(client, boss):
    study = building.new_study()
    upload_url = reverse("admin:studies_study_upload_codes", args=[study.pk])
    file = SimpleUploadedFile("codes.csv", "code;label\nANTON-01;<b>Zoë</b>\nBERTA-02;\n".encode("utf-8-sig"))
    page = client.post(upload_url, {"file": file, "kind": "resumable"}, follow=True).content.decode()
    assert "2 codes imported" in page and "&lt;b&gt;Zoë" in page and "<b>Zoë" not in page
    client.get("/join/splitting/?code=ANTON-01")
    delete = reverse("admin:studies_study_delete_codes", args=[study.pk])
    page = client.post(delete, {"code": ["ANTON-01", "BERTA-02"]}, follow=True).content.decode()
    assert "already in use were kept." in page
    assert LabCode.objects.get().code == "ANTON-01"
    details = [record.details for record in Record.objects.filter(action="codes_made")]
    assert details == [{"number": 2, "kind": "resumable", "expires": None, "uploaded": True}]
    assert "Zoë" not in client.get(reverse("admin:studies_study_codes_file", args=[study.pk])).content.decode()


def test_invalid_code_file_is_explained_and_changes_nothing(client, boss):
    study = building.new_study()
    upload_url = reverse("admin:studies_study_upload_codes", args=[study.pk])
    lines = "\n".join(f"=HYPERLINK{i}" for i in range(150))
    answer = client.post(upload_url, {"file": SimpleUploadedFile("codes.csv", f"code\nGOODCODE\n{lines}".encode())})
    page = answer.content.decode()
    assert answer.status_code == 422 and "The file was not imported" in page
    assert "Please fix 150 problems" in page and "Only the first 100 are shown" in page
    assert client.post(upload_url, {}).status_code == 302
    assert not LabCode.objects.exists() and not Record.objects.filter(action="codes_made").exists()


def test_only_drafts_without_participants_can_be_deleted(client, boss):
    draft = kit.new_study("draft")
    launched_study = building.new_study()
    assert (
        client.post(reverse("admin:studies_study_delete", args=[launched_study.pk]), {"post": "yes"}).status_code == 403
    )
    assert client.post(reverse("admin:studies_study_delete", args=[draft.pk]), {"post": "yes"}).status_code == 302
    assert list(Study.objects.all()) == [launched_study]


def test_transcript_escapes_text_and_shows_calls(client, boss):
    study = building.new_study()
    person = building.complete(study, worker="A1WORKER", messages=["<script>alert(1)</script>"])
    match = building.match_of(person)
    building.save_call(
        match, messages=[{"role": "user", "content": "<b>prompt</b>"}], answer="<i>answer</i>", problem="no <u>move</u>"
    )
    pages = [client.get(reverse("admin:matches_match_change", args=[match.pk]), {"step": step}) for step in (2, 3)]
    page = "".join(page.content.decode() for page in pages)
    for markup in ["script>alert(1)</script", "b>prompt</b", "i>answer</i", "u>move</u"]:
        assert f"<{markup}>" not in page
        assert f"<{markup}>".replace("<", "&lt;").replace(">", "&gt;") in page
    assert person.pseudonym in page and "script:fair" in page
    assert "Started" in page and "Ended" in page


def test_live_matches_are_listed_first(client, boss):
    study = building.new_study()
    live_match = building.match_of(building.read_instructions(building.consent(building.arrive(study, worker="A1"))))
    finished_match = building.match_of(building.complete(study, worker="A2"))
    rows = client.get(reverse("admin:matches_match_changelist")).context["cl"].result_list
    assert [match.pk for match in rows] == [live_match.pk, finished_match.pk]
    live_page = client.get(reverse("admin:matches_match_changelist"), {"study": study.pk, "status__exact": "live"})
    assert [match.pk for match in live_page.context["cl"].result_list] == [live_match.pk]


@pytest.mark.parametrize("model", [*READ_ONLY, "recruiters_identity"])
def test_records_are_read_only(client, boss, model):
    study = building.new_study()
    person = building.complete(study, worker="A1WORKER", messages=["hello"])
    building.save_call(building.match_of(person), input_tokens=3, output_tokens=4)
    ProblemReport.objects.create(enrolment=person, text="the page hung")
    Enrolment.objects.filter(pk=person.pk).update(code_word="zzyzx")  # a word that the page itself does not contain
    page = client.get(reverse(f"admin:{model}_changelist"))
    assert page.status_code == 200
    row = page.context["cl"].result_list[0]
    assert client.get(reverse(f"admin:{model}_change", args=[row.pk])).status_code == 200
    assert client.get(reverse(f"admin:{model}_add")).status_code == 403
    assert client.post(reverse(f"admin:{model}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403
    assert type(row).objects.filter(pk=row.pk).exists()
    for secret in [person.token, person.completion_code, "zzyzx"]:
        assert secret not in page.content.decode()


def test_first_page_and_every_list_open(client, boss):
    building.new_study()
    for name in ["index", "studies_study_changelist", "auth_user_changelist", "auth_user_add"]:
        assert client.get(reverse(f"admin:{name}")).status_code == 200


OWN_PAGES = [
    "monitoring:page", "paydesk:page", "exports:page", "admin:studies_study_members", "admin:studies_study_all_codes",
    "admin:studies_study_compare", "admin:studies_study_prompts", "admin:marketplaces_offer_of",
]  # fmt: skip


@pytest.mark.parametrize("name", OWN_PAGES)
def test_study_pages_have_breadcrumbs_to_study_and_list(client, boss, name):
    study = building.new_study()
    assert breadcrumb_urls(client.get(reverse(name, args=[study.pk]))) == [ADD.removesuffix("add/"), page_of(study)]


def test_dataset_is_created_and_downloaded_from_study_page(client, boss, tmp_path):
    study = building.new_study()
    building.complete(study, worker="A1WORKER", messages=["=1+1"])
    datasets_link = re.search(r'href="(/admin/exports/[^"]+)"', client.get(page_of(study)).content.decode())
    assert datasets_link
    client.post(f"{datasets_link[1]}write/", {"formats": ["csv", "jsonl"]})
    background.write(Dataset.objects.get().pk)
    download_link = re.search(
        r'action="(/admin/exports/[^"]+dataset.zip)"', client.get(datasets_link[1]).content.decode()
    )
    assert download_link
    response = client.post(download_link[1])
    zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content))).extractall(tmp_path)
    (folder,) = tmp_path.iterdir()
    assert verify(folder) == []


def test_viewer_sees_no_actions_and_no_codes(client):
    study = building.new_study()
    LabCode.objects.create(study=study.slug, code="SECRETCODE")
    kit.staff(client, *Study.objects.all(), role=Role.VIEWER)
    page = client.get(page_of(study)).content.decode()
    assert "Splitting money" in page and "SECRETCODE" not in page
    for action in ["pause", "close", "codes"]:
        assert reverse(f"admin:studies_study_{action}", args=[study.pk]) not in page
    page = client.get(reverse("exports:page", args=[study.pk])).content.decode()
    for action in ["write", "publish"]:
        assert reverse(f"exports:{action}", args=[study.pk]) not in page


def test_only_an_owner_reopens_a_closed_study(client):
    study = building.new_study()
    Study.objects.update(status="closed")
    user = kit.staff(client, *Study.objects.all(), role=Role.EDITOR)
    launch = reverse("admin:studies_study_launch", args=[study.pk])
    assert launch not in client.get(page_of(study)).content.decode()
    assert client.post(launch).status_code == 403
    client.post(reverse("admin:studies_study_pause", args=[study.pk]))
    assert Study.objects.get().status == "closed"
    give(study, user=user, role=Role.OWNER, by=None)
    assert launch in client.get(page_of(study)).content.decode()
    client.post(launch)
    assert Study.objects.get().status == "launched"


def test_visitors_are_sent_to_the_sign_in_page(client):
    response = client.get("/admin/studies/study/")
    assert response.status_code == 302 and "/admin/login/" in response["Location"]
