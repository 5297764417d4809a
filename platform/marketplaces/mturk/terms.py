"""What a task on Mechanical Turk has beside what every offer has."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _
from pydantic import BaseModel

from marketplaces.models import Offer

KEY = "mturk"
"""`Identity.recruiter` of workers from Mechanical Turk."""


class Status(TextChoices):
    """mTurk's HITStatus values, and the statuses before a task has one."""

    DRAFT = "draft", _("draft")
    ORDERED = "ordered", _("not confirmed yet")
    REFUSED = "refused", _("refused")
    ASSIGNABLE = "Assignable", _("available")
    UNASSIGNABLE = "Unassignable", _("all assignments taken")
    REVIEWABLE = "Reviewable", _("ready for review")
    REVIEWING = "Reviewing", _("being reviewed")
    DISPOSED = Offer.DELETED, _("deleted")


class Terms(BaseModel):
    """The terms of a task, and its counts as last reported.

    Attributes:
        days: for which the task is available.
        minutes: from accepting the task to submitting it.
        approval_days: until mTurk approves automatically.
        approved_percent, approved_number, countries: what mTurk demands of workers.
        rest_hours: since the worker's last play of the game.
    """

    keywords: str = ""
    days: int = 0
    minutes: int
    approval_days: int = 0
    approved_percent: int | None = None
    approved_number: int | None = None
    countries: list[str] = []
    rest_hours: int = 0
    expires_at: datetime | None = None
    pending: int = 0
    available: int = 0
    completed: int = 0

    @property
    def over_at(self) -> datetime | None:
        """The latest time at which a worker who accepted the task can submit it."""
        return self.expires_at + timedelta(minutes=self.minutes) if self.expires_at else None


def tasks(**only: Any) -> Any:
    """Return mTurk's offers, filtered."""
    return Offer.objects.filter(account__kind=KEY, **only).select_related("account", "study")
