"""A collection's frozen content, and the match for each number."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from random import Random
from typing import Any, Literal

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction

from collecting.errors import BadPlan
from collecting.formats import FORMAT, PATIENT, agents_in, current
from collecting.models import Collection, Stage
from collecting.schedule import Schedule, seats_of
from games import grids, registry
from games.errors import GameError
from games.interface import Game, Json, Role
from games.lineups import Lineups
from games.play import configure
from llm_agents.agent import is_scripted
from llm_agents.errors import AgentError
from llm_agents.pricing import Price, PriceList
from matches.services import Player
from opponents.agents import Agent, label_problem
from opponents.endpoints import refresh_if_old
from opponents.listing import retired_problem
from plans.asking import AgentSettings
from plans.canonical import sha256_of
from studies.launching import code_revision
from studies.models import Study

MAX_MATCHES = 1_000_000
Seeds = Literal["instance", "match"]


@dataclass(frozen=True)
class Plan:
    """A researcher's plan.

    Attributes:
        configurations: of the game, complete.
        agents: labels of the players; a label missing in `agents_by_label` is itself a specification.
        lineups: who takes which seat; None: every ordered choice of the agents.
        agents_by_label: agents with their own settings, by label.
        repetitions: matches per configuration and line-up.
        same: without line-ups: whether agents also play against themselves.
        cycle: number of consecutive configurations that form one treatment, used in turn by its repetitions.
        seeds: "instance": the random seed depends on configuration and repetition, the same for all line-ups;
            "match": it depends on the match's number.
        environment: what the line-ups are called in exports.
        stages: later stages have configurations that `Game.stage_configurations` creates from earlier results.
        instructions: edited instruction text; empty for the game's own.
        delay: seconds that scripted players wait before each answer.
        settings: default settings of models.
        prices: the researcher's own prices by specification.
    """

    title: str
    slug: str
    game: str
    configurations: Sequence[Mapping[str, Json]]
    agents: Sequence[str] = ()
    lineups: Lineups | None = None
    agents_by_label: Mapping[str, Agent] = field(default_factory=dict)
    repetitions: int = 1
    same: bool = True
    cycle: int = 1
    seeds: Seeds = "instance"
    environment: str = ""
    stages: int = 1
    instructions: str = ""
    delay: float = 0
    settings: AgentSettings = PATIENT
    prices: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    concurrency: int = 50
    budget: Decimal | None = None
    seed: int | None = None

    def seated(self) -> dict[str, Agent]:
        """Return every agent that may take a seat, by label.

        Raises:
            AgentError, ValueError
        """
        labels = self.rule().labels()
        return {label: self.agents_by_label.get(label) or self._named(label) for label in labels}

    def rule(self) -> Lineups:
        """Return the line-ups' rule."""
        return self.lineups or Lineups(agents=tuple(self.agents), same=self.same)

    def _named(self, label: str) -> Agent:
        return Agent(spec=label, delay=self.delay if is_scripted(label) else 0, settings=self.settings)


@dataclass(frozen=True)
class PlannedMatch:
    """One match of a plan; `repetition` counts from 1, `configuration` and `stage` from 0."""

    config: Mapping[str, Json]
    players: Mapping[Role, Player]
    seed: int
    repetition: int
    configuration: int
    stage: int = 0


@transaction.atomic
def make_collection(plan: Plan, *, by: AbstractBaseUser | None = None) -> Collection:
    """Freeze a plan as a collection that is ready to start.

    Raises:
        BadPlan: naming the problem; nothing was created.
    """
    content = content_of(plan)
    planned = _schedule(content).total
    if planned > MAX_MATCHES:
        raise BadPlan(f"This plan has {planned:,} matches; the maximum is {MAX_MATCHES:,} per collection.")
    collection = Collection(
        title=plan.title,
        slug=plan.slug,
        game=plan.game,
        content=content,
        sha256=sha256_of(content),
        code_revision=code_revision(),
        planned=planned,
        concurrency=plan.concurrency,
        budget=plan.budget,
        created_by=by,
        **({} if plan.seed is None else {"seed": plan.seed}),
    )
    if Study.objects.filter(slug=plan.slug).exists():
        raise BadPlan(f"slug: a study already has the short name “{plan.slug}”. Choose another one.")
    try:
        collection.full_clean(exclude=["content", "created_by"])
    except ValidationError as error:
        raise BadPlan(
            "; ".join(f"{key}: {' '.join(messages)}" for key, messages in error.message_dict.items())
        ) from None
    collection.save()
    return collection


def content_of(plan: Plan) -> dict[str, Any]:
    """Return everything that the collection's matches depend on, as plain data; see `collecting.formats`.

    Raises:
        BadPlan
    """
    refresh_if_old()
    if plan.repetitions < 1:
        raise BadPlan("Enter at least 1 repetition.")
    try:
        game = registry.get(plan.game)
        configurations = grids.listed(game, plan.configurations)
        if not configurations:
            raise BadPlan("Add at least one configuration.")
        _refuse_cycle(plan, configurations)
        _refuse_stages(plan, game)
        rule = plan.rule()
        if not rule.labels():
            raise BadPlan("Add at least one agent, and each only once.")
        roles = seats_of(plan.game, configurations, plan.cycle)
        Schedule(rule, roles, treatments=len(configurations) // plan.cycle, repetitions=1)
        agents = plan.seated()
        _refuse_agents(agents, configure(game, configurations[0]))
        if plan.instructions:
            for configuration in configurations:
                configured = configure(game, configuration)
                for role in configured.roles():
                    configured.instructions(role, plan.instructions)
    except (GameError, AgentError) as error:
        raise BadPlan(str(error)) from None
    if plan.budget is not None or any(agent.settings.cap_match is not None for agent in agents.values()):
        _refuse_unpriced(plan, agents)
    return {
        "format": FORMAT,
        "game": plan.game,
        "rules_version": game.rules_version,
        "environment": plan.environment,
        "configurations": configurations,
        "cycle": plan.cycle,
        "roles": roles,
        "agents": {label: agent.frozen() for label, agent in agents.items()},
        "lineups": rule.model_dump(mode="json", exclude_defaults=True) | {"rule": rule.rule},
        "repetitions": plan.repetitions,
        "seeds": plan.seeds,
        "stages": plan.stages,
        "texts": {"instructions": plan.instructions or game.instruction_template()},
        "edited": bool(plan.instructions),
        "prices": _prices(plan),
    }


def _refuse_cycle(plan: Plan, configurations: Sequence[Mapping[str, Json]]) -> None:
    if plan.cycle < 1 or len(configurations) % plan.cycle:
        raise BadPlan(f"{len(configurations)} configurations cannot be divided into groups of {plan.cycle}.")
    first_numbers: dict[str, int] = {}
    for number, configuration in enumerate(configurations if plan.cycle == 1 else (), start=1):
        earlier = first_numbers.setdefault(json.dumps(configuration, sort_keys=True), number)
        if earlier != number:
            raise BadPlan(f"Configuration {number} is the same as {earlier}. Use repetitions to play it more often.")


def _refuse_stages(plan: Plan, game: type[Game[Any, Any]]) -> None:
    if plan.stages < 1:
        raise BadPlan("Enter at least 1 stage.")
    if plan.stages > 1 and game.stage_configurations.__func__ is Game.stage_configurations.__func__:  # type: ignore[attr-defined]
        raise BadPlan(f"Stages: {game.key} cannot create configurations from earlier results. Use 1 stage.")


def _refuse_agents(agents: Mapping[str, Agent], game: Game[Any, Any]) -> None:
    for label, agent in agents.items():
        if problem := label_problem(label):
            raise BadPlan(f"{label}: {problem}")
        if problem := retired_problem(agent.specs):
            raise BadPlan(f"{label}: {problem}")
        for name, reason in agent.check(game).items():
            raise BadPlan(reason if name == "spec" else f"{name}: {reason}")


def _prices(plan: Plan) -> dict[str, Any]:
    try:
        return {agent: Price.model_validate(price).model_dump(mode="json") for agent, price in plan.prices.items()}
    except ValueError:
        raise BadPlan("Enter prices in US dollars per million tokens, as {agent: {input: …, output: …}}.") from None


def _refuse_unpriced(plan: Plan, agents: Mapping[str, Agent]) -> None:
    """Refuse a spending limit if the price of a model is unknown, since it could not be enforced."""
    price_list = PriceList({agent: Price.model_validate(price) for agent, price in plan.prices.items()})
    for spec in (spec for agent in agents.values() for spec in agent.specs):
        if not is_scripted(spec) and price_list.of(spec) is None:
            raise BadPlan(
                f"A spending limit needs the price of {spec}. Enter it under prices, in dollars per million tokens."
            )


def planned_match(collection: Collection, number: int) -> PlannedMatch:
    """Return the match with this number, from 1."""
    stage, first, content = _stage_of(collection, number)
    slot = _scheduled(collection.pk, collection.sha256, stage).at(number - first)
    config = content["configurations"][slot.configuration]
    agents = _agents(collection.pk, collection.sha256)
    players = {
        role: Player(agent=agents[label].spec, delay=agents[label].delay, settings=agents[label].settings, label=label)
        for role, label in slot.seats.items()
    }
    if content["seeds"] == "match":
        seeded_by = f"{collection.seed}/{number}"
    else:
        seeded_by = f"{collection.seed}/{_digest(config)}/{slot.repetition}"
    return PlannedMatch(
        config, players, Random(seeded_by).getrandbits(48), slot.repetition + 1, slot.configuration, stage
    )


def _digest(config: Mapping[str, Json]) -> str:
    return hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()


def _stage_of(collection: Collection, number: int) -> tuple[int, int, Mapping[str, Any]]:
    """Return (stage, its first number, its content) of the match with this number."""
    content = _current(collection.pk, collection.sha256)
    if content.get("stages", 1) == 1:
        return 0, 1, content
    stage = Stage.objects.filter(collection=collection, first__lte=number).order_by("-number").first()
    if stage is None:
        return 0, 1, content
    return stage.number, stage.first, {**content, "configurations": stage.configurations}


def matches_per_configuration(collection: Collection) -> list[int]:
    """Return the number of matches of each configuration, without later stages."""
    content = _current(collection.pk, collection.sha256)
    schedule = _schedule(content)
    return [schedule.matches_of(configuration) for configuration in range(len(content["configurations"]))]


def _schedule(content: Mapping[str, Any], roles: Sequence[Sequence[Role]] | None = None) -> Schedule:
    cycle = content["cycle"]
    return Schedule(
        Lineups.model_validate(content["lineups"]),
        roles or content["roles"],
        treatments=len(content["configurations"]) // cycle,
        repetitions=content["repetitions"],
        cycle=cycle,
    )


def schedule_of_stage(collection: Collection, configurations: Sequence[Mapping[str, Json]]) -> Schedule:
    """Return all matches of a later stage with these configurations."""
    content = {**current(collection.content), "configurations": configurations, "cycle": 1}
    return _schedule(content, seats_of(collection.game, configurations, 1))


def lineups_of(collection: Collection) -> int:
    """Return the maximum number of line-ups per configuration."""
    return _scheduled(collection.pk, collection.sha256, 0).lineups


# Content never changes, so what is derived from it is cached in the process by the collection's key and hash.


@lru_cache(maxsize=16)
def _current(pk: int, sha256: str) -> Mapping[str, Any]:
    return current(Collection.objects.values_list("content", flat=True).get(pk=pk))


@lru_cache(maxsize=16)
def _agents(pk: int, sha256: str) -> dict[str, Agent]:
    return agents_in(_current(pk, sha256))


@lru_cache(maxsize=32)
def _scheduled(pk: int, sha256: str, stage: int) -> Schedule:
    if not stage:
        return _schedule(_current(pk, sha256))
    later_stage = Stage.objects.select_related("collection").get(collection=pk, number=stage)
    return schedule_of_stage(later_stage.collection, later_stage.configurations)


def models_of(content: Mapping[str, Any]) -> list[str]:
    """Return every model that a collection with this content may call, fallbacks last."""
    agents = agents_in(content).values()
    specs = dict.fromkeys([agent.spec for agent in agents] + [spec for agent in agents for spec in agent.specs])
    return [spec for spec in specs if not is_scripted(spec)]


def prices(collection: Collection) -> PriceList:
    """Return the prices that apply to this collection's calls."""
    return PriceList({agent: Price.model_validate(price) for agent, price in collection.content["prices"].items()})
