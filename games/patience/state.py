"""What is asked in a match of patience, its parameters, and the answers so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from games.interface import Config, Form, Move
from games.patience.rates import NOW, Horizon
from games.words import gettext_noop

HORIZONS: Mapping[str, tuple[float, float]] = {
    "1 month": (0.1, 105.0),
    "6 months": (0.5, 115.0),
    "1 year": (1.0, 120.0),
    "5 years": (1.0, 250.0),
}
"""(step between the amounts, largest amount) by horizon; amounts for five years start at $111."""
IN_FIGURES = (gettext_noop("1 month"), gettext_noop("6 months"), gettext_noop("1 year"), gettext_noop("5 years"))
IN_WORDS = {"1 month": "one month", "6 months": "six months", "1 year": "one year", "5 years": "five years"}
FIRST_OF_FIVE_YEARS = 111.0
Choice = Literal["A", "B", "none"]
Amounts = Annotated[tuple[Annotated[float, Field(gt=NOW, le=1e6)], ...], Field(min_length=1, max_length=500)]


def published_amounts(horizon: str) -> tuple[float, ...]:
    """Return the published amounts of a horizon."""
    step, last = HORIZONS[horizon]
    first = FIRST_OF_FIVE_YEARS if horizon == "5 years" else NOW + step
    return tuple(round(first + step * i, 2) for i in range(round((last - first) / step) + 1))


class PatienceConfig(Config):
    """One treatment. Defaults: the paper's questions for one year, each amount twice."""

    horizon: Horizon = Field("1 year", title="Horizon", description="When the later money is paid.")
    amounts: Amounts | None = Field(
        None, title="Later amounts", description="In dollars, ascending. Empty: the published ones."
    )
    repetitions: int = Field(2, ge=2, le=40, multiple_of=2, title="Repetitions", description="Per amount; even.")
    order: Literal["shuffled", "ascending"] = Field("shuffled", title="Order of the questions")

    @model_validator(mode="after")
    def _check_order(self) -> PatienceConfig:
        amounts = self.amounts
        if amounts is not None and any(after <= before for before, after in pairwise(amounts)):
            raise PydanticCustomError("order", "Later amounts: must be in ascending order.")
        return self


class ChoiceMove(Move):
    """A or B; "none" means that the answer could not be read. No form offers "none"."""

    choice: Annotated[Choice, WithJsonSchema({"enum": ["A", "B"], "type": "string"})] = Field(
        title=gettext_noop("Your choice")
    )


FORM = Form("choice", gettext_noop("Your choice"), ChoiceMove)


@dataclass(frozen=True)
class AmountQuestion:
    """One question: the later amount, and whether "now" is option A."""

    amount: float
    now_first: bool


@dataclass(frozen=True)
class Answers:
    """The questions in order, and the choices made."""

    questions: tuple[AmountQuestion, ...]
    choices: tuple[Choice, ...] = ()
