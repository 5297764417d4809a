"""A match played by scripted players, to estimate what one takes before anyone has played it.

The game's sparring partner takes the participants' seats; scripts stand in for models, whose prompts are measured.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random
from statistics import mean
from typing import Any, TypeVar

import games.play
from games import registry
from games.interface import Event, Game, Json, Role
from games.play import Play
from games.words import Amounts
from llm_agents import strategies
from llm_agents.prompting import render
from opponents.agents import Agent, candidates, draw_lineup, labels_in, people_in
from plans.agents import PERSON
from plans.chat import MEDIATOR, Chat
from plans.seats import Seats

MAX_MOVES = 3000
"""Maximum number of moves in one match."""
MAX_MEASURED_CALLS = 5
"""Maximum number of a model's prompts measured in one match."""
SECONDS_PER_DECISION, SECONDS_PER_MODEL_ANSWER = 20, 5
"""Assumptions."""
CHARACTERS_PER_TOKEN = 4
ANSWER_TOKENS, REASONING_TOKENS = 60, 400
CALLS_WITH_TOOLS = 8
"""Number of calls that a model with tools makes per move (EconEvals, published forecast)."""
CACHED = 4096
T = TypeVar("T")


@dataclass(frozen=True)
class Setting:
    """A game with its players; equal settings play alike.

    Attributes:
        config: the game's parameters as JSON.
        players: the hashes of the agents that may take each seat; no seat of a participant.
        template: edited instructions; empty for the game's own.
        chat: as matches keep it (`plans.chat.frozen`), as JSON; empty without one.
        seats, agents: who takes every seat, and the agents by label.
    """

    game: str
    config: str
    players: tuple[tuple[Role, tuple[str, ...]], ...]
    amounts: Amounts = "dollars"
    template: str = ""
    chat: str = ""
    seats: Seats = field(default_factory=dict, compare=False, repr=False)
    agents: Mapping[str, Agent] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(
        cls,
        game: str,
        config: Mapping[str, Json],
        seats: Seats,
        agents: Mapping[str, Agent],
        *,
        amounts: Amounts = "dollars",
        template: str = "",
        chat: Mapping[str, Any] | None = None,
    ) -> Setting:
        """Return the setting with these seats, which fit the game (`plans.seats`)."""
        players = tuple(
            (role, tuple(agents[label].hash for label in candidates(seat)))
            for role, seat in seats.items()
            if seat != PERSON
        )
        said = json.dumps(chat, sort_keys=True) if chat else ""
        return cls(game, json.dumps(config, sort_keys=True), players, amounts, template, said, seats, agents)

    @property
    def people(self) -> list[Role]:
        """The participants' seats."""
        return people_in(self.seats)

    @property
    def models(self) -> tuple[str, ...]:
        """The hashes of the models that may play, and the chat in which they write; empty if no model takes part."""
        agents = (self.agents[label] for label in labels_in(self.seats))
        models = sorted({agent.hash for agent in agents if agent.is_model})
        return (*models, self.chat) if self.chat and (models or "agent" in json.loads(self.chat)) else tuple(models)

    def configured(self) -> Game[Any, Any]:
        """Return the game.

        Raises:
            GameError: it cannot be played with these parameters.
        """
        return games.play.configure(registry.get(self.game), json.loads(self.config), amounts=self.amounts)


@dataclass(frozen=True)
class ModelUse:
    """Estimated calls of a model in a match, and the tokens that it reads and writes.

    Attributes:
        longest: characters of the longest prompt.
        chat: whether the calls are for messages in a chat, which have one try.
    """

    calls: int
    read: int
    written: int
    longest: int
    chat: bool = False


@dataclass(frozen=True)
class Simulated:
    """One match.

    Attributes:
        decisions, waiting: of a participant, and the seconds they waited for others.
        words, questions: in a participant's instructions, and of the game's own questions about its rules.
        uses: each model's, if measured.
    """

    moves: float
    decisions: float
    waiting: float
    words: float
    questions: float
    uses: tuple[tuple[Agent, ModelUse], ...] = ()


@lru_cache(maxsize=CACHED)
def simulated(setting: Setting, seed: int, *, measured: bool = False) -> Simulated:
    """Play a match and measure its models' prompts if `measured`.

    Raises:
        GameError, AgentError: it cannot be played.
    """
    game = setting.configured()
    agents = {role: setting.agents[label] for role, label in draw_lineup(setting.seats, seed).items()}
    play, opening = games.play.start(game, seed)
    log = list(opening)
    people = dict.fromkeys(setting.people, 0)
    turns: dict[Role, list[tuple[Play, int]]] = {role: [] for role, agent in agents.items() if agent.is_model}
    waiting, moves = 0.0, 0
    while not play.over and moves < MAX_MOVES:
        deciding_roles = play.waiting_for()
        waiting += _waiting_seconds(deciding_roles, people, agents)
        for role in deciding_roles:
            if role not in play.waiting_for():
                continue
            if role in people:
                people[role] += 1
            elif role in turns:
                turns[role].append((play, len(log)))
            play, new_events = games.play.submit(
                play, role, games.play.script_move(play, role, script_of(game, agents.get(role)))
            )
            log += new_events
            moves += 1
    talk = _chat_uses(setting, games.play.start(game, seed)[0], agents) if measured and setting.chat else ()
    return Simulated(
        moves=moves,
        decisions=mean(people.values()) if people else 0.0,
        waiting=waiting / (len(people) or 1),
        words=len(game.instructions(setting.people[0], setting.template or None).split()) if people else 0,
        questions=len(game.comprehension(setting.people[0])) if people else 0,
        uses=(
            *(
                (agents[role], _use(agents[role], role, role_turns, log, setting.template or None))
                for role, role_turns in turns.items()
                if measured and role_turns and not game.time_ends
            ),
            *talk,
        ),
    )


def mean_of(matches: Sequence[Simulated]) -> Simulated:
    """Return the mean of several matches, without uses."""
    names = ("moves", "decisions", "waiting", "words", "questions")
    return Simulated(**{name: mean(getattr(match, name) for match in matches) for name in names})


def script_of(game: Game[Any, Any], agent: Agent | None) -> str:
    """Return the script that moves for a participant (None), for a scripted agent, or in place of a model."""
    if agent is None:
        return game.default_script
    return agent.spec.removeprefix("script:") if agent.scripted else agent.settings.script or game.default_script


def some_of(items: Sequence[T], maximum: int) -> list[T]:
    """Return at most `maximum` of the items in their order: a random sample, always the same.

    Evenly spaced items could all have the same level of a factor.
    """
    if len(items) <= maximum:
        return list(items)
    return [items[index] for index in sorted(Random(len(items)).sample(range(len(items)), maximum))]


def _waiting_seconds(
    deciding_roles: Sequence[Role], people: Collection[Role], agents_by_role: Mapping[Role, Agent]
) -> float:
    """Return the total seconds that participants wait while these roles decide at the same time."""
    seconds = {
        role: (0 if agents_by_role[role].scripted else SECONDS_PER_MODEL_ANSWER) + agents_by_role[role].delay
        if role in agents_by_role
        else SECONDS_PER_DECISION
        for role in deciding_roles
    }
    longest = max(seconds.values())
    return sum(longest - (seconds[role] if role in deciding_roles else 0) for role in people)


def _use(
    agent: Agent, role: Role, turns: Sequence[tuple[Play, int]], log: Sequence[Event], template: str | None
) -> ModelUse:
    """Return a model's estimated use at these turns, given as the play and the number of events before it."""
    characters = []
    for play, event_count in turns[:: -(-len(turns) // MAX_MEASURED_CALLS)]:
        asking = strategies.asking(play, role, agent.settings, template=template)
        characters.append(sum(len(message["content"]) for message in strategies.messages(asking, log[:event_count])))
    game = turns[0][0].game
    calls = len(turns) * _calls_per_turn(game, role, agent)
    answer = REASONING_TOKENS if strategies.strategy_named(agent.settings.strategy, game).reasons else ANSWER_TOKENS
    return ModelUse(
        calls=calls,
        read=int(mean(characters) * calls / CHARACTERS_PER_TOKEN),
        written=answer * calls,
        longest=max(characters),
    )


def _chat_uses(setting: Setting, play: Play, agents: Mapping[Role, Agent]) -> list[tuple[Agent, ModelUse]]:
    """Return the models' estimated use in the chat if everybody writes all of their messages."""
    kept, roles = json.loads(setting.chat), play.game.roles()
    chat = Chat.model_validate(kept["settings"])
    models = {role: agent for role, agent in agents.items() if agent.is_model}
    if "agent" in kept:
        models[MEDIATOR] = Agent.model_validate(kept["agent"])
    senders, uses = [role for role in roles if role not in agents or agents[role].is_model], []
    senders += [MEDIATOR] if MEDIATOR in models else []
    for writer, agent in models.items():
        if not (calls := chat.most_calls(roles, writer, senders)):
            continue
        told = len(chat.speaking(writer).prompt)
        if writer != MEDIATOR:
            told += len(strategies.asking(play, writer, agent.settings, template=setting.template or None).system())
            told += len(render(play.game.view(play.state, writer)))
        lines = len(senders) * chat.messages
        usual = min(chat.characters, ANSWER_TOKENS * CHARACTERS_PER_TOKEN)
        read = int((told + usual * lines / 2) * calls / CHARACTERS_PER_TOKEN)
        uses.append((agent, ModelUse(calls, read, ANSWER_TOKENS * calls, told + chat.characters * lines, chat=True)))
    return uses


def _calls_per_turn(game: Game[Any, Any], role: Role, agent: Agent) -> int:
    """Return the number of calls per move: from the strategy's modules, or EconEvals' rule for models with tools."""
    strategy = agent.settings.strategy
    if strategies.layout_of(game, role, strategy) == "tools":
        return CALLS_WITH_TOOLS
    return 1 + len(strategies.strategy_named(strategy, game).modules)
