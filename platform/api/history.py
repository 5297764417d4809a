"""Deeds done by tokens, written into the study's history beside those of people."""

from __future__ import annotations

from django.contrib.admin.models import CHANGE, LogEntry

from api.models import Token


def note(token: Token, deed: str) -> None:
    """Remember what a program did to the study, in the name of whoever made its token.

    Args:
        deed: in the past tense, as the history's other lines.
    """
    LogEntry.objects.log_actions(
        user_id=token.created_by_id,
        queryset=[token.study],
        action_flag=CHANGE,
        change_message=f"{deed} By the API token “{token.name}” ({token.key}).",
        single_object=True,
    )
