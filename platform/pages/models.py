"""Images and videos that researchers add to their studies, kept in the database so that a backup has them."""

from __future__ import annotations

from django.db import models
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class Media(models.Model):
    """One file of a study, shown on its pages under its content's hash, so that a launched page never changes."""

    study = models.SlugField(_("study"), max_length=60)
    name = models.CharField(_("name"), max_length=100)
    mime_type = models.CharField(_("type"), max_length=40)
    sha256 = models.CharField(max_length=64, db_index=True)
    size = models.PositiveIntegerField(_("bytes"))
    data = models.BinaryField()
    at = models.DateTimeField(_("time"), default=timezone.now)

    class Meta:
        verbose_name = _("image or video")
        verbose_name_plural = _("images and videos")
        ordering = ["study", "name"]
        constraints = [models.UniqueConstraint(fields=["study", "name"], name="one_file_per_name")]

    def __str__(self) -> str:
        return f"{self.study}/{self.name}"

    def get_absolute_url(self) -> str:
        return reverse("pages:media", args=[self.sha256])

    def as_shown(self, alt: str = "") -> dict[str, str]:
        """Return what a step of kind "page" needs to show the file; `alt` is for those who cannot see it."""
        return {"sha256": self.sha256, "mime_type": self.mime_type, "alt": alt}
