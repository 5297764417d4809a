"""The panel for questions on every page of a participant."""

from __future__ import annotations

from typing import Any

from django import template

from helping import services
from participants.models import Enrolment

register = template.Library()


@register.simple_tag
def help_for(enrolment: Enrolment) -> dict[str, Any] | None:
    """Return whether the participant may ask, and their messages if one of them is unread; None if neither."""
    if not (enrolment.may_ask or enrolment.has_unread):
        return None
    messages = services.messages_of(enrolment) if enrolment.has_unread else []
    return {"asking": enrolment.may_ask, "messages": messages}
