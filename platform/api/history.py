"""Record the actions of programs with tokens in the study's history and the audit log."""

from __future__ import annotations

from typing import Any

from django.contrib.admin.models import CHANGE, LogEntry

from api.models import Token
from audit import services as audit
from audit.actions import Action


def record_action(token: Token, action: Action, message: str, **details: Any) -> None:
    """Record an action that a program took on behalf of the user who created its token.

    Call this in the transaction of the action.

    Args:
        message: text for the history, in the past tense.
        details: values for the audit log.
    """
    LogEntry.objects.log_actions(
        user_id=token.created_by_id,
        queryset=[token.study],
        action_flag=CHANGE,
        change_message=f"{message} By the API token “{token.name}” ({token.key}).",
        single_object=True,
    )
    program = f"{token.name} ({token.key})"
    audit.record(action=action, user=token.created_by, target=token.study, details={"program": program, **details})
