"""What a study varies: its configurations, their line-ups, and the number of matches of each.

A study's `design` has one of these forms; the study's own parameters apply to all of them:

    {}                                           the study's parameters only
    {"grid": {"rounds": [1, 12]}}                every combination of these values
    {"table": "glee"}                            a published table of the game
    {"configurations": [{"config": {…}, "quota": 5, "roles": ["alice"], "kind": "main"}, …]}
                                                 custom configurations; quota and roles default to the study's.
                                                 Line-ups with participants in other seats are not played there
    {"selection": "glee", "seed": 1}             GLEE's main, variant and random configurations (Appendix E)

Any of them may add `"averages": {"by": "money", "amounts": {"100": "0.50", …}}`: the announced average
bonus where it depends on a parameter.

Every configuration is crossed with every line-up (`studies.lineups`). Without line-ups, a participant plays
each of the study's roles against each of its agents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from games import grids, registry, selections
from games.errors import BadConfig
from games.interface import Game, Json, Role
from games.play import configure
from games.words import gettext as _
from opponents.agents import Seats, people_in
from studies.lineups import Lineup, default_lineups, lineups_of
from studies.sessions import groups_starting

if TYPE_CHECKING:
    from studies.models import Study

MAX_CELLS = 5000


class CustomConfiguration(BaseModel):
    """One custom configuration."""

    model_config = ConfigDict(extra="forbid")

    config: dict[str, Any] = Field(default_factory=dict)
    quota: Annotated[int, Field(ge=1)] | None = None
    roles: list[str] | None = None
    kind: Annotated[str, Field(max_length=20)] = ""


class Averages(BaseModel):
    """The announced average bonus by the value of a parameter."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    by: str
    amounts: dict[str, Annotated[Decimal, Field(ge=0)]]


class Design(BaseModel):
    """A study's parsed design."""

    model_config = ConfigDict(extra="forbid")

    grid: dict[str, list[Any]] | None = None
    table: str | None = None
    configurations: Annotated[list[CustomConfiguration], Field(min_length=1)] | None = None
    selection: str | None = None
    seed: int = 0
    averages: Averages | None = None


@dataclass(frozen=True)
class PlannedCell:
    """One configuration in one line-up: how many matches, and the announced average bonus.

    Attributes:
        seats: who takes each seat, see `opponents.agents.Seats`.
        lineup: its name; empty if there is only one.
        quota: matches, that is, groups of participants; in sessions over several cells, those that begin here.
        kind: the researcher's label ("main", "variant", "random"); may be empty.
        average: None means the study's own.
    """

    config: Mapping[str, Json]
    seats: Seats
    quota: int
    kind: str = ""
    average: Decimal | None = None
    lineup: str = ""

    @property
    def people(self) -> list[Role]:
        """The seats that participants take."""
        return people_in(self.seats)

    @property
    def role(self) -> Role:
        """The one seat for a participant; empty if there are several."""
        return self.people[0] if len(self.people) == 1 else ""


def plan_cells(study: Study) -> list[PlannedCell]:
    """Return the cells of a study, ordered by configuration.

    Raises:
        BadConfig: naming the problem with the design or a parameter.
        BadLineup: naming the line-up that does not fit.
    """
    design = _read(study.design)
    game = registry.get(study.game)
    labels = list(study.agents_by_label())
    lineups = lineups_of(study.lineups, labels)
    cells = [
        PlannedCell(config, seats, quota * lineup.weight, kind, _average(design.averages, config), lineup.name)
        for config, roles, quota, kind in _configurations(study, game, design)
        for lineup, seats in _fitting_lineups(configure(game, config), roles, lineups, labels)
    ]
    if study.session_order == "random" and not study.session_games:
        similar = Counter((cell.lineup, *cell.people) for cell in cells)
        cells = [
            replace(cell, quota=groups_starting(cell.quota, study.session_matches, similar[cell.lineup, *cell.people]))
            for cell in cells
        ]
    if not cells:
        raise BadConfig(
            _("None of the chosen roles can be played by participants in these configurations. Choose other roles.")
        )
    if len(cells) > MAX_CELLS:
        raise BadConfig(
            _("This design has {cells} cells; the maximum is {most}. Vary fewer values or use fewer line-ups.").format(
                cells=len(cells), most=MAX_CELLS
            )
        )
    return cells


def _fitting_lineups(
    game: Game[Any, Any], roles: Sequence[Role], lineups: Sequence[Lineup], labels: Sequence[str]
) -> Iterator[tuple[Lineup, dict[Role, str | list[str]]]]:
    """Return the line-ups played in a configuration whose participants take these roles."""
    for lineup in lineups or default_lineups(game, roles, labels):
        seats = lineup.fitted(game)
        if set(people_in(seats)) <= set(roles):
            yield lineup, seats


_Configuration = tuple[Mapping[str, Json], Sequence[Role], int, str]


def _configurations(study: Study, game: type[Game[Any, Any]], design: Design) -> list[_Configuration]:
    """Return (configuration, roles, quota, kind) in order."""
    sources = [design.grid, design.table, design.configurations, design.selection]
    if sum(item is not None for item in sources) > 1:
        raise BadConfig(_("A design has exactly one of grid, table, configurations and selection."))
    if design.selection is not None:
        chosen = selections.select_named(study.game, design.selection, design.seed)
        return [(item.config, item.roles, item.quota, item.kind) for item in chosen]
    if design.configurations is not None:
        merged_configs = [{**study.config, **item.config} for item in design.configurations]
        configs = grids.listed(game, merged_configs)
        return [
            (config, _roles(study, game, config, item.roles), item.quota or study.quota, item.kind)
            for config, item in zip(configs, design.configurations, strict=True)
        ]
    if design.table is not None:
        configs = grids.table(study.game, design.table)
    else:
        configs = grids.expand(game, design.grid or {}, fixed=study.config)
    return [(config, _roles(study, game, config, None), study.quota, "") for config in configs]


def _roles(
    study: Study, game: type[Game[Any, Any]], config: Mapping[str, Json], requested: Sequence[Role] | None
) -> list[Role]:
    """Return the roles for participants: the configuration's own, or those of the study's that can be played.

    Line-ups determine the participants' seats themselves.
    """
    people = configure(game, config).people()
    if requested is None:
        return [role for role in people if study.lineups or not study.roles or role in study.roles]
    if unknown := set(requested) - set(people):
        raise BadConfig(
            _("Participants cannot play {roles} here. They can play {people}.").format(
                roles=", ".join(sorted(unknown)), people=", ".join(people)
            )
        )
    return list(requested)


def _average(averages: Averages | None, config: Mapping[str, Json]) -> Decimal | None:
    if averages is None:
        return None
    if averages.by not in config:
        raise BadConfig(
            _("Averages: there is no parameter “{key}”. Enter the name of one of the game's parameters.").format(
                key=averages.by
            )
        )
    amount_by_key = {_as_key(value): amount for value, amount in averages.amounts.items()}
    value = _as_key(config[averages.by])
    if value not in amount_by_key:
        raise BadConfig(
            _("Averages: no average bonus is given for {key} = {value}. Add it to the amounts.").format(
                key=averages.by, value=config[averages.by]
            )
        )
    return amount_by_key[value]


def _as_key(value: Any) -> str:
    """Return a parameter's value as a key, so that 100 and 100.0 are the same."""
    try:
        return f"{float(value):.12g}"
    except (TypeError, ValueError):
        return str(value)


def _read(design_data: Mapping[str, Any]) -> Design:
    try:
        return Design.model_validate(design_data)
    except ValidationError as error:
        problem = error.errors()[0]
        location = ".".join(str(part) for part in problem["loc"])
        raise BadConfig(_("Design: {where}: {what}").format(where=location, what=problem["msg"])) from None
