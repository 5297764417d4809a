"""Record what tokens did in the study's history and the audit log."""

from __future__ import annotations

from typing import Any

from django.contrib.admin.models import CHANGE, LogEntry

from api.models import Token
from audit import services as audit
from audit.actions import Action


def note(token: Token, action: Action, says: str, **details: Any) -> None:
    """Record what a program did to the study, on behalf of the user who created its token.

    Call this in the transaction of the action.

    Args:
        says: for the history, in the past tense.
        details: for the audit log.
    """
    LogEntry.objects.log_actions(
        user_id=token.created_by_id,
        queryset=[token.study],
        action_flag=CHANGE,
        change_message=f"{says} By the API token “{token.name}” ({token.key}).",
        single_object=True,
    )
    program = f"{token.name} ({token.key})"
    audit.record(action=action, who=token.created_by, target=token.study, details={"program": program, **details})
