"""The set-up form for studies, for researchers who don't write code."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from django import forms
from django.contrib.admin.models import LogEntry
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminSelectWidget,
)

import games.play
from games import entries, grids, registry
from games.errors import GameError
from games.interface import Game
from matches.models import Match
from opponents.agents import agents_from_specs
from plans.starting import first_of_each_kind
from studies.admin import meanwhile
from studies.admin.ending_fields import chosen_endings, ending_form_fields
from studies.admin.parameters import NONE_SUFFIX, PREFIX, Parameters
from studies.admin.survey_field import SurveyWidget, read_survey
from studies.admin.table_fields import TableWidget, agents_data, read_data, seats_data
from studies.admin.varying import VALUES_PREFIX, GridFields
from studies.models import Study
from studies.names import is_referenced

KINDS = ("table", "selection", "configurations")
"""Kinds of design that are chosen by name. Otherwise, the parameters' values form a grid."""
OTHER_GAMES = tuple(f"other_game_{number}" for number in range(2, 2 + MAX_OTHERS))
"""The fields that choose a session's other games."""
STEPS = (
    ("game", gettext_lazy("Game")),
    ("agents", gettext_lazy("Agents")),
    ("people", gettext_lazy("Who plays")),
    ("texts", gettext_lazy("Texts")),
    ("around", gettext_lazy("Consent and surveys")),
    ("checks", gettext_lazy("Checks and timers")),
    ("pay", gettext_lazy("Pay")),
    ("entry", gettext_lazy("Entry")),
)
"""The steps of setting up a study, as (name, title). Each section's class `step-NAME` assigns it to a step."""


def _game_parameters(game: type[Game[Any, Any]]) -> Parameters:
    return Parameters(game.Config, entries=entries.of(game.key))


def _grid_fields(game: type[Game[Any, Any]]) -> GridFields:
    return GridFields(game.Config)


class StudyForm(forms.ModelForm):
    """The study's own fields; `study_form` adds those of its game."""

    game_class: type[Game[Any, Any]]
    visible_studies: QuerySet[Study]

    changed_meanwhile: Sequence[meanwhile.Row] = ()
    """What others changed since this form was opened. It is not saved before the person has seen that."""
    last_change: LogEntry | None = None

    opened_with = forms.CharField(required=False, widget=forms.HiddenInput())
    values_from = forms.ChoiceField(
        label=gettext_lazy("Configurations"),
        required=False,
        widget=UnfoldAdminSelectWidget(),
        help_text=gettext_lazy("A configuration is one value for each parameter. Each role in it is a cell."),
    )
    roles = forms.MultipleChoiceField(
        label=gettext_lazy("Roles for participants"),
        widget=UnfoldAdminCheckboxSelectMultipleWidget(),
        required=False,
        help_text=gettext_lazy("Participants play each role ticked here, in separate matches. Agents play the others."),
    )

    class Meta:
        model = Study
        exclude = ["config", "status", "endings", "session_games"]
        widgets = {
            "game": forms.HiddenInput(),
            "survey_before": SurveyWidget(may_end=True),
            "survey_after": SurveyWidget(),
        }
        labels = {"design": gettext_lazy("Custom configurations")}
        help_texts = {
            "agents": gettext_lazy(
                "The scripted players and language models in this study. Give each its own name. To use the "
                "same model with different settings, add it twice."
            ),
            "lineups": gettext_lazy(
                "Who takes which seat. Line-ups are treatments: each is crossed with every configuration, and "
                "participants are assigned at random."
            ),
            "design": gettext_lazy(
                'JSON, such as {"configurations": [{"config": {"rounds": 5}, "quota": 10, "kind": "main"}]}, '
                'or {"seed": 2} with a published selection. For announced averages that depend on a parameter, '
                'add {"averages": {"by": "scale", "amounts": {"100": "0.50"}}}.'
            ),
        }

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        if self.instance.pk is None and not self.instance.config:
            self.instance.config = dict(self.game_class.starting_config)
        offered = _roles(self.game_class, self.instance.config)
        chosen = [(role, role) for role in self.instance.roles if role not in dict(offered)]
        self.fields["roles"].choices = [*offered, *chosen]
        for name, field in _game_parameters(self.game_class).form_fields(self.instance.config).items():
            self.fields[name].initial = field.initial
        for name, field in ending_form_fields(self.instance.endings).items():
            self.fields[name].initial = field.initial
        self._show_design()
        self._show_agents_and_lineups()
        self._list_other_games()
        if "game" in self.fields:
            self.fields["game"].widget = forms.HiddenInput()
            self.initial["game"] = self.game_class.key
        if "purpose" in self.fields:  # a study for simulated participants is nothing else, before and after
            is_simulated = self.instance.purpose == Match.Purpose.SIMULATED
            purposes = [each for each in Match.Purpose if (each == Match.Purpose.SIMULATED) == is_simulated]
            self.fields["purpose"].choices = [(each.value, each.label) for each in purposes]
        if "instructions" in self.fields and not self.instance.instructions:
            self.initial["instructions"] = self.game_class.instruction_template()
        if "slug" in self.fields and self.instance.pk and is_referenced(self.instance):
            self.fields["slug"].disabled = True
            self.fields["slug"].help_text = _(
                "Links, codes or a pay limit depend on this name, so it cannot be changed."
            )
        if not self.initial.get("roles") and not self.instance.lineups:
            self.initial["roles"] = [role for role, _title in self.fields["roles"].choices][:1]
        if self.instance.pk:
            self.initial[meanwhile.OPENED] = meanwhile.opened_with(self)
            if self.is_bound and (rows := meanwhile.merge(self)):
                self.changed_meanwhile, self.last_change = rows, meanwhile.last_change(self.instance)
        self._list_substitutes()

    def _show_agents_and_lineups(self) -> None:
        """Fill in the agents and line-ups that the scripts show; a new study gets the default opponent."""
        self.instance.game = self.instance.game or self.game_class.key
        for name, data in (("agents", agents_data(self.game_class)), ("lineups", seats_data(self.instance))):
            if name in self.fields:
                self.fields[name].widget = TableWidget(name, data)
        if "agents" in self.fields and not self.instance.agents and not self.instance.lineups:
            has_opponents = len(self.game_class(self.game_class.Config()).roles()) > 1
            self.initial["agents"] = (
                agents_from_specs(f"script:{self.game_class.default_script}") if has_opponents else {}
            )

    def _list_substitutes(self) -> None:
        """Offer the study's agents as substitutes; `lineups.js` updates the list as agents are renamed."""
        if "fills_in" not in self.fields:
            return
        agents = self.initial.get("agents") or self.instance.agents
        if self.is_bound:
            with suppress(ValueError):
                agents = json.loads(self.data.get(self.add_prefix("agents")) or "{}")
        labels = [*(agents if isinstance(agents, dict) else {}), self["fills_in"].value()]
        choices = [("", _("none")), *((label, label) for label in dict.fromkeys(labels) if label)]
        self.fields["fills_in"].widget = UnfoldAdminSelectWidget(choices=choices)

    def _list_other_games(self) -> None:
        """Offer the other studies the user may see as games for the same session."""
        offered = self.visible_studies.exclude(pk=self.instance.pk).filter(session_matches=1).order_by("title")
        chosen = list(self.instance.session_games or [])
        titles = {str(study.pk): f"{study.title} ({registry.get(study.game).title})" for study in offered}
        titles |= {
            str(study.pk): study.title for study in self.instance.other_game_studies() if str(study.pk) not in titles
        }
        for index, name in enumerate(OTHER_GAMES):
            self.fields[name].choices = [("", _("none")), *titles.items()]
            self.fields[name].initial = str(chosen[index]) if index < len(chosen) else ""

    def _show_design(self) -> None:
        """Show what is varied: parameter values, a published set, or custom configurations."""
        self.fields["values_from"].choices = configuration_sources(self.game_class)
        design = dict(self.instance.design or {})
        grid = design.pop("grid", {})
        for name, field in _grid_fields(self.game_class).form_fields(grid if isinstance(grid, dict) else {}).items():
            self.fields[name].initial = field.initial
        for kind in KINDS:
            if kind in design:
                self.initial["values_from"] = kind if kind == "configurations" else f"{kind}:{design.pop(kind)}"
        self.initial["design"] = design

    def clean_game(self) -> str:
        return self.game_class.key

    def clean_instructions(self) -> str:
        """Return "" for instructions left as the game's own, so that they follow the game's."""
        text = self.cleaned_data["instructions"].replace("\r\n", "\n")
        return "" if text.strip() == self.game_class.instruction_template().strip() else text

    def clean_agents(self) -> dict[str, Any]:
        return read_data(
            self.cleaned_data["agents"],
            dict,
            _("Enter the agents as a JSON object that maps each name to its settings."),
        )

    def clean_lineups(self) -> list[Any]:
        return read_data(
            self.cleaned_data["lineups"],
            list,
            _("Enter the line-ups as a JSON list."),
        )

    def clean_consent(self) -> str:
        return self.cleaned_data["consent"].replace("\r\n", "\n")

    def clean_debriefing(self) -> str:
        return self.cleaned_data["debriefing"].replace("\r\n", "\n")

    def clean_survey_before(self) -> list[dict[str, Any]]:
        return read_survey(self.cleaned_data["survey_before"], may_end=True)

    def clean_survey_after(self) -> list[dict[str, Any]]:
        return read_survey(self.cleaned_data["survey_after"])

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if self.changed_meanwhile:
            self.add_error(
                None,
                _(
                    "Not saved: others saved this study while you were editing. Check what they changed, then save "
                    "again."
                ),
            )
        config, errors = self._read_parameters(cleaned)
        for name, reason in errors.items():
            self.add_error(name if name in self.fields else None, reason)
        self.instance.config = config
        self.instance.endings = chosen_endings(cleaned)
        self.instance.session_games = [int(cleaned[name]) for name in OTHER_GAMES if cleaned.get(name)]
        if not cleaned.get("lineups") and not cleaned.get("roles") and "roles" not in self.errors:
            self.add_error("roles", _("Tick at least one role."))
        return cleaned

    def _read_parameters(self, cleaned: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the study's parameters and the errors by form field; put its design into `cleaned`.

        A varied parameter needs no single value. If a published set determines everything, no parameter needs one.
        """
        kind, _colon, name = cleaned.get("values_from", "").partition(":")
        design = dict(cleaned.get("design") or {})
        if kind in ("table", "selection"):
            cleaned["design"] = {**design, kind: name}
            for field in [field for field in self.errors if field.startswith((PREFIX, VALUES_PREFIX))]:
                del self.errors[field]
            return {}, {}
        grid, grid_errors = _grid_fields(self.game_class).values(cleaned)
        for parameter, values in grid.items():
            field = PREFIX + parameter
            self.errors.pop(field, None)
            cleaned |= {field: values[0], field + NONE_SUFFIX: values[0] is None}
        if grid and kind == "configurations":
            message = _("Leave this empty. Custom configurations contain their own values.")
            grid_errors |= {VALUES_PREFIX + parameter: message for parameter in grid}
        elif grid:
            design = {"grid": grid, **design}
        cleaned["design"] = design
        for field in grid_errors:
            parameter = PREFIX + field.removeprefix(VALUES_PREFIX)
            self.errors.pop(parameter, None)
            cleaned.pop(parameter, None)
            cleaned.pop(parameter + NONE_SUFFIX, None)
        config, errors = _game_parameters(self.game_class).values(cleaned)
        return config, {**errors, **grid_errors}

    def _update_errors(self, errors: ValidationError) -> None:
        """Show the study's own errors at the form fields they concern."""
        displayed_errors: dict[str, Any] = {}
        for name, problems in errors.update_error_dict({}).items():
            if name == "config":
                if any(field.startswith(PREFIX) for field in self.errors):
                    continue
                name = NON_FIELD_ERRORS
            name = {"design": self._varied_field(), "session_games": OTHER_GAMES[0]}.get(name, name)
            if name not in self.errors:
                displayed_errors.setdefault(name if name in self.fields else NON_FIELD_ERRORS, []).extend(problems)
        if displayed_errors:
            super()._update_errors(ValidationError(displayed_errors))

    def _varied_field(self) -> str:
        """Return the field that shows design errors: the first varied parameter, or the JSON field."""
        design = self.cleaned_data.get("design") or {}
        varied = next(iter(design.get("grid", ())), None)
        return "design" if varied is None else VALUES_PREFIX + varied


def study_form(game: type[Game[Any, Any]], visible_studies: QuerySet[Study] | None = None) -> type[StudyForm]:
    """Return the form for a study of `game`, with a field for each of its parameters.

    Args:
        visible_studies: the studies the user can choose as other games.
    """
    other_games = {
        name: forms.ChoiceField(
            label=_("Game {number}").format(number=number), required=False, widget=UnfoldAdminSelectWidget()
        )
        for number, name in enumerate(OTHER_GAMES, start=2)
    }
    fields = {
        **other_games,
        **_game_parameters(game).form_fields({}),
        **_grid_fields(game).form_fields({}),
        **ending_form_fields({}),
    }
    selectable_studies = Study.objects.none() if visible_studies is None else visible_studies
    return type("StudyForm", (StudyForm,), {**fields, "game_class": game, "visible_studies": selectable_studies})


def configuration_sources(game: type[Game[Any, Any]]) -> list[tuple[str, str]]:
    """Return the possible sources of a study's configurations, as choices."""
    module = grids.published(game.key)
    tables = getattr(module, "TABLES", {})
    selections = getattr(module, "SELECTIONS", {})
    return [
        ("", _("the values below: one or several per parameter")),
        *((f"table:{name}", _("the published table “{name}”").format(name=name)) for name in tables),
        *(
            (
                f"selection:{name}",
                _("the published selection “{name}” for participants, with its quotas").format(name=name),
            )
            for name in selections
        ),
        ("configurations", _("custom configurations (JSON)")),
    ]


def conditions(game: type[Game[Any, Any]]) -> dict[str, str]:
    """Return the condition under which the admin shows each parameter's field."""
    enters_values = "!values_from || values_from == 'configurations'"
    names = [name for row in _parameter_rows(game) for name in row]
    entry_conditions = {PREFIX + key: entry.condition for key, entry in entries.of(game.key).items() if entry.condition}
    return {
        **dict.fromkeys(names, enters_values),
        **{
            name: f"({enters_values}) && {PREFIX}{parameter} == '{value}'"
            for name, (parameter, value) in entry_conditions.items()
        },
        "design": "values_from || (design || '{}').trim() != '{}'",
    }


def _parameter_rows(game: type[Game[Any, Any]]) -> list[tuple[str, ...]]:
    """Return one row per parameter: its value, the "none" checkbox and the field for several values."""
    grid_fields = _grid_fields(game).form_fields({})
    rows = []
    for row in _game_parameters(game).rows():
        names = (row,) if isinstance(row, str) else row
        varied = VALUES_PREFIX + names[0].removeprefix(PREFIX)
        rows.append((*names, varied) if varied in grid_fields else names)
    return rows


def fieldsets(game: type[Game[Any, Any]]) -> list[tuple[Any, dict[str, Any]]]:
    """Return the form's sections in the order in which researchers plan a study."""
    return [
        (None, {"classes": ["step-game"], "fields": ["title", "slug", "purpose"]}),
        (
            _("Game: {title}").format(title=game.title),
            {
                "classes": ["step-game"],
                "fields": ["game", "values_from", *_parameter_rows(game), "design"],
                "description": game.summary,
            },
        ),
        (
            _("Agents"),
            {
                "classes": ["step-agents"],
                "fields": ["agents", "discloses"],
                "description": _(
                    "The players that are not participants. Scripted players follow a fixed rule, are free and "
                    "need no key. Language models are called at one of your endpoints, which stores the key."
                ),
            },
        ),
        (
            _("Who plays"),
            {
                "classes": ["step-people"],
                "fields": ["roles", "lineups", "quota"],
                "description": _(
                    "Without line-ups, each match has one participant and one agent. Add line-ups to let "
                    "participants play with each other or with several agents."
                ),
            },
        ),
        (
            _("Playing together"),
            {
                "classes": ["step-people"],
                "fields": [("lobby_seconds", "ready_seconds"), ("lobby_after", "fills_in"), "whole_groups"],
                "description": _(
                    "Participants who play in the same match meet in a lobby. Use the timers below to choose what "
                    "happens when someone stops answering. Each participant has their own data and pay."
                ),
            },
        ),
        (
            _("Several games"),
            {
                "classes": ["step-people"],
                "fields": [
                    ("session_matches", "session_order"),
                    *OTHER_GAMES,
                    ("session_partners", "session_pays"),
                ],
                "description": _(
                    "How many matches each participant plays in a row. The instructions say which of them is paid. "
                    "To add another game, set it up as a separate study, which may stay a draft. Its parameters, "
                    "agents, line-ups, instructions, timers and lobby are copied when you launch this study. "
                    "Consent, checks, surveys and pay always come from this study."
                ),
            },
        ),
        (
            _("Texts"),
            {
                "classes": ["step-texts"],
                "fields": ["amounts", "instructions"],
                "description": _(
                    "Markdown. Participants and models read the same instructions. Words in double braces are "
                    "filled in for each role. The result is shown below."
                ),
            },
        ),
        (
            _("Consent"),
            {
                "classes": ["step-around"],
                "fields": ["consent"],
                "description": _("What participants agree to before the study begins. The result is shown below."),
            },
        ),
        (
            _("Surveys"),
            {
                "classes": ["step-around"],
                "fields": ["survey_before", "survey_after"],
                "description": _(
                    "Your own questions, one page before the rules and one after the match. The answers are "
                    "columns of the dataset's participants table."
                ),
            },
        ),
        (_("Debriefing"), {"classes": ["step-around"], "fields": ["debriefing"]}),
        (
            _("Checks"),
            {
                "classes": ["step-checks"],
                "fields": ["asks_code_word", "code_word_again", "asks_quiz", "counts_behaviour"],
                "description": _(
                    "A participant who fails a check ends the study there, and their data stay out of the dataset."
                ),
            },
        ),
        (
            _("Timers"),
            {
                "classes": ["step-checks"],
                "fields": [
                    "turn_seconds",
                    "extension_seconds",
                    "report_seconds",
                    "absence_seconds",
                    "grace_seconds",
                    "on_timeout",
                    "returns",
                    "minutes",
                ],
            },
        ),
        (_("When opponents fail"), {"classes": ["step-checks"], "fields": ["pauses_on_failure", "failure_cap"]}),
        (
            _("Pay"),
            {
                "classes": ["step-pay"],
                "fields": ["currency", "base", "pay_rule", "announced_average", "rate", "cap"],
                "description": _(
                    "Participants who complete the study receive base pay and a bonus. Share: twice the announced "
                    "average times their success, from 0 to 1. Linear: the rate times the payoff. The bonus is "
                    "never negative and never above the cap. How many participants are paid follows from the matches "
                    "per cell, in the step Who plays."
                ),
            },
        ),
        (
            _("What other endings pay"),
            {
                "classes": ["step-pay"],
                "fields": [*ending_form_fields({}), "waiting_rate"],
                "description": _(
                    "What participants receive if they don't complete the study. They see these amounts in the "
                    "consent text, before the match and on their last page. Participants who return the task to "
                    "the recruiter are paid nothing. Those who made every move complete the study, even if they leave "
                    "before its last page."
                ),
            },
        ),
        (
            _("Entry"),
            {
                "classes": ["step-entry"],
                "fields": ["entry", ("most_participations", "rest_hours")],
                "description": _(
                    "How participants reach the study, and how often they may take part. An open link cannot "
                    "recognize returning participants. Pilots and demonstrations don't count towards the "
                    "limit. Save the study, then "
                    "launch it from its page. Mechanical Turk: according to Amazon's documentation (read on "
                    "2026-11-22), it closes permanently on 30 September 2026. Use Prolific or a panel instead."
                ),
            },
        ),
    ]


def _roles(game: type[Game[Any, Any]], config: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the roles that participants may take, one per kind of seat, with their display names."""
    for values in (config, {}):
        try:
            configured = games.play.configure(registry.get(game.key), values)
        except GameError:
            continue
        return [
            (role, f"{configured.role_label(role)} ({role})")
            for role in first_of_each_kind(configured, configured.people())
        ]
    return []
