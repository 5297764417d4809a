"""Template tags of the tour: the bar on the admin's pages and the card on the first one."""

from __future__ import annotations

from typing import Any

from django import template

from showcase import touring
from showcase.tour import rendered

register = template.Library()
register.filter("rendered", rendered)


@register.inclusion_tag("showcase/tour_bar.html", takes_context=True)
def tour_bar(context: dict[str, Any]) -> dict[str, Any]:
    """Show the bar to users on the tour."""
    return {**touring.bar(context["request"]), "csrf_token": context.get("csrf_token")} if "request" in context else {}


@register.inclusion_tag("showcase/tour_card.html", takes_context=True)
def tour_card(context: dict[str, Any]) -> dict[str, Any]:
    """Invite users to the tour if there is something to show."""
    return touring.invitation(context["request"])
