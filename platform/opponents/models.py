"""Endpoints, their circuits, and the recorded model calls."""

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
    """An endpoint for model calls; it replaces the preset of the same name.

    `keep_key` sets the key. No method returns it, because templates and lists can call any method by name; code
    that makes calls uses `keys.unseal`.
    """

    class Protocol(models.TextChoices):
        OPENAI = "openai", _("OpenAI and compatible")
        ANTHROPIC = "anthropic", _("Anthropic")

    class Structured(models.TextChoices):
        JSON_SCHEMA = "json_schema", _("JSON schema of the move")
        JSON_OBJECT = "json_object", _("any JSON object")
        TOOL = "tool", _("arguments of a forced tool call")
        NONE = "none", _("not enforced")

    class KeyState(models.TextChoices):
        KEPT = "kept", _("a key is stored")
        UNREADABLE = (
            "unreadable",
            _("the stored key cannot be decrypted because SECRET_KEY has changed: enter it again"),
        )
        VARIABLE = "variable", _("from an environment variable that is set")
        UNSET = "unset", _("from an environment variable that is not set")
        REMOVED = "removed", _("none: the stored key was deleted")
        NONE = "none", _("none")

    name = models.SlugField(
        _("name"),
        unique=True,
        validators=[validate_name],
        help_text=_("Agents are called NAME:MODEL. Use a preset's name to replace that preset."),
    )
    title = models.CharField(_("title"), max_length=100, blank=True)
    enabled = models.BooleanField(
        _("enabled"),
        default=True,
        help_text=_("If disabled, every call fails at once and the agent's fallbacks are used."),
    )
    retired = models.BooleanField(
        _("retired"),
        default=False,
        help_text=_("If retired, no new study or collection can choose it. What has been launched goes on."),
    )
    protocol = models.CharField(_("protocol"), max_length=20, choices=Protocol.choices, default=Protocol.OPENAI)
    base_url = models.CharField(
        _("address"),
        max_length=500,
        blank=True,
        validators=[validate_address],
        help_text=_("The base URL, such as https://api.mistral.ai/v1. Leave empty for the provider's own address."),
    )
    sealed_key = models.TextField(_("key, encrypted"), blank=True, editable=False)
    key_removed = models.BooleanField(_("key removed"), default=False, editable=False)
    key_variable = models.CharField(
        _("environment variable"),
        max_length=100,
        blank=True,
        validators=[validate_variable],
        help_text=_(
            "The variable that holds the key on every machine that runs Parley, such as MISTRAL_API_KEY. "
            "Used if no key is stored here."
        ),
    )
    structured = models.CharField(
        _("answer format"),
        max_length=20,
        choices=Structured.choices,
        default=Structured.NONE,
        help_text=_("The format that the endpoint can enforce. Each agent's settings choose whether to use it."),
    )
    tools = models.BooleanField(
        _("supports tools"),
        default=True,
        help_text=_("If off, models call tools in plain JSON. Test the endpoint to find out."),
    )
    concurrency = models.PositiveIntegerField(
        _("concurrent calls"),
        default=64,
        validators=[MinValueValidator(1), MaxValueValidator(10_000)],
        help_text=_("Maximum number of calls at the same time in each worker process."),
    )
    per_minute = models.PositiveIntegerField(
        _("calls per minute"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(1_000_000)],
        help_text=_("Maximum in each worker process. Leave empty for no limit."),
    )
    prices = models.JSONField(
        _("prices"),
        default=dict,
        blank=True,
        validators=[validate_prices],
        help_text=_("US dollars per million tokens. Add models whose price is missing or differs for you."),
    )
    prices_as_of = models.DateField(
        _("prices as of"), null=True, blank=True, help_text=_("The date of these prices. Leave empty for today.")
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

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
        if self._sends_preset_key_elsewhere():
            errors["key_variable"] = _(
                "This variable holds the key for another address. Use a separate variable for this endpoint."
            )
        if errors:
            raise ValidationError(errors)

    @property
    def key_state(self) -> str:
        """Return whether there is a key and where it comes from, as a `KeyState`."""
        if self.sealed_key:
            return self.KeyState.UNREADABLE if keys.unseal(self.sealed_key) is None else self.KeyState.KEPT
        if self.key_variable:
            return self.KeyState.VARIABLE if os.environ.get(self.key_variable) else self.KeyState.UNSET
        return self.KeyState.REMOVED if self.key_removed else self.KeyState.NONE

    @sensitive_variables()
    def keep_key(self, key: str) -> None:
        """Store a key, encrypted, replacing the previous one."""
        self.sealed_key, self.key_removed = keys.seal(key), False

    def forget_key(self) -> None:
        """Delete the stored key."""
        self.sealed_key, self.key_removed = "", self.key_removed or bool(self.sealed_key)

    def _sends_preset_key_elsewhere(self) -> bool:
        presets = [preset for preset in PRESETS.values() if preset.key_variable == self.key_variable]
        address = (self.protocol, self.base_url.rstrip("/"))
        return bool(self.key_variable and presets) and all(
            address != (preset.protocol, (preset.base_url or "").rstrip("/")) for preset in presets
        )


class Circuit(models.Model):
    """An endpoint's failure state, shared by all processes.

    Attributes:
        open_until: when the pause after a failure ends; None once the endpoint has answered again.
    """

    endpoint = models.CharField(_("endpoint"), max_length=100, unique=True)
    open_until = models.DateTimeField(_("paused until"), null=True)
    changed_at = models.DateTimeField(_("changed"))

    class Meta:
        verbose_name = _("circuit")
        verbose_name_plural = _("circuits")

    def __str__(self) -> str:
        return self.endpoint


class Budget(models.Model):
    """What calls are paid from: a study, a collection, its judges, a pilot, or (label "today") the installation.

    Its row is locked while a call's price is reserved.

    Attributes:
        refusal: why the latest call was refused; empty if it was not. That of a match has the label "match:UID".
    """

    label = models.CharField(max_length=200, unique=True)
    refusal = models.TextField(blank=True)

    def __str__(self) -> str:
        return self.label


class Reservation(models.Model):
    """The most that a call under way can cost, in US dollars, from before the call until its cost is recorded.

    Attributes:
        until: when it expires if the call is never recorded, because its worker died.
    """

    budget_of = models.CharField(max_length=200, blank=True)
    match_uid = models.UUIDField(db_index=True)
    role = models.CharField(max_length=40)
    answering = models.PositiveIntegerField()
    price = models.DecimalField(max_digits=14, decimal_places=6)
    until = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["budget_of", "match_uid", "role", "answering"], name="one_reservation_per_question"
            )
        ]

    def __str__(self) -> str:
        return f"{self.match_uid} {self.role} {self.answering}"


class Call(models.Model):
    """One call to a language model, whether or not it led to a move.

    The match is referenced by its identifier, not by a foreign key, because call records outlive matches.
    Values used in sums and statistics have columns of their own in addition to the record.
    """

    class Outcome(models.TextChoices):
        MOVE = "move", _("move")
        UNPLAYED = "unplayed", _("legal, but not the move that was made")
        RULE_BREAK = "rule_break", _("illegal move")
        FAILED = "failed", _("no answer")

    match_uid = models.UUIDField(_("match"), db_index=True)
    role = models.CharField(_("role"), max_length=40)
    answering = models.PositiveIntegerField(_("answering event"))
    at = models.DateTimeField(_("time"), default=timezone.now)
    budget_of = models.CharField(
        _("budget"), max_length=200, blank=True, help_text=_("the label of the study or collection that paid")
    )
    endpoint = models.CharField(_("endpoint"), max_length=100, blank=True)
    model = models.CharField(_("model"), max_length=200, blank=True)
    latency = models.FloatField(_("seconds"), null=True)
    outcome = models.CharField(_("outcome"), max_length=20, choices=Outcome.choices, blank=True)
    cost = models.DecimalField(
        _("cost"), max_digits=12, decimal_places=6, null=True, help_text=_("US dollars; empty if the price is unknown")
    )
    purpose = models.CharField(
        _("purpose"),
        max_length=10,
        default="move",
        help_text=_("move, plan, belief, replan, look, note, judge or chat"),
    )
    answer = models.TextField(
        _("answer"), null=True, help_text=_("the raw text, as in the record, stored separately for speed")
    )
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
