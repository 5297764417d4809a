"""What a model would receive, built by the code that sends it, and what a participant in its place would read."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext as _

from games import registry
from games.errors import GameError
from games.interface import Event, Json, Role
from games.play import Play, configure, script_move, start, submit
from games.words import Amounts
from llm_agents import strategies
from llm_agents.deciding import first_request
from llm_agents.endpoints import endpoint
from llm_agents.parsing.objects import NO_OBJECT
from llm_agents.providers import provider_of
from llm_agents.settings import PROMPT
from llm_agents.turn import AgentTurn
from matches.screens import render_screen
from opponents.agents import Agent, labels_in
from participants.markdown import to_html
from plans.agents import PERSON
from plans.plan import Document, Plan
from plans.reading import Reader, reader_of
from plans.stages import DEFAULT_TEXT, Game, walk
from plans.varying import Levels
from studies.journeys import template_with, variables_of
from studies.models import agents_of, seats_of

MAX_MOVES = 400
"""Maximum number of moves of a scripted match."""
CHARACTERS_PER_TOKEN = 4
"""A rule of thumb for English text; every model counts differently."""


@dataclass(frozen=True)
class Situation:
    """A game with its players, in which prompts are previewed.

    Attributes:
        agents: that may be asked, by label; fallbacks last.
        roles: the seats that agents take.
        title: the levels and the stage; empty if there is nothing to tell apart.
        instructions: edited instructions; empty for the game's own.
    """

    game: str
    config: Mapping[str, Json]
    agents: Mapping[str, Agent]
    roles: tuple[Role, ...]
    title: str = ""
    instructions: str = ""
    amounts: Amounts = "dollars"


@dataclass(frozen=True)
class PreviewSource:
    """The study or collection whose prompts are previewed: its situations, by number from 1."""

    count: int
    situation: Callable[[int], Situation]


@dataclass(frozen=True)
class Selection:
    """The turn to preview.

    Attributes:
        situation: its number, from 1.
        question: the number, from 1, of this role's turn in a match of scripted players.
    """

    agent: str  # its label
    situation: int
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
    situation: Situation
    role_title: str
    sent: Sent | None
    questions: int
    screen: str
    instructions: str


def preview_source(document: Document | Reader) -> PreviewSource:
    """Return every game of every cell and pass of a plan.

    Raises:
        BadPlan: it cannot be read.
    """
    reader = reader_of(document)
    cells = reader.cells
    per_cell = len(_games(reader.plan(cells[0].factors)))

    def situation(number: int) -> Situation:
        cell, index = divmod(number - 1, per_cell)
        plan = reader.plan(cells[cell].factors)
        stage, within = _games(plan)[index]
        levels = {**cells[cell].factors, **within}
        seats, agents = seats_of(stage), agents_of(plan)
        variables = variables_of(reader, levels)
        own = "" if stage.instructions == DEFAULT_TEXT else template_with(stage.instructions, variables)
        named = [f"{name} {level}" for name, level in levels.items()]
        return Situation(
            game=stage.game,
            config=stage.config,
            agents=with_fallbacks({label: agents[label] for label in labels_in(seats)}),
            roles=tuple(role for role, player in seats.items() if player != PERSON),
            title=" · ".join([*named, *([str(stage.name)] if per_cell > 1 else [])]),
            instructions=own,
            amounts=stage.amounts,
        )

    return PreviewSource(len(cells) * per_cell, situation)


def _games(plan: Plan) -> list[tuple[Game, Levels]]:
    """Return every game stage, in every pass, with the levels within participants."""
    return [(met.stage, met.levels) for met in walk(plan.journey) if isinstance(met.stage, Game)]


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
    """Return the turn shown initially: the first turn of a model, if there is one, in the first game with agents.

    Raises:
        GameError: participants take all seats.
    """
    for number in range(1, source.count + 1):
        situation = source.situation(number)
        if situation.roles and situation.agents:
            return selection_in(situation, number)
    raise GameError(_("This study has no agents, so there are no prompts to preview."))


def selection_in(situation: Situation, number: int) -> Selection:
    """Return the first turn of the first model in a situation, or of its first script if it has no model."""
    models = [label for label, agent in situation.agents.items() if agent.is_model]
    return Selection((models or list(situation.agents))[0], number, situation.roles[0], 1, 1)


def preview(source: PreviewSource, selection: Selection) -> Preview:
    """Return the preview of the chosen turn, or of the role's last turn if it has fewer.

    Raises:
        GameError, AgentError: a text cannot be filled in, or the agent does not exist.
    """
    situation = source.situation(selection.situation)
    game = configure(registry.get(situation.game), situation.config, amounts=situation.amounts)
    turns = list(_turns_of(game, selection.seed, selection.role))
    if not turns:
        raise GameError(_("This role has no turn in this configuration."))
    question = min(selection.question, len(turns))
    play, events = turns[question - 1]
    agent = situation.agents[selection.agent]
    return Preview(
        chosen=replace(selection, question=question),
        situation=situation,
        role_title=str(game.role_title(selection.role)),
        sent=None if not agent.is_model else _sent(situation, agent, play, selection.role, events),
        questions=len(turns),
        screen=render_screen(play, selection.role),
        instructions=to_html(game.instructions(selection.role, situation.instructions or None)),
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


def _sent(situation: Situation, agent: Agent, play: Play, role: Role, events: Sequence[Event]) -> Sent:
    settings, template = agent.settings, situation.instructions or None
    spec = settings.spec(agent.spec)
    target = endpoint(spec.kind)
    ignore = (lambda piece: None) if settings.appears == "typed" else None  # nothing is streamed to a preview
    turn = AgentTurn(play, role, events=events, template=template, on_text=ignore)
    body = provider_of(target).body(first_request(spec, turn))
    messages = _messages(body)
    default_texts = dict.fromkeys(("persona", *(PROMPT + name for name in settings.prompts)), "")
    default_spec = replace(spec, settings=settings.model_copy(update=default_texts))
    default_request = first_request(default_spec, AgentTurn(play, role, events=events))
    return Sent(
        endpoint=target.name,
        protocol=target.protocol,
        body=body,
        messages=messages,
        others={key: value for key, value in body.items() if key not in ("messages", "system")},
        correction=strategies.asking(play, role, settings, template=template).correction(f"{NO_OBJECT}."),
        sha256=strategies.prompts_sha256(play.game, settings, template),
        tokens=math.ceil(sum(len(text) for _role, text in messages) / CHARACTERS_PER_TOKEN),
        difference=list(_difference(_messages(provider_of(target).body(default_request)), messages)),
    )


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
