"""What happens to a participant: each action one function, under the lock of the enrolment's row."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from participants import steps
from participants.models import Enrolment, ProblemReport, Visit
from participants.signals import consented, enrolment_ended
from participants.states import State

log = logging.getLogger(__name__)


def locked(enrolment_id: int) -> Enrolment:
    """The enrolment under its row lock; call inside a transaction."""
    return Enrolment.objects.select_for_update().get(pk=enrolment_id)


def prepare_steps(enrolment: Enrolment) -> None:
    """Let the steps that may be entered now, the present one and the next, do their slow work before any lock."""
    if enrolment.ended:
        return
    for position, step in _enterable(enrolment):
        step.prepare(position)


def _enterable(enrolment: Enrolment) -> list[tuple[int, steps.Step]]:
    """The steps that one request may enter, with their positions: the present one and the next."""
    here = enrolment.position
    return [(at, steps.of(enrolment, step)) for at, step in enumerate(enrolment.steps[here : here + 2], start=here)]


class Unprepared(Exception):
    """Slow work is due before the row of this `enrolment` is locked; nothing was changed."""

    def __init__(self, enrolment: Enrolment):
        super().__init__(enrolment)
        self.enrolment = enrolment


def _arrived_at(enrolment_id: int | None, token: str, prepared: bool) -> Enrolment:
    """The enrolment that a page is about, under its row lock; its way is over once the study's limit has passed.

    Raises:
        Enrolment.DoesNotExist: nobody was given this token.
        Unprepared
    """
    if enrolment_id is not None:
        return locked(enrolment_id)
    enrolment = Enrolment.objects.select_for_update().get(token=token)
    if not enrolment.ended and enrolment.expires_at < timezone.now():
        end(enrolment, State.DROPPED_OUT)
    if not prepared and not enrolment.ended and any(step.slow for _position, step in _enterable(enrolment)):
        raise Unprepared(enrolment)
    return enrolment


def answer_step(
    *,
    enrolment_id: int | None = None,
    token: str = "",
    prepared: bool = True,
    position: int,
    data: Mapping[str, str],
) -> Enrolment:
    """Take the answer to the step at `position` and move on.

    A second answer to a step that was already passed changes nothing: whoever pressed twice, or went
    back, is simply shown where they are.

    Args:
        enrolment_id, token: whose step it is, by one of them.
        prepared: False: raise Unprepared where the steps have slow work to do first.

    Raises:
        Enrolment.DoesNotExist, Unprepared
        StepRefused: with a reason per field.
    """
    with transaction.atomic():
        enrolment = _arrived_at(enrolment_id, token, prepared)
        if enrolment.ended or enrolment.step is None or enrolment.position != position:
            return enrolment
        try:
            with transaction.atomic():
                _take_answer(enrolment, data)
        except steps.StepRefused as refusal:
            if not refusal.kept:
                raise
            refused = refusal
            way = [{**step, **refused.kept} if at == position else step for at, step in enumerate(enrolment.steps)]
            Enrolment.objects.filter(pk=enrolment.pk).update(steps=way)
        else:
            return enrolment
    raise refused


def _take_answer(enrolment: Enrolment, data: Mapping[str, str]) -> None:
    position, way = enrolment.position, enrolment.steps
    step = steps.of(enrolment, enrolment.step)
    step.answer(data)
    if enrolment.state == State.ARRIVED:
        consented.send(Enrolment, enrolment=enrolment)
    enrolment.last_seen_at = timezone.now()
    if enrolment.ended:
        return
    Visit.objects.filter(enrolment=enrolment, position=position, answered_at=None).update(answered_at=timezone.now())
    enrolment.position += 1
    enrolment.refusal = None
    if enrolment.step is None:
        end(enrolment, State.COMPLETED)
        return
    following = steps.of(enrolment, enrolment.step)
    enrolment.state = step.done_state or following.state
    changed = ["position", "state", "last_seen_at", "refusal", "display_name"]
    enrolment.save(update_fields=changed if enrolment.steps is way else [*changed, "steps"])
    following.enter()


def keep_refusal(*, enrolment_id: int, position: int, posted: Mapping[str, str], errors: Mapping[str, object]) -> None:
    """Keep what was posted and why it was not taken, until the page that says so is shown."""
    refusal = {
        "position": position,
        "posted": {name: value.replace("\x00", "") for name, value in posted.items()},
        "errors": {name: str(reason) for name, reason in errors.items()},
    }
    Enrolment.objects.filter(pk=enrolment_id, ended_at=None).update(refusal=refusal)


def take_refusal(enrolment: Enrolment) -> dict[str, Any] | None:
    """What was posted at the present step and why it was not taken, once."""
    refusal = enrolment.refusal
    if refusal is None:
        return None
    Enrolment.objects.filter(pk=enrolment.pk).update(refusal=None)
    return refusal if refusal["position"] == enrolment.position else None


@transaction.atomic
def show_step(
    *, enrolment_id: int | None = None, token: str = "", prepared: bool = True
) -> tuple[Enrolment, steps.Step | None]:
    """The participant's present step, prepared and marked as seen; None when the way has ended.

    Args:
        enrolment_id, token: whose it is, by one of them.
        prepared: as for `answer_step`.

    Raises:
        Enrolment.DoesNotExist, Unprepared
    """
    enrolment = _arrived_at(enrolment_id, token, prepared)
    if enrolment.ended or enrolment.step is None:
        return enrolment, None
    step = steps.of(enrolment, enrolment.step)
    step.enter()
    if enrolment.ended:
        return enrolment, None
    enrolment.last_seen_at = timezone.now()
    enrolment.state = step.state_now()
    enrolment.save(update_fields=["last_seen_at", "state"])
    visit = Visit(enrolment=enrolment, position=enrolment.position, kind=step.kind)
    Visit.objects.bulk_create([visit], ignore_conflicts=True)  # the first look counts
    return enrolment, step


def end(enrolment: Enrolment, state: State) -> None:
    """Bring a participant to a terminal state, once; pay follows in the same transaction."""
    if enrolment.ended:
        return
    enrolment.state = state
    enrolment.ended_at = timezone.now()
    enrolment.refusal = None
    enrolment.save()
    enrolment_ended.send(Enrolment, enrolment=enrolment)


@transaction.atomic
def withdraw(*, enrolment_id: int) -> None:
    """The participant chose to stop."""
    end(locked(enrolment_id), State.WITHDREW)


@transaction.atomic
def returned(*, enrolment_id: int) -> bool:
    """The recruiter says that the assignment was given back; whether that ended the way, or it had ended before."""
    enrolment = locked(enrolment_id)
    if enrolment.ended:
        return False
    end(enrolment, State.RETURNED)
    return True


def touch(enrolment_id: int) -> None:
    """Remember that the participant's page was heard from."""
    Enrolment.objects.filter(pk=enrolment_id, ended_at=None).update(last_seen_at=timezone.now())


def report_problem(*, enrolment_id: int, text: str) -> None:
    """Keep what somebody wrote under "Report a problem"; databases cannot keep its null characters."""
    ProblemReport.objects.create(enrolment_id=enrolment_id, text=text.replace("\x00", "")[:2000])


def drop_absent(now=None) -> int:
    """End the way of everybody whose study's limit has passed; returns how many. One's trouble stops no others."""
    now = now or timezone.now()
    ended = 0
    for enrolment_id in Enrolment.objects.filter(ended_at=None, expires_at__lt=now).values_list("pk", flat=True):
        try:
            with transaction.atomic():
                enrolment = locked(enrolment_id)
                if not enrolment.ended:
                    end(enrolment, State.DROPPED_OUT)
                    ended += 1
        except Exception as error:  # noqa: BLE001  (whatever it is, the others' places must become free)
            log.error("ending the way of participant %s failed: %s", enrolment_id, type(error).__name__)
    return ended


def lifetime(minutes: int):
    """When a way that begins now is over."""
    return timezone.now() + timedelta(minutes=minutes)
