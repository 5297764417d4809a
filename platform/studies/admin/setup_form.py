"""Setting up a study, for people who write no code."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from django import forms
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
from opponents.agents import named
from studies.admin.ending_fields import blanks_of_endings, chosen_endings
from studies.admin.parameters import NONE, PREFIX, Parameters
from studies.admin.survey_field import SurveyWidget, read_survey
from studies.admin.table_fields import TableWidget, about_agents, about_seats, read_data
from studies.admin.varying import SEVERAL, Varied
from studies.lineups import one_of_each_kind
from studies.models import Study
from studies.names import is_given_out
from studies.sessions import MOST_OTHERS

WAYS = ("table", "selection", "configurations")
"""The ways of varying that are chosen by name; without one the parameters' own values make a grid."""
OTHER_GAMES = tuple(f"other_game_{number}" for number in range(2, 2 + MOST_OTHERS))
"""The fields that choose the other games of a session."""
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
"""The steps of setting a study up, as (name, title): each section below says by its class `step-NAME` where it is."""


def _of_game(game: type[Game[Any, Any]]) -> Parameters:
    return Parameters(game.Config, entries=entries.of(game.key))


def _several(game: type[Game[Any, Any]]) -> Varied:
    return Varied(game.Config)


class StudyForm(forms.ModelForm):
    """The study's own fields; `study_form` adds those of its game."""

    game_class: type[Game[Any, Any]]
    may_see: QuerySet[Study]

    way = forms.ChoiceField(
        label=gettext_lazy("Configurations"),
        required=False,
        widget=UnfoldAdminSelectWidget(),
        help_text=gettext_lazy("A configuration is one value for each parameter; each role in it is a cell."),
    )
    roles = forms.MultipleChoiceField(
        label=gettext_lazy("Roles for people"),
        widget=UnfoldAdminCheckboxSelectMultipleWidget(),
        required=False,
        help_text=gettext_lazy("A person plays each role ticked here in matches of its own; agents play the others."),
    )

    class Meta:
        model = Study
        exclude = ["config", "status", "endings", "session_games"]
        widgets = {
            "game": forms.HiddenInput(),
            "survey_before": SurveyWidget(may_end=True),
            "survey_after": SurveyWidget(),
        }
        labels = {"design": gettext_lazy("Written by hand")}
        help_texts = {
            "agents": gettext_lazy(
                "Everybody who is no person: scripted players and language models, each with a name of your own. The "
                "same model asked in two ways is two agents."
            ),
            "lineups": gettext_lazy(
                "Who takes which seat. Several line-ups are treatments like any other: each is crossed with the "
                "configurations, and everybody who arrives is assigned at random."
            ),
            "design": gettext_lazy(
                'In JSON, such as {"configurations": [{"config": {"rounds": 5}, "quota": 10, "kind": "main"}]}; '
                'beside a published selection {"seed": 2}. Announced averages that depend on a parameter: '
                '{"averages": {"by": "scale", "amounts": {"100": "0.50"}}}.'
            ),
        }

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        if self.instance.pk is None and not self.instance.config:
            self.instance.config = dict(self.game_class.starting_config)
        offered = _roles(self.game_class, self.instance.config)
        kept = [(role, role) for role in self.instance.roles if role not in dict(offered)]
        self.fields["roles"].choices = [*offered, *kept]
        for name, field in _of_game(self.game_class).blanks(self.instance.config).items():
            self.fields[name].initial = field.initial
        for name, field in blanks_of_endings(self.instance.endings).items():
            self.fields[name].initial = field.initial
        self._show_design()
        self._show_table()
        self._list_agents()
        self._list_other_games()
        if "game" in self.fields:
            self.fields["game"].widget = forms.HiddenInput()
            self.initial["game"] = self.game_class.key
        if "instructions" in self.fields and not self.instance.instructions:
            self.initial["instructions"] = self.game_class.instruction_template()
        if "slug" in self.fields and self.instance.pk and is_given_out(self.instance):
            self.fields["slug"].disabled = True
            self.fields["slug"].help_text = _(
                "Links, codes or a pay limit depend on this name, so it cannot be changed."
            )
        if not self.initial.get("roles") and not self.instance.lineups:
            self.initial["roles"] = [role for role, _title in self.fields["roles"].choices][:1]

    def _show_table(self) -> None:
        """The agents and who plays, as `lineups.js` shows them; a new study begins with the usual opponent."""
        self.instance.game = self.instance.game or self.game_class.key
        for name, told in (("agents", about_agents(self.game_class)), ("lineups", about_seats(self.instance))):
            if name in self.fields:
                self.fields[name].widget = TableWidget(name, told)
        if "agents" in self.fields and not self.instance.agents and not self.instance.lineups:
            seated = len(self.game_class(self.game_class.Config()).roles()) > 1
            self.initial["agents"] = named(f"script:{self.game_class.sparring}") if seated else {}

    def _list_agents(self) -> None:
        """The agent that fills in is one of the study's; `lineups.js` keeps the list as agents are renamed."""
        if "fills_in" not in self.fields:
            return
        written = self.initial.get("agents") or self.instance.agents
        if self.is_bound:
            with suppress(ValueError):
                written = json.loads(self.data.get(self.add_prefix("agents")) or "{}")
        labels = [*(written if isinstance(written, dict) else {}), self["fills_in"].value()]
        choices = [("", _("none")), *((label, label) for label in dict.fromkeys(labels) if label)]
        self.fields["fills_in"].widget = UnfoldAdminSelectWidget(choices=choices)

    def _list_other_games(self) -> None:
        """Other studies whose game can be played in the same session: those that whoever sets this up may see."""
        offered = self.may_see.exclude(pk=self.instance.pk).filter(session_matches=1).order_by("title")
        kept = list(self.instance.session_games or [])
        titles = {str(study.pk): f"{study.title} ({registry.get(study.game).title})" for study in offered}
        titles |= {str(study.pk): study.title for study in self.instance.further() if str(study.pk) not in titles}
        for place, name in enumerate(OTHER_GAMES):
            self.fields[name].choices = [("", _("none")), *titles.items()]
            self.fields[name].initial = str(kept[place]) if place < len(kept) else ""

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

    def clean_game(self) -> str:
        return self.game_class.key

    def clean_instructions(self) -> str:
        """What was left as the game has it is not the study's own text, and follows the game's."""
        text = self.cleaned_data["instructions"].replace("\r\n", "\n")
        return "" if text.strip() == self.game_class.instruction_template().strip() else text

    def clean_agents(self) -> dict[str, Any]:
        return read_data(self.cleaned_data["agents"], dict, _("Agents are given by name."))

    def clean_lineups(self) -> list[Any]:
        return read_data(self.cleaned_data["lineups"], list, _("Line-ups are a list."))

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
        for name, reason in errors.items():
            self.add_error(name if name in self.fields else None, reason)
        self.instance.config = config
        self.instance.endings = chosen_endings(cleaned)
        self.instance.session_games = [int(cleaned[name]) for name in OTHER_GAMES if cleaned.get(name)]
        if not cleaned.get("lineups") and not cleaned.get("roles") and "roles" not in self.errors:
            self.add_error("roles", _("Tick at least one role."))
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
        found: dict[str, Any] = {}
        for name, problems in errors.update_error_dict({}).items():
            if name == "config":
                if any(field.startswith(PREFIX) for field in self.errors):
                    continue
                name = NON_FIELD_ERRORS
            name = {"design": self._varied_field(), "session_games": OTHER_GAMES[0]}.get(name, name)
            if name not in self.errors:
                found.setdefault(name if name in self.fields else NON_FIELD_ERRORS, []).extend(problems)
        if found:
            super()._update_errors(ValidationError(found))

    def _varied_field(self) -> str:
        """Where an error of the design is shown: at the first parameter with several values, else at the text."""
        design = self.cleaned_data.get("design") or {}
        varied = next(iter(design.get("grid", ())), None)
        return "design" if varied is None else SEVERAL + varied


def study_form(game: type[Game[Any, Any]], may_see: QuerySet[Study] | None = None) -> type[StudyForm]:
    """The form for a study of `game`: one field per parameter of it.

    Args:
        may_see: the studies that can be chosen in it.
    """
    others = {
        name: forms.ChoiceField(
            label=_("Game {number}").format(number=number), required=False, widget=UnfoldAdminSelectWidget()
        )
        for number, name in enumerate(OTHER_GAMES, start=2)
    }
    fields = {
        **others,
        **_of_game(game).blanks({}),
        **_several(game).blanks({}),
        **blanks_of_endings({}),
    }
    seen = Study.objects.none() if may_see is None else may_see
    return type("StudyForm", (StudyForm,), {**fields, "game_class": game, "may_see": seen})


def ways(game: type[Game[Any, Any]]) -> list[tuple[str, str]]:
    """The ways in which a study of this game can say its configurations."""
    module = grids.published(game.key)
    tables = getattr(module, "TABLES", {})
    selections = getattr(module, "SELECTIONS", {})
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
    asked = "!way || way == 'configurations'"
    names = [name for row in _parameter_rows(game) for name in row]
    wanted = {PREFIX + key: entry.when for key, entry in entries.of(game.key).items() if entry.when}
    return {
        **dict.fromkeys(names, asked),
        **{name: f"({asked}) && {PREFIX}{other} == '{value}'" for name, (other, value) in wanted.items()},
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
            _("Agents"),
            {
                "classes": ["step-agents"],
                "fields": ["agents", "tells_opponent"],
                "description": _(
                    "Who plays besides people. A scripted player follows a fixed rule, costs nothing and needs no key; "
                    "a language model is asked at one of your endpoints, whose keys are set there."
                ),
            },
        ),
        (
            _("Who plays"),
            {
                "classes": ["step-people"],
                "fields": ["roles", "lineups", "quota"],
                "description": _(
                    "Without line-ups, one person plays against one agent in every match. Compose line-ups to let "
                    "people play with each other, or with several agents at once."
                ),
            },
        ),
        (
            _("Playing together"),
            {
                "classes": ["step-people"],
                "fields": [("lobby_seconds", "lobby_after"), "fills_in", "whole_groups"],
                "description": _(
                    "Where several people play in one match, they meet in a lobby. What happens when somebody falls "
                    "silent or leaves is said under the timers. Each person's data and pay are their own."
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
                    "How many games each person plays in a row. The instructions say which of them pays. Another game "
                    "is set up as a study of its own, which may stay a draft: its parameters, agents, line-ups, "
                    "instructions, clocks and lobby are taken over when this study is launched; consent, checks, "
                    "surveys and pay are those of this study."
                ),
            },
        ),
        (
            _("Texts"),
            {
                "classes": ["step-texts"],
                "fields": ["amounts", "instructions"],
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
                "fields": ["asks_code_word", "code_word_again", "asks_quiz", "counts_behaviour"],
                "description": _("Who fails a check ends there, and nothing of theirs enters the dataset."),
            },
        ),
        (
            _("Timers"),
            {
                "classes": ["step-checks"],
                "fields": ["turn_seconds", "extension_seconds", "report_seconds", "on_timeout", "minutes"],
            },
        ),
        (_("When opponents fail"), {"classes": ["step-checks"], "fields": ["pauses_on_failure", "failure_cap"]}),
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
                "fields": [*blanks_of_endings({}), "waiting_rate"],
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
                    "pilots and demonstrations count nobody. Save the study, then launch it from its page. Mechanical "
                    "Turk: Amazon's documentation announces that it closes for good on 30 September 2026 (read on "
                    "2026-11-22); people come from Prolific or a panel."
                ),
            },
        ),
    ]


def _roles(game: type[Game[Any, Any]], config: dict[str, Any]) -> list[tuple[str, str]]:
    """The roles that people may take, one of each kind, with how players know them."""
    for values in (config, {}):
        try:
            configured = games.play.configure(registry.get(game.key), values)
        except GameError:
            continue
        return [
            (role, f"{configured.role_label(role)} ({role})")
            for role in one_of_each_kind(configured, configured.people())
        ]
    return []
