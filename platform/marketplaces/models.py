"""Marketplace accounts, the account through which each study recruits, what it offers there, and submissions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_variables

import sealing
from marketplaces import kinds, modules
from participants.models import Enrolment
from recruiters.models import Identity
from rights.models import Membership
from sealing.addresses import check_address
from studies.models import Study

_PURPOSE = b"parley: credentials of marketplaces"


def kind_choices() -> list[tuple[str, Any]]:
    return [(key, kinds.get(key).title) for key in kinds.keys()]


def check_stand_in(address: str) -> None:
    """Check a rehearsal's address; public installations accept only the hosts that are configured (LOCAL_HOSTS)."""
    check_address(address)
    if settings.BEHIND_TLS and urlsplit(address).hostname not in settings.LOCAL_HOSTS:
        raise ValidationError(
            _("Rehearsals can use only known hosts. The administrator of this installation can add more (LOCAL_HOSTS).")
        )


class Account(models.Model):
    """A marketplace account. Its members may use it: editors recruit and pay with it."""

    class Place(models.TextChoices):
        PRODUCTION = "production", _("production: real people and real money")
        SANDBOX = "sandbox", _("the marketplace's own sandbox")
        REHEARSAL = "rehearsal", _("a rehearsal with Parley's stand-in")

    title = models.CharField(_("name"), max_length=80, unique=True)
    kind = models.CharField(_("marketplace"), max_length=20, choices=kind_choices)
    place = models.CharField(_("environment"), max_length=12, choices=Place.choices, default=Place.REHEARSAL)
    address = models.CharField(
        _("address"),
        max_length=200,
        blank=True,
        validators=[check_stand_in],
        help_text=_("The stand-in's address; for rehearsals only."),
    )
    sealed_credentials = models.TextField(editable=False, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("marketplace account")
        verbose_name_plural = _("marketplace accounts")
        ordering = ["title"]

    def __str__(self) -> str:
        return self.title

    @property
    def base_address(self) -> str:
        """Address of the API without a trailing slash, or "" if the marketplace does not have this environment."""
        if self.place == self.Place.REHEARSAL:
            return self.address.rstrip("/")
        return kinds.get(self.kind).addresses.get(self.place, "").rstrip("/")

    @property
    def pages(self) -> str:
        """The site of the pages that participants see there, without a trailing slash."""
        if self.place == self.Place.REHEARSAL:
            stand_in = urlsplit(self.address)
            return f"{stand_in.scheme}://{stand_in.netloc}"
        return kinds.get(self.kind).pages[self.place]

    @sensitive_variables()
    def keep_credentials(self, credentials: dict[str, str]) -> None:
        """Store these credentials, encrypted, in place of the old ones."""
        self.sealed_credentials = sealing.seal(json.dumps(credentials), purpose=_PURPOSE)


@sensitive_variables()
def credentials_of(account: Account) -> dict[str, str] | None:
    """Return the account's credentials, or None if none are stored or they can no longer be read.

    This is a function rather than a method so that templates and lists cannot call it by name.
    """
    unsealed = sealing.unseal(account.sealed_credentials, purpose=_PURPOSE) if account.sealed_credentials else None
    return json.loads(unsealed) if unsealed is not None else None


class Member(Membership):
    """A user's role in an account."""

    account = models.ForeignKey(Account, models.CASCADE, related_name="members")

    class Meta:
        verbose_name = _("account member")
        verbose_name_plural = _("account members")
        constraints = [models.UniqueConstraint(fields=["account", "user"], name="one_part_per_account")]


class Recruitment(models.Model):
    """The account through which a study recruits and pays, and when the marketplace was last asked about the study."""

    study = models.OneToOneField(Study, models.CASCADE, related_name="recruitment")
    account = models.ForeignKey(Account, models.PROTECT, related_name="recruitments", verbose_name=_("account"))
    asked_at = models.DateTimeField(_("last requested"), null=True, blank=True, editable=False)
    answered_at = models.DateTimeField(_("last updated"), null=True, blank=True, editable=False)
    next_at = models.DateTimeField(default=timezone.now, editable=False)
    failures = models.PositiveIntegerField(_("consecutive failures"), default=0, editable=False)
    problem = models.CharField(_("problem"), max_length=300, blank=True, editable=False)

    class Meta:
        verbose_name = _("recruitment")
        verbose_name_plural = _("recruitments")
        indexes = [models.Index(fields=["next_at"], name="recruitment_next")]

    def __str__(self) -> str:
        return self.study.slug

    @property
    def has_arrivals(self) -> bool:
        """Whether anyone has arrived through the study's current recruiter."""
        return Identity.objects.filter(study=self.study.slug, recruiter=self.account.kind).exists()


class Offer(models.Model):
    """What a study offers on a marketplace, such as a task: what was ordered, and its status there as last reported.

    Its marketplace's module `terms` types the statuses and the terms.
    """

    DELETED = "Disposed"
    """The status of what was deleted there."""

    study = models.ForeignKey(Study, models.PROTECT, related_name="offers")
    account = models.ForeignKey(Account, models.PROTECT, related_name="offers", verbose_name=_("account"))
    reference = models.CharField(max_length=120, unique=True, help_text=_("finds it there if an answer is lost"))
    remote_id = models.CharField(_("its ID there"), max_length=64, unique=True, null=True)
    status = models.CharField(_("status"), max_length=20)
    name = models.CharField(_("name"), max_length=128)
    description = models.TextField(_("description"), max_length=5000)
    places = models.PositiveIntegerField(_("places"))
    reward = models.DecimalField(_("reward"), max_digits=8, decimal_places=2)
    currency = models.CharField(_("currency"), max_length=3)
    address = models.URLField(_("address of the study here"), max_length=300)
    terms_stored = models.JSONField(default=dict)
    problem = models.CharField(_("problem"), max_length=300, blank=True)
    ordered_at = models.DateTimeField(_("ordered"), null=True)
    heard_at = models.DateTimeField(_("last updated"), null=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)

    class Meta:
        verbose_name = _("offer on a marketplace")
        verbose_name_plural = _("offers on marketplaces")
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.name

    @property
    def status_label(self) -> str:
        return str(modules.terms(self.account.kind).Status(self.status).label)

    @property
    def terms(self) -> Any:
        """What its marketplace alone has: its `terms.Terms`."""
        return modules.terms(self.account.kind).Terms.model_validate(self.terms_stored)

    def keep(self, *, terms: Mapping[str, Any] | None = None, **fields: Any) -> None:
        """Save these fields and terms alone, so that other processes' changes to other fields are kept."""
        if terms:
            fields["terms_stored"] = self.terms.model_copy(update=dict(terms)).model_dump(mode="json")
        for name, value in fields.items():
            setattr(self, name, value)
        self.save(update_fields=list(fields))


class Submission(models.Model):
    """What a marketplace last reported about one participant's work. It contains no participant's identifiers."""

    class Status(models.TextChoices):
        """In the order in which participants reach them; a status that Parley does not know is kept as reported."""

        RESERVED = "RESERVED", _("place reserved")
        WORKING = "ACTIVE", _("in progress")
        TIMED_OUT = "TIMED OUT", _("timed out")
        SUBMITTED = "AWAITING REVIEW", _("awaiting review")
        APPROVED = "APPROVED", _("approved")
        PARTLY = "PARTIALLY APPROVED", _("partially paid")
        RETURNED = "RETURNED", _("returned")
        REJECTED = "REJECTED", _("rejected")
        SCREENED_OUT = "SCREENED OUT", _("screened out")

    class Whose(models.TextChoices):
        OURS = "ours", _("submitted by the participant who arrived here with it")
        OTHER = "other", _("submitted by someone else than the participant who arrived here")
        NOBODY = "nobody", _("nobody arrived here with it")

    class Authenticity(models.TextChoices):
        """Result of the marketplace's authenticity check of a participant's free texts."""

        HIGH = "high", _("high")
        MIXED = "mixed", _("mixed")
        LOW = "low", _("low")
        UNKNOWN = "unknown", _("not told")

    study = models.ForeignKey(Study, models.CASCADE, related_name="submissions")
    account = models.ForeignKey(Account, models.PROTECT, related_name="submissions")
    task = models.CharField(max_length=64, help_text=_("identifier of its task or study on the marketplace"))
    key = models.CharField(max_length=64, help_text=_("its identifier on the marketplace, or a digest of it"))
    enrolment = models.OneToOneField(Enrolment, models.SET_NULL, null=True, blank=True, related_name="submission")
    whose = models.CharField(
        _("submitted by"),
        max_length=8,
        choices=Whose.choices,
        default=Whose.NOBODY,
        help_text=_("without an enrolment, a participant of ours has been erased"),
    )
    status = models.CharField(_("status"), max_length=30)
    code = models.CharField(_("code"), max_length=20, blank=True, help_text=_("which of the study's codes was entered"))
    return_asked = models.BooleanField(_("asked to return it"), default=False)
    authenticity = models.CharField(_("authenticity"), max_length=12, blank=True, choices=Authenticity.choices)
    part = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text=_("percentage of the reward that the marketplace was asked to pay")
    )
    started_at = models.DateTimeField(_("started"), null=True, blank=True)
    submitted_at = models.DateTimeField(_("submitted"), null=True, blank=True)
    auto_approval_at = models.DateTimeField(_("approved automatically"), null=True, blank=True)
    taken_back_at = models.DateTimeField(
        _("rejection undone"), null=True, help_text=_("from then on, the ledger may pay it despite the rejection")
    )
    heard_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = _("submission")
        verbose_name_plural = _("submissions")
        ordering = ["-pk"]
        constraints = [models.UniqueConstraint(fields=["study", "key"], name="one_row_per_submission")]

    def __str__(self) -> str:
        return self.enrolment.pseudonym if self.enrolment else str(self.get_whose_display())

    @property
    def status_label(self) -> str:
        """Status as shown to researchers."""
        return str(self.Status(self.status).label) if self.status in self.Status else self.status

    @property
    def marketplace(self) -> str:
        return str(kinds.get(self.account.kind).title)
