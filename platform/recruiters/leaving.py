"""Return participants to the recruiter from which they came: each kind registers how; oTree's link says where."""

from __future__ import annotations

from collections.abc import Callable

from django.utils.translation import gettext_lazy as _

from participants import returning
from participants.models import Enrolment
from participants.returning import ReturnInstructions
from recruiters.models import Identity

Provider = Callable[[Enrolment, Identity], ReturnInstructions | None]
PROVIDERS: dict[str, Provider] = {}
"""By `Identity.recruiter`."""


def register(kind: str) -> Callable[[Provider], Provider]:
    """Decorator: register how participants of this kind of recruiter return; None if the ending's text is enough."""

    def decorate(provider: Provider) -> Provider:
        PROVIDERS[kind] = provider
        return provider

    return decorate


@returning.register
def to_recruiter(enrolment: Enrolment) -> ReturnInstructions | None:
    """Return what the kind of recruiter says; for oTree, the button that leads back to its page."""
    if enrolment.return_to:
        text = _("Please return to the experiment and continue there.")
        return ReturnInstructions(text, enrolment.return_to, _("Back to the experiment"))
    identity = Identity.objects.filter(enrolment=enrolment).first()
    if identity is None or identity.recruiter not in PROVIDERS:
        return None
    return PROVIDERS[identity.recruiter](enrolment, identity)
