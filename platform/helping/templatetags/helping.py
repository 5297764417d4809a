"""The panel for questions on every page of a participant."""

from __future__ import annotations

from typing import Any

from django import template

from helping import services
from participants.models import Enrolment

register = template.Library()


@register.simple_tag
def help_for(enrolment: Enrolment) -> dict[str, Any] | None:
    """Return whether the participant may ask, and their messages if one of them is unread; None outside studies."""
    offered = services.offered_to(enrolment)
    if offered is None:
        return None
    return {
        "asking": offered.help.asking,
        "messages": services.messages_of(enrolment) if offered.has_unread else [],
    }
