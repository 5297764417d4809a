"""Ready-made studies of published systems: loaded, looked over, then started or launched.

`glee-llm`: a collection of every configuration of GLEE's Table 1 per family (384 + 576 + 360).
`glee-human`: a study per family with GLEE's main, variant and random configurations (Appendix E).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from collecting.errors import BadPlan
from collecting.models import Collection
from collecting.planning import Plan, make_collection
from games import grids, registry
from llm_agents.agent import parse_spec
from llm_agents.errors import AgentError
from studies import presets
from studies.models import Study

MODELS = ("openai:gpt-4o-mini", "anthropic:claude-haiku-4-5")
"""Who plays unless somebody else is named; the models of the paper are mostly no longer offered."""
HOURLY_BASE = Decimal(6)
HOURLY_AVERAGES = {"100": Decimal(3), "10000": Decimal(6), "1000000": Decimal(9)}
"""US dollars an hour (GLEE, Appendix E): base pay, and the average bonus by the money at stake."""

REST_HOURS = 12
"""Between two games of one family by the same worker (GLEE, Appendix E)."""


@dataclass(frozen=True)
class Family:
    """One of GLEE's games: the parameter that holds the money at stake, and how long a match takes people."""

    game: str
    stake: str
    minutes: int


FAMILIES = (
    Family("bargaining", stake="money", minutes=10),
    Family("negotiation", stake="scale", minutes=10),
    Family("persuasion", stake="price", minutes=20),
)


def glee_llm(agents: Sequence[str], seed: int, by: AbstractBaseUser | None) -> list[Collection]:
    """A collection per family: every configuration once for each ordered pair of agents, themselves included."""
    return [
        make_collection(
            Plan(
                title=f"GLEE: {registry.get(family.game).title}",
                slug=f"glee-llm-{family.game}",
                game=family.game,
                configurations=grids.table(family.game, "glee"),
                agents=agents,
                seed=seed,
            ),
            by=by,
        )
        for family in FAMILIES
    ]


def glee_human(agents: Sequence[str], seed: int, by: AbstractBaseUser | None) -> list[Study]:
    """A draft study per family: people on Mechanical Turk against the first agent."""
    return [_with_people(family, agents[0], seed, by) for family in FAMILIES]


def _with_people(family: Family, agent: str, seed: int, by: AbstractBaseUser | None) -> Study:
    hours = Decimal(family.minutes) / 60
    averages = {value: round(hourly * hours, 2) for value, hourly in HOURLY_AVERAGES.items()}
    game = registry.get(family.game)
    study = Study(
        title=f"GLEE: {game.title} with people",
        slug=f"glee-human-{family.game}",
        game=family.game,
        design={
            "selection": "glee",
            "seed": seed,
            "averages": {"by": family.stake, "amounts": {value: str(amount) for value, amount in averages.items()}},
        },
        roles=list(game(game.Config()).roles()),
        agent=agent,
        entry=Study.Entry.MTURK,
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


PRESETS: Mapping[str, Callable[[Sequence[str], int, AbstractBaseUser | None], list[Collection] | list[Study]]] = {
    "glee-llm": glee_llm,
    "glee-human": glee_human,
}


@transaction.atomic
def load(
    name: str, *, agents: Sequence[str] = (), seed: int = 1, by: AbstractBaseUser | None = None
) -> list[Collection] | list[Study]:
    """Make the preset's studies or collections, not yet launched or started; those that were loaded before stay.

    Raises:
        BadPlan: no such preset, it was loaded before, or an agent that does not exist; nothing was made.
    """
    if name not in PRESETS:
        raise BadPlan(f"There is no preset “{name}”; there are: {', '.join(PRESETS)}.")
    if known := made(name):
        raise BadPlan(f"The preset was loaded before: there is “{known.slug}” already.")
    try:
        for agent in agents:
            for family in FAMILIES:
                parse_spec(agent, registry.get(family.game))
    except AgentError as error:
        raise BadPlan(str(error)) from None
    return PRESETS[name](list(agents) or list(MODELS), seed, by)


def made(name: str) -> Study | Collection | None:
    """What of a preset is there already."""
    slugs = [f"{name}-{family.game}" for family in FAMILIES]
    for model in (Study, Collection):
        if known := model.objects.filter(slug__in=slugs).first():
            return known
    return None


def _offer(name: str, title: str | Promise, summary: str | Promise) -> None:
    """Let the list of studies offer a preset."""

    def make(by: AbstractBaseUser | None) -> list[Collection] | list[Study]:
        try:
            return load(name, by=by)
        except BadPlan as error:
            raise presets.PresetRefused(str(error)) from None

    source = _("GLEE: A Unified Framework and Benchmark for Language-based Economic Environments")
    presets.register(presets.Preset(name, title, summary, source, make, partial(made, name)))


_offer(
    "glee-human",
    _("GLEE with people"),
    _(
        "Three draft studies on Mechanical Turk, one per game: the main, variant and random configurations of the "
        "paper with their quotas and pay. Look them over, then launch them."
    ),
)
_offer(
    "glee-llm",
    _("GLEE between models"),
    _(
        "Three collections, one per game: every published configuration for each ordered pair of two models. "
        "Nothing is played or spent before you start them."
    ),
)
