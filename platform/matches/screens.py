"""What a participant sees of a match: the game's view and forms as HTML, and the frames sent to pages."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from django.template import Context, Engine, Template
from django.utils import timezone
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, override
from pydantic import ValidationError

from games.interface import OBSERVER, Block, Form, MoveData, Role, Text, View
from games.play import Play, form_for
from games.practice import PRACTICE_OVER
from matches import bonus, forms
from matches.absences import Absence, is_away, must_say_so
from matches.disclosing import Disclosure
from matches.picturing import picture, seat_class, seat_names
from matches.templatetags.play import STATUS, seat_strip
from matches.turns import OpenTurn
from plans.pay import Rule

if TYPE_CHECKING:  # models load only with the apps, which `show` needs not
    from matches.models import Match
    from opponents.agents import Agent

MAX_MINUTES = 60
"""The longest waiting limit that participants are shown, in minutes."""


@dataclass(frozen=True)
class AwaitedAgent:
    """An agent that a participant waits for.

    Attributes:
        writes: its answer may contain text, so a draft may be shown.
        limit: seconds after which the wait ends; None: not announced.
        next: what happens then, as (minutes left, text), longest first.
    """

    role: Role
    name: str
    writes: bool
    limit: float | None = None
    next: tuple[tuple[int, str], ...] = ()


def awaited_agents(match: Match, play: Play) -> tuple[AwaitedAgent, ...]:
    """Return the agents whose answers the match is waiting for, as far as pages may show them."""
    agents = match.agents() if match.disclosure().shows_seats else {}
    awaited = []
    for role in play.waiting_for():
        if role in agents:
            name = play.game.role_title(role)
            is_typed = agents[role].settings.appears == "typed" and not agents[role].scripted
            writes = is_typed and bool(forms.text_fields(play.forms(role)))
            limit, consequence = _wait_limit(match, agents[role])
            awaited.append(AwaitedAgent(role, name, writes, limit, _limit_texts(name, limit, consequence)))
    return tuple(awaited)


def _wait_limit(match: Match, agent: Agent) -> tuple[float | None, str]:
    """Return the seconds to wait for the agent, and what follows: "script" (it moves) or "end" (of the match)."""
    return (agent.settings.limit_seconds if match.timers else None), ("script" if agent.settings.script else "end")


def _limit_texts(name: str, limit: float | None, consequence: str | None) -> tuple[tuple[int, str], ...]:
    if limit is None:
        return ()
    most_minutes = min(MAX_MINUTES, max(1, math.ceil(limit / 60)))
    return tuple((minutes, _limit_text(name, minutes, consequence)) for minutes in range(most_minutes, 0, -1))


def _limit_text(name: str, minutes: int, consequence: str | None) -> str:
    if consequence == "script":
        text = ngettext(
            "{name} is thinking. If there is no answer within {minutes} minute, a simple program answers instead, "
            "and the game continues.",
            "{name} is thinking. If there is no answer within {minutes} minutes, a simple program answers instead, "
            "and the game continues.",
            minutes,
        )
    else:
        text = ngettext(
            "{name} is thinking. If there is no answer within {minutes} minute, the game ends and you are paid.",
            "{name} is thinking. If there is no answer within {minutes} minutes, the game ends and you are paid.",
            minutes,
        )
    return text.format(name=name, minutes=minutes)


@dataclass(frozen=True)
class SeatMark:
    """A seat as everyone in the match sees it: whether it has answered, never what.

    Attributes:
        style: the classes of its colour and mark.
        mark: "answered", "asked", or "" if it is not asked now.
        note: "program" if an agent has taken the seat, "away" if the clock answers for its participant.
    """

    role: Role
    title: str
    style: str
    mark: str
    note: str = ""


def seat_marks(play: Play, disclosure: Disclosure) -> tuple[SeatMark, ...]:
    """Return the seats, in order; nothing if there is only one."""
    roles = play.game.roles()
    if len(roles) < 2:
        return ()
    waiting = play.waiting_for()
    marks = {**dict.fromkeys(waiting, "asked"), **dict.fromkeys(play.sealed, "answered")}
    return tuple(
        SeatMark(
            role, play.game.role_title(role), seat_class(play.game, role), marks.get(role, ""), disclosure.note(role)
        )
        for role in roles
    )


def view_for(play: Play, role: Role) -> View:
    """Return the role's view. If the role has given a sealed answer, which views ignore, the status says so."""
    blocks = play.view(role)
    if role not in play.sealed or play.over:
        return blocks
    are_status = [isinstance(block, Text) and block.key == STATUS for block in blocks]
    status = Text(STATUS, answered_text())
    return tuple(status if is_status else block for is_status, block in zip(are_status, blocks, strict=True))


class _Blocks(dict[str, Block]):
    """A view's blocks by key; one that is left out is None, since templates look for a missing key in many ways."""

    def __missing__(self, key: str) -> None:
        return None


def answered_text() -> str:
    return _("You have answered.")


def marks_message(match: Match, play: Play, *, after: int) -> dict[str, Any]:
    """Return the message to pages after an answer to a sealed turn: who has answered, and who has not.

    `after` and `last` are the numbers of the newest event before and now; `seats` and `notes` are as in
    `SeatMark`, `awaited` is for those who have answered, `awaits` lists the questions to agents, and `others` tells
    each participant who the others are.
    """
    with override(match.language):
        shared = SharedContent(play, match.disclosure())
        others = {role: shared.disclosure.others(role) for role in play.game.roles()}
    return {
        "after": after,
        "last": play.last,
        "seats": {seat.role: seat.mark for seat in shared.seats},
        "notes": {seat.role: seat.note for seat in shared.seats},
        "awaited": shared.awaited,
        "awaits": {turn.role: turn.answering for turn in _shown_agent_turns(match, shared.disclosure)},
        "others": others,
    }


def _shown_agent_turns(match: Match, disclosure: Disclosure) -> list[OpenTurn]:
    """Return the open turns of agents that pages may treat differently from people's."""
    return [turn for turn in match.open_turns().values() if turn.by_agent] if disclosure.shows_seats else []


@dataclass(frozen=True)
class SharedContent:
    """What the screens of all roles share at one moment, computed once.

    Attributes:
        waits_for: the agents whose answers are awaited, as far as pages may show them.
    """

    play: Play
    disclosure: Disclosure
    waits_for: tuple[AwaitedAgent, ...] = ()

    @classmethod
    def in_match(cls, match: Match, play: Play) -> SharedContent:
        disclosure = match.disclosure()
        return cls(play, disclosure, awaited_agents(match, play) if _shown_agent_turns(match, disclosure) else ())

    @cached_property
    def seats(self) -> tuple[SeatMark, ...]:
        """Who has answered."""
        return seat_marks(self.play, self.disclosure)

    @cached_property
    def awaited(self) -> str:
        """The text that tells those who have answered whom they are waiting for."""
        return self.disclosure.awaited(self.play)


def render_screen(
    play: Play,
    role: Role,
    *,
    posted: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
    absences: Mapping[Role, Mapping[str, Any]] | None = None,
    pay: Rule | None = None,
    pay_note: str = "",
    shared: SharedContent | None = None,
    lost: Mapping[Role, int] | None = None,
    asking: Mapping[Role, int] | None = None,
    begun: bool = True,
) -> str:
    """Return the game as `role` sees it now, with its forms if it is asked, or else whom it waits for.

    It is built from the role's view, the instructions' `variables`, the pay rule and what `shared` tells about the
    others; without it, they are not described. It contains no identifier, time or token.

    Args:
        pay_note: how the bonus follows from several matches.
        lost: the others who have lost the connection, with the seconds for which the game still waits.
        asking: the others whose question has paused their clock, with the seconds that the pause may last.
        begun: whether anyone may move yet; not during a chat before play.
    """
    waiting = play.waiting_for()
    shared = shared or SharedContent(play, Disclosure(play.game))
    waits_for = tuple(agent for agent in shared.waits_for if agent.role != role and begun)
    blocks = view_for(play, role)
    absence = (absences or {}).get(role, {})
    visible_forms = () if play.abandoned or "agent" in absence or not begun else forms.shown_forms(play, role)
    open_forms = [forms.bind(form, posted, errors) for form in visible_forms]
    others_answer_too = open_forms and play.turn and len(play.turn.forms) > 1 and play.turn.closes == "all"
    awaited = ""
    if not begun:
        awaited = _("You can talk now. The game begins after that.")
    elif (others_answer_too or not open_forms) and (len(waiting) > 1 or not waits_for):
        awaited = shared.awaited
    so_far, promises = bonus.shown(play, role, pay)
    context: dict[str, Any] = {
        "role": role,
        "blocks": blocks,
        "view": _Blocks((block.key, block) for block in blocks),
        "forms": open_forms,
        "alone": len(open_forms) == 1,
        "errors": errors or {},
        "answering": play.opened.get(role) if open_forms else None,
        "answered_text": answered_text(),
        "over": play.over,
        "stopped": bool(play.abandoned),
        "waits_for": waits_for,
        "strip": seat_strip(shared.seats, role) if shared.seats and not play.over else "",
        "others": shared.disclosure.others(role),
        "absent": shared.disclosure.absent(lost or {}, asking or {}),
        "awaited": awaited,
        "others_answer_too": bool(others_answer_too),
        "can_change": play.game.answers_can_change,
        "must_say_so": must_say_so(absence),
        "meanwhile": meanwhile_text(absence, is_asked=bool(open_forms)),
        "bonus": so_far,
        "bonus_note": pay_note,
        "promises": promises,
        "bonus_line": bonus.line(play.game, role, pay) if open_forms else None,
        "points": play.game.amounts == "points",
        "game": play.game.key,
        "variables": play.game.template_variables(role),
        "names": seat_names(play.game, role),
        "attempts": play.game.attempts(blocks),
        **_result_picture(play, role),
    }
    key = play.game.key
    # A game's own layout expects the data of a period, which the page between practice and the game leaves out.
    own = [] if PRACTICE_OVER in context["view"] else [key]
    context["inside"] = template(*(f"{key}/screen.html" for key in own), "play/blocks.html")
    after = template(*(f"{key}/after.html" for key in own), "play/nothing.html")
    context["form_templates"] = _with_templates(play, role, open_forms)
    changes = None if "agent" in absence else play.changeable(role)
    if changes is not None:
        again = play.reopened(role, changes)
        changed_forms = [forms.bind(form, posted, errors) for form in _beginning_with(again, role, play.sealed[role])]
        context["changes"], context["answered"] = changes, play.opened[role]
        context["changed_forms"] = _with_templates(again, role, changed_forms)
    readable = Context(context)
    past = after.render(readable).strip()
    if past or (after.name != "play/nothing.html" and not play.over):
        readable["past"] = _pane_of(past)
    return template("play/screen.html").render(readable)


def _pane_of(past: str) -> str:
    """Return the pane with what happened so far."""
    shown = past or f'<p class="help nothing">{_("Nothing yet. What happens will be shown here.")}</p>'
    attributes = f'class="pane-past" id="pane-past" aria-label="{_("So far")}" tabindex="0"'
    return mark_safe(f"<section {attributes}>{shown}</section>")


def template(*names: str) -> Template:
    """Return the first of these templates that there is."""
    return _found(Engine.get_default(), names)


@cache
def _found(engine: Engine, names: tuple[str, ...]) -> Template:
    return engine.select_template(list(names))


def _with_templates(play: Play, role: Role, bound: Sequence[forms.BoundForm]) -> list[tuple[forms.BoundForm, str, Any]]:
    """Return forms with their templates, and which of their choices end the game."""
    key, endings = play.game.key, {form.name: _Endings(play, role, form) for form in play.forms(role)} if bound else {}
    return [
        (
            form,
            str(template(f"{key}/form_{form.name}.html", f"play/form_{form.name}.html", "play/form.html").name),
            endings.get(form.name, ()),
        )
        for form in bound
    ]


def _beginning_with(play: Play, role: Role, answer: MoveData) -> list[Form]:
    """Return the forms that can replace this sealed answer; its own form begins with it."""
    ending = [form for form in forms.shown_forms(play, role) if form.ends_turn]
    own = form_for(ending, answer)
    return [replace(form, begins_with=answer) if form is own else form for form in ending]


def meanwhile_text(absence: Absence, *, is_asked: bool) -> str:
    """Return what a participant who was away is told about the moves made for them; empty if there were none."""
    if not absence:
        return ""
    if is_away(absence) and "agent" not in absence:
        return _("You missed two turns, so we are answering for you until you return.")
    made = absence.get("made", 0)
    moves = ngettext("A program made {number} move for you.", "A program made {number} moves for you.", made).format(
        number=made
    )
    if must_say_so(absence):
        answers = _("You did not answer in time, so a program is answering for you until you return.")
        return f"{answers} {moves}" if made else answers
    if "agent" not in absence and not made:
        return ""
    if "agent" in absence:
        moves = moves if made else _("A program is answering this question for you.")
        next_turn = _("You play again from your next turn.")
    else:
        next_turn = _("It is your turn again.") if is_asked else _("You play again from your next turn.")
    return " ".join([_("You were away."), moves, next_turn])


def render_watched(play: Play, *, absences: Mapping[Role, Mapping[str, Any]] | None = None) -> str:
    """Return what anyone may know of the match now, for observers: built from `Game.public_view` alone, without forms.

    Empty if the game has no such view.
    """
    blocks = play.game.public_view(play.state)
    if not blocks:
        return ""
    key = play.game.key
    context = {
        "blocks": blocks,
        "view": _Blocks((block.key, block) for block in blocks),
        "role": OBSERVER,
        "over": play.over,
        "stopped": play.abandoned,
        "seats": seat_marks(play, Disclosure(play.game, absences=absences or {})),
        "game": key,
        "names": seat_names(play.game, OBSERVER),
        **_result_picture(play, OBSERVER),
        "inside": template(f"{key}/watch.html", "play/blocks.html"),
    }
    return template("play/watched.html").render(Context(context))


def _result_picture(play: Play, role: Role) -> dict[str, Any]:
    """Return the picture of the result, if any, and its template: the game's own `bars.html` or the general one."""
    bars = play.game.result_bars(play.state, role) if play.finished else None
    if bars is None:
        return {}
    drawing = template(f"{play.game.key}/bars.html", "play/bars.html")
    return {"picture": picture(play.game, bars, role), "picture_template": drawing}


@dataclass(frozen=True)
class _Endings:
    """Whether an answer to a single-field form ends the match, as far as the role may know: `answer in ends`.

    Answers are written as their buttons send them; "null" is none.
    """

    play: Play
    role: Role
    form: Form

    def __contains__(self, answer: str) -> bool:
        fields = forms.fields_of(self.form.model)
        if len(fields) != 1:
            return False
        name, choices = fields[0].name, {str(choice): choice for choice in fields[0].choices}
        model = self.form.model
        validate = model.model_validate if answer == "null" or choices else model.model_validate_strings
        try:
            move = validate({name: None if answer == "null" else choices.get(answer, answer)})
        except ValidationError:
            return False
        return self.play.game.ends(self.play.state, self.role, move)


def frames(match: Match, play: Play, roles: Collection[Role], *, clock: bool = False) -> dict[Role, dict[str, Any]]:
    """Return the `frame` of each of these roles in the current play.

    After a move, a page shows only after a moment that its role waits, and asks for that frame if it still does then.
    So such a frame tells no more than this, unless only the `clock` has changed.
    """
    now = timezone.now()
    asked = {role for role in roles if match.asked_turn(role) is not None} if match.has_begun(now) else set()
    waits = {"type": "screen", "last": play.last, "answering": None, "over": False}
    with override(match.language):
        shared = SharedContent.in_match(match, play)
        return {
            role: _frame(match, play, role, shared) if clock or play.over or role in asked else waits for role in roles
        }


def frame(
    match: Match, role: Role, *, posted: Mapping[str, str] | None = None, errors: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return what a page is sent: the screen and the data for its clock.

    `last` is the newest event's number, `answering` the open question's (or null), `remaining` the
    seconds until its time is up, `held` for how many seconds a question may pause it before, `extended` whether the
    extra time is running, `absence_left` the seconds of the role's absence budget that are left, `awaits` the questions
    that agents have to answer before the role is asked again, by role, and `waited` for how many seconds.
    """
    with override(match.language):
        play = match.play()
        shared = SharedContent.in_match(match, play)
        return _frame(match, play, role, shared, posted=posted, errors=errors)


def _frame(
    match: Match, play: Play, role: Role, shared: SharedContent, **typed: Mapping[str, Any] | None
) -> dict[str, Any]:
    now = timezone.now()
    uptime, begun = match.uptime(now), match.has_begun(now)
    turn = match.asked_turn(role) if begun else None
    asking = match.asking(uptime.now)
    agent_turns = [open_turn for open_turn in _shown_agent_turns(match, shared.disclosure) if open_turn.role != role]
    return {
        "type": "screen",
        "last": play.last,
        "html": render_screen(
            play,
            role,
            absences=match.absences,
            pay=match.pay_rule(),
            pay_note=match.pay_note(),
            shared=shared,
            lost={other: seconds for other, seconds in match.lost(uptime).items() if other != role},
            asking={other: seconds for other, seconds in asking.items() if other != role},
            begun=begun,
            **typed,
        ),
        "answering": turn.answering if turn else None,
        "remaining": match.seconds_left(turn, uptime) if turn else None,
        "held": asking.get(role, 0),
        "extended": turn.extended if turn else False,
        "over": play.over,
        "absence_left": match.absence_left(role, uptime),
        "awaits": {open_turn.role: open_turn.answering for open_turn in agent_turns} if turn is None else {},
        "waited": _seconds_since(min(open_turn.opened_at for open_turn in agent_turns))
        if agent_turns and turn is None
        else None,
    }


def _seconds_since(time: datetime) -> int:
    return max(0, round((timezone.now() - time).total_seconds()))
