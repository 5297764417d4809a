"""Participants' identities at their recruiters. No export includes these tables."""

from __future__ import annotations

import uuid

from django.core.exceptions import ValidationError
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_variables

import sealing
from participants.models import Enrolment, new_code
from sealing.addresses import check_address

_REST_KEYS = b"parley: keys of oTree's REST interfaces"


class Identity(models.Model):
    """A participant's identity at the recruiter, for one study.

    `proof` is the part of the link unique to this visit (mTurk's assignment ID, the lab code): a worker ID
    alone never opens an enrolment.
    """

    study = models.SlugField(_("study"), max_length=60)
    recruiter = models.CharField(_("recruiter"), max_length=20)
    worker = models.CharField(_("worker"), max_length=120)
    proof = models.CharField(max_length=160)
    occasion = models.PositiveIntegerField(
        default=1,
        help_text=_("counts the enrolments started with this link; a lasting link may start several"),
    )
    details = models.JSONField(default=dict)
    enrolment = models.OneToOneField(Enrolment, models.CASCADE, related_name="identity")

    class Meta:
        verbose_name = _("identity")
        verbose_name_plural = _("identities")
        constraints = [
            models.UniqueConstraint(
                fields=["study", "recruiter", "proof", "occasion"], name="one_enrolment_per_proof_and_occasion"
            )
        ]
        indexes = [models.Index(fields=["recruiter", "worker"], name="identity_of_worker")]

    def __str__(self) -> str:
        return f"{self.recruiter}/{self.enrolment.pseudonym}"


class LabCode(models.Model):
    """A personal code that lets one participant into one study.

    `label` is the researcher's own note on who gets the code: the admin shows it, no file contains it.
    """

    class Kind(models.TextChoices):
        RESUMABLE = "resumable", _("resumable")
        ONCE = "once", _("single-use")

    study = models.SlugField(_("study"), max_length=60)
    code = models.CharField(_("code"), max_length=40, default=new_code)
    kind = models.CharField(_("kind"), max_length=10, choices=Kind.choices, default=Kind.RESUMABLE)
    label = models.CharField(_("label"), max_length=120, blank=True)
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)

    class Meta:
        verbose_name = _("lab code")
        verbose_name_plural = _("lab codes")
        constraints = [models.UniqueConstraint(fields=["study", "code"], name="one_lab_code")]

    def __str__(self) -> str:
        return self.code

    @property
    def expired(self) -> bool:
        return self.expires_at is not None and self.expires_at < timezone.now()


def check_addresses(text: str) -> None:
    """Raise ValidationError unless every line is a valid address."""
    lines = text.split()
    for line in lines:
        try:
            check_address(line)
        except ValidationError as error:
            message = _("“%(line)s”: %(reason)s")
            raise ValidationError(message, params={"line": line, "reason": error.messages[0]}) from None
    if not lines:
        raise ValidationError(_("Please enter at least one address."))


class OtreeServer(models.Model):
    """The oTree server that sends participants to one study, and the addresses they may return to."""

    study = models.SlugField(_("study"), max_length=60, unique=True, help_text=_("The study's short name."))
    addresses = models.TextField(
        _("addresses"),
        validators=[check_addresses],
        help_text=_(
            "The oTree server's addresses, one per line, such as https://otree.example.org. Participants are sent "
            "back only to these."
        ),
    )
    salt = models.UUIDField(default=uuid.uuid4, editable=False)
    sealed_rest_key = models.TextField(blank=True, editable=False)

    class Meta:
        verbose_name = _("oTree server")
        verbose_name_plural = _("oTree servers")

    def __str__(self) -> str:
        return self.study

    def allowed(self) -> list[str]:
        """Return the addresses without trailing slashes."""
        return [address.rstrip("/") for address in self.addresses.split()]

    @sensitive_variables()
    def keep_rest_key(self, key: str) -> None:
        """Store the REST API key, encrypted; an empty key deletes the stored one."""
        self.sealed_rest_key = sealing.seal(key, purpose=_REST_KEYS) if key else ""

    @sensitive_variables()
    def rest_key(self) -> str | None:
        """Return the REST API key; None if none is stored or it cannot be decrypted."""
        return sealing.unseal(self.sealed_rest_key, purpose=_REST_KEYS) if self.sealed_rest_key else None


class Delivery(models.Model):
    """A result to be sent to an oTree server, retried at growing intervals until it is delivered."""

    class State(models.TextChoices):
        DUE = "due", _("due")
        DELIVERED = "delivered", _("delivered")
        GIVEN_UP = "given_up", _("given up")

    enrolment = models.OneToOneField(Enrolment, models.CASCADE, related_name="delivery")
    state = models.CharField(_("state"), max_length=12, choices=State.choices, default=State.DUE)
    attempts = models.PositiveIntegerField(_("attempts"), default=0)
    since = models.DateTimeField(_("due since"), default=timezone.now)
    next_at = models.DateTimeField(_("next attempt"), default=timezone.now)
    problem = models.CharField(_("problem"), max_length=200, blank=True)

    class Meta:
        verbose_name = _("delivery to oTree")
        verbose_name_plural = _("deliveries to oTree")
        ordering = ["-pk"]
        indexes = [models.Index(fields=["next_at"], condition=models.Q(state="due"), name="delivery_due")]

    def __str__(self) -> str:
        return f"{self.enrolment}: {self.get_state_display()}"
