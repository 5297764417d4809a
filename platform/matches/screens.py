"""What a person sees of a match: the game's view and forms as HTML, and the frame a page is sent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.template.loader import get_template, select_template
from django.utils import timezone
from django.utils.translation import ngettext

from games.interface import Role
from games.play import Play
from matches import forms
from matches.drafts import words_of
from matches.models import Match

MOST_MINUTES = 60
"""The longest limit that a person who waits is told in minutes."""


@dataclass(frozen=True)
class Awaited:
    """An agent that a person waits for.

    Attributes:
        writes: its answer may hold words, so that a draft of them may be shown.
        limit: seconds after which the person is no longer kept waiting; None: nothing is said about it.
        next: what then happens, by the minutes that are left until then, most first.
    """

    role: Role
    name: str
    writes: bool
    limit: float | None = None
    next: tuple[tuple[int, str], ...] = ()


def awaited(match: Match, play: Play) -> tuple[Awaited, ...]:
    """The agents whose answer the match waits for now."""
    agents = match.agents()
    limit = match.timers.get("agent_limit_seconds")
    found = []
    for role in play.waiting_for():
        if role in agents:
            name = play.game.role_title(role)
            typed = agents[role].settings.appears == "typed" and not agents[role].spec.startswith("script:")
            writes = typed and bool(words_of(play.forms(role)))
            found.append(
                Awaited(role, name, writes, limit, _what_is_next(name, limit, match.timers.get("after_limit")))
            )
    return tuple(found)


def _what_is_next(name: str, limit: float | None, after: str | None) -> tuple[tuple[int, str], ...]:
    if limit is None:
        return ()
    most = min(MOST_MINUTES, max(1, math.ceil(limit / 60)))
    return tuple((minutes, _next_within(name, minutes, after)) for minutes in range(most, 0, -1))


def _next_within(name: str, minutes: int, after: str | None) -> str:
    if after == "script":
        words = ngettext(
            "{name} is thinking. If there is no answer within {minutes} minute, a simple program answers instead, "
            "and the game goes on.",
            "{name} is thinking. If there is no answer within {minutes} minutes, a simple program answers instead, "
            "and the game goes on.",
            minutes,
        )
    else:
        words = ngettext(
            "{name} is thinking. If there is no answer within {minutes} minute, the game ends and you are paid.",
            "{name} is thinking. If there is no answer within {minutes} minutes, the game ends and you are paid.",
            minutes,
        )
    return words.format(name=name, minutes=minutes)


def render_screen(
    play: Play,
    role: Role,
    *,
    posted: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
    waits_for: tuple[Awaited, ...] = (),
) -> str:
    """The game as `role` sees it now, with its forms when it is asked, or `waits_for` when it is not.

    Made from the role's view and from who is waited for: no identifier, time or token is in it.
    """
    blocks = play.view(role)
    open_forms = [] if play.abandoned else [forms.bind(form, posted, errors) for form in play.forms(role)]
    context = {
        "play": play,
        "role": role,
        "blocks": blocks,
        "view": {block.key: block for block in blocks},
        "forms": open_forms,
        "errors": errors or {},
        "answering": play.opened.get(role) if open_forms else None,
        "over": play.over,
        "waits_for": waits_for,
        "game": play.game.key,
    }
    key = play.game.key
    context["inside"] = select_template([f"{key}/screen.html", "play/blocks.html"]).template.name
    context["after"] = select_template([f"{key}/after.html", "play/nothing.html"]).template.name
    context["form_templates"] = [
        (form, select_template([f"{key}/form_{form.name}.html", "play/form.html"]).template.name) for form in open_forms
    ]
    return get_template("play/screen.html").render(context)


def frame(
    match: Match, role: Role, *, posted: Mapping[str, str] | None = None, errors: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """What a page is sent: the screen and what its clock needs.

    `last` is the newest event's number, `answering` the open question's (or null), `remaining` the
    seconds until its deadline, `extended` whether the extra time is running; `awaits` the questions that
    agents have to answer before the role is asked again, by their roles, `waited` since how many seconds.
    """
    play = match.play()
    turns = match.open_turns()
    turn = turns.get(role)
    others = [other for other in turns.values() if other.by_agent] if turn is None else []
    waits_for = awaited(match, play) if others else ()
    return {
        "type": "screen",
        "last": play.last,
        "html": render_screen(play, role, posted=posted, errors=errors, waits_for=waits_for),
        "answering": turn.answering if turn else None,
        "remaining": max(0, round((turn.deadline - timezone.now()).total_seconds())) if turn else None,
        "extended": turn.extended if turn else False,
        "over": play.over,
        "awaits": {other.role: other.answering for other in others},
        "waited": max(0, round((timezone.now() - min(other.opened_at for other in others)).total_seconds()))
        if others
        else None,
    }
