"""In the admin, a researcher sets up a study, launches it, monitors it and exports its data."""

from __future__ import annotations

import html
import io
import json
import re
import uuid
import zipfile

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from audit.models import Record
from exports import background
from exports.models import Dataset
from exports.tests import building
from exports.verify import verify
from games import registry
from matches import services
from opponents.agents import agents_from_specs
from opponents.endpoints import MEMORY
from opponents.models import Call, Endpoint
from participants.models import Enrolment, ProblemReport
from plans.asking import AgentSettings
from recruiters.models import LabCode, OtreeServer
from rights.members import give
from rights.roles import Role
from studies.models import Study
from tests.forms import form_data, new_form_data
from tests.visitors import breadcrumb_urls

pytestmark = pytest.mark.django_db

ADD = "/admin/studies/study/add/"
READ_ONLY = [
    "participants_enrolment", "participants_problemreport", "matches_match", "checks_verdict", "payouts_ledgerrow",
    "studies_version", "studies_placement", "opponents_call",
]  # fmt: skip


@pytest.fixture
def superuser(client: Client) -> User:
    user = User.objects.create_superuser("boss", password="long enough 123")
    client.force_login(user)
    return user


def staff(client: Client, role: Role | None = None) -> User:
    """Sign in as a new staff user with this role in every existing study; return the user."""
    user = User.objects.create_user("staff", password="long enough 123", is_staff=True)
    for study in Study.objects.all() if role else ():
        give(study, user=user, role=role, by=None)
    client.force_login(user)
    return user


def post_new_study(client: Client, **changes):
    values = {"title": "Splitting money", "slug": "splitting", "agents": agents_value("script:fair"), **changes}
    address = f"{ADD}?game=bargaining"
    return client.post(address, new_form_data(client, address, **values))


def agents_value(*specs: str, **settings: object) -> str:
    """Return agents as the form sends them."""
    return json.dumps(agents_from_specs(*specs, settings=settings))


def page_of(study: Study) -> str:
    return reverse("admin:studies_study_change", args=[study.pk])


# ---- setup -----------------------------------------------------------------------------------------------


def test_study_is_set_up_from_one_form(client, superuser):
    response = post_new_study(
        client,
        parameter_money="1000",
        parameter_delta_bob="0.8",
        parameter_rounds="",
        parameter_rounds_none="on",
        parameter_messages_allowed=None,
        roles=["bob"],
        agents=agents_value("openai:gpt-test"),
        quota="7",
    )
    study = Study.objects.get(slug="splitting")
    assert response.status_code == 302 and response["Location"] == page_of(study)
    assert (study.game, list(study.agents), study.roles, study.quota) == ("bargaining", ["openai:gpt-test"], ["bob"], 7)
    assert study.config["money"] == 1000
    assert study.config["delta_bob"] == 0.8
    assert study.config["rounds"] is None
    assert study.config["messages_allowed"] is False
    assert study.instructions == "", "a text that was not edited is not stored, so it follows the game"
    assert (study.status, study.created_by) == ("draft", superuser)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"parameter_delta_alice": "1.5"}, "parameter_delta_alice"),
        ({"parameter_money": "-1"}, "parameter_money"),
        ({"parameter_money": "much"}, "parameter_money"),
        ({"parameter_money": ""}, "parameter_money"),
        ({"parameter_rounds": ""}, "parameter_rounds"),
        ({"parameter_rounds": "2.5"}, "parameter_rounds"),
        ({"roles": []}, "roles"),
        ({"agents": '{"m": {"spec": "anthropic:"}}'}, "agents"),
        ({"agents": '{"n": {"spec": "script:nonsense"}}'}, "agents"),
        ({"agents": '{"person": {"spec": "script:fair"}}'}, "agents"),
        ({"agents": '{"m": {"spec": "openai:m", "settings": {"no_such": 1}}}'}, "agents"),
        ({"agents": "[]"}, "agents"),
        ({"lineups": '[{"seats": {"alice": "person"}}]'}, "lineups"),
        ({"lineups": '[{"seats": {"alice": "person", "carol": "script:fair"}}]'}, "lineups"),
        ({"lineups": '[{"seats": {"alice": "person", "bob": "script:nobody"}}]'}, "lineups"),
        ({"lineups": '[{"seats": {"*": "script:fair"}}]'}, "lineups"),
        ({"lineups": '[{"weight": 0, "seats": {"alice": "person", "bob": "script:fair"}}]'}, "lineups"),
        ({"instructions": "Hello {{ nobody }}"}, "instructions"),
        ({"currency": "Dollar"}, "currency"),
        ({"quota": "0"}, "quota"),
    ],
)
def test_invalid_values_are_refused_at_their_field(client, superuser, changes, field):
    response = post_new_study(client, **changes)
    assert response.status_code == 200
    assert list(response.context["adminform"].form.errors) == [field]
    assert response.context["adminform"].form.errors[field][0] in response.content.decode().replace("&#x27;", "'")
    assert not Study.objects.exists()


def test_all_errors_are_shown_at_once(client, superuser):
    response = post_new_study(client, parameter_delta_alice="3", parameter_rounds="", agents="{", roles=[])
    assert set(response.context["adminform"].form.errors) == {
        "parameter_delta_alice", "parameter_rounds", "agents", "roles",
    }  # fmt: skip


def test_every_parameter_of_every_game_has_a_field_with_its_default(client, superuser):
    for key in registry.keys():
        game = registry.get(key)
        form = client.get(ADD, {"game": key}).context["adminform"].form
        for name in game.Config.model_fields:
            assert f"parameter_{name}" in form.fields, (key, name)


def test_game_is_chosen_first_if_there_are_several(client, superuser, monkeypatch):
    monkeypatch.setattr(registry, "keys", lambda: ("bargaining", "bargaining "))
    monkeypatch.setattr(registry, "get", lambda key, get=registry.get: get(key.strip()))
    response = client.get(ADD)
    assert "Which game?" in response.content.decode()
    assert 'href="?game=bargaining"' in response.content.decode()
    assert "parameter_money" in client.get(ADD, {"game": "bargaining"}).content.decode()


def test_saved_values_are_shown_again(client, superuser):
    post_new_study(
        client,
        parameter_rounds="",
        parameter_rounds_none="on",
        parameter_complete_information=None,
        agents=agents_value("script:random"),
    )
    study = Study.objects.get()
    form = client.get(page_of(study)).context["adminform"].form
    assert json.loads(form["agents"].value()) == "script:random"
    assert form["parameter_rounds_none"].value() is True
    assert form["parameter_complete_information"].value() is False
    assert client.post(page_of(study), form_data(client.get(page_of(study)), title="Renamed")).status_code == 302
    saved_study = Study.objects.get()
    assert (saved_study.title, saved_study.config, saved_study.agents) == ("Renamed", study.config, study.agents)


def test_saving_an_unchanged_form_keeps_every_agent(client, superuser):
    Endpoint.objects.create(name="lab", title="Lab", protocol="openai", base_url="http://127.0.0.1:9/v1")
    MEMORY.read()
    study = Study(
        title="Guessing",
        slug="guessing",
        game="beauty_contest",
        config={"players": 4},
        agents={
            "ours": {"spec": "lab:stand-in", "delay": 2.5, "settings": {"persona": "A judge.", "retries": 7}},
            "level 1": {"spec": "script:level_1"},
        },
        lineups=[
            {"name": "a", "weight": 2, "seats": {"p2": "person", "p3": ["ours", "level 1"], "*": "ours"}},
            {"name": "b", "weight": 1, "seats": {"*": "person"}},
        ],
    )
    study.full_clean()
    study.save()
    row_before = Study.objects.values().get()
    assert client.post(page_of(study), form_data(client.get(page_of(study)))).status_code == 302
    row_after = Study.objects.values().get()
    fields = ("agents", "lineups", "roles", "quota", "design")
    assert {name: row_after[name] for name in fields} == {name: row_before[name] for name in fields}
    Endpoint.objects.all().delete()
    MEMORY.read()
    rejected = client.post(page_of(study), form_data(client.get(page_of(study))))
    assert "lab:stand-in" in rejected.context["adminform"].form.errors["agents"][0], "refused, not replaced"
    assert Study.objects.values().get() == row_after


def test_oracles_are_not_offered_against_people(client, superuser, monkeypatch):
    game = registry.get("beauty_contest")
    monkeypatch.setattr(game, "oracles", frozenset({"level_4"}))
    widget_data = client.get(ADD, {"game": "beauty_contest"}).context["adminform"].form.fields["agents"].widget.data
    assert "level_4" not in widget_data["scripts"] and "level_1" in widget_data["scripts"]


# ---- spending caps ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "consequence"), [("", "participants are paid"), ("fair", "The scripted player “fair” moves instead")]
)
@pytest.mark.parametrize("cap", ["study", "day"])
def test_study_warns_when_a_cap_stops_its_models(client, superuser, settings, cap, script, consequence):
    study = building.new_study(
        agents=agents_from_specs(
            "openai:m", settings={"script": script, **({"cap_study": 1.0} if cap == "study" else {})}
        )
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


def test_match_shows_that_its_cap_was_reached(client, superuser):
    player = services.Player(agent="openai:m", settings=AgentSettings(cap_match=1.0))
    match = services.open_match(game="bargaining", config={}, players={"alice": player, "bob": player}, seed=1)
    address = reverse("admin:matches_match_change", args=[match.pk])
    assert "its limit is" not in client.get(address).content.decode()
    Call.objects.create(match_uid=match.uid, answering=1, role="alice", record={}, cost="1.25")
    assert "The match has cost $1.2500; its limit is $1.00." in client.get(address).content.decode()


# ---- what models are sent --------------------------------------------------------------------------------

JUDGE = "You are a retired judge called {{ role }}."


@pytest.mark.parametrize(
    ("field", "text", "reason"),
    [
        ("persona", "{{ rules }}", "there is no variable “rules”"),
        ("prompt_system", "Hello {{ nobody }}", "there is no variable “nobody”"),
        ("prompt_question", "{{ news|upper }}", "can only be printed unchanged"),
        ("prompt_correction", "One\n{% if %}", "Line 2"),
    ],
)
def test_invalid_template_is_refused_at_its_field(client, superuser, field, text, reason):
    response = post_new_study(client, agents=agents_value("openai:m", **{field: text}))
    assert list(response.context["adminform"].form.errors) == ["agents"]
    (problem,) = response.context["adminform"].form.errors["agents"]
    assert problem.startswith("Agent “openai:m”: ") and reason in problem
    assert not Study.objects.exists()


def test_prompt_settings_show_variables_and_default_text(client, superuser):
    form = client.get(ADD, {"game": "bargaining"}).context["adminform"].form
    help_texts = {setting["name"]: setting["help"] for setting in form.fields["agents"].widget.data["settings"]}
    question = help_texts["prompt_question"]
    assert "{{ news }}" in question and "What happened since the last question" in question
    assert "{{ format_help }}" in question and "Default text" in question and "Alice, Bob" in question
    assert "{{ rules }}" not in help_texts["persona"]


def test_preview_of_a_saved_study_shows_prompt_page_and_difference(client, superuser):
    post_new_study(client, roles=["bob"], agents=agents_value("openai:gpt-test", persona=JUDGE))
    study = Study.objects.get()
    address = reverse("admin:studies_study_prompts", args=[study.pk])
    assert address in client.get(page_of(study)).content.decode()
    page = client.get(address, {"preview_question": "2"})
    preview = page.context["shown"]
    assert (preview.chosen.role, preview.chosen.question, preview.role_title) == ("alice", 2, "Alice")
    assert ("+", "You are a retired judge called Alice.") in preview.sent.difference
    text = page.content.decode()
    assert preview.sent.sha256 in text and "Bob has made you an offer" in text and "response_format" in text
    (frame,) = re.findall(r'<iframe [^>]*sandbox title="[^"]*" srcdoc="([^"]*)"></iframe>', text)
    assert "Bob has made you an offer" in html.unescape(frame)


@pytest.mark.parametrize("is_saved", [False, True])
def test_preview_of_unsaved_values_saves_nothing(client, superuser, is_saved):
    if is_saved:
        post_new_study(client)
        study = Study.objects.get()
        form, address = page_of(study), reverse("admin:studies_study_prompts", args=[study.pk])
    else:
        form, address = f"{ADD}?game=bargaining", reverse("admin:studies_study_add_prompts")
    rows_before = list(Study.objects.values())
    typed = form_data(client.get(form), agents=agents_value("anthropic:n", persona=f"{JUDGE}<script>"))
    page = client.post(address, {**typed, "preview_agent": "anthropic:n"})
    sent_prompt = page.context["shown"].sent
    assert sent_prompt.body["system"].startswith("# Who you are\n\nYou are a retired judge called")
    assert sent_prompt.body["tool_choice"]["type"] == "tool"
    assert "called {{ role }}.&lt;script&gt;" in page.content.decode()
    second_preview = client.post(address, {**dict(page.context["carried"]), "preview_question": "2"})
    assert second_preview.context["shown"].chosen.question == 2
    assert list(Study.objects.values()) == rows_before


def test_preview_explains_why_it_is_unavailable(client, superuser):
    typed = form_data(
        client.get(ADD, {"game": "bargaining"}), agents=agents_value("openai:m", prompt_system="{{ nobody }}"), slug=""
    )
    page = client.post(reverse("admin:studies_study_add_prompts"), typed).content.decode()
    assert "No preview yet:" in page and "there is no variable “nobody”" in page
    study = building.new_study()
    Study.objects.filter(pk=study.pk).update(agents={"m": {"spec": "openai:m", "settings": {"persona": "{% if %}"}}})
    page = client.get(reverse("admin:studies_study_prompts", args=[study.pk])).content.decode()
    assert "No preview yet:" in page or "Scripted players receive no prompt" in page


def test_prompts_are_shown_only_to_members(client):
    study = building.new_study()
    address = reverse("admin:studies_study_prompts", args=[study.pk])
    member = staff(client)
    assert client.get(address).status_code == 404
    give(study, user=member, role=Role.VIEWER, by=None)
    assert client.get(address).status_code == 200
    assert client.get(reverse("admin:studies_study_add_prompts")).status_code == 403


# ---- running ---------------------------------------------------------------------------------------------


def test_launch_and_try_the_link(client, superuser):
    post_new_study(client, via="open")
    study = Study.objects.get()
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
    assert [(fill.held, fill.cell.quota) for fill in status.cells] == [(1, 20)]


def test_edits_reach_participants_only_when_launched(client, superuser):
    study = building.new_study()
    client.post(page_of(study), form_data(client.get(page_of(study)), parameter_money="500"))
    page = client.get(page_of(study))
    assert page.context["status"].unlaunched
    assert "New participants get version" in page.content.decode()
    assert study.versions.get().content["configurations"][0]["money"] != 500
    client.post(reverse("admin:studies_study_launch", args=[study.pk]))
    assert not client.get(page_of(study)).context["status"].unlaunched
    assert [version.number for version in study.versions.all()] == [2, 1]


def test_short_name_is_fixed_once_links_exist(client, superuser):
    study = building.new_study()
    client.post(page_of(study), form_data(client.get(page_of(study)), slug="another"))
    study.refresh_from_db()
    assert study.slug == "splitting"
    draft = Study.objects.create(title="Draft", slug="draft", game="bargaining")
    client.post(page_of(draft), form_data(client.get(page_of(draft)), slug="another"))
    draft.refresh_from_db()
    assert draft.slug == "another"


@pytest.mark.parametrize("reference", [LabCode, OtreeServer])
def test_referenced_draft_keeps_its_short_name(client, superuser, reference):
    draft = Study.objects.create(title="Draft", slug="draft", game="bargaining")
    reference.objects.create(study="draft")
    client.post(page_of(draft), form_data(client.get(page_of(draft)), slug="another"))
    draft.refresh_from_db()
    assert draft.slug == "draft"
    other_reference = reference.objects.create(study="another")
    client.post(reverse("admin:studies_study_delete", args=[draft.pk]), {"post": "yes"})
    assert not Study.objects.filter(slug="draft").exists()
    assert list(reference.objects.all()) == [other_reference], (
        "the reference must not apply to a later study of the same name"
    )


def test_pausing_closing_and_reopening(client, superuser):
    study = building.new_study()
    for action, status in [("pause", "paused"), ("launch", "launched"), ("close", "closed"), ("launch", "launched")]:
        client.post(reverse(f"admin:studies_study_{action}", args=[study.pk]))
        study.refresh_from_db()
        assert study.status == status
    assert study.versions.count() == 1


@pytest.mark.parametrize("action", ["launch", "pause", "close", "codes"])
def test_get_requests_change_nothing(client, superuser, action):
    study = building.new_study()
    assert client.get(reverse(f"admin:studies_study_{action}", args=[study.pk])).status_code == 405


def test_invalid_study_is_not_launched(client, superuser):
    study = Study.objects.create(title="Broken", slug="broken", game="bargaining", config={"delta_alice": 7})
    assert "This study can't be launched yet" in client.get(page_of(study)).content.decode()
    client.post(reverse("admin:studies_study_launch", args=[study.pk]))
    study.refresh_from_db()
    assert study.status == "draft" and not study.versions.exists()


def test_lab_codes_are_created_in_bulk_and_shown_as_links(client, superuser):
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


def test_lab_codes_have_a_kind_and_an_expiry(client, superuser):
    study = building.new_study()
    codes_url = reverse("admin:studies_study_codes", args=[study.pk])
    client.post(codes_url, {"number": "2", "kind": "once", "expires": "2099-01-31T12:30"})
    code = LabCode.objects.first()
    assert (code.kind, code.expires_at.isoformat()) == ("once", "2099-01-31T12:30:00+00:00")
    for invalid in [{"kind": "twice"}, {"expires": "2001-01-01T00:00"}, {"expires": "soon"}]:
        answer = client.post(codes_url, {"number": "2", **invalid}, follow=True)
        assert re.search("Choose whether|The expiry is in the past|Enter the expiry", answer.content.decode())
    assert LabCode.objects.count() == 2


def test_uploaded_codes_can_be_deleted_unless_in_use(client, superuser):
    study = building.new_study()
    upload_url = reverse("admin:studies_study_upload_codes", args=[study.pk])
    file = SimpleUploadedFile("codes.csv", "code;label\nANTON-01;<b>Zoë</b>\nBERTA-02;\n".encode("utf-8-sig"))
    page = client.post(upload_url, {"file": file, "kind": "resumable"}, follow=True).content.decode()
    assert "2 codes imported" in page and "&lt;b&gt;Zoë" in page and "<b>Zoë" not in page
    client.get("/join/splitting/?code=ANTON-01")
    delete = reverse("admin:studies_study_delete_codes", args=[study.pk])
    page = client.post(delete, {"code": ["ANTON-01", "BERTA-02"]}, follow=True).content.decode()
    assert "One code deleted. Codes already in use were kept." in page
    assert LabCode.objects.get().code == "ANTON-01"
    details = [record.details for record in Record.objects.filter(action="codes_made")]
    assert details == [{"number": 2, "kind": "resumable", "expires": None, "uploaded": True}]
    assert "Zoë" not in client.get(reverse("admin:studies_study_codes_file", args=[study.pk])).content.decode()


def test_invalid_code_file_is_explained_and_changes_nothing(client, superuser):
    study = building.new_study()
    upload_url = reverse("admin:studies_study_upload_codes", args=[study.pk])
    lines = "\n".join(f"=HYPERLINK{i}" for i in range(150))
    answer = client.post(upload_url, {"file": SimpleUploadedFile("codes.csv", f"code\nGOODCODE\n{lines}".encode())})
    page = answer.content.decode()
    assert answer.status_code == 422 and "The file was not imported" in page
    assert "Please fix 150 problems" in page and "Only the first 100 are shown" in page
    assert client.post(upload_url, {}).status_code == 302
    assert not LabCode.objects.exists() and not Record.objects.filter(action="codes_made").exists()


def test_only_drafts_without_participants_can_be_deleted(client, superuser):
    draft = Study.objects.create(title="Draft", slug="draft", game="bargaining")
    launched_study = building.new_study()
    assert (
        client.post(reverse("admin:studies_study_delete", args=[launched_study.pk]), {"post": "yes"}).status_code == 403
    )
    assert client.post(reverse("admin:studies_study_delete", args=[draft.pk]), {"post": "yes"}).status_code == 302
    assert list(Study.objects.all()) == [launched_study]


# ---- monitoring ------------------------------------------------------------------------------------------


def test_transcript_escapes_text_and_shows_calls(client, superuser):
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


def test_live_matches_are_listed_first(client, superuser):
    study = building.new_study()
    live_match = building.match_of(building.read_instructions(building.consent(building.arrive(study, worker="A1"))))
    finished_match = building.match_of(building.complete(study, worker="A2"))
    rows = client.get(reverse("admin:matches_match_changelist")).context["cl"].result_list
    assert [match.pk for match in rows] == [live_match.pk, finished_match.pk]
    live_page = client.get(reverse("admin:matches_match_changelist"), {"study": study.pk, "status__exact": "live"})
    assert [match.pk for match in live_page.context["cl"].result_list] == [live_match.pk]


@pytest.mark.parametrize("model", [*READ_ONLY, "recruiters_identity"])
def test_records_are_read_only(client, superuser, model):
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


def test_first_page_and_every_list_open(client, superuser):
    building.new_study()
    for name in ["index", "studies_study_changelist", "auth_user_changelist", "auth_user_add"]:
        assert client.get(reverse(f"admin:{name}")).status_code == 200


OWN_PAGES = [
    "monitoring:page", "paydesk:page", "exports:page", "admin:studies_study_members", "admin:studies_study_all_codes",
    "admin:studies_study_compare", "admin:studies_study_prompts", "admin:mturk_hit_of_study",
    "admin:prolific_publication_of",
]  # fmt: skip


@pytest.mark.parametrize("name", OWN_PAGES)
def test_study_pages_have_breadcrumbs_to_study_and_list(client, superuser, name):
    study = building.new_study()
    assert breadcrumb_urls(client.get(reverse(name, args=[study.pk]))) == [ADD.removesuffix("add/"), page_of(study)]


# ---- export ----------------------------------------------------------------------------------------------


def test_dataset_is_created_and_downloaded_from_study_page(client, superuser, tmp_path):
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


# ---- rights ----------------------------------------------------------------------------------------------


def test_viewer_sees_no_actions_and_no_codes(client):
    study = building.new_study()
    LabCode.objects.create(study=study.slug, code="SECRETCODE")
    staff(client, Role.VIEWER)
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
    user = staff(client, Role.EDITOR)
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
