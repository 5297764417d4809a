"""Panels: where a study's participants come from, how they return, and the lists by which they are paid."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_variables

import sealing
from panels.endings import NotAllowed, Outcome, check_destination
from payouts.models import LedgerRow
from recruiters.models import Identity
from sealing.addresses import check_address
from studies.models import Study

KIND = "panel"
LIST_VARIABLES = (
    "person", "task", "session", "amount", "base", "bonus", "currency", "participant", "ending", "reference",
)  # fmt: skip
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.\-]{0,59}")
_SECRETS = b"parley: secrets of panels"
_DESTINATION_PREFIX = "to_"


def names_in(text: str) -> list[str]:
    """Return the names of a link's fields, which are entered separated by spaces or commas."""
    return text.replace(",", " ").split()


def check_names(text: str) -> None:
    """Raise ValidationError unless these are valid names of a link's fields."""
    for name in names_in(text):
        if not _NAME.fullmatch(name):
            raise ValidationError(_("“%(name)s” is not a valid name for a field of a link."), params={"name": name})


def check_sites(text: str) -> None:
    """Raise ValidationError unless every line is the address of a site, without a path."""
    for line in text.split():
        check_address(line)
        if line.rstrip("/").count("/") > 2:
            message = _("“%(line)s”: enter only the site itself, such as https://panel.example.org.")
            raise ValidationError(message, params={"line": line})


class Panel(models.Model):
    """The panel from which a study's participants come."""

    class Check(models.TextChoices):
        NOTHING = "nothing", gettext_lazy("not at all: anyone with an invented ID can enter")
        INVITED = "invited", gettext_lazy("by a list of invited IDs: anyone who knows one can enter")
        SIGNED = "signed", gettext_lazy("by a link signed with a secret that the panel and Parley share")
        TOKEN = "token", gettext_lazy("by a token (JWT) signed with the panel's key")

    class Pays(models.TextChoices):
        LIST = "list", gettext_lazy("you pay everything, through a list")
        BONUSES = "bonuses", gettext_lazy("the panel pays base pay; you pay bonuses through a list")
        PANEL = "panel", gettext_lazy("the panel pays everything")

    study = models.OneToOneField(
        Study, models.CASCADE, related_name="panel", verbose_name=gettext_lazy("study"), editable=False
    )
    preset = models.CharField(gettext_lazy("preset"), max_length=40, editable=False)
    title = models.CharField(
        gettext_lazy("name"), max_length=60, help_text=gettext_lazy("Participants see it in “Back to …”.")
    )
    person = models.CharField(
        gettext_lazy("person"),
        max_length=200,
        validators=[check_names],
        help_text=gettext_lazy(
            "The field of the link that identifies the person. If you enter several names, the one that appears in the "
            "link is used."
        ),
    )
    task = models.CharField(
        gettext_lazy("task"),
        max_length=200,
        blank=True,
        validators=[check_names],
        help_text=gettext_lazy("The field that identifies the project. Leave empty if there is none."),
    )
    session = models.CharField(
        gettext_lazy("session"),
        max_length=200,
        blank=True,
        validators=[check_names],
        help_text=gettext_lazy(
            "The field that identifies one visit. It prevents others from opening a participant's game with their ID "
            "alone. If empty, participants can continue only in the browser in which they started."
        ),
    )
    check_by = models.CharField(
        gettext_lazy("how arrivals are checked"), max_length=10, choices=Check.choices, default=Check.NOTHING
    )
    signature = models.CharField(
        gettext_lazy("field with the signature or token"), max_length=60, default="signature", validators=[check_names]
    )
    sealed_secret = models.TextField(editable=False, blank=True)
    public_keys = models.TextField(
        gettext_lazy("public keys"),
        blank=True,
        help_text=gettext_lazy("RSA keys as PEM text or as a JSON Web Key Set. Tokens must use RS256."),
    )
    sites = models.TextField(
        gettext_lazy("sites"),
        blank=True,
        validators=[check_sites],
        help_text=gettext_lazy(
            "The panel's own sites, one per line, such as https://panel.example.org. Participants are sent only there."
        ),
    )
    to_completed = models.CharField(Outcome.COMPLETED.label, max_length=500, blank=True)
    to_screened_out = models.CharField(Outcome.SCREENED_OUT.label, max_length=500, blank=True)
    to_partial = models.CharField(Outcome.PARTIAL.label, max_length=500, blank=True)
    to_over_quota = models.CharField(Outcome.OVER_QUOTA.label, max_length=500, blank=True)
    to_withdrew = models.CharField(Outcome.WITHDREW.label, max_length=500, blank=True)
    pays = models.CharField(gettext_lazy("who pays"), max_length=10, choices=Pays.choices, default=Pays.LIST)
    columns = models.TextField(
        gettext_lazy("columns of the payment list"),
        help_text=gettext_lazy("One per line, as “Column = variable”, in the order that your panel expects."),
    )
    lasting = models.BooleanField(
        gettext_lazy("IDs identify the same person in every study"),
        default=True,
        help_text=gettext_lazy("Rest periods and limits then apply across all studies of this panel."),
    )

    class Meta:
        verbose_name = gettext_lazy("panel")
        verbose_name_plural = gettext_lazy("panels")
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.title}: {self.study.slug}"

    def clean(self) -> None:
        errors = {}
        for outcome in Outcome:
            destination = self.destination_of(outcome)
            try:
                if destination:
                    check_destination(destination, self.sites)
            except NotAllowed as reason:
                errors[f"{_DESTINATION_PREFIX}{outcome}"] = str(reason)
        try:
            columns = self.list_columns()
            for variable in ("person", "amount"):
                if variable not in columns.values():
                    message = _("The list requires a column “{variable}” so that payments can be compared.")
                    errors["columns"] = message.format(variable=variable)
        except ValueError as reason:
            errors["columns"] = str(reason)
        names = [name for text in (self.person, self.task, self.session) for name in names_in(text)]
        if len(set(names)) < len(names):
            errors["person"] = _("The same field cannot be used twice.")
        if errors:
            raise ValidationError(errors)

    def destination_of(self, outcome: Outcome) -> str:
        """Return where an outcome leads, as the researcher entered it: an address, a code, or ""."""
        destination: str = getattr(self, f"{_DESTINATION_PREFIX}{outcome}")
        return destination.strip()

    def list_columns(self) -> dict[str, str]:
        """Return the payment list's columns in order, each with the variable it shows.

        Raises:
            ValueError: says which line is wrong.
        """
        columns: dict[str, str] = {}
        for line in filter(str.strip, self.columns.splitlines()):
            name, equals, variable = (part.strip() for part in line.partition("="))
            if not equals or not name[:1].isalnum() or variable not in LIST_VARIABLES:
                variables = ", ".join(LIST_VARIABLES)
                message = _("“{line}” must have the form “Column = variable”, with one of the variables {known}.")
                raise ValueError(message.format(line=line, known=variables))
            if name in columns:
                raise ValueError(_("There are two columns “{name}”.").format(name=name))
            columns[name] = variable
        return columns

    def column_of(self, variable: str) -> str:
        """Return the name of the first column that shows a variable."""
        return next(name for name, column_variable in self.list_columns().items() if column_variable == variable)

    @sensitive_variables()
    def keep_secret(self, secret: str) -> None:
        """Store the secret that the panel signs with, encrypted."""
        self.sealed_secret = sealing.seal(secret, purpose=_SECRETS)

    @property
    def has_arrivals(self) -> bool:
        """Whether anyone has arrived through the panel."""
        return Identity.objects.filter(study=self.study.slug, recruiter=KIND).exists()

    def worker(self, person: str) -> str:
        """Return the name that identifies a person among the participants of all panels."""
        realm = self.preset if self.lasting and self.preset != "any_site" else f"study-{self.study_id}"
        if self.lasting and self.preset == "any_site" and (sites := self.sites.split()):
            realm = sites[0].partition("://")[2].rstrip("/")[:40]
        return f"{realm}:{person}"[:120]


@sensitive_variables()
def secret_of(panel: Panel) -> str | None:
    """Return the secret that the panel signs with, or None if none is stored or it can no longer be read.

    This is a function rather than a method so that templates and lists cannot call it by name.
    """
    return sealing.unseal(panel.sealed_secret, purpose=_SECRETS) if panel.sealed_secret else None


def values_of(identity: Identity) -> Mapping[str, str]:
    """Return the link's values for a participant who came through a panel."""
    return {name: str(identity.details.get(name, "")) for name in ("person", "task", "session")}


class PaymentList(models.Model):
    """A payment list for a panel. Until it is settled, its payments are on no other list."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="payment_lists", verbose_name=gettext_lazy("study"))
    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    number = models.PositiveIntegerField(gettext_lazy("number"))
    made_at = models.DateTimeField(gettext_lazy("made"), default=timezone.now)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    rows = models.ManyToManyField(LedgerRow, related_name="lists")

    class Meta:
        verbose_name = gettext_lazy("payment list")
        verbose_name_plural = gettext_lazy("payment lists")
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["study", "number"], name="one_payment_list_per_number")]

    def __str__(self) -> str:
        return f"{self.study.slug}-{self.number}"
