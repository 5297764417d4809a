"""The planned analysis: the hypotheses of a study, and how much data they get."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, SerializerFunctionWrapHandler, model_serializer, model_validator
from pydantic_core import PydanticCustomError

from games.words import gettext as _
from plans.conditions import Expression
from plans.factors import Name, PlanModel
from plans.varying import level_key

Level = Annotated[
    str,
    BeforeValidator(
        lambda level: level_key(level) if isinstance(level, int | float) else level,
        json_schema_input_type=str | int | float | bool,
    ),
]
"""A level's key; a number or truth value may be written as itself."""
Reference = Annotated[str, Field(max_length=90)]
"""A metric of a game or a question: STAGE.NAME."""
Player = Literal["human", "agent"]


class Contrast(PlanModel):
    """What a hypothesis compares: two levels of a factor, two factors' levels crossed, or people and agents.

    The estimate is the first level minus the second; of two factors, the difference of these differences.
    """

    factor: Name | None = Field(None, title="Factor")
    factors: list[Name] | None = Field(None, title="Two factors", min_length=2, max_length=2)
    levels: list[Level] | list[list[Level]] | None = Field(None, title="Levels", min_length=2, max_length=2)
    players: list[Player] | None = Field(None, title="Who plays", min_length=2, max_length=2)
    role: Annotated[str, Field(max_length=40)] | None = Field(None, title="In the seat")

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.factor, self.factors, self.players).count(None) != 2:
            raise _fault(_("Compare one of these: the levels of a factor, two factors, or who plays."))
        if self.players is not None and self.levels is not None:
            raise _fault(_("Who plays has no levels: leave them out."))
        if self.role is not None and self.players is None:
            raise _fault(_("Only a comparison of who plays has a seat."))
        for pair in self.pairs:
            if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(level, str) for level in pair):
                raise _fault(_("Write two levels for each factor; the estimate is the first minus the second."))
            if pair[0] == pair[1]:
                raise _fault(_("Both levels are “{level}”: they must differ.").format(level=pair[0]))
        return self

    @property
    def compared(self) -> list[str]:
        """The factors that it compares; none if it compares who plays."""
        return self.factors or ([self.factor] if self.factor else [])

    @property
    def pairs(self) -> list[Any]:
        """The two levels of each factor, or the two kinds of players."""
        if self.players is not None:
            return [self.players]
        return list(self.levels or [[]] * 2) if self.factors else [self.levels]

    @model_serializer(mode="wrap")
    def _written(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: value for name, value in write(self).items() if value is not None}


class Hypothesis(PlanModel):
    """One planned test.

    Attributes:
        adjust: questions answered before the assignment.
        exclude: conditions on answers before the assignment; who meets one is left out.
        family: hypotheses of one family are adjusted together by Holm's method.
    """

    name: Name = Field(title="Name", description="Lower-case letters, digits and underscores.", examples=["hypothesis"])
    claim: Annotated[str, Field(max_length=500)] = Field(
        "", title="Claim", description="What you expect, in one sentence."
    )
    outcome: Reference = Field(
        title="Outcome", description="A metric of a game or a question.", json_schema_extra={"outcome": True}
    )
    contrast: Contrast = Field(title="Comparison", json_schema_extra={"contrast": True})
    estimand: Literal["both", "assigned", "completed"] = Field(
        "both",
        title="Who is compared",
        description="assigned: everybody as assigned, with data that were excluded afterwards. completed: complete "
        "data only. both: as assigned first, then complete data.",
    )
    model: Literal["auto", "linear", "logit", "ordered", "log"] = Field(
        "auto",
        title="Model",
        description="auto: linear, with the usual check for the kind of outcome. linear: differences of means. logit: "
        "for yes or no. ordered: for answers in an order. log: ratios, for positive amounts and times.",
        json_schema_extra={"more": True},
    )
    adjust: list[Reference] = Field(
        default_factory=list,
        title="Adjust for",
        description="Questions answered before the assignment, such as before.age.",
        json_schema_extra={"more": True},
    )
    exclude: list[Expression] = Field(
        default_factory=list,
        title="Leave out participants if",
        description="Conditions on answers given before the assignment, such as before.age < 18.",
        json_schema_extra={"more": True},
    )
    role: Literal["primary", "secondary"] = Field("primary", title="Role")
    family: Name = Field(
        "main",
        title="Family",
        description="Tests of one family are adjusted together (Holm).",
        json_schema_extra={"more": True},
    )


class Sample(PlanModel):
    """How much data the analysis gets."""

    per_arm: Annotated[int, Field(ge=2, le=1_000_000)] | None = Field(
        None, title="Matches per level compared", description="Complete matches, not people."
    )
    why: Annotated[str, Field(max_length=2000)] = Field("", title="Why this number")
    stop: Annotated[str, Field(max_length=2000)] = Field("", title="Rule for stopping")


class Analysis(PlanModel):
    """The planned analysis. Launching freezes it: later changes are dated and shown as such."""

    hypotheses: list[Hypothesis] = Field(default_factory=list, title="Hypotheses")
    sample: Sample = Field(Sample(), title="Sample")


def _fault(words: str) -> PydanticCustomError:
    return PydanticCustomError("contrast", "{reason}", {"reason": words})
