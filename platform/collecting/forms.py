"""A plan of matches as a form, for people who write no code."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import ValidationError as BadValues
from unfold.widgets import (
    UnfoldAdminDecimalFieldWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldBooleanSwitchWidget,
)

from collecting.errors import BadPlan
from collecting.models import Collection
from collecting.planning import MOST_ITEMS, PATIENT, Plan, content_of
from games import grids
from games.errors import BadText, GameError
from games.interface import Game
from games.play import configure
from llm_agents.agent import parse_spec
from llm_agents.errors import AgentError
from llm_agents.pricing import AS_OF, PRICES, Price, PriceList
from matches.agent_settings import AgentSettings, settings_of
from matches.forms import fields_of
from matches.models import Seat
from studies.admin.own_texts import CODE, explain
from studies.admin.parameters import Parameters

LARGEST_SEED = 2**63 - 1
LONGEST_AGENT = Seat._meta.get_field("agent").max_length or 200
OF_MODELS = Parameters(AgentSettings, prefix="asking_", without=frozenset({"appears", "cap_study"}))
"""Nobody watches these models think, and a collection has its budget."""


@dataclass(frozen=True)
class Size:
    """How many matches a plan makes."""

    configurations: int
    pairs: int
    repetitions: int

    @property
    def matches(self) -> int:
        return self.configurations * self.pairs * self.repetitions


class PlanForm(forms.ModelForm):
    """What a researcher asks for; `plan_form` adds what depends on the game.

    Once it is valid, `plan` is what `planning.make_collection` takes. `size` is known as soon as the
    configurations and agents can be read, whatever else is still missing.
    """

    game_class: type[Game[Any, Any]]
    plan: Plan
    size: Size | None = None

    way = forms.ChoiceField(
        label=gettext_lazy("Configurations from"),
        widget=UnfoldAdminSelectWidget(),
        help_text=gettext_lazy("A configuration is one value for each parameter of the game."),
    )
    table = forms.ChoiceField(
        label=gettext_lazy("Published table"),
        required=False,
        widget=UnfoldAdminSelectWidget(),
        help_text=gettext_lazy("Every configuration of the table is played."),
    )
    grid = forms.CharField(
        label=gettext_lazy("Values by parameter"),
        required=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 4, **CODE}),
    )
    listed = forms.CharField(
        label=gettext_lazy("Configurations"),
        required=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 6, **CODE}),
    )
    agents = forms.CharField(
        label=gettext_lazy("Agents, one per line"),
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 4, **CODE}),
    )
    same = forms.BooleanField(
        label=gettext_lazy("Each agent also plays against itself"),
        required=False,
        initial=True,
        widget=UnfoldBooleanSwitchWidget(),
    )
    repetitions = forms.IntegerField(
        label=gettext_lazy("Repetitions"),
        initial=1,
        min_value=1,
        max_value=MOST_ITEMS,
        widget=UnfoldAdminIntegerFieldWidget(),
        help_text=gettext_lazy("Matches of each pair of agents in each configuration."),
    )
    seed = forms.IntegerField(
        label=gettext_lazy("Seed"),
        required=False,
        min_value=0,
        max_value=LARGEST_SEED,
        widget=UnfoldAdminIntegerFieldWidget(),
        help_text=gettext_lazy("Decides all luck: the same seed gives the same luck again. Empty: one is drawn."),
    )
    delay = forms.FloatField(
        label=gettext_lazy("Scripted players wait"),
        initial=0,
        min_value=0,
        max_value=600,
        widget=UnfoldAdminDecimalFieldWidget(attrs={"step": "any"}),
        help_text=gettext_lazy("Seconds before each of their answers."),
    )
    prices = forms.CharField(
        label=gettext_lazy("Prices"),
        required=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3, **CODE}),
    )
    instructions = forms.CharField(
        label=gettext_lazy("Instructions"),
        required=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 18, **CODE}),
        help_text=gettext_lazy("Left as it is, the collection is played with the game's own text."),
    )

    class Meta:
        model = Collection
        fields = ["title", "slug", "game", "concurrency", "budget", "seed"]
        help_texts = {
            "slug": gettext_lazy("Names the collection in addresses, commands and files; it stays."),
            "concurrency": gettext_lazy("Matches under way at the same time. Fewer where a provider limits calls."),
        }

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        game = self.game_class
        tables = _tables(game)
        ways = [("grid", _("a grid: every combination of the values below")), ("list", _("a list written by hand"))]
        if tables:
            ways.insert(0, ("table", _("a published table")))
        self.fields["way"].choices = ways
        self.fields["table"].choices = [
            (name, _("{name} ({number} configurations)").format(name=name, number=f"{size:,}"))
            for name, size in tables.items()
        ]
        self.fields["grid"].help_text = _grid_help(game)
        self.fields["listed"].help_text = _list_help(game)
        self.fields["agents"].help_text = _agents_help(game)
        self.fields["prices"].help_text = _prices_help()
        explain(self.fields, OF_MODELS.prefix, game(game.Config()))
        last = self.fields[f"{OF_MODELS.prefix}script"]
        last.help_text = _("It moves when all have failed, flagged in the data. Empty: the match counts as failed.")
        self.fields["game"].widget = forms.HiddenInput()
        self.initial["game"] = game.key
        self.initial["instructions"] = game.instruction_template()
        self.initial["seed"] = None

    # ---- reading -----------------------------------------------------------------------------------

    def clean_game(self) -> str:
        return self.game_class.key

    def clean_agents(self) -> list[str]:
        agents = [line.strip() for line in self.cleaned_data["agents"].splitlines() if line.strip()]
        problems = []
        for agent in dict.fromkeys(agents):
            try:
                parse_spec(agent, self.game_class)
            except AgentError as error:
                problems.append(str(error))
            if agents.count(agent) > 1:
                problems.append(_("“{agent}” is named twice.").format(agent=agent))
            if len(agent) > LONGEST_AGENT:
                problems.append(_("An agent's name has at most {most} characters.").format(most=LONGEST_AGENT))
        if not agents:
            problems.append(_("Name at least one agent."))
        if problems:
            raise ValidationError(problems)
        return agents

    def clean_prices(self) -> dict[str, Price]:
        prices = _read_json(self.cleaned_data["prices"] or "{}", dict)
        read: dict[str, Price] = {}
        for agent, price in prices.items():
            try:
                parse_spec(agent, self.game_class)
                read[agent] = Price.model_validate(price)
            except AgentError as error:
                raise ValidationError(str(error)) from None
            except BadValues:
                raise ValidationError(
                    _("The price of {agent} must be dollars per million tokens, such as {example}.").format(
                        agent=agent, example='{"input": 0.15, "output": 0.6}'
                    )
                ) from None
        return read

    def clean_instructions(self) -> str:
        """What was left as the game has it is the game's own text."""
        text = self.cleaned_data["instructions"].replace("\r\n", "\n")
        return "" if text.strip() == self.game_class.instruction_template().strip() else text

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        configurations = self._configurations(cleaned)
        settings = self._settings(cleaned)
        self._refuse_unpriced(cleaned, settings)
        if configurations:
            self._refuse_unreadable_instructions(cleaned, configurations[0])
            self._measure(cleaned, configurations)
        if not self.errors:
            self._read_plan(cleaned, configurations, settings)
        return cleaned

    def _configurations(self, cleaned: Mapping[str, Any]) -> list[grids.Configuration]:
        """The configurations in the way that was chosen; none, and an error at their field, where they are wrong."""
        way = cleaned.get("way")
        if way is None:
            return []
        name = {"table": "table", "grid": "grid", "list": "listed"}[way]
        if name in self.errors:
            return []
        text = cleaned.get(name, "").strip()
        try:
            if not text:
                raise ValidationError(_("Please fill this in."))
            if way == "table":
                return grids.table(self.game_class.key, text)
            if way == "grid":
                return grids.expand(self.game_class, _read_json(text, dict))
            configurations = _read_json(text, list)
            if not configurations or not all(isinstance(one, dict) for one in configurations):
                raise ValidationError(_("A list of configurations is needed, each in braces: [{…}, {…}]."))
            if len(configurations) > grids.MOST:
                raise ValidationError(_("{most} configurations are the most.").format(most=f"{grids.MOST:,}"))
            return grids.listed(self.game_class, configurations)
        except GameError as error:
            self.add_error(name, str(error))
        except ValidationError as error:
            self.add_error(name, error)
        return []

    def _refuse_unpriced(self, cleaned: Mapping[str, Any], settings: AgentSettings) -> None:
        """A budget or a cap is worth nothing where the cost of a call is not known."""
        limited = cleaned.get("budget") is not None or settings.cap_match is not None
        if not limited or "prices" not in cleaned:
            return
        known = PriceList(cleaned["prices"])
        if self.errors.keys() & {"agents", f"{OF_MODELS.prefix}fallbacks"}:
            return
        agents = [*cleaned.get("agents", []), *settings.fallbacks]
        models = [agent for agent in agents if not parse_spec(agent).scripted]
        if unpriced := [agent for agent in models if known.of(agent) is None]:
            says = _("What is spent can only be limited where prices are known. Please give the price of {agents}.")
            self.add_error("prices", says.format(agents=", ".join(unpriced)))

    def _refuse_unreadable_instructions(self, cleaned: Mapping[str, Any], configuration: grids.Configuration) -> None:
        text = cleaned.get("instructions")
        if text:
            game = configure(self.game_class, configuration)
            try:
                for role in game.roles():
                    game.instructions(role, text)
            except BadText as error:
                self.add_error("instructions", str(error))

    def _measure(self, cleaned: Mapping[str, Any], configurations: Sequence[grids.Configuration]) -> None:
        """Set the size, and refuse one that leaves nothing to play or too much."""
        if "agents" not in cleaned or "repetitions" not in cleaned:
            return
        agents, seats = len(cleaned["agents"]), len(configure(self.game_class, configurations[0]).roles())
        pairs = agents**seats - (0 if cleaned.get("same") else agents)
        if not pairs:
            self.add_error("same", _("A single agent that does not play against itself leaves nothing to play."))
            return
        self.size = Size(len(configurations), pairs, cleaned["repetitions"])
        if self.size.matches > MOST_ITEMS:
            says = _("That would be {matches} matches; {most} are the most in one collection.")
            self.add_error("repetitions", says.format(matches=f"{self.size.matches:,}", most=f"{MOST_ITEMS:,}"))

    def _settings(self, cleaned: Mapping[str, Any]) -> AgentSettings:
        """How models are asked; what is wrong with it is said at its fields."""
        values, wrong = OF_MODELS.values(cleaned)
        settings = PATIENT
        if not wrong:
            settings = settings_of(values)
            found = settings.check(self.game_class(self.game_class.Config()))
            wrong = {OF_MODELS.prefix + name: reason for name, reason in found.items()}
        for name, reason in wrong.items():
            self.add_error(name if name in self.fields else None, reason)
        return settings

    def _read_plan(
        self,
        cleaned: Mapping[str, Any],
        configurations: Sequence[grids.Configuration],
        settings: AgentSettings,
    ) -> None:
        self.plan = Plan(
            title=cleaned["title"],
            slug=cleaned["slug"],
            game=self.game_class.key,
            configurations=configurations,
            agents=cleaned["agents"],
            repetitions=cleaned["repetitions"],
            same=cleaned["same"],
            instructions=cleaned["instructions"],
            delay=cleaned["delay"],
            settings=settings,
            prices={agent: price.model_dump(mode="json") for agent, price in cleaned["prices"].items()},
            concurrency=cleaned["concurrency"],
            budget=cleaned["budget"],
            seed=cleaned["seed"],
        )
        try:
            content_of(self.plan)
        except BadPlan as error:
            self.add_error(None, str(error))


def plan_form(game: type[Game[Any, Any]]) -> type[PlanForm]:
    """The form for a collection of `game`."""
    return type("PlanForm", (PlanForm,), {**OF_MODELS.blanks(PATIENT.model_dump(mode="json")), "game_class": game})


SECTIONS = [
    (gettext_lazy("What is played"), {"fields": ["way", "table", "grid", "listed"]}),
    (gettext_lazy("Who plays"), {"fields": ["agents", "same", "repetitions"]}),
    (gettext_lazy("Pace and cost"), {"fields": ["concurrency", "budget", "prices"]}),
    (
        gettext_lazy("How models are asked, and what if they fail"),
        {
            "classes": ["collapse"],
            "fields": OF_MODELS.rows(),
            "description": gettext_lazy(
                "The same for every model named above. A call that fails is made again; a move that is not legal is "
                "asked for again; then the replacements are asked, and in the end a scripted player moves, flagged in "
                "the data, or the match counts as failed."
            ),
        },
    ),
    (
        gettext_lazy("Luck and scripted players"),
        {"classes": ["collapse"], "fields": ["delay", "seed"]},
    ),
    (
        gettext_lazy("Texts"),
        {
            "classes": ["collapse"],
            "fields": ["instructions"],
            "description": gettext_lazy("Markdown; words in double braces are filled in for each role."),
        },
    ),
]
"""The form's sections after the first, in the order in which one thinks about a collection."""

SHOWN_WHERE = {"table": "way == 'table'", "grid": "way == 'grid'", "listed": "way == 'list'"}


def fieldsets(game: type[Game[Any, Any]]) -> list[tuple[Any, dict[str, Any]]]:
    """The form's sections for a collection of `game`."""
    of_game = _("Game: {title}").format(title=game.title)
    return [(of_game, {"fields": ["title", "slug", "game"], "description": game.summary}), *SECTIONS]


# ---- what the fields say about a game ------------------------------------------------------------


def _tables(game: type[Game[Any, Any]]) -> dict[str, int]:
    """The game's published tables with their numbers of configurations."""
    module = grids.published(game.key)
    tables: Mapping[str, grids.Grid] = module.TABLES if module else {}
    return {name: math.prod(len(values) for values in grid.values()) for name, grid in tables.items()}


def _example(game: type[Game[Any, Any]]) -> dict[str, list[Any]]:
    """A small grid that this game can be played with: two parameters of its published table, or its defaults."""
    module = grids.published(game.key)
    for grid in module.TABLES.values() if module else ():
        varied = [key for key, values in grid.items() if len(values) > 1]
        endless = [key for key in varied if None in grid[key]]
        return {key: list(grid[key])[:2] for key in list(dict.fromkeys([*varied[:1], *endless, *varied]))[:2]}
    return {blank.name: [blank.default] for blank in fields_of(game.Config)[:1]}


def _grid_help(game: type[Game[Any, Any]]) -> str:
    example = json.dumps(_example(game))
    return format_html(
        "{} <code>{}</code> {}{}",
        _("Such as"),
        example,
        _("for every combination of these. Parameters that are not named keep their default."),
        _parameters(game),
    )


def _list_help(game: type[Game[Any, Any]]) -> str:
    example = json.dumps([{key: values[0] for key, values in _example(game).items()}, {}])
    return format_html(
        "{} <code>{}</code> {}{}",
        _("Such as"),
        example,
        _("for two configurations, the second with every default."),
        _parameters(game),
    )


def _parameters(game: type[Game[Any, Any]]) -> str:
    return render_to_string("admin/collecting/collection/parameters.html", {"blanks": parameters(game)})


def parameters(game: type[Game[Any, Any]]) -> list[dict[str, str]]:
    """The game's parameters as one types them: {name, title, help, values, default}."""
    return [
        {
            "name": blank.name,
            "title": blank.label,
            "help": blank.help,
            "values": _kind(blank),
            "default": json.dumps(blank.default),
        }
        for blank in fields_of(game.Config)
    ]


def _kind(blank: Any) -> str:
    if blank.kind == "choice":
        return _(" or ").join(json.dumps(choice) for choice in blank.choices)
    kinds = {
        "boolean": _("true or false"),
        "integer": _("a whole number"),
        "number": _("a number"),
        "text": _("a text in quotation marks"),
    }
    kind = kinds.get(blank.kind, _("a list or object"))
    return _("{kind}, or null for none").format(kind=kind) if blank.nullable else kind


def _agents_help(game: type[Game[Any, Any]]) -> str:
    scripts = [f"script:{name}" for name in sorted(game.scripts)]
    return render_to_string("admin/collecting/collection/agents.html", {"scripts": scripts, "title": game.title})


def _prices_help() -> str:
    return render_to_string(
        "admin/collecting/collection/prices.html",
        {"prices": [(agent, price.input, price.output) for agent, price in PRICES.items()], "as_of": AS_OF},
    )


# ---- reading what was typed ------------------------------------------------------------------------


def _read_json(text: str, kind: type) -> Any:
    """The JSON in `text`.

    Raises:
        ValidationError: in words for people who do not know JSON, with the line where it stops making sense.
    """
    try:
        value = json.loads(text, object_pairs_hook=_named_once, parse_float=_float, parse_constant=_float)
    except json.JSONDecodeError as error:
        says = _(
            "This cannot be read from line {line}, character {column} on. Names stand in double quotes, values are "
            "parted by commas, and every bracket is closed."
        )
        raise ValidationError(says.format(line=error.lineno, column=error.colno)) from None
    except (ValueError, RecursionError):
        raise ValidationError(_("This cannot be read: a number too long, or too many brackets in brackets.")) from None
    if not isinstance(value, kind):
        wanted = _("braces, {…}") if kind is dict else _("square brackets, […]")
        raise ValidationError(_("This must stand in {brackets}.").format(brackets=wanted))
    return value


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    for name, _value in pairs:
        if sum(name == other for other, _value in pairs) > 1:
            raise ValidationError(_("“{name}” is named twice.").format(name=name))
    return dict(pairs)


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValidationError(_("{number} is no number that can be played with.").format(number=text))
    return number


def dollars(text: str) -> Decimal | None:
    """An amount that somebody typed; None where it is none."""
    try:
        return forms.DecimalField(
            max_digits=Collection._meta.get_field("budget").max_digits, decimal_places=2, min_value=Decimal(0)
        ).clean(text)
    except ValidationError:
        return None
