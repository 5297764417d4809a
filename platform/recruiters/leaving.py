"""Return participants to the recruiter from which they came: each kind says how; oTree's link says where."""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver
from django.utils.translation import gettext_lazy as _

from participants.models import Enrolment
from participants.returning import ReturnInstructions
from participants.signals import returning
from recruiters.arrivals import KINDS
from recruiters.models import Identity


@receiver(returning)
def to_recruiter(enrolment: Enrolment, **_signal: Any) -> ReturnInstructions | None:
    """Return what the kind of recruiter says; for oTree, the button that leads back to its page."""
    if enrolment.return_to:
        text = _("Please return to the experiment and continue there.")
        return ReturnInstructions(text, enrolment.return_to, _("Back to the experiment"))
    identity = Identity.objects.filter(enrolment=enrolment).first()
    leave = KINDS[identity.recruiter].leave if identity is not None and identity.recruiter in KINDS else None
    return leave(enrolment, identity) if leave is not None and identity is not None else None
