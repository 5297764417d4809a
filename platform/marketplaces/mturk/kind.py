"""Mechanical Turk as a marketplace."""

from __future__ import annotations

from django.utils.translation import gettext_lazy

from marketplaces.kinds import Credential, Kind

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
    pages={"production": "https://www.mturk.com", "sandbox": "https://workersandbox.mturk.com"},
    frames=("https://*.mturk.com",),
)
