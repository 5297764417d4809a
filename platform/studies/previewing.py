"""What a model would receive, built by the code that sends it, and what a participant in its place would read."""

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
from studies.models import Study

MAX_MOVES = 400
"""Maximum number of moves of a scripted match."""
CHARACTERS_PER_TOKEN = 4
"""A rule of thumb for English text; every model counts differently."""


@dataclass(frozen=True)
class PreviewSource:
    """The study or collection whose prompts are previewed.

    Attributes:
        instructions: the study's own instruction text; empty for the game's.
        agents: agents that may be asked, by label; fallbacks last.
        configurations: each configuration with the roles that agents play in it.
    """

    game: str
    agents: Mapping[str, Agent]
    configurations: tuple[tuple[Mapping[str, Json], tuple[Role, ...]], ...]
    instructions: str = ""
    amounts: Amounts = "dollars"


@dataclass(frozen=True)
class Selection:
    """The turn to preview.

    Attributes:
        configuration: the configuration's number, from 1.
        question: the number, from 1, of this role's turn in a match of scripted players.
    """

    agent: str  # its label
    configuration: int
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
    """A turn of a match as a model and a participant would see it.

    Attributes:
        sent: what a model would receive; None for a scripted player.
        questions: how many turns the role has in this match.
        screen, instructions: HTML.
    """

    chosen: Selection
    role_title: str
    sent: Sent | None
    questions: int
    screen: str
    instructions: str


def preview_source(study: Study) -> PreviewSource:
    """Return what to preview for the study as it is, saved or not.

    Raises:
        GameError, ValueError: it cannot be played, or an agent's settings are invalid.
    """
    configurations: dict[str, tuple[Mapping[str, Json], list[Role]]] = {}
    for cell in plan_cells(study):
        key = json.dumps(cell.config, sort_keys=True)
        _config, agent_roles = configurations.setdefault(key, (cell.config, []))
        agent_roles += [role for role, player in cell.seats.items() if player != PERSON and role not in agent_roles]
    return PreviewSource(
        game=study.game,
        agents=with_fallbacks(study.agents_by_label()),
        configurations=tuple((config, tuple(roles)) for config, roles in configurations.values()),
        instructions=study.instructions,
        amounts=study.amounts,
    )


def with_fallbacks(agents: Mapping[str, Agent]) -> dict[str, Agent]:
    """Return the agents, followed by their fallback models with the same settings."""
    fallbacks = {
        spec: Agent(spec=spec, settings=agent.settings)
        for agent in agents.values()
        for spec in agent.specs[1:]
        if spec not in agents
    }
    return {**agents, **fallbacks}


def default_selection(source: PreviewSource) -> Selection:
    """Return the turn shown initially: the first turn of the first model, if there is one.

    Raises:
        GameError: participants take all seats.
    """
    models = [label for label, agent in source.agents.items() if not agent.scripted]
    configuration = next(
        (number for number, (_config, roles) in enumerate(source.configurations, start=1) if roles), None
    )
    if configuration is None or not source.agents:
        raise GameError(_("This study has no agents, so there are no prompts to preview."))
    return Selection(
        (models or list(source.agents))[0], configuration, source.configurations[configuration - 1][1][0], 1, 1
    )


def preview(source: PreviewSource, selection: Selection) -> Preview:
    """Return the preview of the chosen turn, or of the role's last turn if it has fewer.

    Raises:
        GameError, AgentError: a text cannot be filled in, or the agent does not exist.
    """
    config, _roles = source.configurations[selection.configuration - 1]
    game = configure(registry.get(source.game), config, amounts=source.amounts)
    turns = list(_turns_of(game, selection.seed, selection.role))
    if not turns:
        raise GameError(_("This role has no turn in this configuration."))
    question = min(selection.question, len(turns))
    play, events = turns[question - 1]
    agent = source.agents[selection.agent]
    spec = agent.settings.spec(agent.spec)
    return Preview(
        chosen=replace(selection, question=question),
        role_title=str(game.role_title(selection.role)),
        sent=None if spec.scripted else _sent(source, agent, play, selection.role, events),
        questions=len(turns),
        screen=render_screen(play, selection.role),
        instructions=to_html(game.instructions(selection.role, source.instructions or None)),
    )


def _turns_of(game: Any, seed: int, role: Role) -> Iterator[tuple[Play, tuple[Event, ...]]]:
    """Yield the play and its events at every turn of `role` in a match of the game's sparring partners."""
    play, new_events = start(game, seed)
    events = list(new_events)
    answered_turn = 0
    for _move in range(MAX_MOVES):
        waiting = play.waiting_for()
        if not waiting:
            return
        if role in waiting and play.opened[role] != answered_turn:
            answered_turn = play.opened[role]
            yield play, tuple(events)
        play, new_events = submit(play, waiting[0], script_move(play, waiting[0], game.default_script))
        events += new_events


def _sent(source: PreviewSource, agent: Agent, play: Play, role: Role, events: Sequence[Event]) -> Sent:
    settings, template = agent.settings, source.instructions or None
    spec = settings.spec(agent.spec)
    target = endpoint(spec.kind)
    request = first_request(
        spec,
        play,
        role,
        events,
        template=template,
        prompts=settings.prompts,
        on_text=_ignore if settings.appears == "typed" else None,
    )
    body = provider_of(target).body(request)
    wording_options = wording(spec, template=template, prompts=settings.prompts)
    messages = _messages(body)
    default_request = first_request(replace(spec, persona=None), play, role, events)
    return Sent(
        endpoint=target.name,
        protocol=target.protocol,
        body=body,
        messages=messages,
        others={key: value for key, value in body.items() if key not in ("messages", "system")},
        correction=strategies.correction(play, role, f"{NO_OBJECT}.", **wording_options),
        sha256=strategies.prompts_sha256(play.game, **wording_options),
        tokens=math.ceil(sum(len(text) for _role, text in messages) / CHARACTERS_PER_TOKEN),
        difference=list(_difference(_messages(provider_of(target).body(default_request)), messages)),
    )


def _ignore(piece: str) -> None:
    """Ignore streamed text; a preview receives none."""


def _messages(body: Mapping[str, Any]) -> list[tuple[str, str]]:
    system = [("system", body["system"])] if "system" in body else []
    return [*system, *((message["role"], message["content"]) for message in body["messages"])]


def _difference(default: list[tuple[str, str]], sent: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Return a unified diff as (sign, line): "-" default only, "+" these texts only, " " both, "@" between hunks."""
    before, after = _lines(default), _lines(sent)
    for line in list(difflib.unified_diff(before, after, n=2, lineterm=""))[2:]:
        yield line[:1], line[1:] if line[:1] != "@" else ""


def _lines(messages: list[tuple[str, str]]) -> list[str]:
    return [line for role, text in messages for line in (f"[{role}]", *text.split("\n"))]
