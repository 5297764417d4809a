"""Every kind of stage in a journey, by HTTP: missing and wrong answers, coming back, two tabs, double posts."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import pytest

from checks.models import Verdict
from exports.designs import conditions_of, labels_of, questions_of
from exports.participants import facts_of
from participants import steps
from participants.states import State
from plans import stages
from plans.checking import check
from plans.schema import plan_controls
from plans.stages import MAX_PLACE_LENGTH, place_of
from studies import journeys
from studies.models import Study
from studies.tests import kit
from surveys.models import Response
from tests.examples import ROOT, blocks
from tests.visitors import Visitor, arrived_participant, heading_of, shown_earlier, text_of

pytestmark = [pytest.mark.services, pytest.mark.django_db]

TALK: dict[str, Any] = {
    "stage": "game", "name": "talk", "game": "bargaining", "config": {"rounds": 1},
    "seats": {"alice": "person", "bob": "fair"}, "code_word": None,
}  # fmt: skip
ASKED: dict[str, tuple[dict[str, Any], dict[str, str], dict[str, str]]] = {
    "single": ({"options": ["yes", "no"]}, {"": "perhaps"}, {"": "no"}),
    "multiple": ({"options": ["a", "b", "c"], "min": 2}, {".0": "on"}, {".0": "on", ".2": "on"}),
    "scale": ({"points": 5}, {"": "6"}, {"": "5"}),
    "matrix": (
        {"options": ["low", "high"], "rows": [{"name": "x", "text": "X"}, {"name": "y", "text": "Y"}]},
        {".x": "low"},
        {".x": "low", ".y": "high"},
    ),
    "slider": ({"min": 0, "max": 10}, {"": "11"}, {"": "7"}),
    "number": (
        {"min": 1, "unit": "hours", "valid_if": "number <= 24", "message": "A day has 24."}, {"": "25"}, {"": "8"},
    ),
    "date": ({"max": "2020-01-31"}, {"": "2020-02-31"}, {"": "2019-02-28"}),
    "text": ({}, {"": "x" * 301}, {"": "Kim"}),
    "long": ({}, {"": "x" * 100_001}, {"": "One\nTwo"}),
    "ranking": ({"options": ["p", "q"]}, {".0": "1", ".1": "1"}, {".0": "2", ".1": "1"}),
}  # fmt: skip
"""By kind of question: its settings, and what a wrong and a right answer post, by the end of the field's name."""
STORED = {
    "single": "no", "multiple": ["a", "c"], "scale": 5, "matrix": {"x": "low", "y": "high"}, "slider": 7, "number": 8,
    "date": "2019-02-28", "text": "Kim", "long": "One\nTwo", "ranking": ["q", "p"],
}  # fmt: skip


def journey(*of: dict[str, Any], **parts: Any) -> Study:
    """Launch a study of these stages after the consent page."""
    plan = {
        "format": "parley-study", "version": 1, "title": "Stages", "agents": {"fair": {"script": "fair"}},
        "journey": [{"stage": "consent"}, *of], "entry": {"via": "mturk"}, **parts,
    }  # fmt: skip
    return kit.launched("stages", plan=plan)


def begun(study: Study) -> Visitor:
    """Return a participant at the stage after consent and name."""
    visitor = Visitor(arrived_participant(study))
    visitor.see()
    assert "please tick the box" in text_of(visitor.refused())
    visitor.send(agree="yes")
    assert "at least two letters" in text_of(visitor.refused(name="?"))
    visitor.send(name="Robin")
    visitor.see()
    return visitor


def posted(answers: int, *, only: str = "") -> dict[str, str]:
    """Return the wrong (1) or right (2) answers to every question, or the wrong one to `only` among right ones."""
    return {
        f"question_{kind}{end}": value
        for kind, asked in ASKED.items()
        for end, value in asked[1 if kind == only else answers].items()
    }


class TestQuestions:
    @pytest.fixture
    def visitor(self) -> Visitor:
        items = [{"name": kind, "kind": kind, "text": f"Of {kind}?", **ASKED[kind][0]} for kind in ASKED]
        skipped = {"name": "skipped", "kind": "long", "text": "More?", "required": False}
        hidden = {"name": "hidden", "kind": "single", "text": "Why yes?", "options": ["a", "b"],
                  "show_if": "single == 'yes'"}  # fmt: skip
        return begun(journey({"stage": "questions", "name": "asked", "items": [*items, skipped, hidden]}, TALK))

    def test_missing_and_wrong_answers_are_named_and_nothing_is_kept(self, visitor):
        page = text_of(visitor.refused())
        assert all(f"Please answer: Of {kind}?" in page for kind in set(ASKED) - {"multiple", "ranking"})
        assert visitor.refused(**posted(1)).content.count(b'class="error"') == len(ASKED)
        for kind in ASKED:
            page = visitor.refused(**posted(2, only=kind)).content.decode()
            assert page.count('class="error"') == 1, kind
            assert 'name="question_text"' in page and (kind == "text" or "Kim" in page), "what was typed is still there"
        assert "A day has 24." in text_of(visitor.refused(**posted(2, only="number")))
        assert not Response.objects.exists()

    def test_right_answers_are_kept_once_and_the_way_back_changes_nothing(self, visitor):
        position = visitor.now().position
        for answers in (posted(2), posted(2), {**posted(2), "question_text": "Changed in another tab"}):
            assert visitor.send(position, **answers).status_code == 302
        assert visitor.see().status_code == 200 and visitor.now().step["kind"] == "instructions"
        response = Response.objects.get()
        assert response.answers == {**STORED, "skipped": None}
        assert visitor.now().position == position + 1

    @pytest.mark.parametrize("position", ["", "-1", "99", "x"])
    def test_a_form_of_no_page_changes_nothing(self, visitor, position):
        before = visitor.now().position
        assert visitor.send(position, **posted(2)).status_code == 302
        assert visitor.now().position == before and not Response.objects.exists()


def test_random_order_is_each_participants_own_and_stays():
    items = [{"name": f"q{n}", "kind": "text", "text": f"Question {n}"} for n in range(8)]
    study = journey({"stage": "questions", "name": "asked", "items": items, "order": "random"}, TALK)
    orders = set()
    for worker in range(3):
        visitor = Visitor(arrived_participant(study, f"w{worker}"))
        visitor.send(agree="yes")
        visitor.send(name="Robin")
        shown = [[int(part[0]) for part in text_of(visitor.see()).split("Question ")[1:]] for _visit in range(2)]
        assert shown[0] == shown[1] and sorted(shown[0]) == list(range(8))
        orders.add(tuple(shown[0]))
    assert len(orders) > 1


def test_page_is_left_neither_early_nor_twice():
    page = {"stage": "page", "name": "opening", "title": "Please wait", "text": "Hello", "seconds": 30}
    visitor = begun(journey(page, {**page, "name": "again", "title": "Once more"}, TALK))
    first = visitor.now().position
    assert "You can continue in" in text_of(visitor.refused())
    shown_earlier(visitor.now(), timedelta(minutes=1))
    for _delivery in range(2):
        visitor.send(first)
    assert heading_of(visitor.see()) == "Once more"
    assert "You can continue in" in text_of(visitor.refused())


def test_answers_that_end_the_study_end_it_once():
    asked = {"name": "age", "kind": "number", "text": "How old are you?", "ends_if": "age < 18"}
    visitor = begun(journey({"stage": "questions", "name": "screen", "items": [asked]}, TALK))
    position = visitor.now().position
    for age in ("12", "40"):
        visitor.send(position, question_age=age)
    assert visitor.now().state == State.SCREENED_OUT
    assert "can't take part" in heading_of(visitor.see())
    assert Response.objects.get().answers == {"age": 12}


def test_every_pass_has_its_own_answers_and_verdicts_whatever_its_level_is_called():
    """The first pass is answered correctly, the second wrongly: the latter ends the study and is known for it."""
    levels = ["a level as long as a sentence, one", "a level as long as a sentence, two"]
    game = {**TALK, "config": {"rounds": kit.varied("horizon", **dict(zip(levels, (1, 2), strict=True)))}, "quiz": True}
    asked = {"stage": "questions", "name": "after", "items": [{"name": "why", "kind": "text", "text": "Why?"}]}
    study = journey(
        {"stage": "block", "name": "games", "of": [game, asked]},
        factors={"horizon": {"levels": levels, "within": "games"}},
    )
    visitor = begun(study)
    for correct in (True, False):
        visitor.send()
        visitor.see()
        visitor.agree()
        visitor.see()
        question = visitor.now().step
        assert question["kind"] == "quiz"
        visitor.send(loss_rate="10%" if correct else "20%")
        if correct:
            visitor.see()
            visitor.send(question_why="Because")
            visitor.see()
    assert visitor.now().state == State.FAILED_QUIZ
    found = dict(Verdict.objects.values_list("stage", "passed"))
    assert found == {place_of("talk", [levels[0]]): True, place_of("talk", [levels[1]]): False}
    assert max(map(len, [*found, *Response.objects.values_list("stage", flat=True)])) <= MAX_PLACE_LENGTH
    assert facts_of(visitor.enrolment, visitor.enrolment.ended_at).verdicts == {"quiz": False}
    assert "Your answer 20%" in text_of(visitor.see())


class TestOutsideKind:
    """A kind of stage that another app brings along: a model, its steps, and the step's page."""

    @pytest.fixture(autouse=True)
    def note(self, monkeypatch: pytest.MonkeyPatch) -> None:
        kinds, makers, of_steps = dict(stages._kinds), dict(journeys._makers), dict(steps._kinds)
        for module, name, registered in (
            (stages, "_kinds", kinds), (journeys, "_makers", makers), (steps, "_kinds", of_steps),
        ):  # fmt: skip
            monkeypatch.setattr(module, name, registered)

        @stages.register
        class Note(stages.Stage):
            label = "Note"
            needs_name = True

            stage: Literal["note"]
            words: str = ""

        @journeys.register_steps(Note)
        def make(stage: Note, way: journeys.Way) -> journeys.Steps:
            return [{"kind": "note", "name": journeys.named(stage, way), "text": way.rendered(stage.words)}]

        @steps.register
        class NoteStep(steps.Step):
            kind, title, template, state = "note", "A note", "participants/page.html", State.CONSENTED

            def context(self) -> dict[str, Any]:
                return {"text": self.step["text"], "wait": 0}

            def answer(self, data: Mapping[str, str]) -> None:
                if data.get("read") != "yes":
                    raise steps.StepRefused({"": "Please read it."})

    def test_takes_part_in_drafts_journeys_and_datasets(self):
        note = {"stage": "note", "name": "memo", "words": kit.varied("tone", mild="Please.", harsh="Now!")}
        shown = {**note, "name": "shown", "words": "Only {{ tone }}.", "show_if": "tone == 'harsh'"}
        study = journey(note, shown, TALK, factors={"tone": {"levels": ["mild", "harsh"]}})
        for worker in range(2):
            visitor = Visitor(arrived_participant(study, f"w{worker}"))
            visitor.send(agree="yes")
            visitor.send(name="Robin")
            tone = visitor.now().placement.cell.factors["tone"]
            assert {"mild": "Please.", "harsh": "Now!"}[tone] in text_of(visitor.see())
            assert "Please read it." in text_of(visitor.refused())
            visitor.send(read="yes")
            page = visitor.see()
            assert ("Only harsh." in text_of(page)) == (tone == "harsh")
        version = study.latest_version()
        assert {"note_memo", "note_shown"} <= set(labels_of(version)) and conditions_of(version) == ["shown"]

    def test_is_checked_like_any_other(self):
        document = journey(TALK).draft
        document["journey"].insert(1, {"stage": "note", "name": "talk", "words": 3})
        faults = {fault.at for fault in check(document).faults}
        assert "journey.1.words" in faults


class TestStageOfTheTutorial:
    """The stage of the tutorial "Your first kind of stage", as printed, from the editor's control to the column."""

    @pytest.fixture(autouse=True)
    def belief(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: Any) -> None:
        for module, name in ((stages, "_kinds"), (journeys, "_makers"), (steps, "_kinds")):
            monkeypatch.setattr(module, name, dict(getattr(module, name)))
        saved = {each.saved_as: each.code for each in blocks(ROOT / "docs/tutorials/first-stage.md") if each.saved_as}
        stage = ModuleType("beliefs.stage")
        monkeypatch.setitem(sys.modules, stage.__name__, stage)
        exec(compile(saved["platform/beliefs/stage.py"], "stage.py", "exec"), stage.__dict__)
        exec(compile(saved["platform/beliefs/apps.py"], "apps.py", "exec"), {})
        page = tmp_path / "beliefs" / "page.html"
        page.parent.mkdir()
        page.write_text(saved["platform/beliefs/templates/beliefs/page.html"])
        engine = {**settings.TEMPLATES[0], "DIRS": [*settings.TEMPLATES[0]["DIRS"], str(tmp_path)]}
        settings.TEMPLATES = [engine, *settings.TEMPLATES[1:]]

    def test_is_asked_stored_and_known_to_conditions_and_datasets(self):
        asked = {"stage": "belief", "name": "hope", "about": "Will they {{ tone }}?"}
        shown = {"stage": "page", "name": "high", "text": "You expect much.", "show_if": "belief > 50"}
        visitor = begun(journey(asked, shown, TALK, factors={"tone": {"levels": ["give"]}}))
        assert "Will they give?" in text_of(visitor.see())
        visitor.refused(question_belief="101")
        visitor.send(question_belief="60")
        assert Response.objects.get().answers == {"belief": 60} and "You expect much." in text_of(visitor.see())
        version = visitor.now().placement.version
        assert [each.question.name for each in questions_of(version)] == ["belief"]
        assert "belief_hope" in labels_of(version)

    def test_has_controls_in_the_editor_and_faults_of_its_own(self):
        controls = plan_controls.__wrapped__()["stages"]["belief"]
        assert {"about", "most", "answer"} <= {field["name"] for field in controls["fields"]}
        document = journey(TALK).draft
        document["journey"].insert(1, {"stage": "belief", "most": 0})
        assert {"journey.1.most"} <= {fault.at for fault in check(document).faults}
