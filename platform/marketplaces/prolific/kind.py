"""Prolific as a marketplace, for the accounts' pages and regular syncing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from marketplaces.kinds import Credential, Kind, Listed, Recruiting

if TYPE_CHECKING:
    from marketplaces.models import Account, Recruitment


def check(account: Account) -> str:
    """Return a message that the token is valid, with the balances that can be spent; it names no one. Raise
    MarketplaceError.
    """
    from marketplaces.prolific.client import client_of, text_of

    client = client_of(account)
    client.me()
    workspaces = client.workspaces()
    if not workspaces:
        return _("Prolific accepts the token, but it belongs to no workspace.")
    shown_balances = []
    for workspace in workspaces:
        amount, currency = client.balance(text_of(workspace, "id"))
        shown_balances.append(
            _("“{title}” has {amount} {currency}").format(
                title=workspace.get("title"), amount=amount, currency=currency
            )
        )
    return _("Prolific accepts the token. Balance: {balances}.").format(balances="; ".join(shown_balances))


def sync(recruitment: Recruitment) -> None:
    """Fetch and store what Prolific reports about a study's participants. Raise MarketplaceError."""
    from marketplaces.prolific.syncing import sync as sync_study

    sync_study(recruitment)


def load_recruiting() -> Recruiting:
    """Return what opening, pausing and closing a study does there."""
    from marketplaces.prolific import recruiting

    return Recruiting(recruiting.state, recruiting.due, recruiting.follow, recruiting.places, recruiting.add_places)


KIND = Kind(
    key="prolific",
    title=gettext_lazy("Prolific"),
    credentials=(
        Credential(
            "token",
            gettext_lazy("API token"),
            gettext_lazy("Create one on Prolific under API tokens. Stored encrypted, never shown. Empty: no change."),
        ),
    ),
    addresses={"production": "https://api.prolific.com"},
    check=check,
    sync=sync,
    load_recruiting=load_recruiting,
    desk="admin:prolific_publication_of",
    listed=Listed(gettext_lazy("Studies on Prolific"), "campaign", "prolific_publication"),
)
