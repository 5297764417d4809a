"""The roles in a study or collection."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _


class Role(models.TextChoices):
    """In ascending order; each role includes those before it."""

    VIEWER = "viewer", _("viewer")
    EDITOR = "editor", _("editor")
    OWNER = "owner", _("owner")

    @property
    def and_higher(self) -> list[Role]:
        """Return this role and all higher ones."""
        roles = list(Role)
        return roles[roles.index(self) :]

    @property
    def may(self) -> str:
        """Return a description of what the role allows."""
        return str(_MAY[self])


_MAY = {
    Role.VIEWER: _("sees everything except lab codes"),
    Role.EDITOR: _("also sets up, pilots, launches, pauses and exports"),
    Role.OWNER: _("also closes, pays, deletes, and manages members and API tokens"),
}
