"""Collections: matches without participants, over configurations × agents × repetitions, and imported matches.

A collection's plan is frozen and hashed when it is created, like a study's version. The match for each number
from 1 to `planned` is computed (`collecting.planning`); its `Item` is created when it is started. Drivers hold
items by leases while they play them.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from games import registry
from matches.models import Match
from participants.models import new_seed
from rights.models import Membership
from studies.fields import OrderedJSONField


def game_choices() -> list[tuple[str, str]]:
    """Return (key, title) of every game."""
    return [(key, str(registry.get(key).title)) for key in registry.keys()]


class Collection(models.Model):
    """A frozen plan of matches with its progress.

    Attributes:
        document: the plan in canonical form; empty if the matches were imported.
        frozen: what the plan leaves to the game: {rules_version, instructions and published: templates,
            configurations: complete, in order}; for imported matches also where they come from.
        sha256: of `content`.
    """

    class Status(models.TextChoices):
        READY = "ready", _("ready")
        RUNNING = "running", _("running")
        PAUSED = "paused", _("paused")
        OVER_BUDGET = "over_budget", _("stopped at its budget")
        DONE = "done", _("done")

    class Source(models.TextChoices):
        PLAYED = "played", _("played here")
        GLEE = "glee", _("imported from GLEE's published layout")
        COOPEVAL = "coopeval", _("imported from CoopEval's published records")
        ECONARENA = "econarena", _("imported from Economics Arena's records")
        AUCARENA = "aucarena", _("imported from AucArena's published records")
        ECONEVALS = "econevals", _("imported from EconEvals' published records")

    title = models.CharField(_("title"), max_length=120)
    slug = models.SlugField(_("short name"), max_length=60, unique=True)
    source = models.CharField(_("source"), max_length=12, choices=Source.choices, default=Source.PLAYED)
    game = models.CharField(_("game"), max_length=40, choices=game_choices)
    status = models.CharField(_("status"), max_length=12, choices=Status.choices, default=Status.READY)
    document = OrderedJSONField(_("plan"), default=dict)
    frozen = models.JSONField(default=dict)
    sha256 = models.CharField(max_length=64)
    code_revision = models.CharField(max_length=64, blank=True)
    seed = models.BigIntegerField(default=new_seed)
    planned = models.PositiveIntegerField(_("planned matches"))
    begun = models.PositiveIntegerField(default=0, editable=False, help_text=_("number of the last item created"))
    concurrency = models.PositiveIntegerField(
        _("agents asked at once"), default=50, validators=[MinValueValidator(1), MaxValueValidator(1000)]
    )
    budget = models.DecimalField(
        _("budget"),
        max_digits=10,
        decimal_places=2,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text=_("Stop model calls when they have cost this many US dollars. Leave empty for no limit."),
    )
    created_at = models.DateTimeField(_("created"), default=timezone.now)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, editable=False)
    started_at = models.DateTimeField(_("started"), null=True, blank=True)
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)

    class Meta:
        verbose_name = _("collection")
        verbose_name_plural = _("collections")
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.title

    @property
    def content(self) -> dict[str, Any]:
        """Everything that its matches depend on, as datasets have it."""
        return {**({"plan": self.document} if self.document else {}), **self.frozen}

    @property
    def configurations(self) -> list[dict[str, Any]]:
        """The configurations, complete, without those of later stages."""
        return list(self.frozen.get("configurations", ()))

    @property
    def budget_of(self) -> str:
        """The label under which its calls are recorded and limited."""
        return f"collection:{self.slug}"


class Member(Membership):
    """A user's membership in a collection."""

    collection = models.ForeignKey(Collection, models.CASCADE, related_name="members")

    class Meta:
        verbose_name = _("member of a collection")
        verbose_name_plural = _("members of collections")
        constraints = [models.UniqueConstraint(fields=["collection", "user"], name="one_part_per_collection")]


class Stage(models.Model):
    """A later stage of a collection: configurations created from earlier results, frozen with their sources.

    Attributes:
        number: from 1; the stage before is the collection's content.
        first: number of its first match.
        sources: for each result used: {number, match, events}.
    """

    collection = models.ForeignKey(Collection, models.CASCADE, related_name="made_stages")
    number = models.PositiveSmallIntegerField()
    first = models.PositiveIntegerField()
    planned = models.PositiveIntegerField()
    configurations = models.JSONField()
    sources = models.JSONField()
    sha256 = models.CharField(max_length=64)
    made_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["collection", "number"], name="one_stage_per_number")]

    def __str__(self) -> str:
        return f"{self.collection.slug}, stage {self.number}"


class Item(models.Model):
    """One match of a collection, and the lease of the driver that plays it."""

    class Status(models.TextChoices):
        WAITING = "waiting", _("waiting")
        PLAYING = "playing", _("playing")
        FINISHED = "finished", _("finished")
        FAILED = "failed", _("failed")

    collection = models.ForeignKey(Collection, models.CASCADE, related_name="items")
    number = models.PositiveIntegerField(
        _("number"), help_text=_("from 1; determines its configuration, agents and random seed")
    )
    name = models.CharField(
        _("name"), max_length=120, blank=True, help_text=_("of an imported match: its name in the source")
    )
    names = models.JSONField(default=list, help_text=_("display names in an imported match; never exported"))
    unverified = models.CharField(
        _("unverified"), max_length=500, blank=True, help_text=_("why our rules refuse an imported match")
    )
    status = models.CharField(_("status"), max_length=12, choices=Status.choices, default=Status.WAITING)
    match = models.OneToOneField(Match, models.PROTECT, null=True, blank=True, related_name="item")
    holder = models.CharField(max_length=40, blank=True)
    until = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(
        default=0, help_text=_("times the match was started since it last advanced")
    )
    decisions = models.PositiveIntegerField(_("decisions"), default=0)
    cost = models.DecimalField(_("cost"), max_digits=12, decimal_places=6, default=0)
    problem = models.CharField(_("problem"), max_length=500, blank=True)
    ended_at = models.DateTimeField(_("ended"), null=True)

    class Meta:
        verbose_name = _("match of a collection")
        verbose_name_plural = _("matches of collections")
        ordering = ["collection", "number"]
        constraints = [models.UniqueConstraint(fields=["collection", "number"], name="one_item_per_number")]
        indexes = [
            models.Index(
                fields=["collection", "number"],
                condition=models.Q(status__in=["waiting", "playing"]),
                name="item_to_play",
            ),
            models.Index(fields=["collection", "ended_at"], name="item_ended"),
        ]

    def __str__(self) -> str:
        return f"{self.collection.slug} {self.number}"


class Driver(models.Model):
    """A lease on a slot, which limits how many drivers play a collection."""

    collection = models.ForeignKey(Collection, models.CASCADE, related_name="drivers")
    slot = models.PositiveSmallIntegerField()
    holder = models.CharField(max_length=40)
    until = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["collection", "slot"], name="one_driver_per_slot")]

    def __str__(self) -> str:
        return f"{self.collection.slug} slot {self.slot}"
