"""Return participants to their panel."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from django.dispatch import receiver
from django.utils.translation import gettext as _

from panels.endings import POST, NotAllowed, Outcome, filled_address, is_address, outcome_of, refuse_foreign_site
from panels.models import KIND, Panel, values_of
from participants.models import Enrolment
from participants.returning import ReturnInstructions
from participants.signals import returning_over_quota
from participants.states import State
from recruiters.models import Identity

log = logging.getLogger(__name__)


def to_panel(enrolment: Enrolment, identity: Identity) -> ReturnInstructions | None:
    """Return the button or code that reports the ending to the panel; None if the researcher specified neither."""
    panel = Panel.objects.filter(study__slug=identity.study).first()
    if panel is None or enrolment.state == State.RETURNED:
        return None
    values = {**values_of(identity), "code": enrolment.completion_code}
    return instructions_for(panel, outcome_of(enrolment.state, paid=enrolment.is_paid), values)


@receiver(returning_over_quota)
def over_quota(enrolment: Enrolment, **_signal: Any) -> ReturnInstructions | None:
    """Return the button or code that reports to the panel that no place was left when this participant consented."""
    identity = Identity.objects.filter(enrolment=enrolment, recruiter=KIND).first()
    panel = Panel.objects.filter(study__slug=identity.study).first() if identity is not None else None
    return instructions_for(panel, Outcome.OVER_QUOTA, values_of(identity)) if identity and panel else None


def instructions_for(panel: Panel, outcome: Outcome, values: Mapping[str, str]) -> ReturnInstructions | None:
    """Return how a participant with this outcome returns; None if nothing is set or it leads to another site."""
    destination = panel.destination_of(outcome)
    if not destination:
        return None
    if not is_address(destination):
        return ReturnInstructions(
            _("Copy this code and enter it on {panel}.").format(panel=panel.title), code=destination
        )
    address = filled_address(destination.removeprefix(POST), {"code": "", **values})
    try:
        refuse_foreign_site(address, panel.sites)
    except NotAllowed:
        log.error("panel of study %s: %s does not lead to one of its sites", panel.study_id, outcome)
        return None
    text = {
        Outcome.COMPLETED: _("Return with this button so that your work is recorded."),
        Outcome.OVER_QUOTA: _("Please return with this button. It tells the panel that no place was left."),
    }.get(outcome, _("Please return with this button. It tells the panel how the study ended for you."))
    label = _("Back to {panel}").format(panel=panel.title)
    if not destination.startswith(POST):
        return ReturnInstructions(text, address, label)
    target, _mark, query = address.partition("?")
    return ReturnInstructions(text, target, label, form_fields=dict(parse_qsl(query)))
