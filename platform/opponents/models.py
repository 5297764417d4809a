"""Where models are asked, and what the agents did to reach their moves."""

from __future__ import annotations

import os

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_variables

from llm_agents.endpoints import PRESETS
from opponents import keys
from opponents.validators import validate_address, validate_name, validate_prices, validate_variable


class Endpoint(models.Model):
    """One place where models are asked; it replaces the preset of its name, if there is one.

    Its key goes in by `keep_key`. No method gives it out, since templates and lists call methods by name:
    whoever makes a call has `keys.unseal`.
    """

    class Protocol(models.TextChoices):
        OPENAI = "openai", _("OpenAI, and whatever is compatible with it")
        ANTHROPIC = "anthropic", _("Anthropic")

    class Structured(models.TextChoices):
        JSON_SCHEMA = "json_schema", _("JSON by the move's schema")
        JSON_OBJECT = "json_object", _("any JSON object")
        TOOL = "tool", _("arguments of a forced tool")
        NONE = "none", _("not held at all")

    class KeyState(models.TextChoices):
        KEPT = "kept", _("a key is kept")
        UNREADABLE = "unreadable", _("the kept key can no longer be read, as SECRET_KEY has changed: type it again")
        VARIABLE = "variable", _("from an environment variable that is set")
        UNSET = "unset", _("from an environment variable that is not set")
        NONE = "none", _("none")

    name = models.SlugField(
        _("name"),
        unique=True,
        validators=[validate_name],
        help_text=_("Agents are called NAME:MODEL. The name of a preset replaces that preset."),
    )
    title = models.CharField(_("title"), max_length=100, blank=True)
    enabled = models.BooleanField(
        _("enabled"),
        default=True,
        help_text=_("Switched off, every call fails at once and the study's ladder goes on."),
    )
    protocol = models.CharField(_("protocol"), max_length=20, choices=Protocol.choices, default=Protocol.OPENAI)
    base_url = models.CharField(
        _("address"),
        max_length=500,
        blank=True,
        validators=[validate_address],
        help_text=_("The base URL, such as https://api.mistral.ai/v1. Empty: the protocol's own maker."),
    )
    sealed_key = models.TextField(_("key, encrypted"), blank=True, editable=False)
    key_variable = models.CharField(
        _("environment variable"),
        max_length=100,
        blank=True,
        validators=[validate_variable],
        help_text=_("Where no key is kept here: the variable that holds it on every machine that Parley runs on."),
    )
    structured = models.CharField(
        _("answers are held to"),
        max_length=20,
        choices=Structured.choices,
        default=Structured.NONE,
        help_text=_("What the endpoint can do; a study decides whether it is used."),
    )
    tools = models.BooleanField(
        _("takes tools"),
        default=True,
        help_text=_("Switched off, models call tools in plain JSON. Trying the endpoint says whether it takes them."),
    )
    concurrency = models.PositiveIntegerField(
        _("calls at once"),
        default=64,
        validators=[MinValueValidator(1), MaxValueValidator(10_000)],
        help_text=_("In each worker process."),
    )
    per_minute = models.PositiveIntegerField(
        _("calls per minute"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(1_000_000)],
        help_text=_("In each worker process; empty: any number."),
    )
    prices = models.JSONField(
        _("prices"),
        default=dict,
        blank=True,
        validators=[validate_prices],
        help_text=_("US dollars per million tokens, for models whose price is not listed or differs for you."),
    )
    prices_as_of = models.DateField(
        _("prices as of"), null=True, blank=True, help_text=_("Empty: today, as prices change.")
    )
    created_at = models.DateTimeField(_("made"), auto_now_add=True)

    class Meta:
        verbose_name = _("endpoint")
        verbose_name_plural = _("endpoints")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.title or self.name

    def clean(self) -> None:
        self.prices = self.prices or {}
        errors = {}
        if self.prices and self.prices_as_of is None:
            self.prices_as_of = timezone.localdate()
        if self._sends_a_presets_key_elsewhere():
            errors["key_variable"] = _("This variable holds the key for another address. Use one of its own.")
        if errors:
            raise ValidationError(errors)

    @property
    def key_state(self) -> str:
        """Whether there is a key, and from where; one of `KeyState`."""
        if self.sealed_key:
            return self.KeyState.UNREADABLE if keys.unseal(self.sealed_key) is None else self.KeyState.KEPT
        if self.key_variable:
            return self.KeyState.VARIABLE if os.environ.get(self.key_variable) else self.KeyState.UNSET
        return self.KeyState.NONE

    @sensitive_variables()
    def keep_key(self, key: str) -> None:
        """Keep a key, encrypted, instead of the one before."""
        self.sealed_key = keys.seal(key)

    def forget_key(self) -> None:
        """Keep none."""
        self.sealed_key = ""

    def _sends_a_presets_key_elsewhere(self) -> bool:
        makers = [preset for preset in PRESETS.values() if preset.key_variable == self.key_variable]
        here = (self.protocol, self.base_url.rstrip("/"))
        return bool(self.key_variable and makers) and all(
            here != (preset.protocol, (preset.base_url or "").rstrip("/")) for preset in makers
        )


class Circuit(models.Model):
    """What one process found out about an endpoint, kept or preset, for all the others.

    Attributes:
        open_until: it was failing and is left alone until then; None: it answered again.
    """

    endpoint = models.CharField(_("endpoint"), max_length=100, unique=True)
    open_until = models.DateTimeField(_("left alone until"), null=True)
    changed_at = models.DateTimeField(_("changed"))

    class Meta:
        verbose_name = _("circuit")
        verbose_name_plural = _("circuits")

    def __str__(self) -> str:
        return self.endpoint


class Call(models.Model):
    """One call of a language model, whether it led to a move or not.

    The match is named by its identifier, not by a foreign key: records outlive what they are about.
    What sums and figures are made of stands in columns of its own beside the record.
    """

    class Outcome(models.TextChoices):
        MOVE = "move", _("move")
        UNPLAYED = "unplayed", _("legal, but not the move that was made")
        RULE_BREAK = "rule_break", _("no legal move")
        FAILED = "failed", _("no answer")

    match_uid = models.UUIDField(_("match"), db_index=True)
    role = models.CharField(_("role"), max_length=40)
    answering = models.PositiveIntegerField(_("answering event"))
    at = models.DateTimeField(_("time"), default=timezone.now)
    budget_of = models.CharField(
        _("budget"), max_length=200, blank=True, help_text=_("whose money it was: a study or a collection")
    )
    endpoint = models.CharField(_("endpoint"), max_length=100, blank=True)
    model = models.CharField(_("model"), max_length=200, blank=True)
    latency = models.FloatField(_("seconds"), null=True)
    outcome = models.CharField(_("outcome"), max_length=20, choices=Outcome.choices, blank=True)
    cost = models.DecimalField(
        _("cost"), max_digits=12, decimal_places=6, null=True, help_text=_("US dollars; empty where no price is known")
    )
    purpose = models.CharField(
        _("purpose"), max_length=10, default="move", help_text=_("move, plan, belief, replan, look, note or judge")
    )
    answer = models.TextField(_("answer"), null=True, help_text=_("the raw text, as in the record: read by itself"))
    record = models.JSONField(_("record"), help_text=_("everything sent and received, without keys"))

    class Meta:
        verbose_name = _("model call")
        verbose_name_plural = _("model calls")
        ordering = ["-at"]
        indexes = [
            models.Index(fields=["match_uid", "role", "purpose"], name="call_of_seat"),
            models.Index(fields=["at", "cost"], name="call_spent_by_time"),
            models.Index(fields=["budget_of", "cost"], name="call_spent_by_budget"),
            models.Index(fields=["budget_of", "at"], name="call_of_budget"),
            models.Index(fields=["budget_of", "at"], condition=models.Q(outcome="failed"), name="call_failed"),
        ]

    def __str__(self) -> str:
        return f"{self.match_uid} {self.role} {self.answering}"
