"""How a collection stands and what it consists of, as its page shows it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Prefetch
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from collecting import planning
from collecting.formats import agents_in, current
from collecting.lineup_rules import RULES
from collecting.models import Collection, Item
from collecting.progress import Progress, duration, failures, progress
from collecting.ratings import ratings_of
from games import registry
from games.errors import UnknownGame
from games.ratings import Rating
from llm_agents.agent import parse_spec
from llm_agents.errors import AgentError
from llm_agents.pricing import Price, PriceList
from llm_agents.strategies import Prompts
from matches.forms import fields_of
from matches.models import Match, Seat
from opponents.agent_settings import AgentSettings
from opponents.agents import Agent
from opponents.spending import cap_of_today

Status = Collection.Status
COLOURS = {"ready": "info", "running": "primary", "paused": "warning", "over_budget": "danger", "done": "success"}
ITEM_COLOURS = {"waiting": "info", "playing": "primary", "finished": "success", "failed": "danger"}
LATEST = 20
WATCHED = 5
VALUES_SHOWN = 12
MOST_SHOWN, MOST_CHARACTERS_SHOWN = 1000, 200_000
"""Configurations and characters of content up to which the page itself shows it; the file holds all of it."""


# ---- the part that is alive -------------------------------------------------------------------------


@dataclass(frozen=True)
class CollectionStatus:
    """Where a collection stands now.

    Attributes:
        driven: somebody plays it at this moment.
        problems: why matches failed, as [(reason, how many)].
        latest: those that ended last.
        playing: some of those that are under way, the newest first.
        ratings: of the agents, where their game rates them; not while matches are played.
        cap_of_today: that today's calls have reached the installation's cap; empty where that stops nothing here.
    """

    now: Progress
    driven: bool
    problems: list[tuple[str, int]]
    latest: list[Item]
    playing: list[Item]
    cap_of_today: str = ""
    ratings: Sequence[Rating] = ()

    @property
    def running(self) -> bool:
        return self.now.status == Status.RUNNING

    @property
    def alive(self) -> bool:
        """Whether the figures may change by themselves."""
        return self.running or self.driven

    @property
    def ended(self) -> int:
        return self.now.finished + self.now.failed

    @property
    def headline(self) -> str:
        """ "45%: 2,074 of 4,608 matches"."""
        planned = self.now.planned
        says = ngettext("{share}: {ended} of {planned} match", "{share}: {ended} of {planned} matches", planned)
        return says.format(share=percent(self.now.share), ended=f"{self.ended:,}", planned=f"{planned:,}")

    @property
    def widths(self) -> dict[str, float]:
        """Percent of the bar that finished and failed matches take."""
        planned = max(1, self.now.planned)
        return {
            "finished": round(100 * self.now.finished / planned, 2),
            "failed": round(100 * self.now.failed / planned, 2),
        }

    @property
    def counts(self) -> list[tuple[str, str]]:
        now = self.now
        return [
            (_("finished"), f"{now.finished:,}"),
            (_("failed"), f"{now.failed:,}"),
            (_("under way"), f"{now.playing:,}"),
            (_("waiting"), f"{now.waiting:,}"),
        ]

    @property
    def facts(self) -> list[tuple[str, str]]:
        """What it takes and has taken, as (title, value)."""
        now = self.now
        facts = [(_("Decisions"), f"{now.decisions:,}"), (_("Cost"), self.cost)]
        if self.running:
            facts += [
                (_("Matches a minute"), rate(now.matches_per_minute)),
                (_("Decisions a second"), rate(now.decisions_per_second)),
                (_("Time left"), self.time_left),
            ]
        if now.cost_left and now.status != Status.DONE:
            facts.append((_("Still to be spent"), _("about {amount}").format(amount=dollars(now.cost_left))))
        return facts

    @property
    def cost(self) -> str:
        if self.now.budget is None:
            return dollars(self.now.cost)
        return _("{spent} of {budget}").format(spent=dollars(self.now.cost), budget=dollars(self.now.budget))

    @property
    def time_left(self) -> str:
        if self.now.seconds_left is None:
            return _("not known yet")
        return _("about {time}").format(time=duration(self.now.seconds_left))

    @property
    def in_budget(self) -> bool:
        return self.now.budget is None or self.now.cost < self.now.budget

    @property
    def notice(self) -> str:
        """What a researcher should know or do now; empty where the figures say everything."""
        now = self.now
        if self.cap_of_today and self.in_budget and not self.running and now.status != Status.DONE:
            return f"{self.cap_of_today} {_('No model is asked any more today; matches keep where they stand.')}"
        if now.status == Status.READY:
            return _("Nothing has been played yet.")
        if self.running and not self.driven:
            return _("Waiting for a worker that plays collections. This takes a few seconds.")
        if now.status == Status.PAUSED and self.driven:
            return _("Matches under way make their present move, then it stands still.")
        if now.status == Status.OVER_BUDGET and not self.in_budget:
            return _("The budget is spent, so no model is asked any more. Raise it to go on.")
        if now.budget is not None and now.cost_left and now.cost + now.cost_left > now.budget:
            return _("At this cost the budget will not be enough for all matches.")
        return ""


def status_of(collection: Collection) -> CollectionStatus:
    """How the collection stands now."""
    seats = Prefetch("match__seats", Seat.objects.order_by("pk"))
    matches = Prefetch("match", Match.objects.only("uid", "status", "payoffs"))
    playing = collection.items.filter(status=Item.Status.PLAYING, match__isnull=False).order_by("-number")
    ended = collection.items.filter(ended_at__isnull=False, match__isnull=False).order_by("-ended_at")
    return CollectionStatus(
        now=progress(collection),
        driven=collection.drivers.filter(until__gt=timezone.now()).exists(),
        problems=failures(collection),
        cap_of_today=_cap_of_today(collection),
        latest=list(ended.prefetch_related(matches, seats)[:LATEST]),
        playing=list(playing.prefetch_related(matches, seats)[:WATCHED]),
        ratings=() if collection.status == Status.RUNNING else ratings_of(collection),
    )


def _cap_of_today(collection: Collection) -> str:
    played = collection.source == Collection.Source.PLAYED
    return str(cap_of_today() or "") if played and planning.models_of(collection.content) else ""


def allowed_actions(collection: Collection, current: CollectionStatus) -> set[str]:
    """What makes sense now: of "start", "resume", "pause", "retry", "budget"."""
    if collection.source != Collection.Source.PLAYED:
        return set()
    status = collection.status
    offered = set()
    if status == Status.READY:
        offered.add("start")
    if status == Status.RUNNING:
        offered.add("pause")
    if status in (Status.PAUSED, Status.OVER_BUDGET) and current.in_budget:
        offered.add("resume")
    if status in (Status.PAUSED, Status.OVER_BUDGET, Status.DONE) and current.now.failed:
        offered.add("retry")
    if collection.budget is not None and (status != Status.DONE or ("retry" in offered and not current.in_budget)):
        offered.add("budget")
    return offered


# ---- the part that is frozen -------------------------------------------------------------------------


@dataclass(frozen=True)
class Varied:
    """A parameter that takes several values: the first of them, and how many more there are."""

    name: str
    title: str
    values: list[str]
    more: int


@dataclass(frozen=True)
class Plan:
    """What the collection consists of.

    Attributes:
        fixed: parameters with one value throughout, as [(title, value)].
        complete: the configurations are all the combinations of the varied values.
        facts: everything else that matters, as [(title, value)].
        content: as JSON; empty where it is too long to be shown.
    """

    game: str
    size: str
    varied: list[Varied]
    fixed: list[tuple[str, str]]
    complete: bool
    agents: list[tuple[str, Price | None]]
    with_prices: bool
    facts: list[tuple[str, str]]
    instructions: str
    edited: bool
    content: str


def plan_of(collection: Collection) -> Plan:
    """The frozen plan in the words and tables of its page."""
    content = collection.content
    configurations = content.get("configurations", [])
    varied, fixed, complete = _parameters(collection.game, configurations)
    agents = _agents(collection)
    texts = content.get("texts", {})
    pretty = as_text(content) if len(configurations) <= MOST_SHOWN else ""
    return Plan(
        game=game_title(collection.game),
        size=_size(collection),
        varied=varied,
        fixed=fixed,
        complete=complete,
        agents=agents,
        with_prices=any(price for _agent, price in agents),
        facts=_facts(collection, agents),
        instructions=texts.get("instructions", ""),
        edited=bool(content.get("edited")),
        content=pretty if len(pretty) <= MOST_CHARACTERS_SHOWN else "",
    )


def game_title(key: str) -> str:
    """A game's title; its key where it is no longer there."""
    return str(registry.get(key).title) if key in registry.keys() else key


def as_text(content: Mapping[str, Any]) -> str:
    """Frozen content as people read it."""
    return json.dumps(content, indent=2, ensure_ascii=False)


def _size(collection: Collection) -> str:
    """ "384 configurations × 4 line-ups × 3 repetitions = 4,608 matches"; the matches alone where imported."""
    content = collection.content
    matches = ngettext("{number} match", "{number} matches", collection.planned).format(
        number=f"{collection.planned:,}"
    )
    if collection.source != Collection.Source.PLAYED:
        return matches
    now = current(content)
    treatments, lineups = len(now["configurations"]) // now["cycle"], planning.lineups_of(collection)
    return size(treatments, lineups, now["repetitions"], collection.planned)


def size(configurations: int, lineups: int, repetitions: int, matches: int) -> str:
    """How many matches there are, and why; the product alone where seats do not differ between configurations."""
    factors = [
        ngettext("{number} configuration", "{number} configurations", configurations).format(
            number=f"{configurations:,}"
        ),
        ngettext("{number} line-up", "{number} line-ups", lineups).format(number=f"{lineups:,}"),
        ngettext("{number} repetition", "{number} repetitions", repetitions).format(number=f"{repetitions:,}"),
    ]
    adds_up = configurations * lineups * repetitions == matches
    return f"{' × '.join(factors)} = {_matches(matches)}" if adds_up else _matches(matches)


def _matches(number: int) -> str:
    return ngettext("{number} match", "{number} matches", number).format(number=f"{number:,}")


def _parameters(
    key: str, configurations: Sequence[Mapping[str, Any]]
) -> tuple[list[Varied], list[tuple[str, str]], bool]:
    """The varied parameters, the fixed ones, and whether every combination of the varied values is there."""
    titles = _titles(key)
    names = dict.fromkeys(name for configuration in configurations for name in configuration)
    varied, fixed, combinations = [], [], 1
    for name in names:
        values = list(dict.fromkeys(json.dumps(configuration.get(name)) for configuration in configurations))
        title = titles.get(name, name)
        if len(values) == 1:
            fixed.append((title, _value(values[0])))
            continue
        combinations *= len(values)
        shown = [_value(value) for value in values[:VALUES_SHOWN]]
        varied.append(Varied(name, title, shown, len(values) - len(shown)))
    distinct = {json.dumps(configuration, sort_keys=True) for configuration in configurations}
    return varied, fixed, combinations == len(distinct) == len(configurations)


def _titles(key: str) -> dict[str, str]:
    try:
        return {field.name: field.label for field in fields_of(registry.get(key).Config)}
    except UnknownGame:
        return {}


def _value(text: str) -> str:
    """A parameter's value as people read it."""
    value = json.loads(text)
    if value is None:
        return _("none")
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, (int, float)):
        return f"{value:,.10g}"
    return value.replace("_", " ") if isinstance(value, str) else text


def _agents(collection: Collection) -> list[tuple[str, Price | None]]:
    """Who plays, each with the price of its calls; scripted players have none."""
    agents = agents_in(collection.content)
    if collection.source != Collection.Source.PLAYED:
        return []
    prices = planning.prices(collection)
    return [(_called(label, agent), _price(prices, agent.spec)) for label, agent in agents.items()]


def _called(label: str, agent: Agent) -> str:
    """An agent's label, with what it names where that is something else."""
    return label if label == agent.spec else f"{label} ({agent.spec})"


def _price(prices: PriceList, agent: str) -> Price | None:
    try:
        return None if parse_spec(agent).scripted else prices.of(agent)
    except AgentError:
        return None


def _facts(collection: Collection, agents: Sequence[tuple[str, Price | None]]) -> list[tuple[str, str]]:
    content = collection.content
    facts = [(_("Made"), _when(collection.created_at, collection.created_by))]
    if collection.started_at:
        facts.append((_("Started"), _when(collection.started_at)))
    if collection.ended_at:
        facts.append((_("Ended"), _when(collection.ended_at)))
    if collection.source == Collection.Source.PLAYED:
        facts += [
            (_("Matches at once"), f"{collection.concurrency:,}"),
            (_("Seed"), str(collection.seed)),
            *_playing(current(content)),
        ]
    facts.append((_("Rules version"), str(content.get("rules_version", "–"))))
    return facts


def _playing(content: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Line-ups and random seeds, and how agents are asked: once where all are asked alike."""
    facts = [(_("Line-ups"), RULES.get(content["lineups"].get("rule", "product"), ""))]
    if content["lineups"].get("rotate"):
        facts.append((_("Seats"), _("move on with each repetition")))
    if content["environment"]:
        facts.append((_("Environment"), content["environment"]))
    same_seed = content["seeds"] == "instance"
    facts.append(
        (
            _("Random seed"),
            _("the same for all line-ups of a configuration") if same_seed else _("its own in every match"),
        )
    )
    agents = agents_in(content)
    asked = {label: _asking(agent.settings) for label, agent in agents.items() if not agent.scripted}
    if len({str(one) for one in asked.values()}) > 1:
        facts += [(f"{label}: {title}", value) for label, how in asked.items() for title, value in how]
    else:
        facts += next(iter(asked.values()), [])
    delays = sorted({agent.delay for agent in agents.values() if agent.scripted})
    if delays:
        facts.append((_("Scripted players wait"), ", ".join(f"{delay:g} s" for delay in delays)))
    return facts


def _asking(settings: AgentSettings) -> list[tuple[str, str]]:
    """What a reader of the results should know of how models were asked."""
    facts = [
        (_("How models are asked"), settings.strategy.replace("_", " ")),
        (_("Tries after the first"), str(settings.tries_after_first)),
        (_("Time for a call"), duration(settings.call_seconds)),
        (_("Fallback models"), ", ".join(settings.fallbacks)),
        (_("Fallback script"), settings.script),
        (_("Spend per match"), "" if settings.cap_match is None else dollars(settings.caps().per_match or Decimal(0))),
    ]
    own = [str(Prompts.model_fields[name].title).lower() for name in settings.prompts]
    own += [_("persona")] if settings.persona else []
    facts.append((_("Own texts"), ", ".join(own)))
    return [(title, value) for title, value in facts if value]


def _when(at: Any, by: Any = None) -> str:
    when = timezone.localtime(at).strftime("%Y-%m-%d %H:%M")
    return _("{when} by {who}").format(when=when, who=by) if by else when


# ---- figures in words ----------------------------------------------------------------------------------


def dollars(amount: Decimal) -> str:
    """An amount with as many places as it takes to see it: "$12.30", "$0.0042"."""
    return f"${amount:,.4f}" if 0 < amount < Decimal("0.1") else f"${amount:,.2f}"


def percent(share: float) -> str:
    """ "12%"; not "100%" before the last match, and not "0%" after the first."""
    if 0 < share < 0.01:
        return _("under 1%")
    return f"{int(share * 100)}%"


def rate(number: float) -> str:
    """A rate in two or three figures."""
    return f"{number:,.0f}" if number >= 10 else f"{number:.1f}"
