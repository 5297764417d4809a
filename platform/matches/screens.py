"""What a person sees of a match: the game's view and forms as HTML, and the frame a page is sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.template.loader import get_template, select_template
from django.utils import timezone

from games.interface import Role
from games.play import Play
from matches import forms
from matches.models import Match


def render_screen(
    play: Play, role: Role, *, posted: Mapping[str, str] | None = None, errors: Mapping[str, str] | None = None
) -> str:
    """The game as `role` sees it now, with its forms when it is asked.

    Made from the role's view alone: no identifier, time or token is in it.
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
    seconds until its deadline, `extended` whether the extra time is running.
    """
    play = match.play()
    turn = match.open_turns().get(role)
    return {
        "type": "screen",
        "last": play.last,
        "html": render_screen(play, role, posted=posted, errors=errors),
        "answering": turn.answering if turn else None,
        "remaining": max(0, round((turn.deadline - timezone.now()).total_seconds())) if turn else None,
        "extended": turn.extended if turn else False,
        "over": play.over,
    }
