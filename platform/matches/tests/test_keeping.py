"""What a template shows is rendered again exactly when something that it reads is different."""

from __future__ import annotations

from itertools import islice

import pytest
from django.template import Context, Template
from django.utils.translation import override

from games import registry
from games.contract import cases
from games.interface import Table
from matches import keeping
from matches.screens import render_screen


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(keeping, "_kept", {})


@pytest.fixture
def shown(settings, tmp_path):
    """Return what shows a template's text with some variables, and how often it was rendered so far."""
    renderings = []

    class Noticed:
        def __str__(self):
            renderings.append(1)
            return ""

        def __repr__(self):
            return "noticed"

        __eq__ = object.__eq__

    noticed = Noticed()

    def show(text, **variables):
        path = tmp_path / f"{abs(hash(text))}.html"
        path.write_text(f"{{% load i18n play %}}{{{{ noticed }}}}{text}")
        page = Template("{% load play %}{% kept name %}")
        context = Context({"name": path.name, "noticed": noticed, "view": {}, "ends": (), **variables})
        return page.render(context), len(renderings)

    settings.TEMPLATES = [{**settings.TEMPLATES[0], "DIRS": [tmp_path], "APP_DIRS": False}]
    return show


def test_it_is_rendered_once_for_all_that_it_reads(shown):
    assert shown("{{ a }} {{ b }}", a=1, b=2, c=3) == ("1 2", 1)
    assert shown("{{ a }} {{ b }}", a=1, b=2, c=4) == ("1 2", 1)
    assert shown("{{ a }} {{ b }}", a=1, b=5, c=4) == ("1 5", 2)
    assert shown("{{ a }} {{ b }}", a=1, b=2) == ("1 2", 2)


@pytest.mark.parametrize(("first", "second"), [(1, True), (1, 1.0), (None, ""), ("1", 1)])
def test_values_that_look_different_are_different(shown, first, second):
    texts = [shown("{{ a }}", a=value)[0] for value in (first, second, first)]
    assert texts == [str(first), str(second), str(first)]


def test_values_that_differ_in_what_their_repr_leaves_out_are_different(shown):
    first, second = Table("t", "T", ("a",), (), folds=True), Table("t", "T", ("a",), (), folds=False)
    assert repr(first) == repr(second)
    text = "{% if view.t.folds %}folded{% else %}whole{% endif %}"
    assert [shown(text, view={"t": block})[0] for block in (first, second, first)] == ["folded", "whole", "folded"]


def test_it_may_set_variables(shown):
    text = "{% translate 'Send' as word %}{{ word }} {{ a }}"
    assert [shown(text, a=value) for value in (1, 1, 2)] == [("Send 1", 1), ("Send 1", 1), ("Send 2", 2)]


def test_what_is_missing_is_not_none(shown):
    assert [shown("{{ a }}", **given)[0] for given in ({}, {"a": None}, {})] == ["", "None", ""]


def test_only_the_blocks_that_it_shows_count(shown):
    text = "{% if view.b %}b{% endif %}{{ view.a }}"
    assert shown(text, view={"a": 1, "c": 1}) == ("1", 1)
    assert shown(text, view={"a": 1, "c": 2}) == ("1", 1)
    assert shown(text, view={"a": 1, "b": 2}) == ("b1", 2)


def test_only_the_answers_that_it_asks_about_count(shown):
    text = "{% if 'reject' in ends %}ends{% endif %}"
    assert [shown(text, ends=answers) for answers in ((), ("accept",), ("reject",))] == [("", 1), ("", 1), ("ends", 2)]


def test_each_language_has_its_own(shown):
    texts = []
    for language in ("en", "de", "en"):
        with override(language):
            texts.append(shown("{% translate 'Send' %}")[0])
    assert texts == ["Send", "Senden", "Send"]


def test_one_in_another_counts_what_both_read(shown, tmp_path):
    (tmp_path / "inner.html").write_text("{{ view.a }}")
    text = "{% kept 'inner.html' %}{{ b }}"
    given = [({"a": 1}, 1), ({"a": 2}, 1), ({"a": 2}, 3), ({"a": 1}, 1)]
    assert [shown(text, view=view, b=b) for view, b in given] == [("11", 1), ("21", 2), ("23", 3), ("11", 3)]


def test_a_process_keeps_few(shown, monkeypatch):
    monkeypatch.setattr(keeping, "MAX_KEPT", 2)
    monkeypatch.setattr(keeping, "_number", 0)
    assert [shown("{{ a }}", a=value)[1] for value in (1, 2, 1, 3, 3, 1)] == [1, 2, 2, 3, 3, 4]


@pytest.mark.parametrize(
    "key", [key if key == "bargaining" else pytest.param(key, marks=pytest.mark.slow) for key in registry.keys()]
)
def test_pages_of_all_matches_are_as_if_nothing_was_kept(key, monkeypatch):
    moments = [
        (moment.before, role)
        for case in islice(cases(key), 2)
        for moment in islice(case.walk().selected_moments(), 4)
        for role in case.game.roles()[:2]
    ]
    for language in ("en", "de"):
        with override(language):
            kept = [render_screen(play, role) for _time in range(2) for play, role in moments]
            with monkeypatch.context() as patched:
                patched.setattr(keeping, "MAX_KEPT", 0)
                assert [render_screen(play, role) for play, role in moments] * 2 == kept
