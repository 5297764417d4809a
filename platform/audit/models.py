"""The audit log: who did what, when, to which object. Rows are only ever added.

Users and objects are stored as plain values, not foreign keys: a record outlives them.
"""

from __future__ import annotations

from typing import Any, NoReturn

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from audit.actions import Action


class Unchangeable(Exception):
    """An attempt to change or delete a record."""


class AppendOnly(models.QuerySet["Record"]):
    """Records that can only be read and added; the database enforces this too (`audit.guard`)."""

    def update(self, **changes: Any) -> NoReturn:
        raise Unchangeable("Audit records are never changed.")

    def bulk_update(self, *args: Any, **options: Any) -> NoReturn:
        raise Unchangeable("Audit records are never changed.")

    def delete(self) -> NoReturn:
        raise Unchangeable("Audit records are never deleted.")


class Record(models.Model):
    """One recorded action.

    Attributes:
        by, by_id: the user's name and key; empty and None for commands and visitors who are not signed in.
        kind, key, title: the object as "app.model", its primary key, and its title at the time.
        of_kind, of_key: the study or collection whose owners may read this, possibly the object itself.
        details: plain data without secrets.
    """

    at = models.DateTimeField(_("time"), default=timezone.now, db_index=True)
    action = models.CharField(_("action"), max_length=40)
    by = models.CharField(_("by"), max_length=150, blank=True)
    by_id = models.BigIntegerField(null=True)
    kind = models.CharField(_("kind of object"), max_length=80, blank=True)
    key = models.CharField(max_length=64, blank=True)
    title = models.CharField(_("object"), max_length=200, blank=True)
    of_kind = models.CharField(max_length=80, blank=True)
    of_key = models.CharField(max_length=64, blank=True)
    details = models.JSONField(_("details"), default=dict)

    objects = models.Manager.from_queryset(AppendOnly)()

    class Meta:
        verbose_name = _("audit record")
        verbose_name_plural = _("audit records")
        ordering = ["-at", "-pk"]
        indexes = [models.Index(fields=["of_kind", "of_key"], name="audit_record_of")]

    def __str__(self) -> str:
        return f"{self.what} {self.title}".strip()

    @property
    def what(self) -> str:
        """Return the action's label."""
        return str(Action(self.action).label) if self.action in Action.values else self.action.replace("_", " ")

    def save(self, *args: Any, **options: Any) -> None:
        """Add the record.

        Raises:
            Unchangeable: it has been saved before.
        """
        if not self._state.adding:
            raise Unchangeable("Audit records are never changed.")
        super().save(*args, **options)

    def delete(self, *args: Any, **options: Any) -> NoReturn:
        raise Unchangeable("Audit records are never deleted.")
