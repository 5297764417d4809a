"""The panel for questions on every page of a participant."""

from __future__ import annotations

from typing import Any

from django import template

from helping import services
from participants.models import Enrolment

register = template.Library()


@register.simple_tag
def help_for(enrolment: Enrolment) -> dict[str, Any] | None:
    """Return what the panel shows: whether participants may ask, their messages, and if one of them is unread.

    None if the page needs no panel.
    """
    offered = services.help_of(enrolment)
    if offered is None:
        return None
    messages = services.messages_of(enrolment)
    unread = any(message.read_at is None and not message.is_question for message in messages)
    return {"asking": offered.asking, "messages": messages, "unread": unread}
