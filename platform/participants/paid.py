"""What the last page says about the payment itself: whoever pays says how far it is, and nothing else is promised."""

from __future__ import annotations

from collections.abc import Callable

from participants.models import Enrolment

Teller = Callable[[Enrolment], list[str]]
_tellers: list[Teller] = []


def register(teller: Teller) -> Teller:
    """Decorator: tell people, in sentences of theirs, how far their pay is; nothing where nothing is owed."""
    _tellers.append(teller)
    return teller


def told(enrolment: Enrolment) -> list[str]:
    """How far this person's pay is."""
    return [sentence for teller in _tellers for sentence in teller(enrolment)]
