"""Counts that a page sends about itself: validated strictly, and stored so that order and repetition do not matter."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Self

from django.db import models, transaction
from django.db.models import F
from django.db.models.functions import Greatest
from django.utils import timezone
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from participants.models import Enrolment
from quality.models import PageView

MAX_BYTES = 512
"""Maximum size of a page's message in bytes; a full one has about 150."""
MAX_VIEWS = 40
"""Maximum number of loadings stored for one page; further ones are refused."""
CLOCK_TOLERANCE = timedelta(minutes=1)
"""Tolerance for a browser's clock that is ahead."""
AFTER_THE_END = timedelta(minutes=2)
"""Time after the end of an enrolment in which its last page may still send counts."""
_MAX_COUNT = 1_000_000
_MAX_MS = 30 * 24 * 3600 * 1000
Count = Annotated[int, Field(ge=0, le=_MAX_COUNT)]
Milliseconds = Annotated[int, Field(ge=0, le=_MAX_MS)]


class MessageRefused(ValueError):
    """Raised for a message that cannot be accepted; nothing was stored."""


class Counts(BaseModel):
    """All counts so far from one loading of a page."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    view: Annotated[str, Field(pattern=r"^[a-z0-9]{8,16}$")]
    position: Annotated[int, Field(ge=0, le=1000)]
    open_ms: Milliseconds
    visible_ms: Milliseconds
    hidden: Count
    blurred: Count
    pastes: Count
    pasted: Count

    @model_validator(mode="after")
    def _check_consistent(self) -> Self:
        if self.visible_ms > self.open_ms or (self.pasted and not self.pastes):
            raise ValueError("more was seen or pasted than there was")
        return self

    def figures(self) -> dict[str, int]:
        """Return the counts alone, by their names in the table."""
        return self.model_dump(exclude={"view", "position"})


def read(data: bytes) -> Counts:
    """Return the parsed message.

    Raises:
        MessageRefused
    """
    if len(data) > MAX_BYTES:
        raise MessageRefused("too long")
    try:
        return Counts.model_validate_json(data)
    except ValidationError:
        raise MessageRefused("not a page's counts") from None


def store(*, token: str, counts: Counts) -> bool:
    """Store a page's counts for the enrolment with this token; stored counts only grow.

    Returns:
        False if there is no such page: the token is unknown, or the person has not seen the page.

    Raises:
        MessageRefused: the counts cover more time than has passed since the page was shown, there are too many
            loadings, or the message arrived long after the end.
    """
    now = timezone.now()
    enrolment = Enrolment.objects.filter(token=token).only("steps", "page_times", "ended_at").first()
    visit = enrolment.visit(counts.position) if enrolment is not None else None
    if enrolment is None or visit is None:
        return False
    if enrolment.ended_at is not None and now > enrolment.ended_at + AFTER_THE_END:
        raise MessageRefused("the enrolment has ended")
    if timedelta(milliseconds=counts.open_ms) > now - visit.shown_at + CLOCK_TOLERANCE:
        raise MessageRefused("longer than the page has been shown")
    views = PageView.objects.filter(enrolment=enrolment, position=counts.position)
    figures = counts.figures()
    larger_counts: dict[str, models.Func | datetime] = {
        name: Greatest(F(name), value) for name, value in figures.items()
    }
    if views.filter(view=counts.view).update(last_at=now, **larger_counts):
        return True
    if views.count() >= MAX_VIEWS:
        raise MessageRefused("too many loadings of this page")
    with transaction.atomic():
        row = PageView(
            enrolment=enrolment,
            position=counts.position,
            kind=visit.kind,
            view=counts.view,
            first_at=now,
            last_at=now,
            **figures,
        )
        PageView.objects.bulk_create([row], ignore_conflicts=True)
    return True
