"""What marketplaces' payers share: which errors leave an outcome open, and how participants are rejected."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from marketplaces import modules, submissions
from marketplaces.kinds import Kind, MarketplaceError, NotSent, Refused
from payouts import payers
from payouts.payers import PaymentMethod, Unreachable


@contextmanager
def reachable(*, refused: bool = True) -> Iterator[None]:
    """Raise `payouts.payers.Unreachable` for errors after which the outcome is unknown or another attempt may succeed.

    Args:
        refused: refusals count as well; otherwise they pass.
    """
    try:
        yield
    except MarketplaceError as error:
        if isinstance(error, Refused) and not isinstance(error, NotSent) and not refused:
            raise
        raise Unreachable(str(error)) from None


def register(kind: Kind) -> None:
    """Register how a marketplace's participants are paid, and rejected."""
    there = modules.paying(kind.key)
    method = PaymentMethod(
        kind.title,
        there.payer_of,
        account=there.account_of,
        rejection=submissions.rejection_of,
        bulk_size=there.BULK_SIZE,
        approves_within=there.approves_within,
    )
    payers.register(kind.key, method)
