"""Ready-made studies and collections of published systems: load, review, then launch or start them.

A game declares its own collections and studies in its folder (`PRESETS` and `STUDIES` in `published.py`, see
`games.lineups`). GLEE's are declared here, since they span three games:
`glee-llm`: a collection of every configuration of GLEE's Table 1 per family (384 + 576 + 360).
`glee-human`: a study per family with GLEE's main, variant and random configurations (Appendix E).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, partial

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.utils.functional import Promise
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _
from pydantic import ValidationError

from collecting.errors import BadPlan
from collecting.formats import PATIENT
from collecting.models import Collection
from collecting.planning import Plan, make_collection
from games import grids, registry
from games.errors import GameError
from games.lineups import AGENT, SECOND_AGENT, CollectionPreset, Environment, StudyPreset
from llm_agents.agent import parse_spec
from llm_agents.errors import AgentError
from opponents.agents import Agent, agents_from_specs
from plans.asking import settings_of
from studies import presets
from studies.models import Study

MODELS = ("openai:gpt-4o-mini", "anthropic:claude-haiku-4-5")
"""Default agents; most models of the paper are no longer available."""
HOURLY_BASE = Decimal(6)
HOURLY_AVERAGES = {"100": Decimal(3), "10000": Decimal(6), "1000000": Decimal(9)}
"""US dollars an hour (GLEE, Appendix E): base pay, and the average bonus by the money at stake."""

REST_HOURS = 12
"""Hours between two games of one family by the same participant (GLEE, Appendix E)."""


@dataclass(frozen=True)
class Family:
    """One of GLEE's games: the parameter for the money at stake, and the duration of a match with participants."""

    game: str
    stake: str
    minutes: int


FAMILIES = (
    Family("bargaining", stake="money", minutes=10),
    Family("negotiation", stake="scale", minutes=10),
    Family("persuasion", stake="price", minutes=20),
)


def glee_llm(agents: Sequence[str], seed: int, by: AbstractBaseUser | None) -> list[Collection]:
    """Create a collection per family: every configuration for each ordered pair of agents, self-play included."""
    return [
        make_collection(
            Plan(
                title=f"GLEE: {registry.get(family.game).title}",
                slug=f"glee-llm-{family.game}",
                game=family.game,
                configurations=grids.table(family.game, "glee"),
                agents=agents,
                seeds="match",
                seed=seed,
            ),
            by=by,
        )
        for family in FAMILIES
    ]


def glee_human(agents: Sequence[str], seed: int, by: AbstractBaseUser | None) -> list[Study]:
    """Create a draft study per family: participants against the first agent, with lab codes by default."""
    return [_with_people(family, agents[0], seed, by) for family in FAMILIES]


def _with_people(family: Family, agent: str, seed: int, by: AbstractBaseUser | None) -> Study:
    hours = Decimal(family.minutes) / 60
    averages = {value: round(hourly * hours, 2) for value, hourly in HOURLY_AVERAGES.items()}
    game = registry.get(family.game)
    study = Study(
        title=f"GLEE: {game.title} with participants",
        slug=f"glee-human-{family.game}",
        game=family.game,
        design={
            "selection": "glee",
            "seed": seed,
            "averages": {"by": family.stake, "amounts": {value: str(amount) for value, amount in averages.items()}},
        },
        roles=list(game(game.Config()).roles()),
        agents=agents_from_specs(agent),
        entry=Study.Entry.CODES,
        most_participations=None,
        rest_hours=REST_HOURS,
        base=round(HOURLY_BASE * hours, 2),
        pay_rule="share",
        announced_average=averages["10000"],
        cap=2 * max(averages.values()),
        created_by=by,
    )
    study.full_clean()
    study.save()
    return study


GLEE: Mapping[str, Callable[[Sequence[str], int, AbstractBaseUser | None], list[Collection] | list[Study]]] = {
    "glee-llm": glee_llm,
    "glee-human": glee_human,
}


@cache
def collection_presets() -> Mapping[str, tuple[str, CollectionPreset]]:
    """Return (game, preset) by name, for all games' presets."""
    return {
        name: (key, preset)
        for key in registry.keys()
        for name, preset in getattr(grids.published(key), "PRESETS", {}).items()
    }


@cache
def study_presets() -> Mapping[str, tuple[str, StudyPreset]]:
    """Return (game, ready-made studies) by name, for all games."""
    return {
        name: (key, preset)
        for key in registry.keys()
        for name, preset in getattr(grids.published(key), "STUDIES", {}).items()
    }


def names() -> list[str]:
    """Return the names of all presets."""
    return [*GLEE, *collection_presets(), *study_presets()]


@transaction.atomic
def load(
    name: str, *, agents: Sequence[str] = (), seed: int = 1, by: AbstractBaseUser | None = None
) -> list[Collection] | list[Study]:
    """Create the preset's studies or collections without launching or starting them; existing ones are unchanged.

    Raises:
        BadPlan: no such preset, it was loaded before, or an agent does not exist; nothing was created.
    """
    if name not in names():
        raise BadPlan(f"There is no preset “{name}”. Available presets: {', '.join(names())}.")
    if loaded := find_loaded(name):
        raise BadPlan(f"This preset was loaded before: “{loaded.slug}” already exists.")
    if name in collection_presets():
        return [make_collection(plan, by=by) for plan in plans(name, agents=agents or MODELS, seed=seed)]
    if name in study_presets():
        return _studies(name, agents or MODELS, by)
    try:
        for agent in agents:
            for family in FAMILIES:
                parse_spec(agent, registry.get(family.game))
    except AgentError as error:
        raise BadPlan(str(error)) from None
    return GLEE[name](list(agents) or list(MODELS), seed, by)


def _studies(name: str, named_agents: Sequence[str], by: AbstractBaseUser | None) -> list[Study]:
    """Create a draft for each table of a game's ready-made studies, with these agents in the remaining seats."""
    key, preset = study_presets()[name]
    first, second = named_agents[0], named_agents[min(1, len(named_agents) - 1)]
    try:
        for agent in (first, second):
            parse_spec(agent, registry.get(key))
    except AgentError as error:
        raise BadPlan(str(error)) from None
    pay = round(HOURLY_BASE * preset.minutes / 60, 2)
    labels = {AGENT: first, SECOND_AGENT: second}
    studies = []
    for table, seats in preset.tables.items():
        used_agents = dict.fromkeys(
            [first, *(labels[agent_name] for agent_name in seats.values() if agent_name in labels)]
        )
        study = Study(
            title=f"{preset.title}: {table}",
            slug=f"{name}-{table}",
            game=key,
            config=dict(preset.config),
            agents=agents_from_specs(*used_agents, settings=preset.settings),
            lineups=[
                {"name": "", "seats": {seat: labels.get(agent_name, agent_name) for seat, agent_name in seats.items()}}
            ],
            fills_in=first,
            base=pay,
            announced_average=pay,
            cap=2 * pay,
            created_by=by,
            **preset.fields,
        )
        study.full_clean()
        study.save()
        studies.append(study)
    return studies


def plans(name: str, *, agents: Sequence[str], seed: int = 1) -> list[Plan]:
    """Return the plan of each collection in a game's preset; all share the seed, and so the instances.

    Raises:
        BadPlan: no such preset, or it cannot be played with these agents.
    """
    if name not in collection_presets():
        raise BadPlan(f"There is no preset “{name}”. The games' presets: {', '.join(collection_presets()) or 'none'}.")
    game, preset = collection_presets()[name]
    try:
        return [_plan(name, game, preset, environment, seed) for environment in preset.environments_for(agents, seed)]
    except GameError as error:
        raise BadPlan(str(error)) from None
    except ValidationError as error:
        problem = error.errors()[0]
        raise BadPlan(f"{name}: {'.'.join(str(part) for part in problem['loc'])}: {problem['msg']}") from None


def _plan(name: str, game: str, preset: CollectionPreset, environment: Environment, seed: int) -> Plan:
    defaults = {**PATIENT.model_dump(mode="json", exclude_defaults=True), **preset.settings, **environment.settings}
    agents = {
        label: Agent(spec=agent.spec, delay=agent.delay, settings=settings_of({**defaults, **agent.settings}))
        for label, agent in environment.agents.items()
    }
    return Plan(
        title=(environment.title or f"{preset.title}: {environment.name}")[:120],
        slug=slugify(f"{name}-{environment.name}")[:60],
        game=game,
        configurations=environment.configurations,
        lineups=environment.lineups,
        agents_by_label=agents,
        repetitions=environment.repetitions,
        cycle=environment.cycle,
        seeds=environment.seeds,
        environment=environment.name,
        settings=settings_of(defaults),
        seed=seed,
    )


def find_loaded(name: str) -> Study | Collection | None:
    """Return a study or collection that this preset has already created; None if there is none."""
    for model in (Study, Collection):
        for candidate in model.objects.filter(slug__startswith=f"{name}-"):
            longer_names = [
                preset_name
                for preset_name in names()
                if preset_name.startswith(f"{name}-") and candidate.slug.startswith(preset_name)
            ]
            if not longer_names:
                return candidate
    return None


def _register(name: str, title: str | Promise, summary: str | Promise, source: str | Promise) -> None:
    """Register a preset for the list of ready-made studies."""

    def create(by: AbstractBaseUser | None) -> list[Collection] | list[Study]:
        try:
            return load(name, by=by)
        except BadPlan as error:
            raise presets.PresetRefused(str(error)) from None

    presets.register(presets.Preset(name, title, summary, source, create, partial(find_loaded, name)))


_GLEE = _("GLEE: A Unified Framework and Benchmark for Language-based Economic Environments")
_register(
    "glee-human",
    _("GLEE with participants"),
    _(
        "Three draft studies, one per game, with the main, variant and random configurations of the "
        "paper and their quotas and pay. Participants use lab codes until you choose another "
        "recruiter. Review the studies, then launch them."
    ),
    _GLEE,
)
_register(
    "glee-llm",
    _("GLEE with models only"),
    _(
        "Three collections, one per game, with every published configuration for each ordered pair of "
        "two models. Nothing is played or spent until you start them."
    ),
    _GLEE,
)
for _name, (_game, _people) in study_presets().items():
    _register(_name, _people.title, _people.summary, _people.source)
for _name, (_game, _preset) in collection_presets().items():
    if _preset.agents <= len(MODELS):
        _register(_name, _preset.title, _preset.summary, _preset.source)
