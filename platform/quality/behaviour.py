"""Input behaviour on a page, as the page itself counts it: validated strictly, and stored so that order is irrelevant.

Nothing is stored about participants who have not agreed: their pages send nothing, and the server accepts nothing.
"""

from __future__ import annotations

from typing import Annotated

from django.db import transaction
from django.utils import timezone
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from participants.models import Enrolment
from quality.counts import AFTER_THE_END, MAX_VIEWS, MessageRefused
from quality.models import Behaviour

MAX_BYTES = 6000
"""Maximum size of a page's message in bytes; one with eight questions has about 3,000."""
MAX_PARTS = 8
MAX_QUESTIONS = 700
"""Maximum number of questions stored for one loading of a page; further ones are refused."""
Count = Annotated[int, Field(ge=0, le=1_000_000)]
Milliseconds = Annotated[int, Field(ge=0, le=30 * 24 * 3600 * 1000)]


class Figures(BaseModel):
    """Counts from one loading of a page, for the page itself or for one question of its game.

    Attributes:
        words: number of words on the page or the game's screen.
        answered_ms: time from its display to its answer.
        keys: number of keys pressed in fields; which keys is not recorded.
        intervals, interval_ms, interval_sq: number of intervals below two seconds between keys, their sum in
            milliseconds, and the sum of their squares.
        typed, untyped, pasted: characters that appeared in fields just after a key, without a key, or by pasting.
        clicks: number of mouse clicks.
        jumps: clicks without any pointer movement leading to them.
        wide: clicks on targets of at least 40 pixels.
        centred: those of the wide clicks that hit the exact middle.
        travel: distance that the pointer moved, in pixels.
        touches, keyboard: activations by touch or pen, and by the keyboard or a screen reader.
        untrusted: clicks and input made by a script.
        trapped: whether the field that only programs can see was filled in.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    words: Count = 0
    answered_ms: Milliseconds = 0
    keys: Count = 0
    intervals: Count = 0
    interval_ms: Milliseconds = 0
    interval_sq: Annotated[int, Field(ge=0, le=4_000_000_000_000)] = 0
    typed: Count = 0
    untyped: Count = 0
    pasted: Count = 0
    clicks: Count = 0
    jumps: Count = 0
    wide: Count = 0
    centred: Count = 0
    travel: Annotated[int, Field(ge=0, le=1_000_000_000)] = 0
    touches: Count = 0
    keyboard: Count = 0
    untrusted: Count = 0
    trapped: Annotated[int, Field(ge=0, le=1)] = 0


Question = Annotated[str, Field(pattern=r"^\d{0,9}$")]


class BehaviourMessage(BaseModel):
    """One message from a page: the figures for each question, with "" for the page itself."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    view: Annotated[str, Field(pattern=r"^[a-z0-9]{8,16}$")]
    position: Annotated[int, Field(ge=0, le=1000)]
    parts: Annotated[dict[Question, Figures], Field(min_length=1, max_length=MAX_PARTS)]


def read(data: bytes) -> BehaviourMessage:
    """Return the parsed message.

    Raises:
        MessageRefused
    """
    if len(data) > MAX_BYTES:
        raise MessageRefused("too long")
    try:
        return BehaviourMessage.model_validate_json(data)
    except ValidationError:
        raise MessageRefused("not a page's figures") from None


def has_agreed(enrolment: Enrolment, position: int) -> bool:
    """Return whether the person had agreed to these counts before the step at this position was shown."""
    agreed = [n for n, step in enumerate(enrolment.steps) if step["kind"] == "consent" and step.get("behaviour")]
    return bool(agreed) and agreed[0] < position


def store(*, token: str, message: BehaviourMessage) -> bool:
    """Store a page's figures for the enrolment with this token; stored figures only grow.

    Returns:
        False if there is no such page: the token is unknown, or the person has not seen the page.

    Raises:
        MessageRefused: the person did not agree, there is too much data, or it arrived long after the end.
    """
    now = timezone.now()
    enrolment = Enrolment.objects.filter(token=token).only("steps", "page_times", "ended_at").first()
    visit = enrolment.visit(message.position) if enrolment is not None else None
    if enrolment is None or visit is None:
        return False
    if not has_agreed(enrolment, message.position):
        raise MessageRefused("not agreed to")
    if enrolment.ended_at is not None and now > enrolment.ended_at + AFTER_THE_END:
        raise MessageRefused("the enrolment has ended")
    with transaction.atomic():
        page_rows = Behaviour.objects.filter(enrolment=enrolment, position=message.position)
        existing = {
            row.question: row
            for row in page_rows.select_for_update().filter(view=message.view, question__in=message.parts)
        }
        new = [question for question in message.parts if question not in existing]
        if new and page_rows.exclude(view=message.view).values("view").distinct().count() >= MAX_VIEWS:
            raise MessageRefused("too many loadings of this page")
        if new and page_rows.filter(view=message.view).count() + len(new) > MAX_QUESTIONS:
            raise MessageRefused("too many questions")
        for question, row in existing.items():
            reported = message.parts[question].model_dump()
            row.figures = {name: max(row.figures.get(name, 0), value) for name, value in reported.items()}
            row.last_at = now
            row.save(update_fields=["figures", "last_at"])
        Behaviour.objects.bulk_create(
            [
                Behaviour(
                    enrolment=enrolment,
                    position=message.position,
                    kind=visit.kind,
                    view=message.view,
                    question=question,
                    last_at=now,
                    figures=message.parts[question].model_dump(),
                )
                for question in new
            ],
            ignore_conflicts=True,
        )
    return True
