"""The monitor's actions: pause, resume, end a stuck match."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from matches import services as matches
from matches.models import Match
from monitoring.models import HandEnding
from participants.models import Enrolment
from participants.states import State
from studies import pausing
from studies.models import Study

MAX_CHARACTERS = 500


class NotDone(Exception):
    """Nothing was changed; the message tells the researcher why."""


def switch(study: Study, change: Callable[[Study], bool], *, refusal: str) -> None:
    """Pause or resume a study (`studies.pausing`); unlaunched changes stay a draft.

    Raises:
        NotDone: with the refusal; nothing was changed.
    """
    try:
        changed = change(study)
    except pausing.NotRunning:
        changed = False
    if not changed:
        raise NotDone(refusal)


@transaction.atomic
def end_match(*, match: Match, user: Any, reason: str) -> HandEnding:
    """End a stuck live match; its participants get the ending and pay of a failed opponent.

    Args:
        reason: the researcher's reason, stored permanently.

    Raises:
        NotDone: the reason is missing or the match is over; nothing is changed.
    """
    reason = " ".join(reason.replace("\x00", "").split())
    if not reason:
        raise NotDone(_("Please enter why you are ending the match. The reason is recorded."))
    if len(reason) > MAX_CHARACTERS:
        raise NotDone(_("Please use at most {most} characters.").format(most=MAX_CHARACTERS))
    status = Match.objects.select_for_update().values_list("status", flat=True).get(pk=match.pk)
    if status != Match.Status.LIVE:
        raise NotDone(_("This match is already over. Nothing was changed."))
    matches.abandon_match(match_id=match.pk, reason=State.OPPONENT_FAILED)
    for enrolment in Enrolment.objects.filter(seats__match=match, state=State.OPPONENT_FAILED):
        enrolment.earnings = {**(enrolment.earnings or {}), "by_hand": True}
        enrolment.save(update_fields=["earnings"])
    return HandEnding.objects.create(match=match, who=user, reason=reason)
