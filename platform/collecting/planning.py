"""A collection's frozen plan, and the match for each number."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from random import Random
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from collecting.models import Collection, Stage
from games import grids, registry
from games.interface import Game, Json, Role
from games.play import configure
from llm_agents.agent import is_model
from llm_agents.pricing import PriceList
from matches.services import Player
from opponents.agents import Agent, agent_problem
from opponents.endpoints import refresh_if_old
from opponents.listing import retired_problem
from plans.canonical import canonical, sha256_of
from plans.chat import frozen as frozen_chat
from plans.checking import check
from plans.collection import CollectionPlan, CollectionReader
from plans.plan import Document
from plans.reading import BadPlan, Fault
from plans.schedule import Schedule, schedule_of
from plans.stages import DEFAULT_TEXT
from studies.journeys import template_with, variables_of
from studies.launching import code_revision
from studies.models import Study, agents_of, by_label


@dataclass(frozen=True)
class PlannedMatch:
    """One match of a collection; `repetition` counts from 1, `configuration` and `stage` from 0.

    Attributes:
        instructions: the template; `edited` says that it is the researcher's own.
        published: the template of seats that are told what was published; None if the game has none.
        chat: as matches keep it (`plans.chat.frozen`); None without one.
    """

    config: Mapping[str, Json]
    players: Mapping[Role, Player]
    seed: int
    repetition: int
    configuration: int
    instructions: str
    edited: bool
    published: str | None = None
    stage: int = 0
    chat: Mapping[str, Any] | None = None

    def template_for(self, agent: Agent) -> str | None:
        """Return the instructions that an agent is told."""
        return self.published if agent.settings.information == "published" and not self.edited else self.instructions

    def texts(self) -> dict[str, str] | None:
        """Return the researcher's own instructions, for everybody who is told any."""
        return {"instructions": self.instructions, "published": self.instructions} if self.edited else None


class Configured:
    """The configurations of a collection with everything that follows from its plan.

    Attributes:
        plans: one per configuration.
        configurations: complete, as frozen.
        template: the game's instructions, as frozen.
        published: those of seats that are told what was published; None if the game has none.
    """

    def __init__(self, document: Document, frozen: Mapping[str, Any]):
        self.reader = reader = CollectionReader(document)
        self.plans: list[CollectionPlan] = [reader.collection(cell.factors) for cell in reader.cells]
        self.configurations: Sequence[Mapping[str, Json]] = frozen["configurations"]
        self.template: str = frozen["instructions"]
        self.published: str | None = frozen["published"]
        agents = {id(plan.agents): agents_of(plan) for plan in self.plans}
        self._agents = [agents[id(plan.agents)] for plan in self.plans]

    @property
    def plan(self) -> CollectionPlan:
        """The first configuration's plan, for what no factor varies."""
        return self.plans[0]

    @cached_property
    def schedule(self) -> Schedule:
        """All matches, without those of later stages."""
        return schedule_of(self.plans, [self._game(config) for config in self.configurations])

    def schedule_of_stage(self, configurations: Sequence[Mapping[str, Json]]) -> Schedule:
        """Return all matches of a later stage with these configurations, which the first plan's agents play."""
        treatments = [(self.plan.lineups, self._game(config).roles()) for config in configurations]
        return Schedule(treatments, repetitions=self.plan.repetitions)

    def agents_in(self, configuration: int) -> Mapping[str, Agent]:
        """Return the agents of a configuration by label."""
        return self._agents[configuration]

    def agents(self) -> dict[str, Agent]:
        """Return all agents by label; those of a label that varies by label and hash."""
        return by_label({id(agents): agents for agents in self._agents}.values())

    def chat_of(self, configuration: int) -> dict[str, Any] | None:
        """Return the chat of a configuration's matches as they keep it; None without one."""
        chat = self.plans[configuration].game.chat
        mediator = self.plans[configuration].mediator
        agents = {mediator: self.agents_in(configuration)[mediator].frozen()} if mediator else {}
        return None if chat is None else frozen_chat(chat, agents)

    def template_of(self, configuration: int) -> tuple[str, bool]:
        """Return a configuration's instructions, and whether they are the researcher's own."""
        own = self.plans[configuration].game.instructions
        if own == DEFAULT_TEXT:
            return self.template, False
        levels = self.reader.cells[configuration].factors
        return template_with(own, variables_of(self.reader, levels)), True

    def _game(self, config: Mapping[str, Json]) -> Game[Any, Any]:
        return configure(registry.get(self.plan.game.game), config)


# ---- making one -------------------------------------------------------------------------------------------


@transaction.atomic
def make_collection(document: Document, *, slug: str, seed: int | None = None, by: User | None = None) -> Collection:
    """Freeze a plan as a collection that is ready to start.

    Raises:
        BadPlan: with every fault; nothing was created.
    """
    collection = planned(document, slug=slug, seed=seed)
    collection.created_by = by
    if Study.objects.filter(slug=slug).exists():
        raise BadPlan(
            [Fault("", _("A study already has the short name “{slug}”. Choose another one.").format(slug=slug))]
        )
    try:
        # The game is known; comparing it with the choices would load every other one.
        collection.full_clean(exclude=["document", "frozen", "created_by", "game"])
    except ValidationError as error:
        raise BadPlan([Fault(key, " ".join(messages)) for key, messages in error.message_dict.items()]) from None
    collection.save()
    return collection


def planned(document: Document, *, slug: str = "", seed: int | None = None) -> Collection:
    """Return the collection that a plan makes, unsaved.

    Raises:
        BadPlan: with every fault.
    """
    refresh_if_old()
    checked = check(document)
    if checked.faults:
        raise BadPlan(checked.faults)
    document = canonical(document)
    reader = CollectionReader(document)
    plans = [reader.collection(cell.factors) for cell in reader.cells]
    game = registry.get(plans[0].game.game)
    frozen = {
        "rules_version": game.rules_version,
        "instructions": game.instruction_template(),
        "published": game.template_told("published") if game.is_published() else None,
        "configurations": grids.listed(game, [plan.game.config for plan in plans]),
    }
    configured = Configured(document, frozen)
    if problems := [*_agent_problems(configured), *_unpriced(configured)]:
        raise BadPlan([Fault("agents", problem) for problem in problems])
    plan = configured.plan
    seed = plan.seed if seed is None else seed
    return Collection(
        title=plan.title,
        slug=slug,
        game=game.key,
        document=document,
        frozen=frozen,
        sha256=sha256_of({"plan": document, **frozen}),
        code_revision=code_revision(),
        planned=checked.matches or 0,
        concurrency=plan.concurrency,
        budget=plan.budget,
        **({} if seed is None else {"seed": seed}),
    )


def _agent_problems(configured: Configured) -> list[str]:
    """Return what is missing in this installation."""
    game = configure(registry.get(configured.plan.game.game), configured.configurations[0])
    seated = {label for plan in configured.plans for label in plan.lineups.labels()}
    problems = []
    for label, agent in configured.agents().items():
        if problem := retired_problem(agent.specs):
            problems.append(f"{label}: {problem}")
        elif label in seated:
            problems += [agent_problem(label, reason, name) for name, reason in agent.check(game).items()]
    return problems


def _unpriced(configured: Configured) -> list[str]:
    """Return why a spending limit could not be enforced: models whose price is unknown."""
    agents = configured.agents().values()
    if configured.plan.budget is None and all(agent.settings.cap_match is None for agent in agents):
        return []
    price_list = PriceList(configured.plan.prices)
    unpriced = dict.fromkeys(
        spec for agent in agents for spec in agent.specs if is_model(spec) and price_list.of(spec) is None
    )
    message = _("A spending limit needs the price of {spec}. Enter it under prices, in dollars per million tokens.")
    return [message.format(spec=spec) for spec in unpriced]


# ---- what follows from a collection -----------------------------------------------------------------------


def configured(collection: Collection) -> Configured:
    """Return a collection's configurations; cached in the process, since a collection's plan never changes."""
    return _configured(_Identity(collection))


class _Identity:
    """A collection as a key of caches."""

    def __init__(self, collection: Collection):
        self.collection = collection
        self.key = (collection.pk, collection.sha256)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@lru_cache(maxsize=16)
def _configured(identity: _Identity) -> Configured:
    collection = identity.collection
    return Configured(collection.document, collection.frozen)


def planned_match(collection: Collection, number: int) -> PlannedMatch:
    """Return the match with this number, from 1."""
    known = configured(collection)
    stage, first, configurations = _stage_of(collection, number)
    slot = _scheduled(_Identity(collection), stage).at(number - first)
    config = configurations[slot.configuration]
    of = 0 if stage else slot.configuration
    agents = known.agents_in(of)
    players = {
        role: Player(agent=agents[label].spec, delay=agents[label].delay, settings=agents[label].settings, label=label)
        for role, label in slot.seats.items()
    }
    instance = number if known.plan.seeds == "match" else f"{_digest(config)}/{slot.repetition}"
    seed = Random(f"{collection.seed}/{instance}").getrandbits(48)
    told = (*known.template_of(of), known.published)
    return PlannedMatch(config, players, seed, slot.repetition + 1, slot.configuration, *told, stage, known.chat_of(of))


def _digest(config: Mapping[str, Json]) -> str:
    return hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()


def _stage_of(collection: Collection, number: int) -> tuple[int, int, Sequence[Mapping[str, Json]]]:
    """Return (stage, its first number, its configurations) of the match with this number."""
    known = configured(collection)
    if known.plan.stages > 1:
        stage = Stage.objects.filter(collection=collection, first__lte=number).order_by("-number").first()
        if stage is not None:
            return stage.number, stage.first, stage.configurations
    return 0, 1, known.configurations


@lru_cache(maxsize=32)
def _scheduled(identity: _Identity, stage: int) -> Schedule:
    known = _configured(identity)
    if not stage:
        return known.schedule
    later_stage = Stage.objects.get(collection=identity.collection.pk, number=stage)
    return known.schedule_of_stage(later_stage.configurations)


def matches_per_configuration(collection: Collection) -> list[int]:
    """Return the number of matches of each configuration, without later stages."""
    known = configured(collection)
    return [known.schedule.matches_of(number) for number in range(len(known.configurations))]


def agents_in(collection: Collection) -> dict[str, Agent]:
    """Return a collection's agents by label; empty if it was imported."""
    return configured(collection).agents() if collection.document else {}


def models_of(agents: Iterable[Agent]) -> list[str]:
    """Return every model that these agents may call, fallbacks last."""
    agents = list(agents)
    specs = dict.fromkeys([agent.spec for agent in agents] + [spec for agent in agents for spec in agent.specs])
    return [spec for spec in specs if is_model(spec)]


def prices(collection: Collection) -> PriceList:
    """Return the prices that apply to this collection's calls."""
    return PriceList(configured(collection).plan.prices)
