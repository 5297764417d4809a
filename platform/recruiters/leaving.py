"""Return participants to the oTree experiment from which they came."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from participants import returning
from participants.models import Enrolment
from participants.returning import ReturnInstructions


@returning.register
def to_experiment(enrolment: Enrolment) -> ReturnInstructions | None:
    """Return the button that leads back to the oTree page."""
    if not enrolment.return_to:
        return None
    return ReturnInstructions(
        _("Please return to the experiment and continue there."), enrolment.return_to, _("Back to the experiment")
    )
