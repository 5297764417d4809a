"""The payment method of outside experiments, which pay their participants themselves: Parley only records the
amounts.
"""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from payouts import payers
from recruiters import otree


def register() -> None:
    """Register oTree, which pays its participants itself."""
    payers.register(otree.KIND, payers.PaymentMethod(title=_("oTree"), elsewhere=lambda study, reason: True))
