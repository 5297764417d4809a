"""A plan's factors, their levels, and the cells that cross or list them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from games import grids, registry, selections
from games.errors import BadConfig
from games.interface import Json
from games.words import gettext as _
from plans.varying import level_key

NAME_PATTERN = r"^[a-z][a-z0-9_]*$"
Name = Annotated[str, Field(pattern=NAME_PATTERN, max_length=40)]
"""The name of a factor, stage or question."""
RESERVED_NAMES = frozenset({"by", "values", "default", "person", "role", "quota", "weight", "recruiter"})
IN_SECONDS = Field(json_schema_extra={"unit": "seconds"})
"""Of a number of seconds, for its annotation."""
MAX_CELLS = 5000
MAX_LEVELS = 5000


class PlanModel(BaseModel):
    """Base of every part of a plan: unknown keys, NaN and numbers in the wrong place are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Rows(PlanModel):
    """Levels from a published table of a game, or from a published selection for people, one per row (and role)."""

    game: str = Field(title="Game")
    table: str | None = Field(None, title="Table", description="A published table of the game.")
    selection: str | None = Field(
        None, title="Selection", description="A published selection for participants, with its quotas."
    )
    seed: int = Field(1, title="Seed", description="Of what the table or selection draws.")

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.table is None) == (self.selection is None):
            raise PydanticCustomError("rows", _("Choose either a table or a selection."))
        return self

    def values(self) -> dict[str, Json]:
        """Return the rows' levels by stable names: {config}, and in a selection also {role, kind, quota}.

        Raises:
            BadConfig: the game, table or selection does not exist.
        """
        return _levels_of_rows(self.game, self.table, self.selection, self.seed)


@lru_cache(maxsize=32)
def _levels_of_rows(game: str, table: str | None, selection: str | None, seed: int) -> dict[str, Json]:
    if game not in registry.keys():
        raise BadConfig(_("There is no game “{game}”.").format(game=game))
    if table is not None:
        configs = grids.table(game, table, seed)
        return {f"row_{number:04}": {"config": config} for number, config in enumerate(configs, start=1)}
    assert selection is not None
    levels: dict[str, Json] = {}
    counts: dict[str, int] = {}
    for chosen in selections.select_named(game, selection, seed):
        counts[chosen.kind] = counts.get(chosen.kind, 0) + 1
        for role in chosen.roles:
            name = f"{chosen.kind}_{counts[chosen.kind]:03}_{role}"
            levels[name] = {"config": chosen.config, "role": role, "kind": chosen.kind, "quota": chosen.quota}
    return levels


class Factor(PlanModel):
    """What a researcher varies: a name with levels.

    Levels are words, numbers or truth values, or named objects whose parts the plan reads with `by: FACTOR.part`.
    """

    levels: list[Json] | dict[str, Json] | None = Field(None, title="Levels")
    rows: Rows | None = Field(None, title="Published rows")
    within: Name | None = Field(
        None,
        title="Within participants, in block",
        description="Each participant meets every level in this block. Leave empty to vary between participants.",
    )

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.levels is None) == (self.rows is None):
            raise PydanticCustomError("levels", _("A factor has either levels or published rows."))
        if self.levels is None:
            return self
        if not self.levels:
            raise PydanticCustomError("levels", _("A factor needs at least one level."))
        if len(self.levels) > MAX_LEVELS:
            raise PydanticCustomError("levels", _("A factor can have at most 5,000 levels."))
        if isinstance(self.levels, list):
            if any(isinstance(level, list | dict | None) for level in self.levels):
                raise PydanticCustomError("levels", _("Give each level that is an object a name."))
            keys = [level_key(level) for level in self.levels]
            if len(set(keys)) < len(keys):
                raise PydanticCustomError("levels", _("A level appears twice."))
        return self

    def values(self) -> dict[str, Json]:
        """Return each level's value by its key, in order.

        Raises:
            GameError: the published rows do not exist.
        """
        if self.rows is not None:
            return self.rows.values()
        if isinstance(self.levels, Mapping):
            return dict(self.levels)
        return {level_key(level): level for level in self.levels or ()}


class ListedCell(BaseModel):
    """One listed cell: a level for each factor between participants, and optionally its quota and weight."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True, allow_inf_nan=False)

    quota: Annotated[int, Field(ge=1)] | None = None
    weight: Annotated[int, Field(ge=1, le=1000)] = 1

    def levels(self) -> dict[str, Any]:
        """Return the level's key by factor."""
        return {name: level_key(level) for name, level in (self.model_extra or {}).items()}


class Cells(PlanModel):
    """Which combinations of levels are played, how often, and how participants are assigned to them."""

    crossed: bool = Field(True, title="All combinations")
    listed: list[ListedCell] | None = Field(None, title="Listed cells")
    rows: Name | None = Field(
        None, title="Quotas from", description="A factor with published rows: its rows give the quotas."
    )
    quota: Annotated[int, Field(ge=1, le=1_000_000)] = Field(
        20,
        title="Quota",
        description="Complete groups per cell. Groups in which the clock or a fallback moved are paid but stay out "
        "of the dataset and don't count here.",
    )
    rule: Literal["blocks", "random", "emptiest"] = Field(
        "blocks",
        title="Assignment",
        description="blocks: permuted blocks, so that cells fill evenly in a random order. random: each arrival "
        "independently, by weight. emptiest: the cell with the fewest participants for its quota.",
    )
    unit: Literal["group", "participant"] = Field(
        "group",
        title="What is assigned",
        description="group: anyone who completes a group that is forming gets its cell. participant: everyone is "
        "assigned independently, and groups form among those of one cell. The same unless participants play together.",
    )
    strata: list[Name] = Field(
        default_factory=list,
        title="Strata",
        description="Questions answered before the assignment: cells fill evenly within each combination of answers.",
        json_schema_extra={"answers": True},
    )

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if self.listed is not None and self.rows is not None:
            raise PydanticCustomError("cells", _("Cells are listed or come from published rows, not both."))
        if self.listed is not None and not self.listed:
            raise PydanticCustomError("cells", _("List at least one cell."))
        if not self.crossed and self.listed is None and self.rows is None:
            raise PydanticCustomError("cells", _("List the cells, or let all combinations be cells."))
        return self
