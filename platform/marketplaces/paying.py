"""What marketplaces' payers share: which errors leave an outcome open, and how participants are rejected."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from marketplaces import kinds, submissions
from marketplaces.kinds import MarketplaceError, NotSent, Refused
from marketplaces.models import Account
from payouts import payers
from payouts.payers import Payer, PaymentMethod, Unreachable


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


def register(
    kind: str, payer: Callable[[str], Payer], account: Callable[[str], Account | None], *, bulk_size: int = 1
) -> None:
    """Register how a marketplace's participants are paid, with the arguments of `payouts.payers.PaymentMethod`."""
    method = PaymentMethod(
        kinds.get(kind).title, payer, account=account, rejection=submissions.rejection_of, bulk_size=bulk_size
    )
    payers.register(kind, method)
