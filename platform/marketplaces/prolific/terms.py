"""What a study on Prolific has beside what every offer has."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _
from pydantic import BaseModel

from marketplaces.models import Offer

KIND = "prolific"
"""`Identity.recruiter` of participants from Prolific."""


class Status(TextChoices):
    """Prolific's own statuses, and two for the time before the study exists there."""

    MAKING = "MAKING", _("being made")
    UNCERTAIN = "UNCERTAIN", _("perhaps made")
    UNPUBLISHED = "UNPUBLISHED", _("draft on Prolific")
    SCHEDULED = "SCHEDULED", _("scheduled")
    PUBLISHING = "PUBLISHING", _("being published")
    ACTIVE = "ACTIVE", _("recruiting")
    PAUSED = "PAUSED", _("paused")
    AWAITING_REVIEW = "AWAITING REVIEW", _("all places taken, awaiting review")
    COMPLETED = "COMPLETED", _("completed")


class Terms(BaseModel):
    """The terms of a study.

    Attributes:
        minutes: estimated.
        fee_rate: fees and taxes per unit of reward.
        requires_signature: only signed links are accepted.
        codes: the completion codes, by ending (`codes`).
        screen_out: what Prolific pays each screened-out participant.
        parts: partial payments are allowed.
        treatments: with an address for each treatment, the address's key and its cell's number.
        filters: who may take part, as Prolific takes them.
    """

    project: str = ""
    workspace: str = ""
    minutes: int
    devices: list[str] = []
    fee_rate: Decimal = Decimal(0)
    requires_signature: bool = True
    codes: dict[str, str] = {}
    screen_out: Decimal | None = None
    parts: bool = False
    treatments: dict[str, int] = {}
    filters: list[dict[str, Any]] = []


def publication_of(**only: Any) -> Offer | None:
    """Return a study's offer on Prolific, of which there is at most one."""
    return Offer.objects.select_related("account", "study").filter(account__kind=KIND, **only).first()


def was_published(publication: Offer) -> bool:
    return publication.remote_id is not None and publication.status != Status.UNPUBLISHED
