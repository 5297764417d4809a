"""Datasets that are written in the background and kept for download, and their publication details."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

from django.core.files.storage import Storage, storages
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from collecting.models import Collection
from studies.models import Study

DEAD_AFTER = timedelta(seconds=60)
"""A writer without a heartbeat for this long is considered dead."""


def _storage() -> Storage:
    return storages["datasets"]


class _BelongsToStudyOrCollection(models.Model):
    study = models.ForeignKey(Study, models.CASCADE, null=True, blank=True, related_name="%(class)ss")
    collection = models.ForeignKey(Collection, models.CASCADE, null=True, blank=True, related_name="%(class)ss")

    class Meta:
        abstract = True

    @property
    def parent(self) -> Study | Collection:
        """The study or collection."""
        parent = self.study or self.collection
        assert parent is not None, "a constraint of the database"
        return parent


def lookup(parent: Study | Collection) -> dict[str, Any]:
    """Return the lookup of rows that belong to this study or collection."""
    return {"study": parent} if isinstance(parent, Study) else {"collection": parent}


def _one_parent(name: str) -> models.CheckConstraint:
    return models.CheckConstraint(condition=models.Q(study=None) ^ models.Q(collection=None), name=name)


class Dataset(_BelongsToStudyOrCollection):
    """One dataset: queued, being written, ready, or failed with a reason."""

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        WRITING = "writing", _("being written")
        READY = "ready", _("ready")
        FAILED = "failed", _("failed")

    class Times(models.TextChoices):
        EXACT = "exact", _("exact")
        MINUTE = "minute", _("to the minute")
        HOUR = "hour", _("to the hour")

    uid = models.UUIDField(_("identifier"), unique=True, default=uuid.uuid4, editable=False)
    state = models.CharField(_("state"), max_length=12, choices=State.choices, default=State.QUEUED)
    reason = models.CharField(_("reason"), max_length=400, blank=True)
    formats = models.JSONField(_("formats"), default=list)
    excluded = models.BooleanField(_("with excluded rows"), default=False)
    times = models.CharField(_("points in time"), max_length=8, choices=Times.choices, default=Times.EXACT)
    asked_at = models.DateTimeField(_("requested"), default=timezone.now)
    alive_at = models.DateTimeField(null=True, help_text=_("last heartbeat"))
    ended_at = models.DateTimeField(_("ended"), null=True)
    done = models.PositiveIntegerField(_("matches processed"), default=0)
    expected = models.PositiveIntegerField(_("matches to process"), default=0)
    written = models.PositiveBigIntegerField(_("bytes written so far"), default=0)
    file = models.FileField(storage=_storage, max_length=200, blank=True)
    size = models.PositiveBigIntegerField(_("bytes"), null=True)
    sha256 = models.CharField(max_length=64, blank=True)
    counts = models.JSONField(_("rows per file"), default=dict)
    flow = models.JSONField(_("flow"), default=dict)

    class Meta:
        verbose_name = _("dataset")
        verbose_name_plural = _("datasets")
        ordering = ["-pk"]
        constraints = [
            _one_parent("dataset_of_one"),
            models.UniqueConstraint(
                fields=["study"],
                condition=models.Q(state__in=["queued", "writing"]),
                name="one_unfinished_dataset_per_study",
            ),
            models.UniqueConstraint(
                fields=["collection"],
                condition=models.Q(state__in=["queued", "writing"]),
                name="one_unfinished_dataset_per_collection",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.parent.slug}-{self.asked_at:%Y%m%d-%H%M%S}"

    @property
    def unfinished(self) -> bool:
        """Whether it is queued or being written."""
        return self.state in (self.State.QUEUED, self.State.WRITING)

    @property
    def figures(self) -> dict[str, str]:
        """Return counts of matches: processed, to process, in the dataset."""
        counts = {"done": self.done, "expected": self.expected, "inside": self.flow.get("matches_in_dataset", 0)}
        return {name: f"{count:,}" for name, count in counts.items()}

    @property
    def percent(self) -> int:
        """Return the percentage of matches processed."""
        return 100 * self.done // self.expected if self.expected else 0

    @property
    def abandoned(self) -> bool:
        """Return whether its writer died."""
        return (
            self.state == self.State.WRITING
            and self.alive_at is not None
            and self.alive_at < timezone.now() - DEAD_AFTER
        )


class Publication(_BelongsToStudyOrCollection):
    """Publication details of datasets: authors, licence, citation.

    They belong to no version, because they may be written after the last participant has left.
    """

    class Licence(models.TextChoices):
        UNDECIDED = "", _("not decided: all rights reserved")
        CC0 = "CC0-1.0", _("CC0 1.0: given to the public domain")
        CC_BY = "CC-BY-4.0", _("CC BY 4.0: free to use, naming the authors")
        CC_BY_SA = "CC-BY-SA-4.0", _("CC BY-SA 4.0: the same, and adaptations under the same licence")
        CC_BY_NC = "CC-BY-NC-4.0", _("CC BY-NC 4.0: naming the authors, non-commercial use only")
        ODC_BY = "ODC-By-1.0", _("ODC-By 1.0: a database, naming the authors")
        ODBL = "ODbL-1.0", _("ODbL 1.0: a database, naming the authors, adaptations under the same licence")
        OWN = "own", _("other (enter below)")

    title = models.CharField(_("title of the dataset"), max_length=200, blank=True)
    authors = models.CharField(_("authors"), max_length=500, blank=True)
    licence = models.CharField(_("licence"), max_length=20, choices=Licence.choices, blank=True)
    own_licence = models.CharField(_("another licence"), max_length=500, blank=True)
    citation = models.TextField(_("how to cite it"), max_length=2000, blank=True)
    doi = models.CharField(_("DOI"), max_length=200, blank=True)
    description = models.TextField(_("what it is about"), max_length=5000, blank=True)
    limitations = models.TextField(_("limitations"), max_length=5000, blank=True)

    class Meta:
        verbose_name = _("publication")
        verbose_name_plural = _("publications")
        constraints = [
            _one_parent("publication_of_one"),
            models.UniqueConstraint(fields=["study"], name="one_publication_per_study"),
            models.UniqueConstraint(fields=["collection"], name="one_publication_per_collection"),
        ]

    def __str__(self) -> str:
        return self.title or str(self.parent)

    @property
    def terms(self) -> str:
        """Return the licence's usual short name; empty while it is undecided."""
        return self.own_licence if self.licence == self.Licence.OWN else self.licence
