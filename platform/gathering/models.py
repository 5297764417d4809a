"""Sessions that many people start together, and who has come to them."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from games.catalogues import SOURCE
from participants.models import CODE_LETTERS, Enrolment, new_token
from recruiters.models import LabCode
from studies.models import Study

CODE_LENGTH = 6


def new_session_code() -> str:
    """Return a short code that is easy to type from a projector, without letters that look alike."""
    return "".join(secrets.choice(CODE_LETTERS) for _ in range(CODE_LENGTH))


class Session(models.Model):
    """A session of a study: people wait, and all that have a place start at once.

    Attributes:
        starts_at: None for a session that starts only by hand.
        time_zone: in which participants and researchers read its times (an IANA name).
        grace: for how many minutes after the start people may still come, if places are free.
        labels: the seats of the room, one person each; empty if nobody chooses a seat.
        moved_at: when the start was last changed, which those are told who had come before.
        ended_at: when everyone had finished, or when it was called off (without `started_at`).
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="sessions")
    code = models.CharField(_("code"), max_length=CODE_LENGTH, unique=True, default=new_session_code)
    starts_at = models.DateTimeField(_("starts"), null=True, blank=True)
    time_zone = models.CharField(_("time zone"), max_length=60, default="UTC")
    grace = models.PositiveSmallIntegerField(_("minutes of grace"), default=5)
    places = models.PositiveIntegerField(_("places"))
    labels = models.JSONField(_("seats"), default=list, blank=True)
    moved_at = models.DateTimeField(null=True, editable=False)
    started_at = models.DateTimeField(_("started"), null=True, blank=True)
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("session")
        verbose_name_plural = _("sessions")
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["starts_at"], condition=models.Q(ended_at=None), name="session_open")]

    def __str__(self) -> str:
        return self.code

    @property
    def called_off(self) -> bool:
        return self.ended_at is not None and self.started_at is None

    @property
    def status(self) -> str:
        """Where it is: "waiting", "started", "ended" or "called off"."""
        if self.ended_at is not None:
            return "called off" if self.called_off else "ended"
        return "waiting" if self.started_at is None else "started"

    @property
    def status_label(self) -> str:
        return str(_STATUS_LABELS[self.status])

    @property
    def admits_until(self) -> datetime | None:
        """Until when people may still come; None before the start."""
        return self.started_at + timedelta(minutes=self.grace) if self.started_at else None

    @property
    def local_start(self) -> str:
        """The planned start in the session's time zone, such as "2030-07-01T12:30"; empty if it starts by hand."""
        return f"{self.starts_at.astimezone(ZoneInfo(self.time_zone)):%Y-%m-%dT%H:%M}" if self.starts_at else ""


_STATUS_LABELS = {
    "waiting": _("waiting"),
    "started": _("started"),
    "ended": _("ended"),
    "called off": _("called off"),
}


class Attendance(models.Model):
    """Somebody who has come to a session. It holds no identity: `key` is a keyed hash of their link or browser.

    Attributes:
        token: the address under which their page asks.
        label: the seat of the room that they chose; empty if the session has none.
        lab_code: the personal code that they came with, whose label the researcher sees.
        since: their place in the queue; counted from their return for somebody who was away too long.
        admitted_at: when they got a place in the session that has started; None before.
        left_at: when they gave up, or the researcher freed their seat.
        language: in which they read.
        enrolment: what they began.
        prepared: the enrolment that waits for them from the start until they begin it (`enrolling.prepare`).
    """

    session = models.ForeignKey(Session, models.CASCADE, related_name="attendances")
    token = models.CharField(max_length=64, unique=True, default=new_token, editable=False)
    key = models.CharField(max_length=64, editable=False)
    label = models.CharField(_("seat"), max_length=40, blank=True)
    lab_code = models.ForeignKey(LabCode, models.SET_NULL, null=True, blank=True, related_name="+")
    since = models.DateTimeField(_("since"), default=timezone.now)
    heard_at = models.DateTimeField(_("last heard from"), default=timezone.now)
    admitted_at = models.DateTimeField(_("admitted"), null=True, blank=True)
    left_at = models.DateTimeField(_("left"), null=True, blank=True)
    language = models.CharField(max_length=5, default=SOURCE, editable=False)
    enrolment = models.OneToOneField(
        Enrolment, models.SET_NULL, null=True, blank=True, related_name="attendance", verbose_name=_("participant")
    )
    prepared = models.OneToOneField(Enrolment, models.SET_NULL, null=True, related_name="+", editable=False)

    class Meta:
        verbose_name = _("attendance")
        verbose_name_plural = _("attendances")
        constraints = [
            models.UniqueConstraint(fields=["session", "key"], name="one_attendance_per_link"),
            models.UniqueConstraint(
                fields=["session", "label"], condition=~models.Q(label="") & models.Q(left_at=None), name="one_per_seat"
            ),
        ]

    def __str__(self) -> str:
        return self.shown_label or str(self.pk)

    @property
    def shown_label(self) -> str:
        """The lab's own label: of the seat, or of the personal code."""
        return self.label or (self.lab_code.label or self.lab_code.code if self.lab_code else "")
