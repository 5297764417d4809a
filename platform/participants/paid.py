"""The status of the payment on the last page. Each payment method reports it; the page promises nothing else."""

from __future__ import annotations

from collections.abc import Callable

from participants.models import Enrolment

Provider = Callable[[Enrolment], list[str]]
_providers: list[Provider] = []


def register(provider: Provider) -> Provider:
    """Decorator: register a function that returns sentences on the payment's status; none if nothing is owed."""
    _providers.append(provider)
    return provider


def payment_status(enrolment: Enrolment) -> list[str]:
    """Return the sentences on the status of this participant's payment."""
    return [sentence for provider in _providers for sentence in provider(enrolment)]
