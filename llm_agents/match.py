"""Whole matches in this process, between any agents and without a server."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from random import Random
from typing import Any

from games.interface import Event, Game, Json, MoveData, Role
from games.play import Play, abandon, script_move, start, submit
from llm_agents.agent import AgentSpec, Decision, Ladder, decide
from llm_agents.endpoints import known
from llm_agents.errors import AgentError
from llm_agents.providers import provider_called
from llm_agents.record import CallRecord


@dataclass(frozen=True)
class MatchRecord:
    """A match played to its end, or until an agent failed.

    Attributes:
        failed: who failed and why, or None.
        calls: every call of a model, in the order in which they were answered.
    """

    play: Play
    agents: Mapping[Role, AgentSpec]
    events: tuple[Event, ...]
    failed: str | None
    calls: tuple[CallRecord, ...]

    def as_dict(self) -> dict[str, Json]:
        """The match as `simulate` prints it; payoffs are null for each role where there is no result."""
        line: dict[str, Json] = {
            "game": self.play.game.key,
            "config": self.play.game.config.model_dump(mode="json"),
            "seed": self.play.seed,
            "agents": {role: str(agent) for role, agent in self.agents.items()},
            "events": [event.as_dict() for event in self.events],
            "payoffs": self.play.payoffs(),
            "metrics": self.play.metrics(),
        }
        return line if self.failed is None else {**line, "failed": self.failed}


def play_match(
    game: Game[Any, Any],
    seed: int,
    agents: Mapping[Role, AgentSpec],
    *,
    tries_after_first: int = 3,
    timeout: float = 60.0,
    ladders: Mapping[Role, Ladder] | None = None,
) -> MatchRecord:
    """Play one match; models that are asked at the same time think at the same time.

    Args:
        agents: one for each role of the game.
        tries_after_first: how often a model is asked again after an answer that is no legal move.
        timeout: seconds for one call of a model.
        ladders: who stands in for an agent that fails, and how patiently it is asked; without, the match fails.
    """
    ladders = ladders or {}
    play, opening = start(game, seed)
    log, calls = list(opening), list[CallRecord]()
    answers: dict[Role, dict[int, str]] = {role: {} for role in agents}

    async def think(role: Role) -> Decision | AgentError:
        try:
            return await decide(
                agents[role], play, role, log, calls=calls, answers=answers[role],
                tries_after_first=tries_after_first, timeout=timeout, ladder=ladders.get(role),
            )  # fmt: skip
        except AgentError as error:
            return error

    async def think_together(roles: list[Role]) -> dict[Role, Decision | AgentError]:
        return dict(zip(roles, await asyncio.gather(*map(think, roles)), strict=True))

    failed = None
    asked_of = [*agents.values(), *(rung for ladder in ladders.values() for rung in ladder.rungs)]
    providers = {agent.kind for agent in asked_of if not agent.scripted and known(agent.kind)}
    with asyncio.Runner() if any(not agent.scripted for agent in agents.values()) else nullcontext() as runner:
        while not play.over and failed is None:
            roles = asked(play)
            thinkers = [role for role in roles if not agents[role].scripted]
            decided = runner.run(think_together(thinkers)) if runner and thinkers else {}
            for role in roles:
                decision = decided.get(role)
                if isinstance(decision, AgentError):
                    failed = f"{role} ({agents[role]}): {decision}"
                    play, made = abandon(play, failed, role)
                    log += made
                    break
                move: MoveData = decision.move if decision else script_move(play, role, agents[role].name)
                play, made = submit(play, role, move, by=decision.by if decision else None)
                log += made
                if decision and decision.raw is not None:
                    answers[role][made[0].number] = decision.raw
        if runner:
            for name in providers:
                runner.run(provider_called(name).close())
    return MatchRecord(play, agents, tuple(log), failed, tuple(calls))


def asked(play: Play) -> tuple[Role, ...]:
    """Who is asked now: everybody awaited, or one by lot where the first move closes the turn."""
    waiting = play.waiting_for()
    if play.turn is not None and play.turn.closes == "first":
        return (Random(f"{play.seed}/first/{play.last}").choice(waiting),)
    return waiting
