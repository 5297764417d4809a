"""Setting up a study, for people who write no code."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
)

import games.play
from games import grids, registry
from games.errors import GameError
from games.interface import Game
from matches.agent_settings import AgentSettings, settings_of
from studies.admin.ending_fields import blanks_of_endings, chosen_endings
from studies.admin.own_texts import explain
from studies.admin.parameters import NONE, PREFIX, Parameters
from studies.admin.survey_field import SurveyWidget, read_survey
from studies.admin.varying import SEVERAL, Varied
from studies.models import Study
from studies.names import is_given_out

SCRIPT = "script:"
PROVIDERS = {
    "openai": gettext_lazy("Language model: OpenAI, or any server that speaks its protocol"),
    "anthropic": gettext_lazy("Language model: Anthropic"),
}


WAYS = ("table", "selection", "configurations")
"""The ways of varying that are chosen by name; without one the parameters' own values make a grid."""
STEPS = (
    ("game", gettext_lazy("Game")),
    ("people", gettext_lazy("People")),
    ("opponent", gettext_lazy("Opponent")),
    ("texts", gettext_lazy("Texts")),
    ("around", gettext_lazy("Consent and surveys")),
    ("checks", gettext_lazy("Checks and timers")),
    ("pay", gettext_lazy("Pay")),
    ("entry", gettext_lazy("Entry")),
)
"""The steps of setting a study up, as (name, title): each section below says by its class `step-NAME` where it is."""

OF_OPPONENT = Parameters(AgentSettings, prefix="asking_")


def _of_game(game: type[Game[Any, Any]]) -> Parameters:
    return Parameters(game.Config)


def _several(game: type[Game[Any, Any]]) -> Varied:
    return Varied(game.Config)


class StudyForm(forms.ModelForm):
    """The study's own fields; `study_form` adds those of its game."""

    game_class: type[Game[Any, Any]]

    way = forms.ChoiceField(
        label=gettext_lazy("Configurations"),
        required=False,
        widget=UnfoldAdminSelectWidget(),
        help_text=gettext_lazy("A configuration is one value for each parameter; each role in it is a cell."),
    )
    opponent = forms.ChoiceField(
        label=gettext_lazy("Opponent"),
        widget=UnfoldAdminSelectWidget(),
        help_text=gettext_lazy("A scripted player follows a fixed rule, costs nothing and needs no key."),
    )
    model_name = forms.CharField(
        label=gettext_lazy("Model"),
        required=False,
        max_length=150,
        widget=UnfoldAdminTextInputWidget(),
        help_text=gettext_lazy("The model's name as its provider writes it. Its key is set on the server, never here."),
    )
    roles = forms.MultipleChoiceField(
        label=gettext_lazy("Roles for people"),
        widget=UnfoldAdminCheckboxSelectMultipleWidget(),
        help_text=gettext_lazy("Each role ticked here is played by people; the opponent plays the others."),
        error_messages={"required": gettext_lazy("Tick at least one role.")},
    )

    class Meta:
        model = Study
        exclude = ["config", "agent", "asking", "status", "endings"]
        widgets = {
            "game": forms.HiddenInput(),
            "survey_before": SurveyWidget(may_end=True),
            "survey_after": SurveyWidget(),
        }
        labels = {"design": gettext_lazy("Written by hand")}
        help_texts = {
            "design": gettext_lazy(
                'In JSON, such as {"configurations": [{"config": {"rounds": 5}, "quota": 10, "kind": "main"}]}; '
                'beside a published selection {"seed": 2}. Announced averages that depend on a parameter: '
                '{"averages": {"by": "scale", "amounts": {"100": "0.50"}}}.'
            )
        }

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        scripts = [
            (SCRIPT + name, _("Scripted player: {name}").format(name=name)) for name in sorted(self.game_class.scripts)
        ]
        self.fields["opponent"].choices = [*scripts, *((key, str(title)) for key, title in PROVIDERS.items())]
        self.fields["roles"].choices = _roles(self.game_class, self.instance.config)
        shown = {
            **_of_game(self.game_class).blanks(self.instance.config),
            **OF_OPPONENT.blanks(self.instance.asking),
        }
        for name, field in shown.items():
            self.fields[name].initial = field.initial
        for name, field in blanks_of_endings(self.instance.endings).items():
            self.fields[name].initial = field.initial
        explain(self.fields, OF_OPPONENT.prefix, self.game_class(self.game_class.Config()))
        self._show_design()
        self._show_agent(self.instance.agent, [key for key, _title in scripts])
        if "game" in self.fields:
            self.fields["game"].widget = forms.HiddenInput()
            self.initial["game"] = self.game_class.key
        if "instructions" in self.fields and not self.instance.instructions:
            self.initial["instructions"] = self.game_class.instruction_template()
        if "slug" in self.fields and self.instance.pk and is_given_out(self.instance):
            self.fields["slug"].disabled = True
            self.fields["slug"].help_text = _("Links, codes or a limit of pay hang on this name, so it stays.")
        if not self.initial.get("roles"):
            self.initial["roles"] = [role for role, _title in self.fields["roles"].choices][:1]

    def _show_design(self) -> None:
        """What is varied: by the values of parameters, by name, or as it was written by hand."""
        self.fields["way"].choices = ways(self.game_class)
        design = dict(self.instance.design or {})
        grid = design.pop("grid", {})
        for name, field in _several(self.game_class).blanks(grid if isinstance(grid, dict) else {}).items():
            self.fields[name].initial = field.initial
        for way in WAYS:
            if way in design:
                self.initial["way"] = way if way == "configurations" else f"{way}:{design.pop(way)}"
        self.initial["design"] = design

    def _show_agent(self, agent: str, scripts: list[str]) -> None:
        provider, _colon, model = agent.partition(":")
        if provider in PROVIDERS:
            self.initial.update(opponent=provider, model_name=model)
        else:
            self.initial["opponent"] = agent if agent in scripts else f"{SCRIPT}{self.game_class.sparring}"

    def clean_game(self) -> str:
        return self.game_class.key

    def clean_instructions(self) -> str:
        """What was left as the game has it is not the study's own text, and follows the game's."""
        text = self.cleaned_data["instructions"].replace("\r\n", "\n")
        return "" if text.strip() == self.game_class.instruction_template().strip() else text

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
        config, errors = self._read_parameters(cleaned)
        settings, wrong = OF_OPPONENT.values(cleaned)
        if not wrong:
            found = settings_of(settings).check(self.game_class(self.game_class.Config()))
            wrong = {OF_OPPONENT.prefix + name: reason for name, reason in found.items()}
        for name, reason in {**errors, **wrong}.items():
            self.add_error(name if name in self.fields else None, reason)
        self.instance.config, self.instance.asking = config, settings
        self.instance.endings = chosen_endings(cleaned)
        opponent, model = cleaned.get("opponent", ""), cleaned.get("model_name", "").strip()
        if opponent in PROVIDERS:
            self.instance.agent = f"{opponent}:{model}"
            if not model:
                self.add_error("model_name", _("Which model? Please give its name."))
        elif opponent:
            self.instance.agent = opponent
        return cleaned

    def _read_parameters(self, cleaned: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
        """The study's parameters and, into `cleaned`, its design; with what is wrong by form field.

        What is varied needs no single value, and where a published set says everything, no value at all.
        """
        way, _colon, name = cleaned.get("way", "").partition(":")
        design = dict(cleaned.get("design") or {})
        if way in ("table", "selection"):
            cleaned["design"] = {**design, way: name}
            for field in [field for field in self.errors if field.startswith((PREFIX, SEVERAL))]:
                del self.errors[field]
            return {}, {}
        grid, wrong = _several(self.game_class).values(cleaned)
        for parameter, values in grid.items():
            field = PREFIX + parameter
            self.errors.pop(field, None)
            cleaned |= {field: values[0], field + NONE: values[0] is None}
        if grid and way == "configurations":
            says = _("Configurations by hand say their own values; please leave this empty.")
            wrong |= {SEVERAL + parameter: says for parameter in grid}
        elif grid:
            design = {"grid": grid, **design}
        cleaned["design"] = design
        for field in wrong:
            parameter = PREFIX + field.removeprefix(SEVERAL)
            self.errors.pop(parameter, None)
            cleaned.pop(parameter, None)
            cleaned.pop(parameter + NONE, None)
        config, errors = _of_game(self.game_class).values(cleaned)
        return config, {**errors, **wrong}

    def _update_errors(self, errors: ValidationError) -> None:
        """Put what the study itself refuses at the fields of this form that stand for it."""
        stand_for = {"agent": "model_name" if self.cleaned_data.get("opponent") in PROVIDERS else "opponent"}
        found: dict[str, Any] = {}
        for name, problems in errors.update_error_dict({}).items():
            if name == "asking" and any(field.startswith(OF_OPPONENT.prefix) for field in self.errors):
                continue
            if name == "config":
                if any(field.startswith(PREFIX) for field in self.errors):
                    continue
                name = NON_FIELD_ERRORS
            name = self._varied_field() if name == "design" else stand_for.get(name, name)
            if name not in self.errors:
                found.setdefault(name if name in self.fields else NON_FIELD_ERRORS, []).extend(problems)
        if found:
            super()._update_errors(ValidationError(found))

    def _varied_field(self) -> str:
        """Where an error of the design is shown: at the first parameter with several values, else at the text."""
        design = self.cleaned_data.get("design") or {}
        varied = next(iter(design.get("grid", ())), None)
        return "design" if varied is None else SEVERAL + varied


def study_form(game: type[Game[Any, Any]]) -> type[StudyForm]:
    """The form for a study of `game`: one field per parameter of it."""
    fields = {
        **_of_game(game).blanks({}),
        **_several(game).blanks({}),
        **OF_OPPONENT.blanks({}),
        **blanks_of_endings({}),
    }
    return type("StudyForm", (StudyForm,), {**fields, "game_class": game})


def ways(game: type[Game[Any, Any]]) -> list[tuple[str, str]]:
    """The ways in which a study of this game can say its configurations."""
    module = grids.published(game.key)
    tables = module.TABLES if module else {}
    selections = getattr(module, "SELECTIONS", {}) if module else {}
    return [
        ("", _("the values given below: one or several for each parameter")),
        *((f"table:{name}", _("the published table “{name}”").format(name=name)) for name in tables),
        *(
            (f"selection:{name}", _("the published selection “{name}” for people, with its quotas").format(name=name))
            for name in selections
        ),
        ("configurations", _("written by hand")),
    ]


def shown_where(game: type[Game[Any, Any]]) -> dict[str, str]:
    """Which answers bring up which parameters, as the admin's conditions."""
    names = [name for row in _parameter_rows(game) for name in row]
    return {
        **{name: "!way || way == 'configurations'" for name in names},
        "design": "way || (design || '{}').trim() != '{}'",
    }


def _parameter_rows(game: type[Game[Any, Any]]) -> list[tuple[str, ...]]:
    """A line per parameter: its value, the box for none, its several values."""
    several = _several(game).blanks({})
    rows = []
    for row in _of_game(game).rows():
        names = (row,) if isinstance(row, str) else row
        varied = SEVERAL + names[0].removeprefix(PREFIX)
        rows.append((*names, varied) if varied in several else names)
    return rows


def fieldsets(game: type[Game[Any, Any]]) -> list[tuple[Any, dict[str, Any]]]:
    """The form's sections, in the order in which one thinks about a study."""
    return [
        (None, {"classes": ["step-game"], "fields": ["title", "slug", "purpose"]}),
        (
            _("Game: {title}").format(title=game.title),
            {
                "classes": ["step-game"],
                "fields": ["game", "way", *_parameter_rows(game), "design"],
                "description": game.summary,
            },
        ),
        (
            _("People"),
            {
                "classes": ["step-people"],
                "fields": ["roles", "quota"],
                "description": _("Whom you want, and how many complete games in each role of each configuration."),
            },
        ),
        (
            _("Opponent"),
            {"classes": ["step-opponent"], "fields": ["opponent", "model_name", "agent_delay", "tells_opponent"]},
        ),
        (
            _("How a model is asked, and what if it fails"),
            {
                "classes": ["collapse", "step-opponent"],
                "fields": OF_OPPONENT.rows(),
                "description": _(
                    "A call that fails is made again; a move that is not legal is asked for again; then the "
                    "replacements are asked, and in the end a scripted player moves or the game ends and people are "
                    "paid. All of it is kept and counted."
                ),
            },
        ),
        (
            _("Texts"),
            {
                "classes": ["step-texts"],
                "fields": ["instructions"],
                "description": _(
                    "Markdown. The instructions are read by people and models alike; words in double braces are "
                    "filled in for each role. Below you see what becomes of them."
                ),
            },
        ),
        (
            _("Consent"),
            {
                "classes": ["step-around"],
                "fields": ["consent"],
                "description": _("What people agree to before anything else. Below you see how it reads."),
            },
        ),
        (
            _("Surveys"),
            {
                "classes": ["step-around"],
                "fields": ["survey_before", "survey_after"],
                "description": _(
                    "Questions of your own, each survey on a page of its own: before the rules are read, and after "
                    "the game. The answers are columns of the dataset's participants table."
                ),
            },
        ),
        (_("Debriefing"), {"classes": ["step-around"], "fields": ["debriefing"]}),
        (
            _("Checks"),
            {
                "classes": ["step-checks"],
                "fields": ["asks_code_word", "asks_quiz"],
                "description": _("Who fails a check ends there, and nothing of theirs enters the dataset."),
            },
        ),
        (
            _("Timers"),
            {
                "classes": ["step-checks"],
                "fields": ["turn_seconds", "extension_seconds", "on_timeout", "minutes"],
            },
        ),
        (
            _("Pay"),
            {
                "classes": ["step-pay"],
                "fields": ["currency", "base", "pay_rule", "announced_average", "rate", "cap"],
                "description": _(
                    "Base and bonus are owed to whoever completes. Share: twice the average times how well they did, "
                    "from 0 to 1. Linear: the rate times the payoff. The bonus is never below nothing or above the cap."
                ),
            },
        ),
        (
            _("What other endings pay"),
            {
                "classes": ["step-pay"],
                "fields": list(blanks_of_endings({})),
                "description": _(
                    "Not everybody completes. People read these amounts in the consent text, before the game and on "
                    "their last page. Who gives the task back to the recruiter is paid nothing."
                ),
            },
        ),
        (
            _("Entry"),
            {
                "classes": ["step-entry"],
                "fields": ["entry", ("most_participations", "rest_hours")],
                "description": _(
                    "By which link people come, and how often. A link that is open to anybody knows nobody again; "
                    "pilots and demonstrations count nobody. Save the study, then launch it from its page."
                ),
            },
        ),
    ]


def _roles(game: type[Game[Any, Any]], config: dict[str, Any]) -> list[tuple[str, str]]:
    """The roles that people may take, with how players know them."""
    for values in (config, {}):
        try:
            configured = games.play.configure(registry.get(game.key), values)
        except GameError:
            continue
        return [(role, f"{configured.role_title(role)} ({role})") for role in configured.people()]
    return []
