"""Surveys in an enrolment: asked on their own pages, answered once, stored as shown."""

from __future__ import annotations

import csv

import pytest
from django.urls import reverse

from checks.models import Verdict
from exports.dataset import export
from exports.tests import building
from exports.verify import verify
from participants import services as people
from participants.states import ENDINGS, State
from studies.journeys import consent_of
from studies.models import Study
from studies.tests.kit import launch_again
from surveys.models import Response
from surveys.posted import posted_as
from tests.visitors import Visitor, arrived_participant, heading_of, launched_study, text_of

pytestmark = pytest.mark.django_db

BEFORE = [
    {"kind": "number", "text": "How old are you?", "name": "age", "min": 18},
    {"kind": "single", "text": "Have you bargained before?", "name": "done", "options": ["yes", "no"]},
]
AFTER = [
    {"kind": "scale", "text": "Was it fair?", "name": "fair", "points": 5, "low": "not at all", "high": "very"},
    {"kind": "long", "text": "Anything else?", "name": "more", "required": False},
]


@pytest.fixture
def study() -> Study:
    return launched_study(before=BEFORE, after=AFTER, debriefing="## What it was about\n\n<b>Prices</b>.")


@pytest.fixture
def visitor(study) -> Visitor:
    """A participant at the first survey."""
    visitor = Visitor(arrived_participant(study))
    visitor.see()
    visitor.send(agree="yes")
    visitor.send(name="Robin")
    return visitor


def walk_to_last_survey(visitor: Visitor) -> None:
    visitor.send(question_age="44", question_done="no")
    visitor.send(code_word=visitor.enrolment.code_word)
    visitor.see()
    visitor.agree()
    visitor.send(loss_rate="10%")


def test_path_has_a_page_for_each_survey(study):
    kinds = [step["kind"] for step in arrived_participant(study).steps]
    assert kinds == ["consent", "name", "questions", "instructions", "match", "quiz", "questions"]


def test_errors_appear_at_their_questions_and_nothing_is_stored(visitor):
    page = visitor.refused(question_age="17", question_done="maybe")
    assert "at least 18" in text_of(page) and "choose one of the answers" in text_of(page)
    assert 'value="17"' in page.content.decode()
    assert not Response.objects.exists()
    assert heading_of(visitor.see()) == "A few questions first"


def test_missing_answers_are_named_by_question(visitor):
    page = text_of(visitor.refused())
    assert "How old are you?" in page
    assert "Have you bargained before?" in page


def test_answers_are_stored_once_with_the_questions_shown(visitor):
    position = visitor.now().position
    assert visitor.send(question_age="44", question_done="no").status_code == 302
    visitor.send(position=position, question_age="55", question_done="yes")
    response = Response.objects.get()
    assert (response.stage, response.answers) == ("before_game", {"age": 44, "done": "no"})
    assert [question["text"] for question in response.questions] == [question["text"] for question in BEFORE]
    assert "How the game works" in text_of(visitor.see())


def test_last_survey_completes_the_enrolment_and_shows_the_debriefing(visitor):
    walk_to_last_survey(visitor)
    page = visitor.see()
    assert heading_of(page) == "A few final questions" and "(optional)" in text_of(page)
    visitor.send(question_fair="4")
    page = visitor.see()
    assert visitor.now().state == State.COMPLETED
    assert heading_of(page) == ENDINGS[State.COMPLETED].title
    assert "What it was about" in text_of(page) and "&lt;b&gt;Prices" in page.content.decode()
    assert Response.objects.get(stage="after_game").answers == {"fair": 4, "more": None}
    assert all(visit.answered_at for visit in visitor.now().visits)


def test_default_consent_mentions_stored_answers(study):
    assert "your answers to our questions" in consent_of(study.versions.get())
    assert "answers to our questions" not in consent_of(launched_study(slug="other").versions.get())


def test_debriefing_is_shown_only_after_the_game_started(visitor):
    visitor.client.post(f"{visitor.url}leave/")
    assert "What it was about" not in text_of(visitor.see())


def test_new_version_does_not_change_running_surveys(study, visitor):
    launch_again(study, before=[{"kind": "long", "name": "why", "text": "Why?"}])
    assert "How old are you?" in text_of(visitor.see())


def test_exported_answers_are_anonymous_and_spreadsheet_safe(tmp_path):
    study = building.new_study(before=AFTER)
    person = building.arrive(study, worker="A1WORKER")
    building.consent(person, name="Robin")
    building.answer(person, question_fair="5", question_more="=Robin A1WORKER said hello")
    building.read_instructions(person)
    building.play(person)
    building.answer_quiz(person)
    other = building.arrive(study, worker="A2WORKER")
    building.consent(other)
    building.answer(other, question_fair="1", question_more="private")
    people.withdraw(enrolment_id=other.pk)
    export(study, tmp_path / "data")
    row, withdrawn = csv.DictReader((tmp_path / "data" / "participants.csv").open())
    assert row["survey_before_fair"] == "5"
    assert row["survey_before_more"] == "'=[name] [identifier] said hello"
    assert row["seconds_questions_before_game"] and row["in_dataset"] == "TRUE"
    assert withdrawn["survey_before_fair"] == withdrawn["survey_before_more"] == ""
    codebook = {entry["column"]: entry for entry in csv.DictReader((tmp_path / "data" / "codebook.csv").open())}
    assert "Was it fair?" in codebook["survey_before_fair"]["meaning"]
    assert codebook["survey_before_fair"]["values"] == "1 not at all to 5 very"
    assert verify(tmp_path / "data") == []


def test_every_kind_of_answer_is_exported(tmp_path):
    options = {"options": ["tea", "milk"]}
    rows = [{"name": "home", "text": "At home"}, {"name": "work", "text": "At work"}]
    study = building.new_study(
        before=[
            {"kind": "multiple", "name": "likes", "text": "What do you like?", **options},
            {"kind": "ranking", "name": "best", "text": "Which is best?", **options, "random_options": True},
            {"kind": "matrix", "name": "place", "text": "Where?", **options, "rows": rows, "required": False},
            {"kind": "slider", "name": "warm", "text": "How warm?", "min": 0, "max": 1, "step": 0.5, "unit": "°"},
            {"kind": "date", "name": "born", "text": "When?"},
            {"kind": "text", "name": "city", "text": "Where?", "show_if": "warm > 0.5"},
        ]
    )
    person = building.consent(building.arrive(study, worker="A1WORKER"), name="Robin")
    step = people.show_step(enrolment_id=person.pk)[1]
    answers = {"likes": ["tea", "milk"], "best": ["milk", "tea"], "place": {"work": "tea"}, "warm": 0.5}
    answers["born"] = "2000-02-29"
    fields = [posted_as(question, answers.get(question.name)) for question in step.questions()]
    building.answer(person, **{name: value for each in fields for name, value in each.items()})
    building.read_instructions(person)
    building.play(person)
    building.answer_quiz(person)
    Verdict.objects.create(enrolment=person, check_name="comprehension", stage="talk", shown={}, answered={"q1": "a"},
                           passed=False, tries=[{"q1": "b"}, {"q1": "a"}])  # fmt: skip
    export(study, tmp_path / "data", ["csv", "parquet"])
    assert verify(tmp_path / "data") == []
    (row,) = csv.DictReader((tmp_path / "data" / "participants.csv").open())
    assert {name.removeprefix("survey_before_"): row[name] for name in row if name.startswith("survey_")} == {
        "likes": "tea; milk", "best": "milk; tea", "place_home": "", "place_work": "tea", "warm": "0.5",
        "born": "2000-02-29", "city": "",
    }  # fmt: skip
    assert row["in_dataset"] == "TRUE" and row["check_comprehension_passed"] == "FALSE"
    assert row["check_comprehension_tries"] == "2" and row["check_comprehension_answered"] == '[{"q1":"b"},{"q1":"a"}]'
    codebook = {entry["column"]: entry for entry in csv.DictReader((tmp_path / "data" / "codebook.csv").open())}
    assert codebook["survey_before_place_work"]["meaning"].endswith("Where? – At work")
    assert codebook["survey_before_warm"]["unit"] == "°"


def test_responses_are_read_only_in_the_admin(visitor, admin_client):
    visitor.send(question_age="44", question_done="no")
    Response.objects.update(answers={"age": 44, "done": "<script>alert(1)</script>"})
    listed = admin_client.get(reverse("admin:surveys_response_changelist"))
    page = reverse("admin:surveys_response_change", args=[Response.objects.get().pk])
    assert visitor.enrolment.pseudonym in text_of(listed)
    assert "&lt;script&gt;alert(1)" in admin_client.get(page).content.decode()
    assert admin_client.post(page, {"stage": "after"}).status_code == 403
    assert admin_client.get(reverse("admin:surveys_response_add")).status_code == 403
