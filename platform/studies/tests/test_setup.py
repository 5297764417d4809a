"""The set-up form: values become the study's content, and errors are shown at their field."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from opponents.agents import agents_from_specs
from rights.members import give
from rights.roles import Role
from studies.admin.meanwhile import OPENED
from studies.admin.setup_form import STEPS, fieldsets
from studies.launching import launch
from studies.models import Study
from studies.text_preview import preview
from tests.forms import form_data, new_form_data
from tests.visitors import launched_study, text_of

pytestmark = pytest.mark.django_db
ADD_URL = "/admin/studies/study/add/"


@pytest.fixture
def boss(client) -> User:
    user = User.objects.create_superuser("boss", password="long enough 123")
    client.force_login(user)
    return user


def add(client, *, game: str = "negotiation", **changes):
    address = f"{ADD_URL}?game={game}"
    return client.post(address, new_form_data(client, address, **{"title": "Prices", "slug": "prices", **changes}))


def errors(response) -> dict[str, list[str]]:
    assert response.status_code == 200
    return response.context["adminform"].form.errors


def live_preview(client, *, game: str = "negotiation", **changes) -> dict:
    data = new_form_data(client, f"{ADD_URL}?game={game}", **changes)
    response = client.post(f"{ADD_URL}live-preview/?game={game}", data)
    assert response.status_code == 200
    return response.json()


# ---- what is varied --------------------------------------------------------------------------------------


def test_several_values_form_a_grid(client, boss):
    response = add(
        client,
        several_rounds="1, 10, none",
        several_complete_information="yes, no",
        several_scale="100, 10000.5",
        roles=["bob"],
        quota="5",
    )
    assert response.status_code == 302
    study = Study.objects.get()
    assert study.design == {
        "grid": {"scale": [100, 10000.5], "rounds": [1, 10, None], "complete_information": [True, False]}
    }
    content = content_of(study)
    assert len(content["cells"]) == 12
    assert {cell["seats"]["bob"] for cell in content["cells"]} == {"person"}
    assert {config["rounds"] for config in content["configurations"]} == {1, 10, None}


def test_saved_values_are_shown_again(client, boss):
    add(client, several_rounds="1,10 , none", several_messages_allowed="No; yes")
    study = Study.objects.get()
    page = client.get(reverse("admin:studies_study_change", args=[study.pk]))
    form = page.context["adminform"].form
    assert form["several_rounds"].value() == "1, 10, none"
    assert form["several_messages_allowed"].value() == "no, yes"
    assert client.post(page.request["PATH_INFO"], form_data(page, title="Renamed")).status_code == 302
    saved = Study.objects.get()
    assert (saved.title, saved.design, saved.config) == ("Renamed", study.design, study.config)


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"several_rounds": "1, 0"}, "several_rounds", "“0” is not valid"),
        ({"several_rounds": "1, soon"}, "several_rounds", "“soon” is not a number"),
        ({"several_rounds": "1, 2.5"}, "several_rounds", "“2.5” is not valid"),
        ({"several_rounds": "5, 5"}, "several_rounds", "“5” appears twice"),
        ({"several_scale": "10,000, 20"}, "several_scale", "write 10000"),
        ({"several_scale": "none"}, "several_scale", "“none” is not a number"),
        ({"several_messages_allowed": "perhaps"}, "several_messages_allowed", "Enter yes or no"),
        ({"several_scale": "nan"}, "several_scale", "not valid"),
        ({"values_from": "configurations", "several_rounds": "1, 2"}, "several_rounds", "contain their own values"),
        ({"values_from": "configurations", "design": '{"configurations": []}'}, "design", "configurations"),
        ({"design": '{"moon": 1}'}, "design", "moon"),
        ({"values_from": "table:moon"}, "values_from", "moon"),
    ],
)
def test_invalid_values_are_named_at_their_field(client, boss, changes, field, message):
    errors_by_field = errors(add(client, **changes))
    assert list(errors_by_field) == [field]
    assert message in errors_by_field[field][0]
    assert not Study.objects.exists()


def test_a_varied_parameter_needs_no_single_value(client, boss):
    assert add(client, parameter_rounds="", several_rounds="2, 4").status_code == 302
    assert content_of(Study.objects.get())["configurations"][0]["rounds"] == 2


def test_unplayable_combination_is_named_at_its_field(client, boss):
    errors_by_field = errors(add(client, several_scale="1e60, 1e90", parameter_seller_factor="1e30"))
    assert list(errors_by_field) == ["several_scale"]


@pytest.mark.parametrize(
    ("values_from", "design", "cells"),
    [
        ("table:glee", {"table": "glee"}, 576),
        ("selection:glee", {"selection": "glee", "seed": 3}, 60),
        ("configurations", {"configurations": [{"config": {"rounds": 2}, "quota": 4}, {"config": {"rounds": 3}}]}, 2),
    ],
)
def test_published_sets_are_chosen_by_name(client, boss, values_from, design, cells):
    name, _colon, chosen = values_from.partition(":")
    remaining_design = {key: value for key, value in design.items() if key != name or not chosen}
    assert add(client, values_from=values_from, design=json.dumps(remaining_design)).status_code == 302
    study = Study.objects.get()
    assert study.design == design
    assert len(content_of(study)["cells"]) == cells
    page = client.get(reverse("admin:studies_study_change", args=[study.pk]))
    assert page.context["adminform"].form["values_from"].value() == values_from
    assert client.post(page.request["PATH_INFO"], form_data(page)).status_code == 302
    assert Study.objects.get().design == design


# ---- steps -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", ["bargaining", "negotiation", "persuasion"])
def test_every_field_belongs_to_a_step(client, boss, game):
    page = client.get(ADD_URL, {"game": game})
    form = page.context["adminform"].form
    steps = {f"step-{name}" for name, _title in STEPS}
    fields = set()
    for _name, options in fieldsets(form.game_class):
        assert steps & set(options["classes"])
        for row in options["fields"]:
            fields |= {row} if isinstance(row, str) else set(row)
    assert fields == set(form.fields) - {OPENED}, "the digests of what was opened are hidden"


# ---- live updates ----------------------------------------------------------------------------------------


def test_live_preview_counts_cells_and_matches_and_saves_nothing(client, boss):
    result = live_preview(client, several_rounds="1, 10, none", several_complete_information="yes, no", quota="5")
    assert 'data-cells="6"' in result["forecast"] and 'data-matches="30"' in result["forecast"]
    assert set(result["errors"]) == {"title", "slug"}
    assert not Study.objects.exists()


def test_live_preview_names_errors_and_shows_no_size(client, boss):
    result = live_preview(client, several_rounds="1, 0")
    assert "not valid" in result["errors"]["several_rounds"][0]
    assert "data-cells" not in result["forecast"] and result["preview"] == ""


def test_live_preview_does_not_change_a_saved_study(client, boss):
    study = launched_study()
    before = Study.objects.values().get()
    page = client.get(reverse("admin:studies_study_change", args=[study.pk]))
    result = client.post(
        reverse("admin:studies_study_live_preview", args=[study.pk]), form_data(page, several_rounds="2, 4")
    ).json()
    assert 'data-cells="2"' in result["forecast"]
    assert Study.objects.values().get() == before


def test_forecast_pay_follows_the_pay_rule(client, boss):
    result = live_preview(
        client, game="bargaining", pay_rule="fixed", base="1.50", announced_average="2.00", quota="10"
    )
    assert "with a mean of $3.50" in result["forecast"] and "$35.00" in result["forecast"]


def test_forecast_shows_model_price_or_unknown(client, boss):
    priced = live_preview(client, agents=json.dumps(agents_from_specs("openai:gpt-4o-mini")))["forecast"]
    assert "Model calls" in priced and "no limit" in priced and "price unknown" not in priced
    assert (
        "price unknown" in live_preview(client, agents=json.dumps(agents_from_specs("openai:nobody-knows")))["forecast"]
    )


def test_preview_shows_what_participants_and_models_read(client, boss):
    html = live_preview(client, instructions="# Welcome {{ you }}\n\nOthers: {{ other }}.", parameter_scale="777")[
        "preview"
    ]
    assert "<h2>Welcome Alice</h2>" in html and "<h2>Welcome Bob</h2>" in html
    assert "# Welcome Alice" in html and "You go first: name a price." in html
    assert "<ins>" in html and "<del>" in html
    assert "your_value" in html and "777" in html


def test_preview_escapes_texts(client, boss):
    html = live_preview(
        client, instructions="Hello {{ you }} <script>alert(1)</script>", consent="<img src=x onerror=alert(1)>"
    )["preview"]
    assert "<script>alert" not in html and "<img" not in html


@pytest.mark.parametrize("role", ["alice", "bob"])
def test_preview_respects_each_roles_knowledge(role):
    views = []
    for hidden_factor in (1.5, 1.2):
        hidden_value = {"buyer_factor" if role == "alice" else "seller_factor": hidden_factor}
        study = Study(title="S", slug="s", game="negotiation", config={"complete_information": False, **hidden_value})
        study.full_clean()
        role_preview = next(candidate for candidate in preview(study).roles if candidate.role == role)
        views.append(
            (role_preview.instructions, role_preview.sent[0])
            if role_preview.moved
            else (role_preview.instructions, role_preview.screen, role_preview.sent)
        )
    assert views[0] == views[1]


def test_live_preview_requires_permission(client):
    study = launched_study()
    user = User.objects.create_user("staff", password="long enough 123", is_staff=True)
    client.force_login(user)
    assert client.post(reverse("admin:studies_study_live_preview", args=[study.pk])).status_code == 404
    give(study, user=user, role=Role.VIEWER, by=None)
    assert client.post(reverse("admin:studies_study_live_preview", args=[study.pk])).status_code == 403


def test_live_preview_requires_post(client, boss):
    assert client.get(f"{ADD_URL}live-preview/").status_code == 405


# ---- surveys and debriefing ------------------------------------------------------------------------------

QUESTIONS = [
    {"kind": "number", "text": "How old are you?", "min": 18, "name": "age"},
    {"kind": "single", "text": "Have you bargained before?", "name": "done", "options": ["yes", "no"]},
]


def test_surveys_are_stored_and_frozen(client, boss):
    add(client, survey_before=json.dumps(QUESTIONS), debriefing="It was about prices.")
    study = Study.objects.get()
    assert [question["name"] for question in study.survey_before] == ["age", "done"]
    content = launch(study).content
    assert content["surveys"] == {"before": study.survey_before}
    assert content["texts"]["debriefing"] == "It was about prices."


@pytest.mark.parametrize(
    ("questions", "message"),
    [
        ([{"kind": "single", "name": "q", "text": "Which?", "options": ["one"]}], "Options: Please enter at least two"),
        ([QUESTIONS[0], {"kind": "long", "name": "q", "text": ""}], "Question 2, Question: "),
        ([{"kind": "number", "name": "q", "text": "?", "min": 3, "max": 1}], "minimum is larger than the maximum"),
        ([QUESTIONS[0], QUESTIONS[0]], "Two questions have the column name “age”"),
        ([{"kind": "riddle", "text": "?"}], "Question 1, Kind of answer"),
        ({"kind": "text"}, "list of questions"),
    ],
)
def test_invalid_question_is_named(client, boss, questions, message):
    errors_by_field = errors(add(client, survey_after=json.dumps(questions)))
    assert list(errors_by_field) == ["survey_after"]
    assert message in errors_by_field["survey_after"][0]


def test_studies_without_surveys_keep_their_hash():
    content = launched_study().versions.get().content
    assert "surveys" not in content and "debriefing" not in content["texts"]


def test_editing_a_launched_study_makes_a_draft(client, boss):
    study = launched_study()
    page = client.get(reverse("admin:studies_study_change", args=[study.pk]))
    saved = client.post(page.request["PATH_INFO"], form_data(page, quota="44"), follow=True)
    assert "draft of version 2. Participants stay on version 1" in text_of(saved)


# ---- warnings --------------------------------------------------------------------------------------------


SESSION = {"session_order": "fixed", "several_rounds": "1, 2, 3"}


@pytest.mark.parametrize(
    ("changes", "warning"),
    [
        ({"session_matches": "2"}, "One configuration will never be played"),
        ({"session_matches": "2", "several_rounds": "1, 2, 3, 4"}, "2 configurations will never be played"),
        ({"session_matches": "3"}, ""),
        ({"session_matches": "2", "session_order": "random"}, ""),
        ({"session_matches": "1"}, ""),
    ],
)
def test_unreachable_configurations_cause_a_warning(client, boss, changes, warning):
    response = add(client, **{**SESSION, **changes})
    page = text_of(client.get(response.url))
    form = live_preview(client, **{**SESSION, **changes})["forecast"]
    for text in (page, form):
        assert warning in text if warning else "never be played" not in text
    assert Study.objects.get().session_matches == int(changes["session_matches"]), "saved despite the warning"


# ---- refusals before the action --------------------------------------------------------------------------


def test_missing_spending_limit_is_shown_before_launch_with_its_field(client, boss):
    study = Study.objects.create(
        title="Open", slug="open", game="bargaining", entry="open", agents={"gpt": {"spec": "openai:m"}}
    )
    page = reverse("admin:studies_study_change", args=[study.pk])
    launch_url = reverse("admin:studies_study_launch", args=[study.pk])
    shown = client.get(page).content.decode()
    assert "enter “Spend per study”, such as 5, in the model settings of “gpt”" in shown
    assert 'data-field="agents"' in shown and launch_url not in shown
    Study.objects.update(agents={"gpt": {"spec": "openai:m", "settings": {"cap_study": 5.0}}})
    shown = client.get(page).content.decode()
    assert "launched yet" not in shown and launch_url in shown


def test_empty_list_says_so_in_plain_words(client, boss):
    assert "There are no studies yet." in text_of(client.get("/admin/studies/study/"))
    text = text_of(client.get("/admin/studies/study/?q=nothing"))
    assert "Nothing matches your search" in text and "yielded" not in text
    assert "Add study" in text and "Reset filters" in text
