"""Matches as append-only logs.

`Event` is the truth; `Match.snapshot`, `payoffs` and `metrics` are derived from it and can be made
again. `Match.turns` are the questions that wait for an answer, with their clocks.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from games import interface, play, registry
from matches import turns
from matches.turns import OpenTurn
from opponents.agents import Agent
from participants.models import Enrolment

T = TypeVar("T")


class Match(models.Model):
    """One play of a game between the seats, with everything frozen that it depends on."""

    class Status(models.TextChoices):
        LIVE = "live", _("live")
        FINISHED = "finished", _("finished")
        ABANDONED = "abandoned", _("ended without a result")

    class Purpose(models.TextChoices):
        STUDY = "study", _("study")
        PILOT = "pilot", _("pilot")
        DEMO = "demo", _("demo")
        COLLECTION = "collection", _("collection without people")
        IMPORTED = "imported", _("imported")

    uid = models.UUIDField(_("identifier"), unique=True, default=uuid.uuid4, editable=False)
    game = models.CharField(_("game"), max_length=40)
    config = models.JSONField(_("configuration"))
    texts = models.JSONField(_("texts"), default=dict, help_text=_("edited texts; the game's own where there is none"))
    timers = models.JSONField(_("timers"), default=dict)
    rules_version = models.PositiveIntegerField(_("rules version"))
    seed = models.BigIntegerField(_("seed"))
    purpose = models.CharField(_("purpose"), max_length=12, choices=Purpose.choices, default=Purpose.STUDY)
    budget_of = models.CharField(
        _("budget"), max_length=200, blank=True, help_text=_("whose money its models' calls are")
    )
    status = models.CharField(_("status"), max_length=12, choices=Status.choices, default=Status.LIVE)
    ending = models.CharField(_("why it ended"), max_length=40, blank=True)
    snapshot = models.JSONField(default=dict)
    turns = models.JSONField(default=dict, help_text=_("the open turns by role, see matches.turns"))
    fates = models.JSONField(
        default=dict, help_text=_("people's seats that are not played by their person alone, see matches.fates")
    )
    deadline = models.DateTimeField(null=True, help_text=_("of the open turn that runs out first"))
    requeue_at = models.DateTimeField(
        null=True, help_text=_("when agents' turns that nobody thinks about are queued again")
    )
    payoffs = models.JSONField(_("payoffs"), null=True, blank=True)
    metrics = models.JSONField(_("metrics"), null=True, blank=True)
    started_at = models.DateTimeField(_("started"), default=timezone.now)
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)

    class Meta:
        verbose_name = _("match")
        verbose_name_plural = _("matches")
        ordering = ["-started_at"]
        indexes = [
            models.Index(fields=["id"], condition=models.Q(status="live"), name="match_live"),
            models.Index(fields=["deadline"], condition=models.Q(deadline__isnull=False), name="match_deadline"),
            models.Index(fields=["requeue_at"], condition=models.Q(requeue_at__isnull=False), name="match_requeue"),
            models.Index(
                fields=["budget_of", "ended_at"], condition=models.Q(status="abandoned"), name="match_abandoned"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.game} {str(self.uid)[:8]}"

    @property
    def driven(self) -> bool:
        """Whether one driver plays the whole match, instead of a queued task for each turn."""
        return self.purpose == self.Purpose.COLLECTION

    def configured(self) -> interface.Game[Any, Any]:
        """The game with this match's configuration."""
        return _GAMES.of(self.uid, lambda: _configured(self.uid))

    def pay_rule(self) -> dict[str, Any] | None:
        """The pay rule that the players were promised, as plain data; None where nobody is paid."""
        return _RULES.of(self.uid, lambda: _pay_rule(self.uid))

    def play(self) -> play.Play:
        """Where the match stands."""
        return play.restore(self.configured(), self.snapshot)

    def open_turns(self) -> dict[str, OpenTurn]:
        """The questions that wait for an answer, by role."""
        return turns.load(self.turns)

    def agents(self) -> dict[str, Agent]:
        """The agents by the role they play, those included that have taken a person's seat."""
        taken = {role: Agent.model_validate(fate["agent"]) for role, fate in self.fates.items() if "agent" in fate}
        seated = seated_agents(self.uid)[1]
        return {**seated, **taken} if taken else seated

    def people(self) -> set[str]:
        """The roles that people play."""
        return set(self.configured().roles()) - set(self.agents())

    def log(self) -> list[interface.Event]:
        """The whole log, as the rules read it."""
        return [event.as_event() for event in self.events.order_by("number")]


# The players that a match began with never change, and are asked for at every move: kept in the process.


class _Kept(Generic[T]):
    """Something of the newest matches, by their identifiers; a match that begins brings its own."""

    MOST = 10_000

    def __init__(self) -> None:
        self._known: dict[uuid.UUID, T] = {}

    def of(self, match: uuid.UUID, find: Callable[[], T]) -> T:
        """What is known, or found now."""
        try:
            return self._known[match]
        except KeyError:
            return self.keep(match, find())

    def keep(self, match: uuid.UUID, what: T) -> T:
        while len(self._known) >= self.MOST:
            self._known.pop(next(iter(self._known)), None)
        self._known[match] = what
        return what

    def clear(self) -> None:
        """Forget everything."""
        self._known.clear()


_GAMES: _Kept[interface.Game[Any, Any]] = _Kept()
_RULES: _Kept[dict[str, Any] | None] = _Kept()
SEATED: _Kept[tuple[int, dict[str, Agent]]] = _Kept()


def keep_in_mind(match: Match, game: interface.Game[Any, Any], agents: dict[str, Agent]) -> None:
    """A match begins: what never changes of it need not be read again by this process."""
    _GAMES.keep(match.uid, game)
    _RULES.keep(match.uid, match.texts.get("pay"))
    SEATED.keep(match.uid, (match.pk, agents))


def _configured(match: uuid.UUID) -> interface.Game[Any, Any]:
    game, config, texts = Match.objects.values_list("game", "config", "texts").get(uid=match)
    return play.configure(registry.get(game), config, amounts=texts.get("amounts", "dollars"))


def _pay_rule(match: uuid.UUID) -> dict[str, Any] | None:
    found: dict[str, Any] | None = Match.objects.values_list("texts", flat=True).get(uid=match).get("pay")
    return found


def seated_agents(match: uuid.UUID) -> tuple[int, dict[str, Agent]]:
    """A match's key in the database, and its agents by the role they play."""
    return SEATED.of(match, lambda: _seated(match))


def _seated(match: uuid.UUID) -> tuple[int, dict[str, Agent]]:
    match_id = Match.objects.values_list("pk", flat=True).get(uid=match)
    seats = Seat.objects.filter(match_id=match_id, enrolment=None)
    rows = seats.values_list("role", "agent", "delay", "settings")
    return match_id, {role: Agent(spec=spec, delay=delay, settings=settings) for role, spec, delay, settings in rows}


class Seat(models.Model):
    """Who plays a role: a person's enrolment, or an agent."""

    match = models.ForeignKey(Match, models.CASCADE, related_name="seats")
    role = models.CharField(_("role"), max_length=40)
    enrolment = models.ForeignKey(Enrolment, models.PROTECT, null=True, blank=True, related_name="seats")
    step = models.PositiveSmallIntegerField(null=True, help_text=_("which step of the enrolment's way this match is"))
    label = models.CharField(_("label"), max_length=200, blank=True, help_text=_("what its study calls the agent"))
    left_at = models.DateTimeField(
        _("left"), null=True, blank=True, help_text=_("when its person stopped playing, and the others went on")
    )
    fills_in = models.BooleanField(
        _("fills in"), default=False, help_text=_("an agent in a seat for which no person came in time")
    )
    agent = models.CharField(_("agent"), max_length=200, blank=True)
    delay = models.FloatField(_("delay"), default=0, help_text=_("seconds an agent waits before it answers"))
    settings = models.JSONField(default=dict, help_text=_("how an agent is asked, see opponents.agent_settings"))

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["match", "role"], name="one_seat_per_role"),
            models.UniqueConstraint(fields=["enrolment", "step"], name="one_match_per_step"),
            models.CheckConstraint(
                condition=models.Q(enrolment=None) ^ models.Q(agent=""), name="seat_is_a_person_or_an_agent"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.role}: {self.label or self.enrolment}"

    def seated(self) -> Agent | None:
        """The agent that sits here; None where a person does."""
        return Agent(spec=self.agent, delay=self.delay, settings=self.settings) if self.agent else None


class Event(models.Model):
    """One line of a match's log. Never changed; the number is unique within the match."""

    match = models.ForeignKey(Match, models.CASCADE, related_name="events")
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=12)
    role = models.CharField(max_length=40, blank=True)
    data = models.JSONField(default=dict)
    at = models.DateTimeField(default=timezone.now)
    asked_at = models.DateTimeField(null=True, help_text=_("moves: when the turn opened"))
    shown_at = models.DateTimeField(null=True, help_text=_("moves of people: when the question was on their screen"))

    refused = models.PositiveSmallIntegerField(
        default=0, help_text=_("moves of people: attempts in the turn before it that the rules refused")
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["match", "number"], name="one_event_per_number")]
        indexes = [models.Index(fields=["at"], condition=models.Q(shown_at__isnull=False), name="event_of_person")]

    def __str__(self) -> str:
        return f"{self.match_id}/{self.number} {self.kind}"

    def as_event(self) -> interface.Event:
        return interface.Event(self.number, self.kind, self.data)


class Lease(models.Model):
    """A worker's claim to be thinking about an agent's turn.

    It is renewed while the agent thinks and runs out within seconds of its worker's death; uniqueness
    keeps two workers from asking the same model twice.
    """

    match = models.ForeignKey(Match, models.CASCADE, related_name="leases")
    role = models.CharField(max_length=40)
    answering = models.PositiveIntegerField()
    holder = models.CharField(max_length=40)
    until = models.DateTimeField()
    attempts = models.PositiveSmallIntegerField(default=1)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["match", "role", "answering"], name="one_lease_per_turn")]

    def __str__(self) -> str:
        return f"{self.match_id}/{self.role} answering {self.answering}"
