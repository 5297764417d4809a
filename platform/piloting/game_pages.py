"""Check a game's pages: every screen renders, tells what models are told, and its forms accept any legal move.

People on a page and models with a schema must know the same and be able to make the same moves.
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
from games.interface import Block, Facts, Form, Json, Move, Role, Said, Table, Talk, Text, View
from games.play import Play, abandon, learnt
from games.scripts import random_filling
from llm_agents import prompting
from matches import forms
from matches.screens import render_screen
from matches.templatetags.play import assets, named
from piloting.reading import Page, read

MOVES_PER_FORM = 4
"""Number of moves tried in each form at each point in a match."""
_NOT_READ = re.compile(r"<(script|style|svg|textarea|bdi|option)\b.*?</\1>", re.DOTALL)
_TAG = re.compile(r"<[^>]+>")
_NO_WORDS = re.compile(r"<(script|style)\b.*?</\1>", re.DOTALL)
_SCRIPTS = {
    "data-sortable": "parley/tables.js",
    "data-menus": "parley/menus.js",
    "data-attempts": "parley/attempts.js",
    "data-columns": "parley/prices.js",
}
"""What a game loads only if its pages have such a part."""
_BETWEEN_ITEMS = re.compile(r"[;:–]\s*|, ")
_FORMS = re.compile(r'<form[^>]*data-move="([^"]*)".*?</form>', re.DOTALL)


def problems(case: Case) -> list[str]:
    """Return the problems with the pages of one match, each sentence once."""
    with override("en"):
        return list(dict.fromkeys(_problems(case.walk(), case.seed)))


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
                    return
                yield from _doubtful_words(page, role)
                yield from _unscripted_parts(page, play.game.key)
                if shown_play is play:
                    yield from _unsubmittable_moves(play, role, page, rng, recorded.get((play.last, role)))
    yield from _untold_facts(walk)


def _doubtful_words(html: str, role: Role) -> Iterator[str]:
    """Yield research words, raw names and unrounded numbers that the page shows; players' own words may be anything."""
    shown = unescape(_TAG.sub(" ", _NOT_READ.sub(" ", html)))
    for problem in guard.warnings(shown):
        yield f"the page of {role}: {problem}"


def _unscripted_parts(html: str, game: str) -> Iterator[str]:
    """Yield the parts of a page whose script is not among the game's assets."""
    for part, script in _SCRIPTS.items():
        if part in html and script not in assets(game):
            yield f"a page has a part with {part}, but {game}/assets.html does not load {script}"


def _untold_facts(walk: Walk) -> Iterator[str]:
    """Yield what a role knows when it is asked, or has learnt since its last move, that page or prompt does not tell.

    The page must also mark the parts that hold others' words or data for which models have a tool, so that it is
    recorded whether a person looked at them.
    """
    selected, news = set(map(id, walk.selected_moments())), dict[Role, View]()
    for moment in walk.moments:
        play = moment.before
        for role in play.game.roles() if id(moment) in selected else ():
            if not play.forms(role):
                continue
            html, view = render_screen(play, role), play.view(role)
            page = _plain(_TAG.sub(" ", _NO_WORDS.sub(" ", html)))
            now = {block.key for block in view if not isinstance(block, Text)}
            for fact in _facts((*view, *(block for block in news.get(role, ()) if block.key not in now))):
                if not _tells(page, fact):
                    yield f"the page of {role} does not show “{fact}”"
            prompt = _plain(prompting.render(view))
            for fact in _facts(view):
                if not _tells(prompt, fact):
                    yield f"the prompt of {role} does not contain “{fact}”"
            for key in _looked_up(play, role, view):
                if f'data-block="{key}"' not in html:
                    yield f"the page of {role} does not mark the part “{key}” with data-block"
        for role in play.game.roles():
            earlier = () if role == moment.role else news.get(role, ())
            news[role] = (*earlier, *learnt(play, moment.role, moment.move, moment.after, role))


def _facts(view: View) -> Iterator[str]:
    """Yield what blocks tell, one fact at a time; of sentences, only the numbers, as pages may word them otherwise."""
    for block in view:
        match block:
            case Text():
                yield from (word.strip(".,;:!?()") for word in block.body.split() if any(map(str.isdigit, word)))
            case Facts():
                for fact in block.facts:
                    if fact.value is not None:
                        yield fact.value.words if isinstance(fact.value, Said) else fact.shown
            case Table():
                yield from (_shown(cell) for row in block.rows for cell in row if isinstance(cell, str | Said))
            case Talk():
                yield from (line.words for line in block.lines)


def _shown(cell: str | Said) -> str:
    return cell.words if isinstance(cell, Said) else cell


def _plain(text: str) -> str:
    return " ".join(unescape(named(text)).lower().split())


def _tells(shown: str, fact: str) -> bool:
    """Return whether a page or a prompt shows a fact, as a whole or item by item."""
    words = _plain(fact)
    return words in shown or all(part in shown for part in _BETWEEN_ITEMS.split(words))


def _looked_up(play: Play, role: Role, view: View) -> set[str]:
    """Return the keys of the blocks with others' words, or with data for which models have a tool."""
    by_tool = {tool.block for tool in play.game.tools(play.state, role)}
    return {block.key for block in view if (block.key in by_tool and not _is_empty(block)) or _quotes(block)}


def _is_empty(block: Block) -> bool:
    return (isinstance(block, Table) and not block.rows) or (isinstance(block, Talk) and not block.lines)


def _quotes(block: Block) -> bool:
    return isinstance(block, Facts) and any(isinstance(fact.value, Said) for fact in block.facts)


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
