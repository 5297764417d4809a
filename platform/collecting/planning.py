"""What a collection is to play: frozen content, and the match that each number stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import product
from random import Random
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction

from collecting.errors import BadPlan
from collecting.models import Collection, Item
from games import grids, registry
from games.errors import GameError
from games.interface import Json, Role
from games.play import configure
from llm_agents.agent import parse_spec
from llm_agents.errors import AgentError
from llm_agents.pricing import Price, PriceList
from matches.agent_settings import AgentSettings, settings_of
from matches.services import Player
from opponents.endpoints import refresh_if_old
from studies.freezing import code_revision, sha256_of
from studies.models import Study

MOST_ITEMS = 1_000_000
LONGEST_AGENT = 200
PATIENT = AgentSettings(limit_seconds=1800)
"""Nobody waits for these models' answers."""


@dataclass(frozen=True)
class Plan:
    """What a researcher asks for.

    Attributes:
        agents: specifications; every ordered pair of them plays (every combination, where there are more seats).
        configurations: of the game, complete.
        repetitions: matches per configuration and pair.
        same: whether an agent also plays against itself.
        instructions: edited instruction text; empty: the game's own.
        delay: seconds that scripted players wait before each answer.
        settings: how models are asked, and what happens when they fail.
        prices: a researcher's own prices by agent.
    """

    title: str
    slug: str
    game: str
    configurations: Sequence[Mapping[str, Json]]
    agents: Sequence[str]
    repetitions: int = 1
    same: bool = True
    instructions: str = ""
    delay: float = 0
    settings: AgentSettings = PATIENT
    prices: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    concurrency: int = 50
    budget: Decimal | None = None
    seed: int | None = None


@dataclass(frozen=True)
class Wanted:
    """One match of a plan."""

    config: Mapping[str, Json]
    players: Mapping[Role, Player]
    seed: int


@transaction.atomic
def make_collection(plan: Plan, *, by: AbstractBaseUser | None = None) -> Collection:
    """Freeze a plan into a collection that is ready to start.

    Raises:
        BadPlan: naming what is wrong; nothing was made.
    """
    content = content_of(plan)
    planned = len(content["configurations"]) * len(content["assignments"]) * plan.repetitions
    if planned > MOST_ITEMS:
        raise BadPlan(f"That would be {planned:,} matches; {MOST_ITEMS:,} are the most in one collection.")
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
        raise BadPlan(f"slug: there is a study called “{plan.slug}” already.")
    try:
        collection.full_clean(exclude=["content", "created_by"])
    except ValidationError as error:
        raise BadPlan("; ".join(f"{key}: {' '.join(said)}" for key, said in error.message_dict.items())) from None
    collection.save()
    Item.objects.bulk_create(
        (Item(collection=collection, number=number) for number in range(1, planned + 1)), batch_size=2000
    )
    return collection


def content_of(plan: Plan) -> dict[str, Any]:
    """Everything that the collection's matches depend on, as plain data.

    Raises:
        BadPlan
    """
    refresh_if_old()
    try:
        game = registry.get(plan.game)
        configurations = grids.listed(game, plan.configurations)
        for agent in plan.agents:
            parse_spec(agent, game)
            if len(agent) > LONGEST_AGENT:
                raise BadPlan(f"The name of an agent has at most {LONGEST_AGENT} characters.")
        if problems := plan.settings.check(configure(game, configurations[0] if configurations else {})):
            raise BadPlan(" ".join(f"{name}: {reason}" for name, reason in problems.items()))
        if plan.instructions:
            for configuration in configurations:
                configured = configure(game, configuration)
                for role in configured.roles():
                    configured.instructions(role, plan.instructions)
        prices = {agent: Price.model_validate(price).model_dump(mode="json") for agent, price in plan.prices.items()}
    except (GameError, AgentError) as error:
        raise BadPlan(str(error)) from None
    except ValueError:
        raise BadPlan("Prices are US dollars per million tokens: {agent: {input: …, output: …}}.") from None
    if not configurations:
        raise BadPlan("There is no configuration to play.")
    if not plan.agents or len(set(plan.agents)) < len(plan.agents):
        raise BadPlan("Agents are needed, each named once.")
    if plan.repetitions < 1:
        raise BadPlan("Repetitions must be at least 1.")
    if plan.budget is not None or plan.settings.cap_match is not None:
        _refuse_unpriced(plan)
    roles, *others = dict.fromkeys(configure(game, configuration).roles() for configuration in configurations)
    if others:
        raise BadPlan("All configurations of one collection need the same seats.")
    assignments = [
        dict(zip(roles, agents, strict=True))
        for agents in product(plan.agents, repeat=len(roles))
        if plan.same or len(set(agents)) > 1
    ]
    if not assignments:
        raise BadPlan("A single agent that does not play against itself leaves nothing to play.")
    return {
        "game": plan.game,
        "rules_version": game.rules_version,
        "configurations": configurations,
        "assignments": assignments,
        "repetitions": plan.repetitions,
        "texts": {"instructions": plan.instructions or game.instruction_template()},
        "edited": bool(plan.instructions),
        "delay": plan.delay,
        "settings": plan.settings.model_dump(mode="json"),
        "prices": prices,
    }


def _refuse_unpriced(plan: Plan) -> None:
    """A budget or a cap is worth nothing where the cost of a call is not known."""
    known = PriceList({agent: Price.model_validate(price) for agent, price in plan.prices.items()})
    for agent in (*plan.agents, *plan.settings.fallbacks):
        if not parse_spec(agent).scripted and known.of(agent) is None:
            raise BadPlan(
                f"A budget or cap needs the price of {agent}: give it under prices, in dollars per million tokens."
            )


def wanted(collection: Collection, number: int) -> Wanted:
    """The match that `number` stands for: configurations vary fastest, repetitions slowest."""
    content = collection.content
    configurations, assignments = content["configurations"], content["assignments"]
    rest, configuration = divmod(number - 1, len(configurations))
    agents = assignments[rest % len(assignments)]
    delay, settings = content["delay"], settings_in(content)
    players = {
        role: Player(agent=agent, delay=delay if parse_spec(agent).scripted else 0, settings=settings)
        for role, agent in agents.items()
    }
    seed = Random(f"{collection.seed}/{number}").getrandbits(48)
    return Wanted(configurations[configuration], players, seed)


def settings_in(content: Mapping[str, Any]) -> AgentSettings:
    """How a collection with this content asks its models."""
    if "settings" in content:
        return settings_of(content["settings"])
    return AgentSettings(
        structured=False,
        tries_after_first=content["tries_after_first"],
        call_seconds=min(content["call_seconds"], 600),
        limit_seconds=PATIENT.limit_seconds,
    )


def models_of(content: Mapping[str, Any]) -> list[str]:
    """Every model that a collection with this content may ask, those that stand in for others last."""
    seated = [agent for seats in content.get("assignments", ()) for agent in seats.values()]
    agents = dict.fromkeys([*seated, *settings_in(content).fallbacks])
    return [agent for agent in agents if not parse_spec(agent).scripted]


def prices(collection: Collection) -> PriceList:
    """The prices that this collection's calls are counted with."""
    return PriceList({agent: Price.model_validate(price) for agent, price in collection.content["prices"].items()})
