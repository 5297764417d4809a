"""Record the actions of programs in the study's history and the audit log."""

from __future__ import annotations

from typing import Any

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.db.models import Model

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
    program = f"{token.name} ({token.key})"
    by = f"the API token “{token.name}” ({token.key})"
    record_for(token.created_by, token.study, by, action, message, program=program, **details)


def record_for(user: User, target: Model, by: str, action: Action, message: str, **details: Any) -> None:
    """Record what a program, named by `by`, did to a study or collection on behalf of a user; as `record_action`."""
    LogEntry.objects.log_actions(
        user_id=user.pk,
        queryset=[target],
        action_flag=CHANGE,
        change_message=f"{message} By {by}.",
        single_object=True,
    )
    audit.record(action=action, user=user, target=target, details=details)
