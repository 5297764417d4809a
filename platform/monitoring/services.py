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


@transaction.atomic
def pause(study: Study) -> None:
    """Close the study to new participants for now; those who have started continue.

    Raises:
        NotDone: the study is not launched.
    """
    _switch(study, pausing.pause, refusal=_("Only a launched study can be paused."))


@transaction.atomic
def resume(study: Study) -> None:
    """Reopen the study with the version launched last; unlaunched changes stay a draft.

    Raises:
        NotDone: the study is not paused.
    """
    _switch(study, pausing.resume, refusal=_("Only a paused study can be resumed."))


def _switch(study: Study, switch: Callable[[Study], bool], *, refusal: str) -> None:
    try:
        changed = switch(study)
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
