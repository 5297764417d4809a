"""A collection's status and contents, as shown on its page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.db.models import Prefetch
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from collecting import planning
from collecting.estimate import estimate_of
from collecting.models import Collection, Item
from collecting.progress import Progress, duration, failures, progress
from collecting.ratings import Ratings, ratings_of
from games import registry
from games.errors import GameError, UnknownGame
from llm_agents.agent import is_model
from llm_agents.pricing import Price
from llm_agents.settings import PROMPT
from matches.forms import fields_of
from matches.models import Match, Seat
from opponents.listing import unusable_agent
from opponents.spending import cap_of_today, refusal_of
from plans import files
from plans.asking import AgentSettings
from studies.forecast import ModelCosts
from studies.simulating import ANSWER_TOKENS, CHARACTERS_PER_TOKEN

Status = Collection.Status
COLOURS = {"ready": "info", "running": "primary", "paused": "warning", "over_budget": "danger", "done": "success"}
ITEM_COLOURS = {"waiting": "info", "playing": "primary", "finished": "success", "failed": "danger"}
MAX_LATEST_SHOWN = 20
MAX_PLAYING_SHOWN = 5
MAX_VALUES_SHOWN = 12
MAX_SHOWN, MAX_CHARACTERS_SHOWN = 1000, 200_000
"""Maximum number of configurations and characters of content shown on the page; the file contains everything."""


# ---- the part that changes ---------------------------------------------------------------------------
RULES: dict[str, Any] = {
    "product": gettext_lazy("every agent against every other (and itself, if ticked below), in every order"),
    "combinations": gettext_lazy(
        "every combination (of an agent with itself, too, if ticked below), ignoring the order of seats"
    ),
    "subsets": gettext_lazy("every ordered choice of different agents"),
    "each": gettext_lazy("each agent alone in all free seats"),
    "together": gettext_lazy("all agents together, one per seat"),
    "population": gettext_lazy("all agents together, each once in every position"),
    "listed": gettext_lazy("custom line-ups"),
}
"""The line-up rules in words."""


@dataclass(frozen=True)
class CollectionStatus:
    """The current status of a collection.

    Attributes:
        driven: whether a driver is playing it at the moment.
        problems: why matches failed, as [(reason, count)].
        latest: the matches that ended last.
        playing: some of the matches in progress, newest first.
        ratings: of the agents, if their game rates them; not while matches are played.
        unusable: why a model cannot be asked, when no other model of its agent can; usually empty.
        cap_of_today: a message that today's calls have reached the installation's limit; empty if it has no effect
            here.
        estimate: of the model calls, before the first match.
        refusal: why the collection's latest model call was refused; empty if it was not.
    """

    now: Progress
    driven: bool
    problems: list[tuple[str, int]]
    latest: list[Item]
    playing: list[Item]
    unusable: str = ""
    cap_of_today: str = ""
    refusal: str = ""
    estimate: ModelCosts | None = None
    ratings: Ratings = field(default_factory=Ratings)

    @property
    def running(self) -> bool:
        return self.now.status == Status.RUNNING

    @property
    def alive(self) -> bool:
        """Whether the figures may change without further action."""
        return self.running or self.driven

    @property
    def ended(self) -> int:
        return self.now.finished + self.now.failed

    @property
    def headline(self) -> str:
        """The headline, such as "45%: 2,074 of 4,608 matches"."""
        planned = self.now.planned
        template = ngettext("{share}: {ended} of {planned} match", "{share}: {ended} of {planned} matches", planned)
        return template.format(share=percent(self.now.share), ended=f"{self.ended:,}", planned=f"{planned:,}")

    @property
    def widths(self) -> dict[str, float]:
        """Percentages of the bar for finished and failed matches."""
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
            (_("in progress"), f"{now.playing:,}"),
            (_("waiting"), f"{now.waiting:,}"),
        ]

    @property
    def facts(self) -> list[tuple[str, str]]:
        """The collection's figures, as (title, value)."""
        now = self.now
        facts = [(_("Decisions"), f"{now.decisions:,}"), (_("Cost"), self.cost)]
        if self.estimate is not None:
            facts += self._estimates(self.estimate)
        if self.running:
            facts += [
                (_("Matches per minute"), rate(now.matches_per_minute)),
                (_("Decisions per second"), rate(now.decisions_per_second)),
                (_("Time left"), self.time_left),
            ]
        if now.cost_left and now.status != Status.DONE:
            facts.append((_("Expected further cost"), _("about {amount}").format(amount=dollars(now.cost_left))))
        return facts

    def _estimates(self, estimate: ModelCosts) -> list[tuple[str, str]]:
        tokens = _("about {read} read, {written} written")

        def shown(amount: Decimal | None) -> str:
            return _("price unknown") if amount is None else _("about {amount}").format(amount=dollars(amount))

        return [
            (_("Model calls expected"), _("about {amount}").format(amount=f"{estimate.calls:,}")),
            (_("Tokens expected"), tokens.format(read=f"{estimate.read:,}", written=f"{estimate.written:,}")),
            (_("Cost expected"), shown(estimate.expected)),
            (_("Cost at most"), shown(estimate.at_most)),
        ]

    @property
    def leaderboard(self) -> list[tuple[str, str, str, int]]:
        """Agent, rank, strength and matches, with the intervals of ranks and strengths."""
        return [
            (
                agent.label,
                with_interval("{:d}", agent.rank, agent.rank_low, agent.rank_high),
                with_interval("{:.2f}", agent.strength, agent.low, agent.high),
                agent.matches,
            )
            for agent in self.ratings.agents
        ]

    @property
    def leaderboard_notes(self) -> list[str]:
        """The effect of the first seat, and why some agents have no interval."""
        effect = self.ratings.seat_effect
        of_seat = with_interval("{:.2f}", effect["estimate"], effect["low"], effect["high"])
        without: dict[str, list[str]] = {}
        for agent in self.ratings.agents:
            if agent.low is None:
                without.setdefault(agent.note, []).append(agent.label)
        return [
            *([] if effect["estimate"] is None else [_("Effect of the first seat: {effect}.").format(effect=of_seat)]),
            *(
                _("No interval for {agents}: {why}.").format(agents=", ".join(agents), why=why)
                for why, agents in without.items()
            ),
        ]

    @property
    def estimate_note(self) -> str:
        """What the estimate assumes; empty if there is none."""
        if self.estimate is None:
            return ""
        source = (
            _("Tokens per call are those of these models' earlier calls in this game.")
            if self.estimate.from_earlier_calls
            else _("Without earlier calls in this game: {letters} characters per token, {answer} tokens per answer.")
        )
        worst = _("At most: every move takes all its tries, and every answer is as long as possible")
        worst += _(", or the budget.") if self.now.budget is not None else _(". There is no budget.")
        return f"{source.format(letters=CHARACTERS_PER_TOKEN, answer=ANSWER_TOKENS)} {worst}"

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
        """What the researcher should know or do now; empty if the figures say it all."""
        now = self.now
        if self.cap_of_today and self.in_budget and not self.running and now.status != Status.DONE:
            return f"{self.cap_of_today} {_('No more model calls today. Matches keep their current state.')}"
        if self.estimate is not None and now.budget is not None and self.estimate.largest_call > now.budget:
            return _(
                "One model call could cost up to {price}, more than the budget, so none would be made. Raise the "
                "budget, or make a new collection with a maximum answer length."
            ).format(price=dollars(self.estimate.largest_call))
        if self.unusable:
            return f"{self.unusable} {_('Its matches fail until this is changed.')}"
        if now.status == Status.READY:
            return _("No matches played yet.")
        if self.running and not self.driven:
            return _("Waiting for a worker that plays collections. This takes a few seconds.")
        if now.status == Status.PAUSED and self.driven:
            return _("Matches in progress finish their current move, then the collection stops.")
        if now.status == Status.OVER_BUDGET and not self.in_budget:
            return _("The budget is used up, so model calls have stopped. Raise the budget to continue.")
        if now.status == Status.OVER_BUDGET and self.refusal:
            return f"{self.refusal} {_('Model calls have stopped. Raise the budget to continue.')}"
        if now.budget is not None and now.cost_left and now.cost + now.cost_left > now.budget:
            return _("At the current cost, the budget will not cover all matches.")
        return ""


def with_interval(template: str, value: float | None, low: float | None, high: float | None) -> str:
    """Return a number with its interval, such as "0.53 (0.21 to 0.85)"; a dash if it is unknown."""
    if value is None:
        return "–"
    shown = template.format(value)
    if low is None or high is None:
        return shown
    return _("{value} ({low} to {high})").format(value=shown, low=template.format(low), high=template.format(high))


def status_of(collection: Collection) -> CollectionStatus:
    """Return the collection's current status."""
    seats = Prefetch("match__seats", Seat.objects.order_by("pk"))
    matches = Prefetch("match", Match.objects.only("uid", "status", "payoffs"))
    playing = collection.items.filter(status=Item.Status.PLAYING, match__isnull=False).order_by("-number")
    ended = collection.items.filter(ended_at__isnull=False, match__isnull=False).order_by("-ended_at")
    return CollectionStatus(
        now=progress(collection),
        driven=collection.drivers.filter(until__gt=timezone.now()).exists(),
        problems=failures(collection),
        unusable=_unusable(collection),
        cap_of_today=_cap_of_today(collection),
        refusal=refusal_of(collection.budget_of),
        estimate=_estimate(collection),
        latest=list(ended.prefetch_related(matches, seats)[:MAX_LATEST_SHOWN]),
        playing=list(playing.prefetch_related(matches, seats)[:MAX_PLAYING_SHOWN]),
        ratings=Ratings() if collection.status == Status.RUNNING else ratings_of(collection),
    )


def _estimate(collection: Collection) -> ModelCosts | None:
    try:
        return estimate_of(collection) if collection.status == Status.READY else None
    except GameError:
        return None


def _unusable(collection: Collection) -> str:
    if collection.status == Status.DONE or collection.source != Collection.Source.PLAYED:
        return ""
    return unusable_agent(planning.agents_in(collection))


def _cap_of_today(collection: Collection) -> str:
    played = collection.source == Collection.Source.PLAYED
    return str(cap_of_today() or "") if played and planning.models_of(planning.agents_in(collection).values()) else ""


def allowed_actions(collection: Collection, current: CollectionStatus) -> set[str]:
    """Return the actions that are possible now: of "start", "resume", "pause", "retry", "budget"."""
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


# ---- the frozen part -----------------------------------------------------------------------------------


def plan_of(collection: Collection) -> dict[str, Any]:
    """Return the frozen plan as its page shows it.

    Keys:
        varied: parameters with several values: {name, title, values: the first ones, more: how many more there are}.
        fixed: parameters with a single value, as [(title, value)].
        complete: whether the configurations are all combinations of the varied values.
        facts: everything else that matters, as [(title, value)].
        content: as JSON; empty if it is too long to show.
    """
    agents = _agents(collection)
    template, edited = planning.configured(collection).template_of(0) if collection.document else ("", False)
    content_text = files.dumps(collection.document) if collection.document else ""
    return {
        "game": game_title(collection.game),
        "size": _size(collection),
        **_parameters(collection.game, collection.configurations),
        "agents": agents,
        "with_prices": any(price for _agent, price in agents),
        "facts": _facts(collection),
        "instructions": template,
        "edited": edited,
        "content": content_text if len(content_text) <= MAX_CHARACTERS_SHOWN else "",
    }


def game_title(key: str) -> str:
    """Return a game's title, or its key if the game is no longer installed."""
    return str(registry.get(key).title) if key in registry.keys() else key


def _size(collection: Collection) -> str:
    """Return "384 configurations × 4 line-ups × 3 repetitions = 4,608 matches"; only the matches if imported."""
    matches = _matches(collection.planned)
    if collection.source != Collection.Source.PLAYED:
        return matches
    known = planning.configured(collection)
    treatments = len(known.configurations) // known.plan.cycle
    return size(treatments, known.schedule.lineups, known.plan.repetitions, collection.planned)


def size(configurations: int, lineups: int, repetitions: int, matches: int) -> str:
    """Return how many matches there are and why; only the product if seats are the same in all configurations."""
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


def _parameters(key: str, configurations: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the varied parameters, the fixed ones, and whether all combinations of the varied values occur."""
    titles = _titles(key)
    names = dict.fromkeys(name for configuration in configurations for name in configuration)
    varied: list[dict[str, Any]] = []
    fixed: list[tuple[str, str]] = []
    combinations = 1
    for name in names:
        values = list(dict.fromkeys(json.dumps(configuration.get(name)) for configuration in configurations))
        title = titles.get(name, name)
        if len(values) == 1:
            fixed.append((title, _value(values[0])))
            continue
        combinations *= len(values)
        shown = [_value(value) for value in values[:MAX_VALUES_SHOWN]]
        varied.append({"name": name, "title": title, "values": shown, "more": len(values) - len(shown)})
    distinct = {json.dumps(configuration, sort_keys=True) for configuration in configurations}
    return {"varied": varied, "fixed": fixed, "complete": combinations == len(distinct) == len(configurations)}


def _titles(key: str) -> dict[str, str]:
    try:
        return {field.name: field.label for field in fields_of(registry.get(key).Config)}
    except UnknownGame:
        return {}


def _value(text: str) -> str:
    """Return a parameter's value in readable form."""
    value = json.loads(text)
    if value is None:
        return _("none")
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, (int, float)):
        return f"{value:,.10g}"
    return value.replace("_", " ") if isinstance(value, str) else text


def _agents(collection: Collection) -> list[tuple[str, Price | None]]:
    """Return each agent with the price of its calls; others have none."""
    if collection.source != Collection.Source.PLAYED:
        return []
    agents, prices = planning.agents_in(collection), planning.prices(collection)
    return [
        (
            label if label == agent.spec else f"{label} ({agent.spec})",
            prices.of(agent.spec) if is_model(agent.spec) else None,
        )
        for label, agent in agents.items()
    ]


def _facts(collection: Collection) -> list[tuple[str, str]]:
    facts = [(_("Created"), _date_and_author(collection.created_at, collection.created_by))]
    if collection.started_at:
        facts.append((_("Started"), _date_and_author(collection.started_at)))
    if collection.ended_at:
        facts.append((_("Ended"), _date_and_author(collection.ended_at)))
    if collection.source == Collection.Source.PLAYED:
        facts += [
            (_("Agents asked at once"), f"{collection.concurrency:,}"),
            (_("Seed"), str(collection.seed)),
            *_playing_facts(planning.configured(collection)),
        ]
    facts.append((_("Rules version"), str(collection.frozen.get("rules_version", "–"))))
    return facts


def _playing_facts(known: planning.Configured) -> list[tuple[str, str]]:
    """Return line-ups, random seeds, and how agents are asked (once, if all agents have the same settings)."""
    lineups = known.plan.lineups
    facts = [(_("Line-ups"), str(RULES.get(lineups.rule, "")))]
    if lineups.rule in ("product", "combinations"):
        facts.append((_("Also against itself"), _("yes") if lineups.same else _("no")))
    if lineups.rotate:
        facts.append((_("Seats"), _("rotate with each repetition")))
    if known.plan.environment:
        facts.append((_("Environment"), known.plan.environment))
    same_seed = known.plan.seeds == "instance"
    facts.append(
        (
            _("Random seed"),
            _("the same for all line-ups of a configuration") if same_seed else _("different in every match"),
        )
    )
    agents = known.agents()
    settings_by_label = {
        label: _model_settings(agent.settings) for label, agent in agents.items() if not agent.scripted
    }
    if len({str(lines) for lines in settings_by_label.values()}) > 1:
        facts += [(f"{label}: {title}", value) for label, lines in settings_by_label.items() for title, value in lines]
    else:
        facts += next(iter(settings_by_label.values()), [])
    delays = sorted({agent.delay for agent in agents.values() if agent.scripted})
    if delays:
        facts.append((_("Delay of scripted players"), ", ".join(f"{delay:g} s" for delay in delays)))
    return facts


def _model_settings(settings: AgentSettings) -> list[tuple[str, str]]:
    """Return the settings of models that matter for interpreting the results."""
    facts = [
        (_("Prompting strategy"), settings.strategy.replace("_", " ")),
        (_("Retries after illegal moves"), str(settings.tries_after_first)),
        (_("Seconds per call"), duration(settings.call_seconds)),
        (_("Fallback models"), ", ".join(settings.fallbacks)),
        (_("Fallback script"), settings.script),
        (_("Spend per match"), "" if settings.cap_match is None else dollars(settings.caps().per_match or Decimal(0))),
    ]
    own_texts = [str(AgentSettings.model_fields[PROMPT + name].title).lower() for name in settings.prompts]
    own_texts += [_("persona")] if settings.persona else []
    facts.append((_("Own texts"), ", ".join(own_texts)))
    return [(title, value) for title, value in facts if value]


def _date_and_author(moment: Any, by: Any = None) -> str:
    when = timezone.localtime(moment).strftime("%Y-%m-%d %H:%M")
    return _("{when} by {who}").format(when=when, who=by) if by else when


# ---- figures as text -----------------------------------------------------------------------------------


def dollars(amount: Decimal) -> str:
    """Return an amount with as many decimals as it needs: "$12.30", "$0.0042"."""
    return f"${amount:,.4f}" if 0 < amount < Decimal("0.1") else f"${amount:,.2f}"


def percent(share: float) -> str:
    """Return a percentage such as "12%"; never "100%" before the last match or "0%" after the first."""
    if 0 < share < 0.01:
        return _("under 1%")
    return f"{int(share * 100)}%"


def rate(number: float) -> str:
    """Return a rate with two or three digits."""
    return f"{number:,.0f}" if number >= 10 else f"{number:.1f}"
