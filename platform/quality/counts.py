"""What a page counts and sends: read strictly, and kept so that no order or repetition of sending matters."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Self

from django.db import models, transaction
from django.db.models import F
from django.db.models.functions import Greatest
from django.utils import timezone
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from participants.models import Visit
from quality.models import PageView

LONGEST = 512
"""Bytes of what a page sends; a full one has about 150."""
MOST_VIEWS = 40
"""Loadings of one page that are kept; those beyond are not."""
SLACK = timedelta(minutes=1)
"""How far a browser's clock may be ahead."""
AFTER_THE_END = timedelta(minutes=2)
"""How long after the end of an enrolment its last page may still send."""
_MOST = 1_000_000
_DAYS_MS = 30 * 24 * 3600 * 1000
Count = Annotated[int, Field(ge=0, le=_MOST)]
Milliseconds = Annotated[int, Field(ge=0, le=_DAYS_MS)]


class NotTaken(ValueError):
    """What was sent cannot be so; nothing was kept."""


class Counts(BaseModel):
    """All that one loading of a page has counted so far."""

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
    def _can_be_so(self) -> Self:
        if self.visible_ms > self.open_ms or (self.pasted and not self.pastes):
            raise ValueError("more was seen or pasted than there was")
        return self

    def figures(self) -> dict[str, int]:
        """The counts alone, by their names in the table."""
        return self.model_dump(exclude={"view", "position"})


def read(data: bytes) -> Counts:
    """What was sent.

    Raises:
        NotTaken
    """
    if len(data) > LONGEST:
        raise NotTaken("too long")
    try:
        return Counts.model_validate_json(data)
    except ValidationError:
        raise NotTaken("not a page's counts") from None


def keep(*, token: str, counts: Counts, now: datetime | None = None) -> bool:
    """Keep the counts of a page of the enrolment that has this token; each figure only grows.

    Returns:
        False where there is no such page: the token is nobody's, or the person has not seen it.

    Raises:
        NotTaken: longer than since the page was shown, too many loadings, or long after the end.
    """
    now = now or timezone.now()
    shown = (
        Visit.objects.filter(enrolment__token=token, position=counts.position)
        .values_list("enrolment_id", "kind", "shown_at", "enrolment__ended_at")
        .first()
    )
    if shown is None:
        return False
    enrolment_id, kind, shown_at, ended_at = shown
    if ended_at is not None and now > ended_at + AFTER_THE_END:
        raise NotTaken("the enrolment has ended")
    if timedelta(milliseconds=counts.open_ms) > now - shown_at + SLACK:
        raise NotTaken("longer than since it was shown")
    views = PageView.objects.filter(enrolment=enrolment_id, position=counts.position)
    figures = counts.figures()
    grown: dict[str, models.Func | datetime] = {name: Greatest(F(name), value) for name, value in figures.items()}
    if views.filter(view=counts.view).update(last_at=now, **grown):
        return True
    if views.count() >= MOST_VIEWS:
        raise NotTaken("too many loadings of this page")
    with transaction.atomic():
        row = PageView(
            enrolment_id=enrolment_id,
            position=counts.position,
            kind=kind,
            view=counts.view,
            first_at=now,
            last_at=now,
            **figures,
        )
        PageView.objects.bulk_create([row], ignore_conflicts=True)
    return True
