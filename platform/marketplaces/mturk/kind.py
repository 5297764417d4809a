"""Mechanical Turk as a marketplace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from marketplaces.kinds import Credential, Kind, Listed, Recruiting

if TYPE_CHECKING:
    from marketplaces.models import Account, Recruitment


def check(account: Account) -> str:
    """Return a sentence that states the account's balance."""
    from marketplaces.mturk.client import requester_of  # models import this file before they are loaded

    return _("The account works. Balance: ${balance}.").format(balance=f"{requester_of(account).balance():,.2f}")


def sync(recruitment: Recruitment) -> None:
    """Fetch the status of a study's tasks and assignments."""
    from marketplaces.mturk.syncing import sync_study

    sync_study(recruitment)


def load_recruiting() -> Recruiting:
    """Return what opening, pausing and closing a study does there."""
    from marketplaces.mturk import recruiting

    return Recruiting(recruiting.state, recruiting.due, recruiting.follow, recruiting.places, recruiting.add_places)


KIND = Kind(
    key="mturk",
    title=gettext_lazy("Mechanical Turk"),
    credentials=(
        Credential(
            "access_key_id",
            gettext_lazy("Access key ID"),
            gettext_lazy(
                "The key of an AWS user with the permission AmazonMechanicalTurkFullAccess. Leave empty to keep the "
                "saved key."
            ),
        ),
        Credential("secret_access_key", gettext_lazy("Secret access key")),
    ),
    addresses={
        "production": "https://mturk-requester.us-east-1.amazonaws.com",
        "sandbox": "https://mturk-requester-sandbox.us-east-1.amazonaws.com",
    },
    check=check,
    sync=sync,
    load_recruiting=load_recruiting,
    desk="admin:mturk_hit_of_study",
    listed=Listed(gettext_lazy("Tasks on mTurk"), "work", "mturk_hit"),
    frames=("https://*.mturk.com",),
)
