"""The template tag that shows a study's pilots on its admin page."""

from __future__ import annotations

from typing import Any

from django import template

from games import registry
from piloting.models import MAX_PEOPLE
from studies.models import Study

register = template.Library()
MAX_SHOWN = 5


@register.inclusion_tag("admin/piloting/of_study.html", takes_context=True)
def pilots_of(context: dict[str, Any], study: Study, may_change: bool) -> dict[str, Any]:
    """Return the context of the card that starts a pilot and lists the latest ones."""
    kinds = [registry.get(key) for key in study.games if key in registry.known()]
    scripts = [kind.default_script for kind in kinds[:1]] + [name for kind in kinds for name in sorted(kind.scripts)]
    return {
        "study": study,
        "may_change": may_change,
        "pilots": study.pilots.all()[:MAX_SHOWN],
        "scripts": list(dict.fromkeys(scripts)),
        "most": MAX_PEOPLE,
        "request": context.get("request"),
        "csrf_token": context.get("csrf_token"),
    }
