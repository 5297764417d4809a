"""What a study varies: which configurations are played, in which line-ups, and how many matches of each.

A study's `design` says it in one of these ways; the parameters of the study hold for all of them:

    {}                                           the study's parameters alone
    {"grid": {"rounds": [1, 12]}}                every combination of these values
    {"table": "glee"}                            a published table of the game
    {"configurations": [{"config": {…}, "quota": 5, "roles": ["alice"], "kind": "main"}, …]}
                                                 written by hand; quota and roles are the study's where not said.
                                                 Line-ups with people in other seats are not played there
    {"selection": "glee", "seed": 1}             GLEE's main, variant and random configurations (Appendix E)

and, beside any of them, `"averages": {"by": "money", "amounts": {"100": "0.50", …}}`: the announced
average bonus where it depends on a parameter.

Every configuration is crossed with every line-up (`studies.lineups`). Without line-ups, a person plays each
of the study's roles against each of its agents.
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
from studies.lineups import Lineup, lineups_of, usual
from studies.sessions import begins_here

if TYPE_CHECKING:
    from studies.models import Study

MOST_CELLS = 5000


class ByHand(BaseModel):
    """One configuration written by hand."""

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
    """A study's design as it is written."""

    model_config = ConfigDict(extra="forbid")

    grid: dict[str, list[Any]] | None = None
    table: str | None = None
    configurations: Annotated[list[ByHand], Field(min_length=1)] | None = None
    selection: str | None = None
    seed: int = 0
    averages: Averages | None = None


@dataclass(frozen=True)
class WantedCell:
    """One configuration in one line-up: how many matches, and what average bonus people are told.

    Attributes:
        seats: who takes each seat, see `opponents.agents.Seats`.
        lineup: its name; empty where there is only one.
        quota: matches, or groups of people; in sessions that lead through several cells, those that begin in it.
        kind: what the researcher calls it ("main", "variant", "random"); may be empty.
        average: None: the study's own.
    """

    config: Mapping[str, Json]
    seats: Seats
    quota: int
    kind: str = ""
    average: Decimal | None = None
    lineup: str = ""

    @property
    def people(self) -> list[Role]:
        """The seats that people take."""
        return people_in(self.seats)

    @property
    def role(self) -> Role:
        """The one seat for a person; empty where there are several."""
        return self.people[0] if len(self.people) == 1 else ""


def cells_wanted(study: Study) -> list[WantedCell]:
    """The cells of a study, configuration by configuration.

    Raises:
        BadConfig: naming what is wrong with the design or with a parameter.
        BadLineup: naming the line-up that does not fit.
    """
    design = _read(study.design)
    game = registry.get(study.game)
    labels = list(study.agents_by_label())
    written = lineups_of(study.lineups, labels)
    cells = [
        WantedCell(config, seats, quota * lineup.weight, kind, _average(design.averages, config), lineup.name)
        for config, roles, quota, kind in _chosen(study, game, design)
        for lineup, seats in _fitted(configure(game, config), roles, written, labels)
    ]
    if study.session_order == "random" and not study.session_games:
        alike = Counter((cell.lineup, *cell.people) for cell in cells)
        cells = [
            replace(cell, quota=begins_here(cell.quota, study.session_matches, alike[cell.lineup, *cell.people]))
            for cell in cells
        ]
    if not cells:
        raise BadConfig(_("People can take none of the chosen roles in these configurations."))
    if len(cells) > MOST_CELLS:
        raise BadConfig(
            _("That would be {cells} cells; {most} are the most.").format(cells=len(cells), most=MOST_CELLS)
        )
    return cells


def _fitted(
    game: Game[Any, Any], roles: Sequence[Role], written: Sequence[Lineup], labels: Sequence[str]
) -> Iterator[tuple[Lineup, dict[Role, str | list[str]]]]:
    """The line-ups that are played in a configuration whose people take these roles."""
    for lineup in written or usual(game, roles, labels):
        seats = lineup.fitted(game)
        if set(people_in(seats)) <= set(roles):
            yield lineup, seats


_Chosen = tuple[Mapping[str, Json], Sequence[Role], int, str]


def _chosen(study: Study, game: type[Game[Any, Any]], design: Design) -> list[_Chosen]:
    """(configuration, roles, quota, kind) in order."""
    given = [design.grid, design.table, design.configurations, design.selection]
    if sum(one is not None for one in given) > 1:
        raise BadConfig(_("A design has one of grid, table, configurations and selection."))
    if design.selection is not None:
        chosen = selections.select_named(study.game, design.selection, design.seed)
        return [(one.config, one.roles, one.quota, one.kind) for one in chosen]
    if design.configurations is not None:
        written = [{**study.config, **one.config} for one in design.configurations]
        full = grids.listed(game, written)
        return [
            (config, _roles(study, game, config, one.roles), one.quota or study.quota, one.kind)
            for config, one in zip(full, design.configurations, strict=True)
        ]
    if design.table is not None:
        full = grids.table(study.game, design.table)
    else:
        full = grids.expand(game, design.grid or {}, fixed=study.config)
    return [(config, _roles(study, game, config, None), study.quota, "") for config in full]


def _roles(
    study: Study, game: type[Game[Any, Any]], config: Mapping[str, Json], said: Sequence[Role] | None
) -> list[Role]:
    """The roles of this configuration for people: what was said, else what of the study's roles can be played.

    Line-ups say themselves where people sit.
    """
    people = configure(game, config).people()
    if said is None:
        return [role for role in people if study.lineups or not study.roles or role in study.roles]
    if unknown := set(said) - set(people):
        raise BadConfig(
            _("People cannot play {roles} here; they can play {people}.").format(
                roles=", ".join(sorted(unknown)), people=", ".join(people)
            )
        )
    return list(said)


def _average(averages: Averages | None, config: Mapping[str, Json]) -> Decimal | None:
    if averages is None:
        return None
    if averages.by not in config:
        raise BadConfig(_("There is no parameter “{key}” for the averages to depend on.").format(key=averages.by))
    by_value = {_plain(value): amount for value, amount in averages.amounts.items()}
    value = _plain(config[averages.by])
    if value not in by_value:
        raise BadConfig(
            _("No average bonus is given for {key} = {value}.").format(key=averages.by, value=config[averages.by])
        )
    return by_value[value]


def _plain(value: Any) -> str:
    """A parameter's value as a key: 100 and 100.0 are the same."""
    try:
        return f"{float(value):.12g}"
    except (TypeError, ValueError):
        return str(value)


def _read(written: Mapping[str, Any]) -> Design:
    try:
        return Design.model_validate(written)
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(str(part) for part in problem["loc"])
        raise BadConfig(_("Design: {where}: {what}").format(where=where, what=problem["msg"])) from None
