"""The status of the payment on the last page. Each payment method reports it; the page promises nothing else."""

from __future__ import annotations

from collections.abc import Callable

from participants.models import Enrolment

Teller = Callable[[Enrolment], list[str]]
_tellers: list[Teller] = []


def register(teller: Teller) -> Teller:
    """Decorator: add a function that returns sentences on the payment's status; none if nothing is owed."""
    _tellers.append(teller)
    return teller


def told(enrolment: Enrolment) -> list[str]:
    """Return the sentences on the status of this participant's payment."""
    return [sentence for teller in _tellers for sentence in teller(enrolment)]
