"""What researchers have to do at a panel themselves when a study is opened, paused or closed."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from panels.models import KIND, Panel
from studies.models import Study
from studies.recruiting import NotFollowed


class AtPanel:
    """`studies.recruiting.Recruiter` of a study with a panel, which Parley cannot reach."""

    by_hand = True

    def __init__(self, study: Study, panel: Panel):
        self._study, self.title = study, panel.title

    def state(self) -> str:
        return _("sends participants to this study's link; Parley can't see its state there")

    def due(self, status: str) -> str:
        if status not in (Study.Status.PAUSED, Study.Status.CLOSED):
            return ""
        template = _("Switch off the link {link} on {panel} yourself: Parley can't do that.")
        link = f"{settings.SITE_URL.rstrip('/')}{self._study.get_absolute_url()}"
        return template.format(link=link, panel=self.title)

    def follow(self, status: str, user: Any) -> str:
        raise NotFollowed(self.due(status))

    def places(self) -> int | None:
        return None

    def add_places(self, number: int, user: Any) -> str:
        raise NotFollowed(_("Add the places on {panel} yourself.").format(panel=self.title))


def find(study: Study) -> AtPanel | None:
    """Return the panel that the study's participants come from; None if there is none."""
    panel = Panel.objects.filter(study=study).first() if study.entry == KIND else None
    return None if panel is None else AtPanel(study, panel)
