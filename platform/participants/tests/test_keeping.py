"""Participants see the page that would be rendered for them alone, though it was rendered for somebody else."""

from __future__ import annotations

import pytest
from django.template.loader import render_to_string
from django.utils.translation import override

from matches.models import Match
from participants import keeping, views
from participants.keeping import Own, render_kept
from tests.visitors import Visitor, arrived_participant, launched_study


@pytest.fixture(autouse=True)
def nothing_kept():
    keeping._rendered.cache_clear()


@pytest.mark.django_db
def test_everyone_sees_their_own_page(monkeypatch):
    monkeypatch.setattr(Match, "seconds_left", lambda *_turn: 100)
    study = launched_study()
    visitors = [Visitor(arrived_participant(study, worker)) for worker in ("first", "second")]
    names = {visitor.enrolment.token: name for visitor, name in zip(visitors, ("O'Neil", "佐藤"), strict=True)}
    for kind in ("consent", "name", "instructions", "match"):
        for visitor in visitors:
            visitor.see()
            token = visitor.now().token
            kept = visitor.see().content.decode()
            with monkeypatch.context() as patched:
                patched.setattr(views, "render_kept", render_to_string)
                assert kept == visitor.see().content.decode(), kind
            assert f"/p/{token}/leave/" in kept and keeping._MARK not in kept
            assert not [other for other in names if other != token and other in kept]
            answers = {"agree": "yes", "name": names[token], "code_word": visitor.enrolment.code_word}
            visitor.send(**answers)
    assert "<bdi>佐藤</bdi>" in kept
    assert keeping._rendered.cache_info().hits > 4


def test_a_page_is_rendered_again_for_whatever_else_it_says(settings, tmp_path):
    settings.TEMPLATES = [{**settings.TEMPLATES[0], "DIRS": [tmp_path], "APP_DIRS": False}]
    (tmp_path / "page.html").write_text("{% load i18n %}{% translate 'Continue' %} {{ a }} {{ own }}")

    def shown(a: object, own: str, language: str = "en") -> str:
        with override(language):
            return render_kept("page.html", {"a": a, "own": Own.of(own)})

    assert [shown(a, "x") for a in (1, True, 1.0, "1", None)] == [
        f"Continue {a} x" for a in ("1", "True", "1.0", "1", "None")
    ]
    assert (shown("<b>", "<i>"), shown(Own("<b>"), "<i>")) == ("Continue &lt;b&gt; &lt;i&gt;", "Continue <b> &lt;i&gt;")
    assert (shown(1, "x", "de"), shown(1, "y")) == ("Weiter 1 x", "Continue 1 y")
