"""What a model would be sent, built by the code that sends it, and what a participant in its place would read."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext as _

from games import registry
from games.errors import GameError
from games.interface import Event, Json, Role
from games.play import Play, configure, script_move, start, submit
from games.words import Amounts
from llm_agents import strategies
from llm_agents.agent import first_request, wording
from llm_agents.endpoints import endpoint
from llm_agents.parsing.objects import NO_OBJECT
from llm_agents.providers import provider_of
from matches.screens import render_screen
from opponents.agents import PERSON, Agent
from participants.markdown import to_html
from studies.design import cells_wanted
from studies.models import Study

MAX_MOVES = 400
"""Number of moves after which a scripted match is not followed further."""
CHARACTERS_PER_TOKEN = 4
"""A rule of thumb for English text; every model counts differently."""


@dataclass(frozen=True)
class PreviewSource:
    """The study or collection whose prompts are previewed.

    Attributes:
        instructions: the study's own instruction text; empty for the game's.
        agents: agents that may be asked, by label; fallbacks last.
        places: each configuration with the roles that agents play in it.
    """

    game: str
    agents: Mapping[str, Agent]
    places: tuple[tuple[Mapping[str, Json], tuple[Role, ...]], ...]
    instructions: str = ""
    amounts: Amounts = "dollars"


@dataclass(frozen=True)
class Selection:
    """The moment to preview.

    Attributes:
        place: the configuration's number, from 1.
        question: the number, from 1, of the question to this role in a match of scripted players.
    """

    agent: str  # its label
    place: int
    role: Role
    question: int
    seed: int


@dataclass(frozen=True)
class Sent:
    """What one call would send.

    Attributes:
        body: the JSON object of the call.
        messages: its texts, as [(role, text)], system text first.
        others: everything else in the body.
        correction: the reply to an answer that contains no JSON object.
        sha256: hash of the texts, as recorded with every call.
        tokens: approximate number of tokens in the texts.
        difference: diff against the default texts, as [(sign, line)]; empty if equal.
    """

    endpoint: str
    protocol: str
    body: dict[str, Any]
    messages: list[tuple[str, str]]
    others: dict[str, Any]
    correction: str
    sha256: str
    tokens: int
    difference: list[tuple[str, str]]


@dataclass(frozen=True)
class Preview:
    """A moment of a match as a model and a participant would see it.

    Attributes:
        sent: None if a scripted player would be asked, which is sent nothing.
        questions: how many questions the role gets in this match.
        screen, instructions: HTML.
    """

    chosen: Selection
    role_title: str
    sent: Sent | None
    questions: int
    screen: str
    instructions: str


def subject_of(study: Study) -> PreviewSource:
    """Return what to preview for the study as it is, saved or not.

    Raises:
        GameError, ValueError: it cannot be played, or an agent's settings are invalid.
    """
    places: dict[str, tuple[Mapping[str, Json], list[Role]]] = {}
    for cell in cells_wanted(study):
        key = json.dumps(cell.config, sort_keys=True)
        _config, taken = places.setdefault(key, (cell.config, []))
        taken += [role for role, who in cell.seats.items() if who != PERSON and role not in taken]
    return PreviewSource(
        game=study.game,
        agents=with_fallbacks(study.agents_by_label()),
        places=tuple((config, tuple(roles)) for config, roles in places.values()),
        instructions=study.instructions,
        amounts=study.amounts,
    )


def with_fallbacks(agents: Mapping[str, Agent]) -> dict[str, Agent]:
    """Return the agents, followed by their fallback models with the same settings."""
    stand_ins = {
        other: Agent(spec=other, settings=agent.settings)
        for agent in agents.values()
        for other in agent.specs[1:]
        if other not in agents
    }
    return {**agents, **stand_ins}


def default_selection(subject: PreviewSource) -> Selection:
    """Return the moment shown initially: the first question to the first model, if there is one.

    Raises:
        GameError: participants take all seats.
    """
    models = [label for label, agent in subject.agents.items() if not agent.scripted]
    place = next((number for number, (_config, roles) in enumerate(subject.places, start=1) if roles), None)
    if place is None or not subject.agents:
        raise GameError(_("This study has no agents, so there are no prompts to preview."))
    return Selection((models or list(subject.agents))[0], place, subject.places[place - 1][1][0], 1, 1)


def preview(subject: PreviewSource, chosen: Selection) -> Preview:
    """Return the preview of the chosen moment, or of the role's last question if it has fewer.

    Raises:
        GameError, AgentError: a text cannot be filled in, or the agent does not exist.
    """
    config, _roles = subject.places[chosen.place - 1]
    game = configure(registry.get(subject.game), config, amounts=subject.amounts)
    moments = list(_asked(game, chosen.seed, chosen.role))
    if not moments:
        raise GameError(_("The role is never asked anything in this configuration."))
    number = min(chosen.question, len(moments))
    play, events = moments[number - 1]
    agent = subject.agents[chosen.agent]
    spec = agent.settings.spec(agent.spec)
    return Preview(
        chosen=replace(chosen, question=number),
        role_title=str(game.role_title(chosen.role)),
        sent=None if spec.scripted else _sent(subject, agent, play, chosen.role, events),
        questions=len(moments),
        screen=render_screen(play, chosen.role),
        instructions=to_html(game.instructions(chosen.role, subject.instructions or None)),
    )


def _asked(game: Any, seed: int, role: Role) -> Iterator[tuple[Play, tuple[Event, ...]]]:
    """Return every moment at which `role` is asked in a match of the game's sparring partners."""
    play, made = start(game, seed)
    events = list(made)
    asked = 0
    for _move in range(MAX_MOVES):
        waiting = play.waiting_for()
        if not waiting:
            return
        if role in waiting and play.opened[role] != asked:
            asked = play.opened[role]
            yield play, tuple(events)
        play, made = submit(play, waiting[0], script_move(play, waiting[0], game.default_script))
        events += made


def _sent(subject: PreviewSource, agent: Agent, play: Play, role: Role, events: Sequence[Event]) -> Sent:
    settings, template = agent.settings, subject.instructions or None
    spec = settings.spec(agent.spec)
    place = endpoint(spec.kind)
    request = first_request(
        spec,
        play,
        role,
        events,
        template=template,
        prompts=settings.prompts,
        on_text=_nobody if settings.appears == "typed" else None,
    )
    body = provider_of(place).body(request)
    worded = wording(spec, template=template, prompts=settings.prompts)
    messages = _messages(body)
    usual = first_request(replace(spec, persona=None), play, role, events)
    return Sent(
        endpoint=place.name,
        protocol=place.protocol,
        body=body,
        messages=messages,
        others={key: value for key, value in body.items() if key not in ("messages", "system")},
        correction=strategies.correction(play, role, f"{NO_OBJECT}.", **worded),
        sha256=strategies.prompts_sha256(play.game, **worded),
        tokens=math.ceil(sum(len(text) for _role, text in messages) / CHARACTERS_PER_TOKEN),
        difference=list(_difference(_messages(provider_of(place).body(usual)), messages)),
    )


def _nobody(piece: str) -> None:
    """Ignore pieces of an answer, since none is given."""


def _messages(body: Mapping[str, Any]) -> list[tuple[str, str]]:
    system = [("system", body["system"])] if "system" in body else []
    return [*system, *((message["role"], message["content"]) for message in body["messages"])]


def _difference(usual: list[tuple[str, str]], sent: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Return a unified diff as (sign, line): "-" default only, "+" these texts only, " " both, "@" between hunks."""
    before, after = _lines(usual), _lines(sent)
    for line in list(difflib.unified_diff(before, after, n=2, lineterm=""))[2:]:
        yield line[:1], line[1:] if line[:1] != "@" else ""


def _lines(messages: list[tuple[str, str]]) -> list[str]:
    return [line for role, text in messages for line in (f"[{role}]", *text.split("\n"))]
