"""Participants in a study."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import models
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from games.catalogues import SOURCE
from participants.states import ENDED, State
from uptime.services import has_passed, uptime

CODE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
CODE_WORDS = {
    "en": (
        "anchor apricot avenue balcony basket beacon blanket bottle bridge button candle canyon carpet castle cedar "
        "cherry circle copper cotton crystal curtain desert donkey dragon eagle ember falcon feather forest fountain "
        "garden ginger glacier granite hammer harbor hazel helmet honey island jacket jasmine kettle ladder lantern "
        "lemon library lizard magnet maple marble meadow mirror monkey mountain needle nutmeg ocean olive orchard "
        "otter paddle palace panda pebble pencil pepper pigeon pillow planet pocket puzzle rabbit raven ribbon river "
        "rocket saddle saffron salmon satin shadow silver spider spruce summer sunset table temple thunder tiger "
        "tulip tunnel turtle velvet violet walnut willow window winter zebra"
    ).split(),
    "de": (
        "Anker Balkon Becher Birne Brunnen Diamant Distel Drache Fabrik Falke Fenster Garten Gewitter Hafen Hammer "
        "Honig Igel Insel Kamel Kerze Kirsche Kompass Koralle Laterne Leiter Magnet Marmor Muschel Nadel Orgel Palme "
        "Papagei Pinsel Planet Rakete Ring Rubin Sattel Schnee Segel Silber Spiegel Teppich Trompete Tulpe Vulkan "
        "Walnuss Wolke Zebra Zitrone"
    ).split(),
    "es": (
        "ancla antorcha avellana barco botella caballo camello canela castillo cebra ciruela cometa coral cristal "
        "delfín desierto diamante espejo farol flauta fuente gaviota girasol hormiga imán isla jardín lagarto limón "
        "linterna mariposa martillo montaña naranja nieve nube olivo palmera pincel planeta puente río semilla tambor "
        "tigre tomillo trompeta tulipán violeta volcán"
    ).split(),
}


def new_token() -> str:
    return secrets.token_urlsafe(24)


def new_code() -> str:
    """Return a code that is easy to copy by hand, without letters that look alike."""
    return "".join(secrets.choice(CODE_LETTERS) for _ in range(10))


def new_pseudonym() -> str:
    return f"p-{new_code().lower()}"


def new_seed() -> int:
    return secrets.randbelow(2**31)


def new_code_word(language: str = SOURCE) -> str:
    return secrets.choice(CODE_WORDS.get(language, CODE_WORDS[SOURCE]))


class Visit(NamedTuple):
    """When a step was first shown to a participant and when it was answered."""

    position: int
    kind: str
    shown_at: datetime
    answered_at: datetime | None


class Enrolment(models.Model):
    """One participant's record of one study: the steps and the position in them.

    The steps are frozen when the participant arrives, so later edits of the study don't change them.
    A step is plain data with a `kind`; `participants.steps` defines what each kind does. One with a `show_if`
    (`games.conditions`) is judged when it is reached: `shown` says whether it is part of the path.

    Attributes:
        page_times: of each step that was shown, by position: when first, and when it was answered (`visits` reads it).
            In this row, as the next two, so that no page costs a second statement.
        may_ask: may write to the researchers.
        has_unread: has not read everything that the researchers wrote.
        state_shown: the state from when the current step's page is shown; empty: it is already in `state`.
    """

    pseudonym = models.CharField(_("pseudonym"), max_length=40, unique=True, default=new_pseudonym)
    token = models.CharField(max_length=64, unique=True, default=new_token, editable=False)
    state = models.CharField(_("state"), max_length=20, choices=State.choices, default=State.ARRIVED)
    steps = models.JSONField(_("steps"), default=list)
    position = models.PositiveSmallIntegerField(_("position"), default=0)
    page_times = models.JSONField(default=dict, editable=False)
    state_shown = models.CharField(max_length=20, blank=True, editable=False)
    may_ask = models.BooleanField(default=False, editable=False)
    has_unread = models.BooleanField(default=False, editable=False)
    display_name = models.CharField(_("display name"), max_length=30, blank=True)
    code_word = models.CharField(_("code word"), max_length=30, default=new_code_word)
    completion_code = models.CharField(_("completion code"), max_length=20, default=new_code)
    language = models.CharField(_("language"), max_length=5, default=SOURCE)
    seed = models.BigIntegerField(default=new_seed, help_text=_("random seed for this participant"))
    arrived_at = models.DateTimeField(_("arrived"), default=timezone.now)
    last_seen_at = models.DateTimeField(_("last seen"), default=timezone.now)
    expires_at = models.DateTimeField(_("expires"))
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)
    return_to = models.URLField(
        max_length=300,
        blank=True,
        editable=False,
        help_text=_("the recruiter's page to which this participant returns"),
    )
    earnings = models.JSONField(_("earnings"), null=True, blank=True, help_text=_("the pay shown on the last page"))

    refusal = models.JSONField(
        null=True,
        editable=False,
        help_text=_("the last refused answer and the reasons, until they are shown: {position, posted, errors}"),
    )
    erased_at = models.DateTimeField(
        _("erased"), null=True, blank=True, help_text=_("when all identifying data were deleted")
    )

    class Meta:
        verbose_name = _("participant")
        verbose_name_plural = _("participants")
        ordering = ["-arrived_at"]
        indexes = [models.Index(fields=["expires_at"], condition=models.Q(ended_at=None), name="enrolment_open")]

    def __str__(self) -> str:
        return self.pseudonym

    @property
    def ended(self) -> bool:
        return self.state in ENDED

    @property
    def step(self) -> dict | None:
        """The participant's current step; None when all are done."""
        return self.steps[self.position] if self.position < len(self.steps) else None

    @property
    def visits(self) -> list[Visit]:
        """The participant's visits to steps, by position."""
        return [
            Visit(position, self.steps[position]["kind"], times[0], times[1] if len(times) > 1 else None)
            for position, times in sorted(
                (int(position), [datetime.fromisoformat(time) for time in times])
                for position, times in self.page_times.items()
            )
        ]

    def visit(self, position: int) -> Visit | None:
        """Return the visit to the step at this position; None if it was not shown."""
        return next((visit for visit in self.visits if visit.position == position), None)

    def mark_answered(self, position: int) -> None:
        """Record that the step was answered now, if it was shown and not answered before; the caller saves it."""
        times = self.page_times.get(str(position), [])
        if len(times) == 1:
            times.append(timezone.now().isoformat())

    def get_absolute_url(self) -> str:
        return reverse("participants:page", args=[self.token])

    @property
    def expired(self) -> bool:
        """Whether the study's time limit, extended by our outages, has passed."""
        return self.expires_at < timezone.now() and has_passed(self.arrived_at, self.expires_at)

    @property
    def state_when_expired(self) -> State:
        """How the enrolment ends when its time is up: its page may have been lost in an outage of ours."""
        return State.OUR_OUTAGE if uptime().lost(self.last_seen_at) else State.DROPPED_OUT

    @property
    def is_paid(self) -> bool:
        """Whether the participant has ended and is paid anything."""
        return bool((self.earnings or {}).get("amounts"))

    def recently_seen(self, within: timedelta = timedelta(seconds=60)) -> bool:
        return timezone.now() - self.last_seen_at < within


class ProblemReport(models.Model):
    """A participant's message sent with "Report a problem"."""

    words_of_people = ("text",)

    enrolment = models.ForeignKey(Enrolment, models.CASCADE, related_name="problem_reports")
    text = models.TextField(_("report"), max_length=2000)
    at = models.DateTimeField(_("time"), default=timezone.now)

    class Meta:
        verbose_name = _("problem report")
        verbose_name_plural = _("problem reports")
        ordering = ["-at"]

    def __str__(self) -> str:
        return f"{self.enrolment}: {self.text[:40]}"
