"""Check a game's pages: every screen renders, and every form accepts any legal move.

People on a page and models with a schema must be able to make the same moves.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from html import unescape
from random import Random
from typing import Any

from django.utils.translation import override

from games import guard
from games.examples import Case, Walk
from games.interface import Form, Json, Move, Role
from games.play import Play, abandon
from games.scripts import random_filling
from matches import forms
from matches.screens import render_screen
from piloting.reading import Page, read

MOVES_PER_FORM = 4
"""Number of moves tried in each form at each point in a match."""
_NOT_READ = re.compile(r"<(script|style|svg|textarea|bdi|option)\b.*?</\1>", re.DOTALL)
_TAG = re.compile(r"<[^>]+>")
_FORMS = re.compile(r'<form[^>]*data-move="([^"]*)".*?</form>', re.DOTALL)


def problems(case: Case) -> list[str]:
    """Return the problems with the pages of one match, each sentence once."""
    with override("en"):
        return list(dict.fromkeys(f"{problem} [{case}]" for problem in _problems(case.walk(), case.seed)))


def _problems(walk: Walk, seed: int) -> Iterator[str]:
    recorded = {(moment.before.last, moment.role): moment.move for moment in walk.selected_moments()}
    for play in walk.plays():
        rng = Random(f"{seed}/{play.last}")
        for role in play.game.roles():
            for shown_play in (play, *(() if play.over else (abandon(play, "stopped")[0],))):
                try:
                    page = render_screen(shown_play, role)
                except Exception as error:  # noqa: BLE001 - whatever a template raises is a page with status 500
                    yield f"the screen of {role} cannot be shown: {type(error).__name__}: {error}"
                    break
                yield from _doubtful_words(page, role)
                if shown_play is play:
                    yield from _unsubmittable_moves(play, role, page, rng, recorded.get((play.last, role)))


def _doubtful_words(html: str, role: Role) -> Iterator[str]:
    """Yield research words, raw names and unrounded numbers that the page shows; players' own words may be anything."""
    shown = unescape(_TAG.sub(" ", _NOT_READ.sub(" ", html)))
    for problem in guard.warnings(shown):
        yield f"the page of {role}: {problem}"


def _unsubmittable_moves(
    play: Play, role: Role, html: str, rng: Random, played: Mapping[str, Json] | None
) -> Iterator[str]:
    """Yield a problem for each move that a model could make but a person on this page could not."""
    shown_forms = forms.shown_forms(play, role)
    pages = {name: read(f"<main>{form}</main>") for name, form in ((m[1], m[0]) for m in _FORMS.finditer(html))}
    for form in shown_forms:
        if form.name not in pages:
            yield f"the page of {role} lacks the form “{form.name}”"
            continue
        moves: list[Any] = [random_filling(form, rng) for _number in range(MOVES_PER_FORM)]
        for move in [*moves, *([played] if played is not None else [])]:
            expected = _parsed(form.model, move)
            if (
                expected is not None
                and _allowed_by(form, move)
                and play.game.refuse(play.state, role, expected) is None
            ):
                yield from _differences(form, pages[form.name], shown_forms, move, expected, role)


def _differences(
    form: Form, page: Page, shown_forms: tuple[Form, ...], move: Mapping[str, Json], expected: Move, role: Role
) -> Iterator[str]:
    posted = forms.as_posted(form.model, move)
    for name, value in posted.items():
        field = page.fields.get(name)
        if field is None:
            yield f"the form “{form.name}” of {role} has no field {name}"
            return
        if field.options and value not in field.options:
            yield f"the form “{form.name}” of {role} does not offer {value!r} for {name}"
            return
    submitted = {name: page.fields[name].value for name in (forms.FORM,) if name in page.fields} | posted
    chosen_form = forms.form_for(shown_forms, submitted)
    if chosen_form.name != form.name or _parsed(form.model, forms.read(form.model, submitted)) != expected:
        yield f"the form “{form.name}” of {role} cannot send {json.dumps(move)}"


def _allowed_by(form: Form, move: Mapping[str, Json]) -> bool:
    """Return whether the form's schema allows the move; the rules may accept moves that no form offers.

    A dictionary given as a JSON string counts as the same move.
    """
    fields = {field.name: field for field in forms.fields_of(form.model)}
    return set(move) <= set(fields) and not any(
        (value is None and not fields[name].nullable)
        or (isinstance(value, str) and fields[name].shape == "group")
        or (fields[name].kind == "choice" and value is not None and value not in fields[name].choices)
        for name, value in move.items()
    )


def _parsed(model: type[Move], move: Mapping[str, Json]) -> Move | None:
    try:
        return model.model_validate_json(json.dumps(move))
    except ValueError:
        return None
