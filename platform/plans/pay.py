"""How much a participant is paid: pure functions of a pay rule and the results.

Amounts are decimals in whole cents of the study's currency, rounded half up.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from itertools import pairwise
from statistics import fmean
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

from games.words import cached_by_language, localized

CENT = Decimal("0.01")
Amount = Annotated[Decimal, Field(ge=0, allow_inf_nan=False, decimal_places=2)]
EndingPay = Literal["nothing", "base_after_half", "base", "base_and_average", "base_and_bonus"]
ENDINGS_PAY: Mapping[str, EndingPay] = {
    "completed": "base_and_bonus",
    "failed_quiz": "base",
    "opponent_failed": "base_and_average",
    "our_outage": "base_and_average",
    "partner_left": "base_and_average",
    "no_partner": "base",
    "replaced": "base_after_half",
    "screened_out": "nothing",
    "failed_code_word": "nothing",
    "failed_comprehension": "nothing",
    "timed_out": "base_after_half",
    "dropped_out": "base_after_half",
    "withdrew": "nothing",
    "returned": "nothing",
}
"""What each ending pays by default."""
CAN_PAY: Mapping[str, tuple[EndingPay, ...]] = {
    "failed_code_word": ("nothing", "base"),
    "failed_comprehension": ("nothing", "base"),
    "failed_quiz": ("nothing", "base", "base_and_average", "base_and_bonus"),
    "opponent_failed": ("base", "base_and_average"),
    "our_outage": ("base", "base_and_average"),
    "partner_left": ("base", "base_and_average"),
    "no_partner": ("base",),
    "replaced": ("nothing", "base_after_half", "base"),
    "screened_out": ("nothing", "base"),
    "timed_out": ("nothing", "base_after_half", "base"),
    "dropped_out": ("nothing", "base_after_half", "base"),
    "withdrew": ("nothing", "base"),
}
"""What a study may choose to pay for each ending. Completing always pays base pay and bonus. A game that fails through
no fault of the player is always paid; a returned assignment never is.
"""
HALF = 0.5
"""The share of the matches that must have been played for "base_after_half" to pay."""


class PayRule(BaseModel):
    """What a study pays.

    bonus = clip(rule(payoff), 0, cap): "share" pays 2 · announced average · g with g in [0, 1] (the
    game's `bonus_share`), "linear" pays rate · payoff, "fixed" pays the announced average.
    `endings` gives what each ending pays; endings not named pay nothing. "base_after_half" pays the base pay once half
    of the matches was played, and nothing before. `waiting_rate` is paid per hour of
    waiting for a group that never formed, as a bonus on top of what that ending pays.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] = "USD"
    base: Amount = Decimal("1.00")
    rule: Literal["share", "linear", "fixed"] = "share"
    announced_average: Amount = Decimal("1.00")
    rate: Annotated[Decimal, Field(ge=0, allow_inf_nan=False)] = Decimal(0)
    cap: Amount = Decimal("10.00")
    endings: Mapping[str, EndingPay] = ENDINGS_PAY
    waiting_rate: Amount = Decimal(0)


def cents(amount: Decimal) -> Decimal:
    """Return `amount` rounded half up to whole cents."""
    return amount.quantize(CENT, rounding=ROUND_HALF_UP)


def _rate(rate: Decimal) -> Decimal:
    exact = rate.normalize()
    return cents(exact) if int(exact.as_tuple().exponent) > -2 else exact


PlanAmount = Annotated[Amount, AfterValidator(cents)]
"""An amount in a plan, always with two decimals, so that 1 and "1.00" are the same text."""


class Bonus(BaseModel):
    """How a plan's bonus follows from the results."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    rule: Literal["share", "linear", "fixed"] = Field(
        "share",
        title="Rule",
        description="share: twice the average × success. linear: rate × payoff. fixed: the same for everyone.",
    )
    of: Literal["all", "last", "random"] = Field(
        "all",
        title="Paid match",
        description="With several matches: the average of all, the last one, or one drawn at the end.",
    )
    average: PlanAmount = Field(
        Decimal("1.00"), title="Announced average", description="What participants earn on average, as they are told."
    )
    rate: Annotated[Decimal, Field(ge=0, allow_inf_nan=False), AfterValidator(_rate)] = Field(
        Decimal("0.00"), title="Rate", description="For the linear rule: pay per unit of payoff."
    )
    cap: PlanAmount = Field(Decimal("10.00"), title="Maximum", description="Nobody's bonus is higher.")


class Pay(BaseModel):
    """What a plan pays."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] = Field(
        "USD", title="Currency", description="Three capital letters, such as USD."
    )
    base: PlanAmount = Field(Decimal("1.00"), title="Base pay")
    bonus: Bonus = Field(Bonus(), title="Bonus")
    waiting_rate: PlanAmount = Field(
        Decimal("6.00"),
        title="Hourly pay for waiting",
        description="Paid pro rata to participants for whom no group formed, in addition to what that ending pays.",
    )
    within: Annotated[int, Field(ge=1, le=365)] | None = Field(
        None,
        title="Days until participants are paid",
        description="What you promise on the last page. Empty: it says that you have not said when.",
    )
    endings: Mapping[str, EndingPay] = Field(
        default_factory=dict,
        title="What other endings pay",
        description="Only where it differs from the usual pay of that ending.",
        json_schema_extra={"endings": True},
    )
    failure_cap: PlanAmount | None = Field(
        Decimal("50.00"),
        title="Spending limit for failed matches",
        description="Pauses the study when matches whose opponent failed have cost more than this.",
    )
    pause_on_failure: bool = Field(
        False,
        title="Pause when an opponent fails",
        description="Closes the study to new participants when a model did not answer. You reopen it yourself.",
    )

    @field_validator("endings")
    @classmethod
    def _payable(cls, endings: Mapping[str, EndingPay]) -> Mapping[str, EndingPay]:
        try:
            endings_with(endings)
        except ValueError as error:
            raise PydanticCustomError("endings", "{reason}", {"reason": str(error)}) from None
        return endings

    def rule_for(self, bonus: Bonus | None = None) -> PayRule:
        """Return the rule that pays a participant, or one game's rule if it has a bonus of its own."""
        own = bonus or self.bonus
        return PayRule(
            currency=self.currency,
            base=self.base,
            rule=own.rule,
            announced_average=own.average,
            rate=own.rate,
            cap=min(own.cap, self.bonus.cap),
            endings=endings_with(self.endings),
            waiting_rate=self.waiting_rate,
        )


def bonus(rule: PayRule, *, payoff: float, share: float) -> Decimal:
    """Return clip(rule(payoff), 0, cap) in whole cents.

    Args:
        payoff: in the game's own unit.
        share: the game's g for that payoff, from 0 to 1.
    """
    return cents(_within_limits(rule, _unlimited(rule, payoff, share)))


def _unlimited(rule: PayRule, payoff: float, share: float) -> Decimal:
    amounts = {
        "share": 2 * rule.announced_average * Decimal(repr(share)),
        "linear": rule.rate * Decimal(repr(payoff)),
        "fixed": rule.announced_average,
    }
    return amounts[rule.rule]


def _within_limits(rule: PayRule, amount: Decimal) -> Decimal:
    return min(max(amount, Decimal(0)), rule.cap)


def bonus_parts(
    rule: PayRule, results: Sequence[tuple[float, float]], own: Sequence[Decimal] = ()
) -> tuple[list[Decimal], Decimal]:
    """Return how much each match that counts adds to the bonus, and how much the limits 0 and `cap` then change.

    In whole cents; their sum is the bonus of the mean results. Before the limits, amounts beyond a trillion are cut.

    Args:
        results: each match's payoff and share.
        own: each match's bonus, if games pay by rules of their own; their mean is the bonus.
    """

    def shown(amount: Decimal) -> Decimal:
        return cents(min(max(amount, -_MOST_SHOWN), _MOST_SHOWN))

    exact = list(own) or [_unlimited(rule, payoff, share) for payoff, share in results]
    mean = sum(own, Decimal(0)) / len(own) if own else _unlimited(rule, *map(fmean, zip(*results, strict=True)))
    so_far = [shown(sum(exact[:number], Decimal(0)) / len(exact)) for number in range(len(exact))]
    totals = [*so_far, shown(mean)]  # rounding the running total, and not each part, keeps their sum exact
    return [after - before for before, after in pairwise(totals)], cents(_within_limits(rule, mean)) - totals[-1]


_MOST_SHOWN = Decimal(10**12)
_SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£"}


def in_currency(amount: Decimal, currency: str) -> str:
    """Return an amount of real money with its currency: "$1.00", "-$0.88", "1.00 CHF"."""
    symbol = _SYMBOLS.get(currency)
    sign, digits = "-" if amount < 0 else "", localized(f"{abs(amount):.2f}")
    return f"{sign}{symbol}{digits}" if symbol else f"{sign}{digits} {currency}"


Rule = str
"""A pay rule as JSON text: pages, which need it again and again, keep by it what follows from it."""


@lru_cache(maxsize=512)
def _read(rule: Rule) -> PayRule:
    return PayRule.model_validate(json.loads(rule))


@cached_by_language
def shown_bonus(rule: Rule, payoff: float | None, share: float | None) -> str | None:
    """Return the formatted bonus of a result; None if the rule lacks an input or does not use the result."""
    pay = _read(rule)
    required_input = {"share": share, "linear": payoff}.get(pay.rule)
    if required_input is None:
        return None
    return in_currency(bonus(pay, payoff=payoff or 0.0, share=share or 0.0), pay.currency)


def highest_bonus(rule: PayRule) -> Decimal:
    """Return the most that a rule can pay as a bonus."""
    unlimited = {
        "share": 2 * rule.announced_average,
        "linear": rule.cap if rule.rate else Decimal(0),
        "fixed": rule.announced_average,
    }
    return min(unlimited[rule.rule], rule.cap)


@cached_by_language
def bonus_range(rule: Rule) -> tuple[str, str]:
    """Return the smallest and the largest bonus that a rule can give, formatted; equal if the result has no effect."""
    pay = _read(rule)
    most = highest_bonus(pay)
    least = most if pay.rule == "fixed" else Decimal(0)
    return in_currency(least, pay.currency), in_currency(most, pay.currency)


@cached_by_language
def bonus_line(rule: Rule, points: tuple[tuple[float, float], ...]) -> dict[str, Any] | None:
    """Return the bonus as a linear function of the payoff, clipped at both ends, for a page's script.

    Args:
        points: two results (payoff, share) between which the share is linear.
    """
    pay = _read(rule)
    (x0, g0), (x1, g1) = points
    if pay.rule == "fixed" or x0 == x1:
        return None
    double_average = 2 * float(pay.announced_average)
    slope = float(pay.rate) if pay.rule == "linear" else double_average * (g1 - g0) / (x1 - x0)
    at_zero = 0.0 if pay.rule == "linear" else double_average * g0 - slope * x0
    maximum = float(pay.cap) if pay.rule == "linear" else min(float(pay.cap), double_average)
    return {"at_zero": at_zero, "slope": slope, "most": maximum, "written": in_currency(Decimal(0), pay.currency)}


def due(
    rule: PayRule,
    *,
    ending: str,
    payoff: float | None,
    share: float | None,
    waited: float = 0,
    played: float = 0,
    own_bonus: Decimal | None = None,
) -> dict[str, Decimal]:
    """Return the amounts owed by reason ("base", "bonus"); reasons without an amount are omitted.

    Args:
        ending: the participant's terminal state.
        payoff, share: of the finished match; None if there is none.
        waited: seconds spent waiting for a group that never formed.
        played: how much of their matches the participant has played, from 0 to 1.
        own_bonus: the bonus, if games pay by rules of their own.
    """
    pays = rule.endings.get(ending, "nothing")
    owed: dict[str, Decimal] = {}
    if pays != "nothing" and (pays != "base_after_half" or played >= HALF):
        owed["base"] = cents(rule.base)
    if pays == "base_and_average":
        owed["bonus"] = cents(min(rule.announced_average, rule.cap))
    if pays == "base_and_bonus" and payoff is not None and share is not None:
        owed["bonus"] = bonus(rule, payoff=payoff, share=share) if own_bonus is None else own_bonus
    if ending == "no_partner":
        owed["bonus"] = cents(rule.waiting_rate * Decimal(repr(waited)) / 3600)
    return {reason: amount for reason, amount in owed.items() if amount > 0}


def endings_with(chosen: Mapping[str, str]) -> dict[str, EndingPay]:
    """Return what each ending pays in a study with these choices.

    Raises:
        ValueError: an ending cannot be chosen, or cannot pay that.
    """
    for ending, pays in chosen.items():
        if pays not in CAN_PAY.get(ending, ()):
            raise ValueError(f"The ending {ending} cannot pay {pays}.")
    return {**ENDINGS_PAY, **chosen}  # type: ignore[dict-item]


def least_of(rule: PayRule, *, ending: str) -> Decimal:
    """Return the least that an ending pays: everything that does not depend on the game."""
    return sum(due(rule, ending=ending, payoff=None, share=None).values(), Decimal(0))


def workings(
    rule: PayRule, *, ending: str, payoff: float | None, share: float | None, **numbers: Any
) -> dict[str, Any]:
    """Return the rule and the numbers behind an amount, to be stored with it.

    Args:
        numbers: further numbers, if any: the seconds `waited`, how much was `played`, the matches of a session.
    """
    return {"rule": rule.model_dump(mode="json"), "ending": ending, "payoff": payoff, "share": share, **numbers}
