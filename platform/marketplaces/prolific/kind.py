"""Prolific as a marketplace."""

from __future__ import annotations

from django.utils.translation import gettext_lazy

from marketplaces.kinds import Credential, Kind

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
    pages={"production": "https://app.prolific.com"},
)
