"""Whole matches in this process, between any agents and without a server."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from random import Random
from typing import Any

from games.interface import Event, Game, Json, MoveData, Role
from games.play import Play, abandon, script_move, start, submit
from games.strategies import Purpose
from llm_agents.agent import AgentSpec
from llm_agents.deciding import Decision, decide
from llm_agents.endpoints import endpoint_exists
from llm_agents.errors import AgentError, NoSubmission
from llm_agents.providers import provider_called
from llm_agents.record import CallRecord
from llm_agents.turn import AgentTurn


@dataclass(frozen=True)
class MatchRecord:
    """A match played to its end, or until an agent failed.

    Attributes:
        failed: which agent failed and why, or None.
        calls: every call of a model, in the order of the answers.
    """

    play: Play
    agents: Mapping[Role, AgentSpec]
    events: tuple[Event, ...]
    failed: str | None
    calls: tuple[CallRecord, ...]

    def as_dict(self) -> dict[str, Json]:
        """Return the match as `simulate` prints it; payoffs are null for each role if there is no result."""
        end = self.events[-1]
        result = end.data if end.kind == "end" else {"payoffs": self.play.payoffs(), "metrics": self.play.metrics()}
        line: dict[str, Json] = {
            "game": self.play.game.key,
            "config": self.play.game.config.model_dump(mode="json"),
            "seed": self.play.seed,
            "agents": {role: str(agent) for role, agent in self.agents.items()},
            "events": [event.as_dict() for event in self.events],
            "payoffs": result["payoffs"],
            "metrics": result["metrics"],
        }
        return line if self.failed is None else {**line, "failed": self.failed}


def play_match(game: Game[Any, Any], seed: int, agents: Mapping[Role, AgentSpec]) -> MatchRecord:
    """Play one match; models that are asked at the same time think concurrently.

    Args:
        agents: one for each role of the game; without a fallback, the match fails with its agent.
    """
    running = _RunningMatch(agents, *start(game, seed))
    all_agents = [*agents.values(), *(fallback for agent in agents.values() for fallback in agent.fallbacks)]
    endpoints = {agent.kind for agent in all_agents if not agent.scripted and endpoint_exists(agent.kind)}
    with asyncio.Runner() if any(not agent.scripted for agent in agents.values()) else nullcontext() as runner:
        while not running.play.over and running.failed is None:
            roles = roles_to_ask(running.play)
            thinkers = [role for role in roles if not agents[role].scripted]
            running.move(roles, runner.run(running.think(thinkers)) if runner and thinkers else {})
        if runner:
            for name in endpoints:
                runner.run(provider_called(name).close())
    return MatchRecord(running.play, agents, tuple(running.log), running.failed, tuple(running.calls))


class _RunningMatch:
    """A match in progress."""

    def __init__(self, agents: Mapping[Role, AgentSpec], play: Play, opening: tuple[Event, ...]):
        self.agents, self.play, self.log = agents, play, list(opening)
        self.failed: str | None = None
        self.calls: list[CallRecord] = []
        self.calls_of: defaultdict[Role, list[CallRecord]] = defaultdict(list)
        self.answers: defaultdict[Role, dict[int, str]] = defaultdict(dict)

    async def think(self, roles: Sequence[Role]) -> dict[Role, Decision | AgentError]:
        """Return the decisions of these roles' models, or why there is none."""

        async def decision(role: Role) -> Decision | AgentError:
            try:
                return await decide(self.agents[role], _Turn(self, role))
            except AgentError as error:
                return error

        return dict(zip(roles, await asyncio.gather(*map(decision, roles)), strict=True))

    def move(self, roles: Sequence[Role], decisions: Mapping[Role, Decision | AgentError]) -> None:
        """Make the moves of these roles, scripted where there is no decision, up to the first that failed."""
        for role in roles:
            decision = decisions.get(role)
            if isinstance(decision, AgentError):
                self.failed = f"{role} ({self.agents[role]}): {decision}"
                reason = str(decision) if isinstance(decision, NoSubmission) else self.failed
                self.follow(*abandon(self.play, reason, role))
                return
            move = decision.move if decision else script_move(self.play, role, self.agents[role].name)
            events = self.follow(*submit(self.play, role, move, by=decision.by if decision else None))
            if decision and decision.raw is not None:
                self.answers[role][events[0].number] = decision.raw

    def follow(self, play: Play, events: tuple[Event, ...]) -> tuple[Event, ...]:
        self.play = play
        self.log += events
        return events


class _Turn(AgentTurn):
    """A turn of a match in this process."""

    def __init__(self, running: _RunningMatch, role: Role):
        super().__init__(running.play, role, events=running.log, answers=running.answers[role])
        self._match = running

    async def store(self, calls: Sequence[CallRecord]) -> None:
        self._match.calls += calls
        self._match.calls_of[self.role] += calls

    async def note(self, move: MoveData) -> Play:
        self._match.follow(*submit(self._match.play, self.role, move))
        return self._match.play

    async def latest(self, purposes: Sequence[Purpose]) -> CallRecord | None:
        calls = reversed(self._match.calls_of[self.role])
        return next((call for call in calls if call.purpose in purposes and call.accepted), None)


def roles_to_ask(play: Play) -> tuple[Role, ...]:
    """Return the roles to ask now: everyone awaited, or one drawn at random if the first move closes the turn."""
    waiting = play.waiting_for()
    if play.turn is not None and play.turn.closes == "first":
        return (Random(f"{play.seed}/first/{play.last}").choice(waiting),)
    return waiting
