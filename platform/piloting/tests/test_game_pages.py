"""Every form accepts any move that a model could make, and broken pages are reported."""

from __future__ import annotations

import pytest
from django.test import override_settings

from games import registry
from games.examples import Case, Examples, cases, cases_of
from games.tests.test_small_game import tutorial_game  # noqa: F401  (the fixture `game`)
from games.tests.toys import ClockAuction, Guessing, Well
from games.tests.toys.everything import Everything
from matches import forms
from piloting import game_pages


@pytest.mark.parametrize("key", registry.keys())
def test_every_games_pages_work(key):
    assert [problem for case in cases(key)[:3] for problem in game_pages.problems(case)] == []


@pytest.mark.slow
def test_pages_of_the_tutorials_game_work(game):
    assert [problem for case in cases_of(game, Examples()) for problem in game_pages.problems(case)] == []


@pytest.mark.parametrize("game", [ClockAuction, Guessing, Well, Everything])
def test_generic_page_accepts_every_model_answer(game):
    problems = [problem for seed in range(12) for problem in game_pages.problems(Case(game, {}, seed))]
    assert problems == []


def test_optional_forms_are_rendered_on_request():
    for planned in (False, True):
        play = Case(Everything, {"planned": planned}).walk().opening
        assert ("plan" in [form.name for form in forms.shown_forms(play, "clerk")]) is planned
        assert "plan" in [form.name for form in play.forms("clerk")]


def with_template(folder, game: str, name: str, body: str):
    """Override the settings so that a toy game uses this template."""
    from django.conf import settings

    path = folder / game / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(body)
    engine = {**settings.TEMPLATES[0], "DIRS": [*settings.TEMPLATES[0]["DIRS"], str(folder)]}
    return override_settings(TEMPLATES=[engine, *settings.TEMPLATES[1:]])


@pytest.mark.parametrize(
    ("name", "body", "problem"),
    [
        ("screen.html", "{% load play %}{% table view.absent %}", "TemplateSyntaxError: "),
        ("form_vote.html", "<button name='vote' value='true'>Yes</button>", "'false' for vote"),
        ("form_vote.html", "<button>Send</button>", "has no field vote"),
    ],
)
def test_broken_pages_are_reported(tmp_path, name, body, problem):
    with with_template(tmp_path, "everything", name, body):
        problems = game_pages.problems(Case(Everything, {}, 1))
    assert problems and problem in problems[0]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("Nothing happens here.", "does not show"),
        ("{% for note in view.notes.lines %}{{ note.words }}{% endfor %}", "does not mark"),
    ],
)
def test_facts_that_only_models_read_are_reported(tmp_path, body, problem):
    with with_template(tmp_path, "well", "screen.html", body):
        assert any(problem in found for found in game_pages.problems(Case(Well, {}, 1)))
