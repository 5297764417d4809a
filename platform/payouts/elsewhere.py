"""Experiments that pay their people themselves: Parley keeps their amounts and never pays them."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from payouts import payers
from recruiters import otree


def register() -> None:
    """Say that people who came from oTree are paid there."""
    payers.register(otree.KIND, payers.PaymentMethod(title=_("oTree"), elsewhere=lambda study, reason: True))
