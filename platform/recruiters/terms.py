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
    """

    title: str | Promise = ""
    base_share: Decimal | None = Decimal(0)
    bonus_share: Decimal | None = Decimal(0)
    least: Decimal = Decimal(0)
    known: bool = False
    minimum: Mapping[str, Decimal] = field(default_factory=dict)
    source: str = ""

    def fee(self, *, base: Decimal, bonus: Decimal) -> Decimal | None:
        """Return the fee on one participant's pay, in whole cents; None if unknown."""
        if self.base_share is None or self.bonus_share is None:
            return None
        return fee_on(base, self.base_share, self.least) + fee_on(bonus, self.bonus_share, self.least)


def fee_on(amount: Decimal, share: Decimal, least: Decimal = Decimal(0)) -> Decimal:
    """Return the fee on one payment, in whole cents."""
    return max(least, (amount * share).quantize(CENT, rounding=ROUND_HALF_UP)) if amount else Decimal(0)


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

_known_shares: dict[str, Callable[[str], Decimal | None]] = {}


def register_known_share(entry: str, share_of: Callable[[str], Decimal | None]) -> None:
    """Register what returns the fee that a recruiter has stated for a study (by short name), if it has."""
    _known_shares[entry] = share_of


def terms_of(entry: str, study: str) -> Terms:
    """Return the terms that apply to a study with this way of entry and this short name."""
    terms = TERMS.get(entry, Terms())
    share = _known_shares[entry](study) if entry in _known_shares else None
    return terms if share is None else replace(terms, base_share=share, bonus_share=share, known=True)
