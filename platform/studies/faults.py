"""Studies whose models fail: entry waits while a model is known to be unavailable, and failures have a cost limit."""

from __future__ import annotations

import logging
from decimal import Decimal

from django.db import transaction
from django.db.models import Sum
from django.utils.translation import gettext_lazy as _

from audit import services as audit
from audit.actions import Action
from matches.models import Event
from opponents.circuits import open_circuits
from opponents.endpoints import refresh_if_old
from opponents.listing import unusable_agent
from participants.models import Enrolment
from participants.states import State
from payouts.models import LedgerRow
from recruiters.errors import EntryRefused
from studies import pausing
from studies.models import Study, Version

log = logging.getLogger(__name__)


class ModelsUnavailable(EntryRefused):
    """Raised when the study's models are unavailable; the page retries automatically."""

    status = 503
    try_again = True
    title = _("One moment, please")
    seconds = 10

    def __init__(self) -> None:
        super().__init__(_("The program that plays with you is not ready yet. This page will continue automatically."))


def unavailable_endpoints(version: Version) -> list[str]:
    """Return the endpoints used by this version that are known to be unavailable."""
    used_endpoints = {agent.spec.partition(":")[0] for agent in version.agents().values() if agent.is_model}
    return sorted(used_endpoints & open_circuits().keys()) if used_endpoints else []


def refuse_while_unavailable(version: Version) -> None:
    """Raise ModelsUnavailable while agents of the version are known to be unavailable."""
    if unavailable_endpoints(version):
        raise ModelsUnavailable


def why_closed(version: Version) -> str:
    """Return why no participant may enter until somebody acts; empty if every agent has a model that can be asked."""
    refresh_if_old()
    return unusable_agent(version.agents())


def pause_after_failure(study: Study, enrolment: Enrolment) -> None:
    """Pause the study, if it is set to pause, because this participant's match ended when an agent failed to answer."""
    version = study.latest_version()
    if version is None or not version.plan.pay.pause_on_failure or study.status != Study.Status.LAUNCHED:
        return
    failures = Event.objects.filter(match__seats__enrolment=enrolment, kind="abandoned", data__role__isnull=False)
    with transaction.atomic():
        if not failures.exists() or not pausing.pause(study):
            return
        audit.record(action=Action.PAUSED, user=None, target=study, of=study, details={"why": "an opponent failed"})
    log.error("study %s was paused automatically: an opponent failed", study.slug)


def cost_of_failures(study: Study) -> Decimal:
    """Return the amounts owed and paid to participants whose opponent failed.

    Our own outages are not counted: pausing a study because of its models would not prevent them.
    """
    rows = LedgerRow.objects.filter(study=study.slug, enrolment__state=State.OPPONENT_FAILED)
    return rows.exclude(state=LedgerRow.State.WRITTEN_OFF).aggregate(all=Sum("amount"))["all"] or Decimal(0)


def exceeded_cap(study: Study) -> Decimal | None:
    """Return the study's spending limit for failed matches if they have cost more; otherwise None."""
    version = study.latest_version()
    cap = version.plan.pay.failure_cap if version else None
    return cap if cap is not None and cost_of_failures(study) > cap else None


def pause_over_cap(study: Study) -> None:
    """Pause a study whose failed matches have cost too much, and record why in the audit log."""
    cap = exceeded_cap(study) if study.status == Study.Status.LAUNCHED else None
    if cap is not None and pausing.pause(study):
        details = {"failed matches cost": str(cost_of_failures(study)), "most": str(cap)}
        audit.record(action=Action.PAUSED, user=None, target=study, of=study, details=details)
        log.error("study %s was paused automatically: matches whose opponent failed have cost too much", study.slug)
