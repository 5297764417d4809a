"""The page that shows what a model would receive and what a participant in its place would read."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from games import registry
from games.errors import GameError
from games.play import configure
from llm_agents.errors import AgentError
from matches.forms import fields_of
from rights.admin import NO_STORE, PartAdmin, trail
from studies.previewing import PreviewSource, Selection, default_selection, preview, selection_in

FIELD_PREFIX = "preview_"
"""Starts the names of this page's own fields, to distinguish them from those of the previewed form."""
MAX_NUMBER = 10**9


def page(owner: PartAdmin, request: HttpRequest, parent: Any, load_source: Callable[[], PreviewSource]) -> HttpResponse:
    """Return the requested preview of a study or collection, or an error message. Changes nothing.

    Args:
        owner: the parent's admin.
        load_source: returns what to preview; may raise what `preview` raises, or ValueError.
    """
    context: dict[str, Any] = trail(parent, here=_("Model prompts"))
    try:
        source = load_source()
        turn_preview = preview(source, _selection(request.GET, source))
    except (GameError, AgentError, ValueError) as error:
        context["problem"] = str(error)
    else:
        situation = turn_preview.situation
        game = configure(registry.get(situation.game), situation.config)
        context |= {
            "shown": turn_preview,
            "chosen": turn_preview.chosen,
            "choices": {
                "agents": situation.agents,
                "situations": source.count,
                "roles": [(role, game.role_title(role)) for role in situation.roles],
            },
            "config": _parameters(situation.game, situation.config),
            "others": turn_preview.sent and json.dumps(turn_preview.sent.others, indent=2, ensure_ascii=False),
            "body": turn_preview.sent and json.dumps(turn_preview.sent.body, indent=2, ensure_ascii=False),
            "person": render_to_string(
                "admin/studies/study/person.html",
                {"game": game, "screen": turn_preview.screen, "instructions": turn_preview.instructions},
            ),
        }
    title = _("Model prompts: {title}").format(title=parent.title)
    return owner.page(request, "admin/studies/study/preview.html", title, context, headers=NO_STORE)


def _selection(form_data: Mapping[str, Any], source: PreviewSource) -> Selection:
    """Return the chosen turn; the default one if none or an unknown one was chosen."""
    default_choice = default_selection(source)
    number = _number(form_data.get(f"{FIELD_PREFIX}place"), default_choice.situation, source.count)
    situation = source.situation(number)
    if not situation.roles:
        return default_choice
    first = selection_in(situation, number)
    agent, role = form_data.get(f"{FIELD_PREFIX}agent"), form_data.get(f"{FIELD_PREFIX}role")
    return Selection(
        agent=str(agent) if agent in situation.agents else first.agent,
        situation=number,
        role=str(role) if role in situation.roles else first.role,
        question=_number(form_data.get(f"{FIELD_PREFIX}question"), first.question, MAX_NUMBER),
        seed=_number(form_data.get(f"{FIELD_PREFIX}seed"), first.seed, MAX_NUMBER),
    )


def _number(text: Any, default: int, maximum: int) -> int:
    """Return `text` as a whole number from 1 to `maximum`, or `default`."""
    if not isinstance(text, str) or not text.isascii() or not text.isdigit() or len(text) > 12:
        return default
    return min(max(int(text), 1), maximum)


def _parameters(game_key: str, config: Mapping[str, Any]) -> list[tuple[str, str]]:
    titles = {field.name: field.label for field in fields_of(registry.get(game_key).Config)}
    return [(titles.get(name, name), json.dumps(value, ensure_ascii=False)) for name, value in config.items()]
