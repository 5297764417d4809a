"""Template tags of the tour: the bar on the admin's pages and the card on the first one.

Every process imports the template tags, also commands that show no page: the tour is imported by its first page.
"""

from __future__ import annotations

from typing import Any

from django import template
from django.utils.functional import Promise
from django.utils.safestring import SafeString

register = template.Library()


@register.filter
def rendered(text: str | Promise) -> SafeString:
    """Show a stop's text as HTML."""
    from showcase import tour

    return tour.rendered(text)


@register.inclusion_tag("showcase/tour_bar.html", takes_context=True)
def tour_bar(context: dict[str, Any]) -> dict[str, Any]:
    """Show the bar to users on the tour."""
    from showcase import touring

    return {**touring.bar(context["request"]), "csrf_token": context.get("csrf_token")} if "request" in context else {}


@register.inclusion_tag("showcase/tour_card.html", takes_context=True)
def tour_card(context: dict[str, Any]) -> dict[str, Any]:
    """Invite users to the tour if there is something to show."""
    from showcase import touring

    return touring.invitation(context["request"])
