"""What recruiters charge and the hourly pay they demand: the only place with these numbers, their sources and date."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_UP, Decimal

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

AS_OF = "2025-11-01"
"""When the sources below were read."""
CENT = Decimal("0.01")
MTURK_BASIC_SHARE, MTURK_LARGE_SHARE, MTURK_LARGE_FROM = Decimal("0.20"), Decimal("0.40"), 10
"""Mechanical Turk's fee on bonuses and on rewards, and on the rewards of tasks with at least this many assignments."""


@dataclass(frozen=True)
class Terms:
    """A recruiter's fees and its minimum pay.

    Attributes:
        base_share, bonus_share: the fee per unit of base pay and of bonuses; None if unknown.
        least: the smallest fee on one payment.
        known: whether the recruiter stated this study's fee; otherwise it is assumed.
        minimum: hourly pay that the recruiter demands, by currency; empty if it states none.
        minutes: what it tells participants about the study's length; None: nothing of its own.
    """

    title: str | Promise = ""
    base_share: Decimal | None = Decimal(0)
    bonus_share: Decimal | None = Decimal(0)
    least: Decimal = Decimal(0)
    known: bool = False
    minimum: Mapping[str, Decimal] = field(default_factory=dict)
    source: str = ""
    minutes: int | None = None

    def fee(self, *, base: Decimal, bonus: Decimal) -> Decimal | None:
        """Return the fee on one participant's pay, in whole cents; None if unknown."""
        if self.base_share is None or self.bonus_share is None:
            return None
        return fee_on(base, self.base_share, self.least) + fee_on(bonus, self.bonus_share, self.least)


def fee_on(amount: Decimal, share: Decimal, least: Decimal = Decimal(0)) -> Decimal:
    """Return the fee on one payment, in whole cents."""
    return max(least, (amount * share).quantize(CENT, rounding=ROUND_HALF_UP)) if amount else Decimal(0)


def mturk_share(assignments: int) -> Decimal:
    """Return Mechanical Turk's fee on each reward of a task with this many assignments, as a share of the reward."""
    return MTURK_LARGE_SHARE if assignments >= MTURK_LARGE_FROM else MTURK_BASIC_SHARE


def mturk_fee(amount: Decimal, *, assignments: int = 1) -> Decimal:
    """Return Mechanical Turk's fee on one bonus, or on one reward of a task with this many assignments."""
    return fee_on(amount, mturk_share(assignments), CENT)


TERMS: Mapping[str, Terms] = {
    "prolific": Terms(
        _("Prolific"),
        Decimal("0.333"),
        Decimal("0.333"),
        minimum={"GBP": Decimal(6), "USD": Decimal(8)},
        source="researcher-help.prolific.com, “Prolific's payment principles” and “Bonus payments”",
    ),
    "mturk": Terms(
        _("Mechanical Turk"),
        MTURK_LARGE_SHARE,
        MTURK_BASIC_SHARE,
        least=CENT,
        source="requester.mturk.com/pricing",
    ),
    "panel": Terms(_("The panel"), None, None),
}
"""By the study's way of entry. Others charge nothing and demand nothing."""


@dataclass(frozen=True)
class Stated:
    """What a recruiter states about one study: its fee on all pay, if known, and the minutes announced there."""

    share: Decimal | None
    minutes: int


_stated: dict[str, Callable[[str], Stated | None]] = {}


def register(entry: str, stated: Callable[[str], Stated | None]) -> None:
    """Register what returns what a recruiter has stated about a study (by short name); None if nothing yet."""
    _stated[entry] = stated


def terms_of(entry: str, study: str) -> Terms:
    """Return the terms that apply to a study with this way of entry and this short name."""
    terms = TERMS.get(entry, Terms())
    stated = _stated[entry](study) if entry in _stated else None
    if stated is None:
        return terms
    terms = replace(terms, minutes=stated.minutes)
    return terms if stated.share is None else with_share(terms, stated.share)


def with_share(terms: Terms, share: Decimal) -> Terms:
    """Return the terms with a fee that the recruiter has stated."""
    return replace(terms, base_share=share, bonus_share=share, known=True)
