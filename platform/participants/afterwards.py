"""Explanations on the last page: each check says what the correct answer was and what a wrong one cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from participants.models import Enrolment

Teller = Callable[[Enrolment], list[dict[str, Any]]]
_tellers: list[Teller] = []


def register(teller: Teller) -> Teller:
    """Decorator: add a function that explains failed checks as rows {title, lines: [(label, text)]}."""
    _tellers.append(teller)
    return teller


def told(enrolment: Enrolment) -> list[dict[str, Any]]:
    """Return all explanations for this participant."""
    return [said for teller in _tellers for said in teller(enrolment)]
