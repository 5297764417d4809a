"""The parts that somebody can have in a study or collection."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _


class Role(models.TextChoices):
    """From the least to the most; each may do what those before it may."""

    VIEWER = "viewer", _("viewer")
    EDITOR = "editor", _("editor")
    OWNER = "owner", _("owner")

    @property
    def or_more(self) -> list[Role]:
        """This role and those that may do more."""
        roles = list(Role)
        return roles[roles.index(self) :]

    @property
    def may(self) -> str:
        """What it allows, in words."""
        return str(_MAY[self])


_MAY = {
    Role.VIEWER: _("sees everything about it but lab codes"),
    Role.EDITOR: _("sets it up, pilots, launches, pauses and exports"),
    Role.OWNER: _("does all this, and closes, pays, deletes and says which people and programs take part"),
}
