"""The form for planning a collection, for researchers who don't write code."""

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
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldBooleanSwitchWidget,
)

from collecting import plan_fields
from collecting.errors import BadPlan
from collecting.lineup_rules import RULES
from collecting.models import Collection
from collecting.planning import MAX_MATCHES, Plan, content_of
from collecting.schedule import Schedule, seats_of
from games import entries, grids
from games.errors import BadText, GameError
from games.interface import Game
from games.lineups import Lineups
from games.play import configure
from llm_agents.agent import is_scripted, parse_spec
from llm_agents.errors import AgentError
from llm_agents.pricing import AS_OF, PRICES, Price, PriceList
from matches.forms import fields_of
from opponents.agents import Agent
from opponents.price_field import PricesWidget
from studies.admin.own_texts import CODE_ATTRIBUTES
from studies.admin.parameters import PREFIX, Parameters
from studies.admin.varying import VALUES_PREFIX, GridFields, format_values

LARGEST_SEED = 2**63 - 1


@dataclass(frozen=True)
class Size:
    """The number of matches in a plan."""

    configurations: int
    lineups: int
    repetitions: int
    matches: int


class PlanForm(forms.ModelForm):
    """The plan as entered; `plan_form` adds the fields of the game.

    When the form is valid, `plan` is the argument of `planning.make_collection`. `size` is known as soon as the
    configurations and agents are valid, whatever else is missing.
    """

    game_class: type[Game[Any, Any]]
    plan: Plan
    size: Size | None = None
    configurations: Sequence[grids.Configuration] = ()

    configurations_from = forms.ChoiceField(
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
    listed = forms.JSONField(
        label=gettext_lazy("Configurations"),
        required=False,
        initial=list,
        help_text=gettext_lazy("Parameters you don't set keep the game's defaults."),
    )
    agents = forms.JSONField(
        label=gettext_lazy("Agents"),
        help_text=gettext_lazy(
            "The scripted players and language models in this collection. Give each its own name. To use "
            "the same model with different settings, add it twice. API keys are set at the endpoint, never "
            "here."
        ),
    )
    rule = forms.ChoiceField(
        label=gettext_lazy("Line-ups"),
        choices=list(RULES.items()),
        initial="product",
        widget=UnfoldAdminSelectWidget(),
        help_text=gettext_lazy("How agents are assigned to seats."),
    )
    fixed = forms.JSONField(
        label=gettext_lazy("Fixed seats"),
        required=False,
        initial=dict,
        help_text=gettext_lazy("An agent chosen here has this seat in every match."),
    )
    pool = forms.JSONField(
        label=gettext_lazy("Free seats"),
        required=False,
        help_text=gettext_lazy("By default, all agents without a fixed seat."),
    )
    by_hand = forms.JSONField(
        label=gettext_lazy("Custom line-ups"),
        required=False,
        initial=list,
        help_text=gettext_lazy("Each line-up is played in every configuration."),
    )
    rotate = forms.BooleanField(
        label=gettext_lazy("Rotate seats with each repetition"),
        required=False,
        widget=UnfoldBooleanSwitchWidget(),
    )
    sample = forms.IntegerField(
        label=gettext_lazy("Number of line-ups drawn"),
        required=False,
        min_value=1,
        widget=UnfoldAdminIntegerFieldWidget(),
        help_text=gettext_lazy("Draws this many line-ups at random. Leave empty to play all."),
    )
    seeds = forms.ChoiceField(
        label=gettext_lazy("Random seed"),
        choices=[
            ("instance", gettext_lazy("the same for all line-ups of a configuration and repetition")),
            ("match", gettext_lazy("different in every match")),
        ],
        initial="instance",
        widget=UnfoldAdminSelectWidget(),
        help_text=gettext_lazy("With the same seed, you can compare agents on the same instances."),
    )
    same = forms.BooleanField(
        label=gettext_lazy("Also against itself"),
        help_text=gettext_lazy("Each agent also plays matches in which it takes all free seats."),
        required=False,
        initial=True,
        widget=UnfoldBooleanSwitchWidget(),
    )
    repetitions = forms.IntegerField(
        label=gettext_lazy("Repetitions"),
        initial=1,
        min_value=1,
        max_value=MAX_MATCHES,
        widget=UnfoldAdminIntegerFieldWidget(),
        help_text=gettext_lazy("Number of matches of each line-up in each configuration."),
    )
    seed = forms.IntegerField(
        label=gettext_lazy("Seed"),
        required=False,
        min_value=0,
        max_value=LARGEST_SEED,
        widget=UnfoldAdminIntegerFieldWidget(),
        help_text=gettext_lazy("The same seed gives the same random draws. Leave empty for a random seed."),
    )
    prices = forms.CharField(
        label=gettext_lazy("Prices"),
        required=False,
        widget=PricesWidget(),
    )
    instructions = forms.CharField(
        label=gettext_lazy("Instructions"),
        required=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 18, **CODE_ATTRIBUTES}),
        help_text=gettext_lazy("Leave unchanged to use the game's own text."),
    )

    class Meta:
        model = Collection
        fields = ["title", "slug", "game", "concurrency", "budget", "seed"]
        help_texts = {
            "slug": gettext_lazy("Used in links, commands and file names. You cannot change it later."),
            "concurrency": gettext_lazy(
                "Number of matches in progress at the same time. Choose fewer if your provider limits calls."
            ),
        }

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        game = self.game_class
        tables = _tables(game)
        choices = [
            ("grid", _("a grid: every combination of the values below")),
            ("list", _("a list you compile yourself")),
        ]
        if tables:
            choices.insert(0, ("table", _("a published table")))
        self.fields["configurations_from"].choices = choices
        self.fields["table"].choices = [
            (name, _("{name} ({number} configurations)").format(name=name, number=f"{size:,}"))
            for name, size in tables.items()
        ]
        plan_fields.show(self.fields, game)
        self.fields["prices"].help_text = _prices_help()
        self.fields["game"].widget = forms.HiddenInput()
        self.initial["game"] = game.key
        self.initial["instructions"] = game.instruction_template()
        self.initial["seed"] = None

    # ---- reading -----------------------------------------------------------------------------------

    def clean_game(self) -> str:
        return self.game_class.key

    def clean_agents(self) -> dict[str, Agent]:
        return plan_fields.read_agents(self.game_class, self.cleaned_data["agents"])

    def clean_prices(self) -> dict[str, Price]:
        prices = _read_json(self.cleaned_data["prices"] or "{}", dict)
        parsed: dict[str, Price] = {}
        for agent, price in prices.items():
            try:
                parse_spec(agent, self.game_class)
                parsed[agent] = Price.model_validate(price)
            except AgentError as error:
                raise ValidationError(str(error)) from None
            except BadValues:
                raise ValidationError(
                    _("Enter the price of {agent} in dollars per million tokens, such as {example}.").format(
                        agent=agent, example='{"input": 0.15, "output": 0.6}'
                    )
                ) from None
        return parsed

    def clean_instructions(self) -> str:
        """Return "" for instructions left as the game's own."""
        text = self.cleaned_data["instructions"].replace("\r\n", "\n")
        return "" if text.strip() == self.game_class.instruction_template().strip() else text

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        self.configurations = self._configurations(cleaned)
        self._refuse_unpriced(cleaned)
        if self.configurations:
            self._refuse_unreadable_instructions(cleaned, self.configurations[0])
        lineups = self._lineups(cleaned)
        if lineups and self.configurations:
            self._set_size(cleaned, lineups)
        if lineups and not self.errors:
            self._read_plan(cleaned, lineups)
        return cleaned

    def _configurations(self, cleaned: Mapping[str, Any]) -> list[grids.Configuration]:
        """Return the chosen configurations; if they are invalid, add an error at their field and return none."""
        source = cleaned.get("configurations_from")
        if source is None:
            return []
        if source == "grid":
            return self._grid(cleaned)
        name = {"table": "table", "list": "listed"}[source]
        if name in self.errors:
            return []
        try:
            if source == "list":
                return plan_fields.read_configurations(self.game_class, cleaned["listed"])
            if not cleaned["table"]:
                raise ValidationError(_("Enter a value."))
            return grids.table(self.game_class.key, cleaned["table"])
        except GameError as error:
            self.add_error(name, str(error))
        except ValidationError as error:
            self.add_error(name, error)
        return []

    def _grid(self, cleaned: Mapping[str, Any]) -> list[grids.Configuration]:
        """Return every combination of the entered values; parameters left empty keep their defaults."""
        grid, errors = GridFields(self.game_class.Config).values(cleaned)
        subgrids: list[tuple[dict[str, Any], dict[str, Any]]] = [(dict(grid), {})]
        own_controls = _own_controls(self.game_class)
        for key, entry in own_controls.entries.items():
            name, value = entry.condition or (key, None)
            values = grid.get(name, [self.game_class.Config.model_fields[name].default])
            if entry.condition and value not in values:
                continue
            entered, unreadable = own_controls.entered_values({name: value}, cleaned)
            errors |= unreadable
            with_entry = [
                ({**subgrid, name: [value]} if entry.condition else subgrid, {**fixed, **entered})
                for subgrid, fixed in subgrids
            ]
            other_values = [other for other in values if other != value]
            subgrids = with_entry + [
                ({**subgrid, name: other_values}, fixed)
                for subgrid, fixed in subgrids
                if entry.condition and other_values
            ]
        for name, reason in errors.items():
            self.add_error(name, reason)
        if errors:
            return []
        try:
            return [
                configuration
                for subgrid, fixed in subgrids
                for configuration in grids.expand(self.game_class, subgrid, fixed)
            ]
        except GameError as error:
            self.add_error(next((VALUES_PREFIX + name for name in grid), "configurations_from"), str(error))
        return []

    def _refuse_unpriced(self, cleaned: Mapping[str, Any]) -> None:
        """Refuse a spending limit if the price of a model is unknown, since it could not be enforced."""
        agents: Mapping[str, Agent] = cleaned.get("agents", {})
        limited = cleaned.get("budget") is not None or any(agent.settings.cap_match for agent in agents.values())
        if not limited or "prices" not in cleaned:
            return
        price_list = PriceList(cleaned["prices"])
        specs = dict.fromkeys(spec for agent in agents.values() for spec in agent.specs)
        if unpriced := [spec for spec in specs if not is_scripted(spec) and price_list.of(spec) is None]:
            message = _("A spending limit needs the price of every model. Enter the price of {agents}.")
            self.add_error("prices", message.format(agents=", ".join(unpriced)))

    def _refuse_unreadable_instructions(self, cleaned: Mapping[str, Any], configuration: grids.Configuration) -> None:
        text = cleaned.get("instructions")
        if text:
            game = configure(self.game_class, configuration)
            try:
                for role in game.roles():
                    game.instructions(role, text)
            except BadText as error:
                self.add_error("instructions", str(error))

    def _lineups(self, cleaned: Mapping[str, Any]) -> Lineups | None:
        """Return the line-ups; if they are invalid, add an error at their field and return None."""
        if not {"agents", "rule", "fixed", "pool", "by_hand", "same", "rotate"} <= cleaned.keys():
            return None
        try:
            return plan_fields.read_lineups(cleaned)
        except ValidationError as error:
            self.add_error(None, error)
            return None

    def _set_size(self, cleaned: Mapping[str, Any], lineups: Lineups) -> None:
        """Set the size, and refuse an empty or too large plan."""
        if not {"repetitions", "seeds"} <= cleaned.keys():
            return
        try:
            schedule = Schedule(
                lineups,
                seats_of(self.game_class.key, self.configurations, 1),
                treatments=len(self.configurations),
                repetitions=cleaned["repetitions"],
            )
        except GameError as error:
            single_agent = len(lineups.agents) == 1 and not lineups.same
            self.add_error("by_hand" if lineups.rule == "listed" else "same" if single_agent else "rule", str(error))
            return
        self.size = Size(len(self.configurations), schedule.lineups, cleaned["repetitions"], schedule.total)
        if self.size.matches > MAX_MATCHES:
            message = _(
                "This plan has {matches} matches; the maximum is {most} per collection. Choose fewer values, "
                "agents or repetitions."
            )
            self.add_error("repetitions", message.format(matches=f"{self.size.matches:,}", most=f"{MAX_MATCHES:,}"))

    def _read_plan(self, cleaned: Mapping[str, Any], lineups: Lineups) -> None:
        self.plan = Plan(
            title=cleaned["title"],
            slug=cleaned["slug"],
            game=self.game_class.key,
            configurations=self.configurations,
            lineups=lineups,
            agents_by_label=cleaned["agents"],
            repetitions=cleaned["repetitions"],
            seeds=cleaned["seeds"],
            instructions=cleaned["instructions"],
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
    """Return the form for a collection of `game`."""
    own_fields = _own_controls(game).entry_fields({})
    fields = {**_grid_fields(game), **own_fields}
    return type("PlanForm", (PlanForm,), {**fields, "game_class": game})


SECTIONS = [
    (gettext_lazy("Who plays"), {"fields": ["agents"]}),
    (
        gettext_lazy("Seats"),
        {"fields": ["rule", "fixed", "pool", "by_hand", "same", "rotate", "sample", "repetitions"]},
    ),
    (gettext_lazy("Concurrency and cost"), {"fields": ["concurrency", "budget", "prices"]}),
    (gettext_lazy("Random seed"), {"classes": ["collapse"], "fields": ["seeds", "seed"]}),
    (
        gettext_lazy("Texts"),
        {
            "classes": ["collapse"],
            "fields": ["instructions"],
            "description": gettext_lazy("Markdown. Words in double braces are filled in for each role."),
        },
    ),
]
"""The form's sections after the first, in the order in which researchers plan a collection."""

CONDITIONS = {
    "table": "configurations_from == 'table'",
    "listed": "configurations_from == 'list'",
    "by_hand": "rule == 'listed'",
    **dict.fromkeys(("fixed", "pool"), "rule != 'listed'"),
    "same": "rule == 'product' || rule == 'combinations'",
}


def conditions(game: type[Game[Any, Any]]) -> dict[str, str]:
    """Return the condition under which the admin shows each field."""
    own_conditions = {
        PREFIX + key: f"configurations_from == 'grid' && "
        f"({VALUES_PREFIX}{entry.condition[0]} || '').includes('{entry.condition[1]}')"
        for key, entry in entries.of(game.key).items()
        if entry.condition
    }
    return {
        **CONDITIONS,
        **dict.fromkeys(GridFields(game.Config).form_fields({}), "configurations_from == 'grid'"),
        **own_conditions,
    }


def _own_controls(game: type[Game[Any, Any]]) -> Parameters:
    """Return the parameters for which the game has its own controls."""
    return Parameters(game.Config, entries=entries.of(game.key))


def fieldsets(game: type[Game[Any, Any]]) -> list[tuple[Any, dict[str, Any]]]:
    """Return the form's sections for a collection of `game`."""
    game_section = _("Game: {title}").format(title=game.title)
    own_fields = _own_controls(game).entry_fields({})
    played_section = {
        "fields": ["configurations_from", "table", *GridFields(game.Config).form_fields({}), *own_fields, "listed"]
    }
    return [
        (game_section, {"fields": ["title", "slug", "game"], "description": game.summary}),
        (_("What is played"), played_section),
        *SECTIONS,
    ]


# ---- help texts about a game ----------------------------------------------------------------------


def _tables(game: type[Game[Any, Any]]) -> dict[str, int]:
    """Return the choices of the game's published tables, with their numbers of configurations."""
    module = grids.published(game.key)
    tables: Mapping[str, grids.Grid] = getattr(module, "TABLES", {})
    return {name: math.prod(len(values) for values in grid.values()) for name, grid in tables.items()}


def _grid_fields(game: type[Game[Any, Any]]) -> dict[str, forms.Field]:
    """Return a field per single-valued parameter, with the game's own label and help text."""
    fields = GridFields(game.Config).form_fields({})
    parameters = {VALUES_PREFIX + parameter.name: parameter for parameter in fields_of(game.Config)}
    for name, field in fields.items():
        parameter = parameters[name]
        label = parameter.label if parameter.label != parameter.name else parameter.name.replace("_", " ").capitalize()
        field.label = label
        field.help_text = format_html(
            "{} <code>{}</code> {}",
            parameter.help,
            parameter.name,
            _("One value, or several, comma-separated."),
        )
        field.widget.attrs["placeholder"] = _("default: {value}").format(
            value=format_values(parameter, [parameter.default])
        )
    return fields


def _prices_help() -> str:
    return render_to_string(
        "admin/collecting/collection/prices.html",
        {"prices": [(agent, price.input, price.output) for agent, price in PRICES.items()], "as_of": AS_OF},
    )


# ---- parsing ---------------------------------------------------------------------------------------


def _read_json(text: str, kind: type) -> Any:
    """Return the JSON in `text`.

    Raises:
        ValidationError: a plain explanation with the line of the error.
    """
    try:
        value = json.loads(text, object_pairs_hook=_named_once, parse_float=_float, parse_constant=_float)
    except json.JSONDecodeError as error:
        message = _(
            "Invalid JSON at line {line}, character {column}. Put names in double quotes, separate values "
            "with commas, and close every bracket."
        )
        raise ValidationError(message.format(line=error.lineno, column=error.colno)) from None
    except (ValueError, RecursionError):
        raise ValidationError(_("Invalid JSON: a number is too long, or brackets are nested too deeply.")) from None
    if not isinstance(value, kind):
        brackets = _("braces, {…}") if kind is dict else _("square brackets, […]")
        raise ValidationError(_("Write this in {brackets}.").format(brackets=brackets))
    return value


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    for name, _value in pairs:
        if sum(name == other for other, _value in pairs) > 1:
            raise ValidationError(_("“{name}” appears twice. Remove one.").format(name=name))
    return dict(pairs)


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValidationError(_("{number} is not a valid number. Enter a number such as 0.9.").format(number=text))
    return number


def dollars(text: str) -> Decimal | None:
    """Return an amount as entered; None if it is not an amount."""
    try:
        return forms.DecimalField(
            max_digits=Collection._meta.get_field("budget").max_digits, decimal_places=2, min_value=Decimal(0)
        ).clean(text)
    except ValidationError:
        return None
