"""The panel for questions on every page of a participant."""

from __future__ import annotations

from typing import Any

from django import template

from helping import services
from participants.models import Enrolment

register = template.Library()


@register.simple_tag
def help_for(enrolment: Enrolment) -> dict[str, Any] | None:
    """Return what the panel shows: whether the participant may ask, messages if they are in touch, if one is unread.

    None if the page needs no panel. The panel's script loads other messages when it is opened.
    """
    if not (enrolment.may_ask or enrolment.in_touch):
        return None
    messages = services.messages_of(enrolment) if enrolment.in_touch else []
    unread = any(message.read_at is None and not message.is_question for message in messages)
    return {"asking": enrolment.may_ask, "messages": messages, "unread": unread}
