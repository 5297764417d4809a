"""Who came, as the recruiter knows them. Nothing in these tables ever leaves in an export."""

from __future__ import annotations

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from participants.models import Enrolment, new_code


class Identity(models.Model):
    """The recruiter's name for a participant of one study.

    `proof` is the part of the link that only this person's visit has (mTurk's assignment id, the lab
    code): a worker's id alone never opens their session.
    """

    study = models.SlugField(_("study"), max_length=60)
    recruiter = models.CharField(_("recruiter"), max_length=20)
    worker = models.CharField(_("worker"), max_length=120)
    proof = models.CharField(max_length=160)
    occasion = models.PositiveIntegerField(
        default=1,
        help_text=_("which of the ways begun with this link; a lasting one may begin several"),
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
    """A personal code that lets one person into one study, and back in again."""

    study = models.SlugField(_("study"), max_length=60)
    code = models.CharField(_("code"), max_length=40, default=new_code)
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
