"""The parameters of procurement, its move, and the purchases so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, WithJsonSchema

from games.interface import Form, Move, TwoSources
from games.periods import InstanceConfig, Periods, Submitted
from games.procurement.instances import Instance, Plan
from games.words import gettext_noop

MOST_UNITS = 1_000_000


class ProcurementConfig(InstanceConfig, TwoSources):
    """One treatment. Defaults: the paper's basic level."""

    level: Literal["basic", "medium", "hard", "small"] = Field(
        "basic", title="Level", description="Size of the instance; small is meant for people."
    )
    told: Literal["baseline", "horizon", "horizon_goal"] = Field(
        "baseline",
        title="Players are told",
        description="horizon: players know the number of periods. horizon_goal: also that the best plan counts.",
    )
    instance: Instance | None = Field(
        None,
        title="Instance",
        description="The offers, budget and effectiveness. Empty: drawn at random.",
        examples=[
            {
                "categories": [["A1", "A2"], ["B1"]],
                "effectiveness": {"A1": 1, "A2": 2, "B1": 1},
                "offers": [
                    {"id": "Offer 1", "contents": {"A1": 2}, "price": 10},
                    {"id": "Offer 2", "contents": {"A2": 1, "B1": 1}, "price": 15},
                    {"id": "Offer 3", "contents": {"B1": 3}, "price": 12},
                ],
                "budget": 120,
            }
        ],
    )


class PlanMove(Move):
    """What to buy in this period."""

    plan: Annotated[
        Submitted,
        WithJsonSchema(
            {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0, "maximum": MOST_UNITS}}
        ),
    ] = Field(
        title=gettext_noop("Your plan"),
        description=gettext_noop("Quantity by offer; offers not listed are not bought."),
    )


FORM = Form(
    "plan",
    gettext_noop("Buy for this period"),
    PlanMove,
    help=gettext_noop("Enter how many units of each offer you buy, within the budget. This closes the period."),
    tool="submit_purchase_plan",
)


@dataclass(frozen=True)
class Purchase:
    """One period: the plan without zeros, its cost, and the workers it supports (None if it failed)."""

    plan: Plan
    cost: float
    workers: float | None


@dataclass(frozen=True, kw_only=True)
class Purchases(Periods):
    """The instance with its optimum, and the purchases so far."""

    instance: Instance
    optimum: float
    best_plan: Plan
    purchases: tuple[Purchase, ...] = ()

    def best(self) -> Purchase | None:
        """Return the feasible purchase that supports the most workers, the first on ties; None if there is none."""
        return max(
            (purchase for purchase in self.purchases if purchase.workers is not None),
            key=lambda purchase: purchase.workers or 0.0,
            default=None,
        )
