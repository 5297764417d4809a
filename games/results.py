"""What a game's results are made of: rows whose fields say their type, unit, range and meaning.

Datasets, codebook and metadata take the columns of results from the fields.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema


class Row(BaseModel):
    """One row of results: a match's, a seat's or a record. Every field is a column of datasets, in this order.

    A field holds a number, a boolean, a choice or a text, or None if there is no value. The type of a measured
    number names its unit.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, field_title_generator=lambda name, _info: name)


def column(meaning: str, *, source: str = "") -> Any:
    """Return a field of a `Row` with its meaning, as a sentence, and where the published system defines it."""
    return Field(description=f"{meaning.removesuffix('.')} ({source})." if source else meaning)


def in_unit(unit: str, low: float | None = None, high: float | None = None) -> Any:
    """Return what makes a number's type name its unit and possible range: `Annotated[float, in_unit("seconds", 0)]`.

    The range is described, not validated: computed values may be beyond it by a rounding error.
    """
    limits = {"minimum": low, "maximum": high}
    return Field(json_schema_extra={"unit": unit, **{key: value for key, value in limits.items() if value is not None}})


Count = Annotated[int, Field(ge=0)]
Money = Annotated[float, in_unit("the game's money")]
Price = Annotated[float, in_unit("the game's money", 0)]
"""An amount of the game's money that cannot be negative."""
Share = Annotated[float, in_unit("share", 0, 1)]
"""A part of a whole."""
Index = Annotated[float, in_unit("index", 0, 1)]
"""A number from 0 to 1 that is not a part of a whole."""
Ratio = Annotated[float, in_unit("ratio")]
"""Any other number without a dimension."""
Percent = Annotated[float, in_unit("percent")]
Seat = Annotated[str, WithJsonSchema({"type": "string", "format": "role"})]
"""The name of a seat."""
JsonText = Annotated[str, WithJsonSchema({"type": "string", "contentMediaType": "application/json"})]
"""Data as JSON."""


class RoundRecord(Row):
    """The first columns of records with a row per round and seat."""

    round: int = column("Number of the round, from 1.")
    role: Seat = column("The seat.")
