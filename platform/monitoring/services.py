"""What a researcher does from the monitor: pause, go on, end a match that is stuck."""

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

MOST_CHARACTERS = 500


class NotDone(Exception):
    """Why nothing was changed, for the researcher."""


@transaction.atomic
def pause(study: Study) -> None:
    """Let nobody new in for now; whoever is in goes on.

    Raises:
        NotDone: it does not let people in.
    """
    _turn(study, pausing.pause, otherwise=_("Only a launched study can be paused."))


@transaction.atomic
def resume(study: Study) -> None:
    """Let people in again, to the version that was launched last; saved changes stay where they are.

    Raises:
        NotDone: it is not paused.
    """
    _turn(study, pausing.resume, otherwise=_("Only a paused study can go on."))


def _turn(study: Study, turn: Callable[[Study], bool], *, otherwise: str) -> None:
    try:
        changed = turn(study)
    except pausing.NotRunning:
        changed = False
    if not changed:
        raise NotDone(otherwise)


@transaction.atomic
def end_match(*, match: Match, who: Any, reason: str) -> HandEnding:
    """End a live match that is stuck: whoever sits in it has the paid end of a failed opponent.

    Args:
        reason: why, in the researcher's words; kept for good.

    Raises:
        NotDone: no reason, or the match is over; nothing is changed.
    """
    reason = " ".join(reason.replace("\x00", "").split())
    if not reason:
        raise NotDone(_("Please say why the match is ended: the reason is kept."))
    if len(reason) > MOST_CHARACTERS:
        raise NotDone(_("Please say it in at most {most} characters.").format(most=MOST_CHARACTERS))
    status = Match.objects.select_for_update().values_list("status", flat=True).get(pk=match.pk)
    if status != Match.Status.LIVE:
        raise NotDone(_("This match is over already; nothing was changed."))
    matches.abandon_match(match_id=match.pk, reason=State.OPPONENT_FAILED)
    for enrolment in Enrolment.objects.filter(seats__match=match, state=State.OPPONENT_FAILED):
        enrolment.earnings = {**(enrolment.earnings or {}), "by_hand": True}
        enrolment.save(update_fields=["earnings"])
    return HandEnding.objects.create(match=match, who=who, reason=reason)
