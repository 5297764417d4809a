"""Studies, their frozen versions, the cells people are placed in, and who was placed where."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from typing import Any, NoReturn

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

import games.play
from games import registry
from games.errors import BadText, GameError
from llm_agents.agent import parse_spec
from llm_agents.errors import AgentError
from matches.agent_settings import settings_of
from matches.models import Match
from opponents.endpoints import refresh_if_old
from participants.models import Enrolment, new_seed
from payouts.rules import PayRule, endings_with
from recruiters import arrivals
from rights.models import Membership
from studies.design import WantedCell, cells_wanted
from studies.frozen import FrozenRows, refuse
from surveys.questions import BadQuestions, questions_of


def game_choices() -> list[tuple[str, str]]:
    return [(key, registry.get(key).title) for key in registry.keys()]


class Study(models.Model):
    """A study as the researcher edits it. Launching freezes it into a `Version`; people meet only versions."""

    class Status(models.TextChoices):
        DRAFT = "draft", _("draft")
        LAUNCHED = "launched", _("launched")
        PAUSED = "paused", _("paused")
        CLOSED = "closed", _("closed")

    class Entry(StrEnum):
        """The ways in that every installation has; marketplaces add theirs (`recruiters.arrivals`)."""

        OPEN = "open"
        CODES = "codes"
        MTURK = "mturk"
        OTREE = "otree"

    title = models.CharField(_("title"), max_length=120)
    slug = models.SlugField(
        _("short name"), max_length=60, unique=True, help_text=_("Part of the link that people follow.")
    )
    status = models.CharField(_("status"), max_length=12, choices=Status.choices, default=Status.DRAFT)
    purpose = models.CharField(_("purpose"), max_length=12, choices=Match.Purpose.choices, default=Match.Purpose.STUDY)

    game = models.CharField(_("game"), max_length=40, choices=game_choices)
    config = models.JSONField(_("parameters"), default=dict, blank=True)
    design = models.JSONField(
        _("what is varied"),
        default=dict,
        blank=True,
        help_text=_(
            'Empty: nothing. Several values of a parameter: {"grid": {"rounds": [1, 12]}}. Configurations by hand: '
            '{"configurations": [{"config": {…}, "quota": 5}]}. GLEE\'s table or its selection for people: '
            '{"table": "glee"}, {"selection": "glee", "seed": 1}.'
        ),
    )
    roles = models.JSONField(_("roles for people"), default=list, blank=True)
    quota = models.PositiveIntegerField(
        _("people per role"),
        default=20,
        validators=[MinValueValidator(1)],
        help_text=_("Complete games wanted in each role."),
    )
    agent = models.CharField(
        _("opponent"),
        max_length=200,
        default="script:haggler",
        help_text=_("script:NAME for a scripted player, openai:MODEL or anthropic:MODEL for a language model."),
    )
    agent_delay = models.FloatField(
        _("opponent's delay"),
        default=0,
        validators=[MinValueValidator(0)],
        help_text=_("Seconds it waits before it answers."),
    )

    asking = models.JSONField(
        _("how the opponent is asked"), default=dict, blank=True, help_text=_("see matches.agent_settings")
    )

    tells_opponent = models.BooleanField(
        _("say that the opponent is a program"), default=True, help_text=_("The consent text says so truthfully.")
    )
    consent = models.TextField(_("consent text"), blank=True, help_text=_("Markdown. Empty: a default text."))
    instructions = models.TextField(
        _("instructions"), blank=True, help_text=_("Markdown template. Empty: the game's own.")
    )
    survey_before = models.JSONField(_("questions before the game"), default=list, blank=True)
    survey_after = models.JSONField(_("questions after the game"), default=list, blank=True)
    debriefing = models.TextField(
        _("debriefing"),
        blank=True,
        help_text=_("Markdown. Shown on the last page to everybody who began the game. Empty: nothing."),
    )
    asks_code_word = models.BooleanField(_("hide a code word in the instructions"), default=True)
    asks_quiz = models.BooleanField(_("ask the quiz after the game"), default=True)

    entry = models.CharField(_("who may enter"), max_length=12, choices=arrivals.choices, default="codes")
    most_participations = models.PositiveSmallIntegerField(
        _("games per person"),
        null=True,
        blank=True,
        default=1,
        validators=[MinValueValidator(1)],
        help_text=_("How often the same person may take part. Empty: any number."),
    )
    rest_hours = models.PositiveSmallIntegerField(
        _("hours between two games"),
        default=0,
        validators=[MaxValueValidator(24 * 366)],
        help_text=_(
            "How long after beginning a game of this kind, in any study, the same person must wait. 0: not at all."
        ),
    )
    turn_seconds = models.PositiveIntegerField(_("seconds per turn"), default=180, validators=[MinValueValidator(5)])
    extension_seconds = models.PositiveIntegerField(
        _("extra seconds"), default=60, help_text=_("Given once per turn when the time is up.")
    )
    on_timeout = models.CharField(
        _("after that"),
        max_length=10,
        default="end",
        choices=[("end", _("end the game")), ("default", _("play a default move, flagged in the data"))],
    )
    minutes = models.PositiveIntegerField(
        _("minutes in all"),
        default=120,
        validators=[MinValueValidator(5)],
        help_text=_("After this long a place is given back."),
    )

    currency = models.CharField(_("currency"), max_length=3, default="USD")
    base = models.DecimalField(_("base pay"), max_digits=8, decimal_places=2, default=Decimal("1.00"))
    pay_rule = models.CharField(
        _("bonus rule"),
        max_length=10,
        default="share",
        choices=[
            ("share", _("share: twice the average × success")),
            ("linear", _("linear in the payoff")),
            ("fixed", _("the same for everybody")),
        ],
    )
    announced_average = models.DecimalField(
        _("announced average bonus"), max_digits=8, decimal_places=2, default=Decimal("1.00")
    )
    rate = models.DecimalField(_("rate per unit of payoff"), max_digits=12, decimal_places=6, default=Decimal(0))
    cap = models.DecimalField(_("highest bonus"), max_digits=8, decimal_places=2, default=Decimal("10.00"))
    endings = models.JSONField(
        _("what other endings pay"), default=dict, blank=True, help_text=_("where it differs from payouts.rules")
    )

    created_at = models.DateTimeField(default=timezone.now, editable=False)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, editable=False)

    class Meta:
        verbose_name = _("study")
        verbose_name_plural = _("studies")
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("studies:join", args=[self.slug])

    def configured(self) -> games.play.Game:
        """The game with this study's parameters.

        Raises:
            GameError
        """
        return games.play.configure(registry.get(self.game), self.config)

    def latest_version(self) -> Version | None:
        """The version that whoever comes now meets; None where nothing was launched."""
        return self.versions.order_by("-number").first()

    def pay(self) -> PayRule:
        return PayRule(
            currency=self.currency,
            base=self.base,
            rule=self.pay_rule,
            announced_average=self.announced_average,
            rate=self.rate,
            cap=self.cap,
            endings=endings_with(self.endings),
        )

    def clean(self) -> None:
        """Refuse what could not be played, at the field that is wrong."""
        errors: dict[str, str] = {}
        refresh_if_old()
        try:
            game = self.configured()
        except GameError as error:
            raise ValidationError({"config": str(error)}) from None
        self.roles = self.roles or list(game.roles() if self.design else game.people())
        known = game.roles() if self.design else game.people()
        if unknown := set(self.roles) - set(known):
            errors["roles"] = _("People cannot play {roles} here; they can play {people}.").format(
                roles=", ".join(sorted(unknown)), people=", ".join(known)
            )
        cells: list[WantedCell] = []
        try:
            cells = [] if errors else cells_wanted(self)
        except GameError as error:
            errors["design"] = str(error)
        try:
            spec = parse_spec(self.agent)
            if spec.kind == "script" and spec.name not in game.scripts:
                errors["agent"] = _("This game has no scripted player “{name}”; it has {names}.").format(
                    name=spec.name, names=", ".join(sorted(game.scripts))
                )
        except AgentError as error:
            errors["agent"] = str(error)
        try:
            errors |= self._problems_of_asking(game)
        except ValueError as error:
            errors["asking"] = str(error).splitlines()[0]
        try:
            for varied in {id(cell.config): cell.config for cell in cells}.values():
                game = games.play.configure(registry.get(self.game), varied)
                for role in game.roles():
                    game.instructions(role, self.instructions or None)
        except BadText as error:
            errors["instructions"] = str(error)
        try:
            self.endings = dict(self.endings or {})
            endings_with(self.endings)
        except (ValueError, TypeError) as error:
            errors["endings"], self.endings = str(error), {}
        try:
            self.pay()
        except ValueError:
            errors["currency"] = _("Pay needs a currency of three capital letters and amounts that are not negative.")
        for name in ("survey_before", "survey_after"):
            try:
                asked = questions_of(getattr(self, name) or [], may_end=name == "survey_before")
                setattr(self, name, [question.kept() for question in asked])
            except BadQuestions as error:
                errors[name] = str(error)
        if errors:
            raise ValidationError(errors)

    def _problems_of_asking(self, game: games.play.Game) -> dict[str, str]:
        """What is wrong with the opponent's settings.

        Raises:
            ValueError: they are no settings at all.
        """
        problems = settings_of(self.asking).check(game)
        return {"asking": " ".join(f"{name}: {reason}" for name, reason in problems.items())} if problems else {}


class Member(Membership):
    """Somebody's part in a study."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="members")

    class Meta:
        verbose_name = _("member of a study")
        verbose_name_plural = _("members of studies")
        constraints = [models.UniqueConstraint(fields=["study", "user"], name="one_part_per_study")]


class Version(models.Model):
    """A study as it was launched: everything a match depends on, hashed. Never changed."""

    study = models.ForeignKey(Study, models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField(_("number"))
    content = models.JSONField(_("content"))
    sha256 = models.CharField(max_length=64)
    code_revision = models.CharField(max_length=64, blank=True)
    seed = models.BigIntegerField(default=new_seed)
    launched_at = models.DateTimeField(_("launched"), default=timezone.now)

    objects = FrozenRows.as_manager()

    class Meta:
        verbose_name = _("version")
        verbose_name_plural = _("versions")
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["study", "number"], name="one_version_per_number")]

    def __str__(self) -> str:
        return f"{self.study.slug} v{self.number}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Write the version once.

        Raises:
            Frozen: it was written before.
        """
        if not self._state.adding:
            refuse()
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raises Frozen: versions are evidence."""
        refuse()

    def pay(self) -> PayRule:
        """The pay rule that it promises; a cell of it may announce another average."""
        return PayRule.model_validate(self.content["pay"])


class Cell(models.Model):
    """One combination of what a version varies: configuration, human role and opponents."""

    version = models.ForeignKey(Version, models.PROTECT, related_name="cells")
    number = models.PositiveIntegerField()
    configuration = models.PositiveIntegerField(help_text=_("index into the version's configurations"))
    kind = models.CharField(_("kind"), max_length=20, blank=True, help_text=_("main, variant or random, for instance"))
    role = models.CharField(_("role"), max_length=40)
    agents = models.JSONField(_("opponents"))
    quota = models.PositiveIntegerField(_("quota"))
    announced_average = models.DecimalField(
        _("announced average bonus"),
        max_digits=8,
        decimal_places=2,
        null=True,
        help_text=_("where it depends on the cell"),
    )

    class Meta:
        verbose_name = _("cell")
        verbose_name_plural = _("cells")
        ordering = ["version", "number"]
        constraints = [models.UniqueConstraint(fields=["version", "number"], name="one_cell_per_number")]

    def __str__(self) -> str:
        return f"{self.version} {self.role}"

    def pay(self) -> PayRule:
        """The pay rule of whoever plays here."""
        rule = self.version.pay()
        if self.announced_average is None:
            return rule
        return rule.model_copy(update={"announced_average": self.announced_average})


class Placement(models.Model):
    """Who was placed in which cell. A released placement no longer counts towards the quota."""

    enrolment = models.OneToOneField(Enrolment, models.CASCADE, related_name="placement")
    cell = models.ForeignKey(Cell, models.PROTECT, related_name="placements")
    placed_at = models.DateTimeField(default=timezone.now)
    released_at = models.DateTimeField(null=True, blank=True)
    tallied = models.BooleanField(default=False, editable=False, help_text=_("counted in the sums of what is over"))

    class Meta:
        verbose_name = _("placement")
        verbose_name_plural = _("placements")
        indexes = [
            models.Index(fields=["cell"], condition=models.Q(released_at=None), name="placement_held"),
            models.Index(fields=["cell"], condition=models.Q(tallied=False), name="placement_untallied"),
        ]

    def __str__(self) -> str:
        return f"{self.enrolment} in {self.cell}"
