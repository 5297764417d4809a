"""The page that shows what a model would be sent, and what a participant in its place would read."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from typing import Any

from django.contrib.admin import AdminSite
from django.db.models import Model
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse, QueryDict
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _

from games import registry
from games.errors import GameError
from games.play import configure
from llm_agents.errors import AgentError
from matches.forms import fields_of
from rights.admin import trail
from studies.previewing import PreviewSource, Selection, default_selection, preview

CHOICE = "preview_"
"""Starts the names of this page's own fields, to tell them from those of the previewed form."""
LARGEST = 10**9


def page(
    request: HttpRequest,
    *,
    site: AdminSite,
    opts: Any,
    title: str,
    subject: Callable[[], PreviewSource],
    of: Model | None = None,
) -> HttpResponse:
    """Return the requested preview, or an error message. Changes nothing.

    Args:
        subject: returns what to preview; may raise what `preview` raises, or ValueError.
        of: the study or collection to link back to; None if its page stays open beside this one.
    """
    typed = request.POST if request.method == "POST" else request.GET
    context: dict[str, Any] = {
        **site.each_context(request),
        "opts": opts,
        "title": _("Model prompts: {title}").format(title=title),
        **(trail(of, here=_("Model prompts")) if of else {}),
        "method": request.method,
        "carried": _carried(request),
    }
    try:
        looked_at = subject()
        shown = preview(looked_at, _selection(typed, looked_at))
    except (GameError, AgentError, ValueError) as problem:
        context["problem"] = str(problem)
    else:
        config, roles = looked_at.places[shown.chosen.place - 1]
        game = configure(registry.get(looked_at.game), config)
        context |= {
            "shown": shown,
            "chosen": shown.chosen,
            "choices": {
                "agents": looked_at.agents,
                "places": len(looked_at.places),
                "roles": [(role, game.role_title(role)) for role in roles],
            },
            "config": _parameters(looked_at.game, config),
            "others": shown.sent and json.dumps(shown.sent.others, indent=2, ensure_ascii=False),
            "body": shown.sent and json.dumps(shown.sent.body, indent=2, ensure_ascii=False),
            "person": render_to_string(
                "admin/studies/study/person.html",
                {"game": game, "screen": shown.screen, "instructions": shown.instructions},
            ),
        }
    return TemplateResponse(request, "admin/studies/study/preview.html", context, headers={"Cache-Control": "no-store"})


def named(typed: QueryDict) -> QueryDict:
    """Return the form data with a placeholder title and short name, which appear in no prompt."""
    filled = typed.copy()
    for name in ("title", "slug"):
        filled[name] = typed.get(name) or f"preview-{secrets.token_hex(4)}"
    return filled


def refuse_invalid(form: BaseForm) -> None:
    """Raise an error if the form could not be saved.

    Raises:
        ValueError: with the errors by field.
    """
    if form.is_valid():
        return
    says = []
    for name, problems in form.errors.items():
        label = form.fields[name].label if name in form.fields else ""
        says.append(f"{label}: {' '.join(problems)}" if label else " ".join(problems))
    raise ValueError(" ".join(says))


def _carried(request: HttpRequest) -> list[tuple[str, str]]:
    """Return the previewed form's data, to be submitted again when another moment is chosen."""
    if request.method != "POST":
        return []
    own = ("csrfmiddlewaretoken",)
    return [
        (name, str(value))
        for name, values in request.POST.lists()
        for value in values
        if name not in own and not name.startswith(CHOICE)
    ]


def _selection(typed: Mapping[str, Any], subject: PreviewSource) -> Selection:
    """Return the chosen moment; the first if none or an unknown one was chosen."""
    first = default_selection(subject)
    place = _number(typed.get(f"{CHOICE}place"), first.place, len(subject.places))
    agent, role = typed.get(f"{CHOICE}agent"), typed.get(f"{CHOICE}role")
    roles = subject.places[place - 1][1] or (first.role,)
    return Selection(
        agent=agent if agent in subject.agents else first.agent,
        place=place,
        role=role if role in roles else roles[0],
        question=_number(typed.get(f"{CHOICE}question"), first.question, LARGEST),
        seed=_number(typed.get(f"{CHOICE}seed"), first.seed, LARGEST),
    )


def _number(text: Any, otherwise: int, most: int) -> int:
    """Return `text` as a whole number from 1 to `most`, or `otherwise`."""
    if not isinstance(text, str) or not text.isascii() or not text.isdigit() or len(text) > 12:
        return otherwise
    return min(max(int(text), 1), most)


def _parameters(key: str, config: Mapping[str, Any]) -> list[tuple[str, str]]:
    titles = {field.name: field.label for field in fields_of(registry.get(key).Config)}
    return [(titles.get(name, name), json.dumps(value, ensure_ascii=False)) for name, value in config.items()]
