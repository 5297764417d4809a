"""Matches as append-only logs.

`Event` is the source of truth; `Match.snapshot`, `payoffs` and `metrics` are derived and can be recomputed.
`Match.turns` holds the questions that wait for an answer, with their clocks.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Generic, NamedTuple, TypeVar

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from games import interface, play, registry
from games.catalogues import SOURCE
from matches import absences, turns
from matches.disclosing import Discloses, Disclosure
from matches.turns import OpenTurn
from opponents.agents import Agent
from participants.models import Enrolment
from plans.chat import Chat
from uptime.services import Uptime, uptime

T = TypeVar("T")


class LineUp(NamedTuple):
    """The agents of a match at its start, which never change.

    Attributes:
        filling_in: the roles among them for which nobody arrived.
        paced: see `Match.paced`.
        language: of the match.
    """

    match_id: int
    agents: Mapping[str, Agent]
    filling_in: frozenset[str]
    paced: bool
    language: str


class Match(models.Model):
    """One play of a game, with everything it depends on frozen."""

    class Status(models.TextChoices):
        LIVE = "live", _("live")
        FINISHED = "finished", _("finished")
        ABANDONED = "abandoned", _("ended without a result")

    class Purpose(models.TextChoices):
        STUDY = "study", _("study")
        PILOT = "pilot", _("pilot")
        DEMO = "demo", _("demo")
        COLLECTION = "collection", _("collection")
        IMPORTED = "imported", _("imported")
        SIMULATED = "simulated", _("simulated")
        WALK = "walk", _("walk through")

        @property
        def has_ledger(self) -> bool:
            """Whether participants of such a study get ledger rows; those of simulated participants pay nobody."""
            return self in (Match.Purpose.STUDY, Match.Purpose.SIMULATED)

    uid = models.UUIDField(_("identifier"), unique=True, default=uuid.uuid4, editable=False)
    game = models.CharField(_("game"), max_length=40)
    config = models.JSONField(_("configuration"))
    texts = models.JSONField(_("texts"), default=dict, help_text=_("edited texts; others are the game's own"))
    timers = models.JSONField(_("timers"), default=dict)
    rules_version = models.PositiveIntegerField(_("rules version"))
    seed = models.BigIntegerField(_("seed"))
    purpose = models.CharField(_("purpose"), max_length=12, choices=Purpose.choices, default=Purpose.STUDY)
    budget_of = models.CharField(
        _("budget"), max_length=200, blank=True, help_text=_("what its models' calls are charged to")
    )
    status = models.CharField(_("status"), max_length=12, choices=Status.choices, default=Status.LIVE)
    ending = models.CharField(_("why it ended"), max_length=40, blank=True)
    snapshot = models.JSONField(default=dict)
    turns = models.JSONField(default=dict, help_text=_("the open turns by role, see matches.turns"))
    absences = models.JSONField(
        default=dict,
        db_column="fates",
        help_text=_("participants' seats in which the clock or an agent answers, see matches.absences"),
    )
    deadline = models.DateTimeField(null=True, help_text=_("when the first open turn expires"))
    requeue_at = models.DateTimeField(null=True, help_text=_("when agents' turns without a lease are queued again"))
    payoffs = models.JSONField(_("payoffs"), null=True, blank=True)
    metrics = models.JSONField(_("metrics"), null=True, blank=True)
    started_at = models.DateTimeField(_("started"), default=timezone.now)
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)

    _read_turns: tuple[object, Mapping[str, OpenTurn]] | None = None

    class Meta:
        verbose_name = _("match")
        verbose_name_plural = _("matches")
        ordering = ["-started_at"]
        # No index has a column that moves change: PostgreSQL then updates the row without touching any (HOT).
        indexes = [
            models.Index(fields=["id"], condition=models.Q(status="live"), name="match_live"),
            models.Index(
                fields=["budget_of", "ended_at"], condition=models.Q(status="abandoned"), name="match_abandoned"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.game_title} {str(self.uid)[:8]}"

    @property
    def game_title(self) -> str:
        """Return the game's title; its key if the rules no longer exist."""
        return str(registry.get(self.game).title) if self.game in registry.known() else self.game

    @property
    def driven(self) -> bool:
        """Whether one process plays the whole match, instead of a task per turn."""
        return self.purpose in (self.Purpose.COLLECTION, self.Purpose.SIMULATED, self.Purpose.WALK)

    @property
    def collected(self) -> bool:
        """Whether it is a collection's: nobody waits, and there is no clock."""
        return self.purpose == self.Purpose.COLLECTION

    @property
    def simulated(self) -> bool:
        """Whether simulated participants play, who need no server and whose pages do not call."""
        return self.purpose in (self.Purpose.PILOT, self.Purpose.SIMULATED, self.Purpose.WALK)

    @property
    def blind(self) -> bool:
        """Whether participants are not told who the others are, so that nothing may show it."""
        return bool(self.timers.get("told", {}).get("others") == Discloses.NONE)

    @property
    def language(self) -> str:
        """The language that its participants read, and in which its models are asked."""
        if "texts" not in self.__dict__:  # as in a change under the lock
            return self.line_up().language
        return str(self.texts.get("language", SOURCE))

    def disclosure(self) -> Disclosure:
        """Return what the participants may learn about who plays."""
        told, line_up, stand_ins = self.timers.get("told", {}), self.line_up(), self.stand_ins
        return Disclosure(
            self.configured(),
            told=told.get("others", ""),
            seated={role: agent for role, agent in line_up.agents.items() if role not in stand_ins},
            filling_in=line_up.filling_in - stand_ins,
            absences=self.absences,
            longest_answer=told.get("longest_answer", 0),
            turn_seconds=self.timers.get("turn_seconds", 0),
        )

    def chat(self) -> Chat | None:
        """Return the settings of the match's chat; None if it has none."""
        data = self.timers.get("chat")
        return None if data is None else _CHATS.get(self.uid, lambda: Chat.model_validate(data["settings"]))

    @property
    def begins_at(self) -> datetime | None:
        """When play begins, after the chat before it; None if there is none.

        Simulated participants, who would wait for nothing, play at once.
        """
        chat = None if self.simulated or self.collected else self.chat()
        if chat is None or chat.when == "during":
            return None
        early = self.timers["chat"].get("begun")
        return datetime.fromisoformat(early) if early else self.started_at + timedelta(seconds=chat.seconds)

    def has_begun(self, now: datetime) -> bool:
        """Whether players may move: the chat before play, if any, is over."""
        return self.begins_at is None or now >= self.begins_at

    @property
    def stand_ins(self) -> frozenset[str]:
        """The seats in which scripts play as if they were participants, in a walk through."""
        return frozenset(self.timers.get("told", {}).get("stand_ins", ()))

    @property
    def paced(self) -> bool:
        """Whether every agent answers after the time a person would take, so that speed shows nothing."""
        return self.blind and not self.simulated

    def configured(self) -> interface.Game[Any, Any]:
        """Return the game with this match's configuration."""
        return _GAMES.get(self.uid, lambda: _read_game(self.uid))

    def pay_rule(self) -> str | None:
        """The pay rule that pages show, as `plans.pay.Rule`; None if nobody is paid or the study hides the bonus."""
        return self._shown_pay()[0]

    def pay_note(self) -> str:
        """How the bonus follows from several matches, as a sentence shown with it; empty for one."""
        return self._shown_pay()[1]

    def _shown_pay(self) -> tuple[str | None, str]:
        return _PAY.get(self.uid, lambda: _read_pay(self.uid))

    def template_for(self, agent: Agent) -> str | None:
        """Return the instructions that an agent is told, as frozen; None: the game's own."""
        text: str | None = self.texts.get("published" if agent.settings.information == "published" else "instructions")
        return text

    def play(self) -> play.Play:
        """Return the current play."""
        return play.restore(self.configured(), self.snapshot)

    def open_turns(self) -> Mapping[str, OpenTurn]:
        """Return the questions that wait for an answer, by role; they are read again only when the column changes."""
        if self._read_turns is None or self._read_turns[0] is not self.turns:
            self._read_turns = (self.turns, turns.load(self.turns))
        return self._read_turns[1]

    def asked_turn(self, role: str) -> OpenTurn | None:
        """Return the open question that the role's participant is to answer; None if an agent answers it."""
        turn = self.open_turns().get(role)
        return None if turn is None or turn.by_agent else turn

    def seconds_left(self, turn: OpenTurn, uptime: Uptime | None = None) -> int:
        """Return for how many seconds the match still waits for the answer, at least 0; a pause is not counted."""
        uptime = uptime or self.uptime(timezone.now())
        absence, budget = self.absences.get(turn.role, {}), absences.budget_of(self.timers)
        limit = absences.limit_of(turn, absence, budget, uptime)
        return max(0, round((limit - uptime.now).total_seconds() - turn.hold_left(uptime.now)))

    def absence_left(self, role: str, uptime: Uptime) -> int:
        """Return how many seconds of the participant's absence budget are left."""
        used = absences.used_seconds(self.absences.get(role, {}), self.open_turns().get(role), uptime)
        return max(0, round(absences.budget_of(self.timers) - used))

    def lost(self, uptime: Uptime) -> dict[str, int]:
        """Return the participants who have lost the connection in their turn, with the seconds that the match waits."""
        return {
            role: self.seconds_left(turn, uptime)
            for role, turn in self.open_turns().items()
            if not turn.by_agent and absences.has_lost_connection(self.absences.get(role, {}))
        }

    def asking(self, now: datetime) -> dict[str, int]:
        """Return the participants whose question has paused their clock, with the seconds it may stay so."""
        left = {role: turn.hold_left(now) for role, turn in self.open_turns().items()}
        return {role: round(seconds) for role, seconds in left.items() if seconds > 0}

    def agents(self) -> Mapping[str, Agent]:
        """Return the agents by role, including those that have taken a participant's seat."""
        seated_later = {
            role: Agent.model_validate(absence["agent"])
            for role, absence in self.absences.items()
            if "agent" in absence
        }
        seated = self.line_up().agents
        return {**seated, **seated_later} if seated_later else seated

    def line_up(self) -> LineUp:
        """Return the agents seated at the start."""
        return line_up_of(self.uid)

    def people(self) -> set[str]:
        """Return the roles of participants, including those who may take their seat back from an agent."""
        lost = {role for role, absence in self.absences.items() if "agent" in absence and absences.is_lost(absence)}
        return set(self.configured().roles()) - set(self.line_up().agents) - lost

    def uptime(self, now: datetime) -> Uptime:
        """Return when this match's participants could be served."""
        return Uptime(now) if self.simulated else uptime(now)

    def log(self) -> list[interface.Event]:
        """Return the whole log as events of the rules."""
        return [event.as_event() for event in self.events.order_by("number")]


# The players at the start never change and are needed for every move, so they are cached in the process.


class _Cache(Generic[T]):
    """A cache of the newest matches' data by identifier."""

    MAX_SIZE = 10_000

    def __init__(self) -> None:
        self._values: dict[uuid.UUID, T] = {}

    def get(self, match_uid: uuid.UUID, compute: Callable[[], T]) -> T:
        """Return the cached value, or look it up."""
        try:
            return self._values[match_uid]
        except KeyError:
            return self.put(match_uid, compute())

    def put(self, match_uid: uuid.UUID, value: T) -> T:
        while len(self._values) >= self.MAX_SIZE:
            self._values.pop(next(iter(self._values)), None)
        self._values[match_uid] = value
        return value

    def clear(self) -> None:
        """Forget everything."""
        self._values.clear()


_GAMES: _Cache[interface.Game[Any, Any]] = _Cache()
_PAY: _Cache[tuple[str | None, str]] = _Cache()
_LINE_UPS: _Cache[LineUp] = _Cache()
_CHATS: _Cache[Chat] = _Cache()


def cache_players(match: Match, game: interface.Game[Any, Any], line_up: LineUp) -> None:
    """Cache what never changes of a match that begins."""
    _GAMES.put(match.uid, game)
    _PAY.put(match.uid, _pay_in(match.texts))
    _LINE_UPS.put(match.uid, line_up)


def _read_game(match_uid: uuid.UUID) -> interface.Game[Any, Any]:
    game, config, texts = Match.objects.values_list("game", "config", "texts").get(uid=match_uid)
    return play.configure(registry.get(game), config, amounts=texts.get("amounts", "dollars"))


def _read_pay(match_uid: uuid.UUID) -> tuple[str | None, str]:
    return _pay_in(Match.objects.values_list("texts", flat=True).get(uid=match_uid))


def _pay_in(texts: Mapping[str, Any]) -> tuple[str | None, str]:
    rule = texts.get("pay")
    return json.dumps(rule) if rule else None, texts.get("pay_note", "")


def line_up_of(match_uid: uuid.UUID) -> LineUp:
    """Return the agents seated at the start of a match."""
    return _LINE_UPS.get(match_uid, lambda: _read_line_up(match_uid))


def _read_line_up(match_uid: uuid.UUID) -> LineUp:
    match = Match.objects.only("timers", "purpose", "texts").get(uid=match_uid)
    return line_up_in(match, Seat.objects.filter(match=match))


def line_up_in(match: Match, seats: Iterable[Seat]) -> LineUp:
    """Return the line-up of a match with these seats."""
    agents = {seat.role: agent for seat in seats if (agent := seat.seated()) is not None}
    return LineUp(
        match.pk, agents, frozenset(seat.role for seat in seats if seat.fills_in), match.paced, match.language
    )


class Seat(models.Model):
    """Who plays a role: a participant's enrolment or an agent."""

    match = models.ForeignKey(Match, models.CASCADE, related_name="seats")
    role = models.CharField(_("role"), max_length=40)
    enrolment = models.ForeignKey(Enrolment, models.PROTECT, null=True, blank=True, related_name="seats")
    step = models.PositiveSmallIntegerField(
        null=True, help_text=_("position of this match among the enrolment's steps")
    )
    label = models.CharField(_("label"), max_length=200, blank=True, help_text=_("the study's name for the agent"))
    left_at = models.DateTimeField(
        _("left"), null=True, blank=True, help_text=_("when the participant left while the others continued")
    )
    fills_in = models.BooleanField(
        _("fills in"), default=False, help_text=_("an agent in a seat for which nobody arrived in time")
    )
    agent = models.CharField(_("agent"), max_length=200, blank=True)
    delay = models.FloatField(_("delay"), default=0, help_text=_("seconds an agent waits before it answers"))
    settings = models.JSONField(default=dict, help_text=_("how an agent is asked, see plans.asking"))

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
        """Return the agent in this seat; None if a participant plays it."""
        return Agent(spec=self.agent, delay=self.delay, settings=self.settings) if self.agent else None


class Event(models.Model):
    """One entry of a match's log. Never changed; the number is unique within the match."""

    match = models.ForeignKey(Match, models.CASCADE, related_name="events", db_index=False)  # the constraint's will do
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=12)
    role = models.CharField(max_length=40, blank=True)
    data = models.JSONField(default=dict)
    at = models.DateTimeField(default=timezone.now)
    asked_at = models.DateTimeField(null=True, help_text=_("moves: when the turn opened"))
    shown_at = models.DateTimeField(null=True, help_text=_("participants' moves: when the question was shown"))
    refused = models.PositiveSmallIntegerField(
        default=0, help_text=_("participants' moves: earlier attempts in the turn that the rules refused")
    )
    sight = models.JSONField(
        null=True, help_text=_("participants' moves: milliseconds that each block of the page was in sight before it")
    )
    tries = models.JSONField(
        null=True, help_text=_("participants' moves: what they tried before it, as [milliseconds, control, number]")
    )
    warned = models.JSONField(
        null=True, help_text=_("participants' moves: warnings shown in the turn, and whether the last was confirmed")
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["match", "number"], name="one_event_per_number")]
        indexes = [models.Index(fields=["at"], condition=models.Q(shown_at__isnull=False), name="event_of_person")]

    def __str__(self) -> str:
        return f"{self.match_id}/{self.number} {self.kind}"

    def as_event(self) -> interface.Event:
        return interface.Event(self.number, self.kind, self.data)


class ChatLine(models.Model):
    """One message in a match's chat, which the rules know nothing of. Never changed, but for erasing its text.

    Attributes:
        sender: the seat, or the mediator (`plans.chat.MEDIATOR`).
        key: the page's own name for it, so that a message sent twice is stored once.
        to: the seat that it is for; empty for the group.
        readers: the seats that may read it beside the sender.
        after: the number of the newest event of the match at the time.
    """

    words_of_people = ("text",)

    match = models.ForeignKey(Match, models.CASCADE, related_name="chat_lines")
    number = models.PositiveIntegerField()
    sender = models.CharField(max_length=40)
    enrolment = models.ForeignKey(Enrolment, models.CASCADE, null=True, related_name="chat_lines")
    key = models.CharField(max_length=40)
    to = models.CharField(max_length=40, blank=True)
    readers = models.JSONField(default=list)
    text = models.TextField()
    after = models.PositiveIntegerField()
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["match", "number"], name="one_chat_line_per_number"),
            models.UniqueConstraint(fields=["match", "sender", "key"], name="one_chat_line_per_key"),
        ]

    def __str__(self) -> str:
        return f"{self.match_id}/{self.number} {self.sender}"

    def is_for(self, role: str) -> bool:
        """Return whether a seat may read it."""
        return role == self.sender or role in self.readers


class Lease(models.Model):
    """A worker's lease on an agent's turn.

    It is renewed while the agent thinks and expires within seconds of a crash; uniqueness keeps two workers from
    asking the model at the same time.
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
