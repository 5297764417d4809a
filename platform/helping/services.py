"""Asking the researchers, and what they answer or write to participants."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from helping.models import MAX_CHARACTERS, Message
from matches import channels
from matches import services as matches
from matches.models import Match, Seat
from participants.models import Enrolment
from studies.models import Study

MAX_QUESTIONS = 5
QUESTIONS_WITHIN = timedelta(minutes=10)
"""A participant may ask `MAX_QUESTIONS` within this time."""
LONGEST_PAUSE = timedelta(minutes=30)
"""No study lets a question pause a clock for longer."""
MAX_LISTED = 30
"""The monitor lists this many open questions, the oldest first; a participant's page as many messages, the newest."""


class NotSent(Exception):
    """Nothing was sent; the message tells the writer why."""


@dataclass(frozen=True)
class Recipients:
    """Whom the researchers write to: one participant, those of a match, or everybody now in the study."""

    audience: Message.Audience
    enrolments: QuerySet[Enrolment]

    @classmethod
    def read(cls, study: Study, to: str) -> Recipients:
        """Return the recipients that `to` names: "person:<key>", "group:<key of a match>" or "study".

        Raises:
            NotSent: nobody in the study is meant.
        """
        kind, _colon, key = to.partition(":")
        people = Enrolment.objects.filter(placement__version__study=study)
        number = int(key) if key.isascii() and key.isdigit() and len(key) < 19 else 0
        if kind == Message.Audience.PERSON:
            people = people.filter(pk=number)
        elif kind == Message.Audience.GROUP:
            people = people.filter(seats__match=number, ended_at=None).distinct()
        elif kind == Message.Audience.STUDY:
            people = people.filter(ended_at=None)
        else:
            people = people.none()
        if not people.exists():
            raise NotSent(_("Nobody would receive this. Nothing was sent."))
        return cls(Message.Audience(kind), people)


def messages_of(enrolment: Enrolment) -> list[Message]:
    """Return the newest messages that the participant wrote or received, oldest first."""
    newest = Message.objects.filter(enrolment=enrolment).order_by("-pk")[:MAX_LISTED]
    return list(newest)[::-1]


def ask(*, enrolment: Enrolment, text: str) -> Message:
    """Store a participant's question and, if the study says so, pause their clock in the match.

    Raises:
        NotSent: it is empty, or they have asked too often.
    """
    text, now = _cleaned(text), timezone.now()
    with transaction.atomic():
        Enrolment.objects.select_for_update().get(pk=enrolment.pk)
        lately = Message.objects.filter(
            enrolment=enrolment, audience=Message.Audience.RESEARCHERS, at__gt=now - QUESTIONS_WITHIN
        )
        if lately.count() >= MAX_QUESTIONS:
            raise NotSent(_("You have sent several questions. Please wait a few minutes before you send another."))
        seat = _live_seats([enrolment.pk]).first()
        question = Message.objects.create(
            enrolment=enrolment,
            audience=Message.Audience.RESEARCHERS,
            text=text,
            at=now,
            match_id=seat.match_id if seat else None,
        )
    if seat is not None:
        matches.hold_turn(match_id=seat.match_id, role=seat.role, asked_at=question.at)
    return question


def _cleaned(text: str) -> str:
    text = text.replace("\x00", "").strip()
    if not text:
        raise NotSent(_("Please write something first."))
    if len(text) > MAX_CHARACTERS:
        raise NotSent(_("Please use at most {most} characters.").format(most=MAX_CHARACTERS))
    return text


def _live_seats(enrolments: Collection[int]) -> QuerySet[Seat]:
    return Seat.objects.filter(enrolment__in=enrolments, left_at=None, match__status=Match.Status.LIVE).order_by(
        "-step"
    )


def write(*, recipients: Recipients, author: Any, text: str) -> int:
    """Send the researchers' words to each recipient; return how many there are.

    What is written to one participant answers their open questions.

    Raises:
        NotSent: the text is empty or too long, or nobody would receive it.
    """
    text, now, sending = _cleaned(text), timezone.now(), uuid.uuid4()
    enrolments = list(recipients.enrolments.order_by("pk").values_list("pk", flat=True))
    seats = {seat.enrolment_id: seat for seat in _live_seats(enrolments).order_by("step")}
    with transaction.atomic():
        Enrolment.objects.filter(pk__in=enrolments).update(has_unread=True)
        Message.objects.bulk_create(
            Message(
                enrolment_id=enrolment,
                audience=recipients.audience,
                sending=sending,
                author=author,
                text=text,
                at=now,
                match_id=seats[enrolment].match_id if enrolment in seats else None,
            )
            for enrolment in enrolments
        )
        if recipients.audience == Message.Audience.PERSON:
            close_questions(enrolments, now)
        transaction.on_commit(lambda: _tell_pages(seats.values()))
    return len(enrolments)


def close_questions(enrolments: Collection[int], now: datetime) -> int:
    """Mark the participants' open questions as answered, so that their clocks go on; return how many."""
    closed = open_questions().filter(enrolment__in=enrolments).update(answered_at=now)
    for seat in _live_seats(enrolments):
        matches.release_turn(match_id=seat.match_id, role=seat.role)
    return closed


def _tell_pages(seats: Iterable[Seat]) -> None:
    """Tell pages with a socket that there is something to read; others ask now and then."""
    for seat in seats:
        channels.send_to_pages(seat.match_id, {"type": "match.message", "role": seat.role})


def open_questions() -> QuerySet[Message]:
    """Return the questions that nobody has answered."""
    return Message.objects.filter(audience=Message.Audience.RESEARCHERS, answered_at=None)


def open_questions_of(study: Study) -> list[Message]:
    """Return a study's open questions with their participants, oldest first."""
    asked = open_questions().filter(enrolment__placement__version__study=study)
    return list(asked.select_related("enrolment").order_by("pk")[:MAX_LISTED])


def mark_read(*, enrolment: Enrolment, until: int) -> None:
    """Record that the participant's page has shown the researchers' messages up to the one with this key."""
    unread = Message.objects.filter(enrolment=enrolment, read_at=None).exclude(audience=Message.Audience.RESEARCHERS)
    with transaction.atomic():
        Enrolment.objects.select_for_update().get(pk=enrolment.pk)
        if unread.filter(pk__lte=until).update(read_at=timezone.now()):
            Enrolment.objects.filter(~Exists(unread), pk=enrolment.pk).update(has_unread=False)


def hold_clocks() -> int:
    """Pause the clocks of participants whose question came before their turn; return how many.

    `ask` pauses the turn that is open then; this one, run every few seconds, pauses those opened later.
    """
    held, pausing = 0, open_questions().filter(match__timers__help_seconds__gt=0, at__gt=timezone.now() - LONGEST_PAUSE)
    for question in pausing.filter(match__status=Match.Status.LIVE):
        for seat in _live_seats([question.enrolment_id]):
            held += matches.hold_turn(match_id=seat.match_id, role=seat.role, asked_at=question.at)
    return held
