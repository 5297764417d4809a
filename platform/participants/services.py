"""What happens to a participant: each deed one function, under the lock of the enrolment's row."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from participants import steps
from participants.models import Enrolment, ProblemReport, Visit
from participants.signals import enrolment_ended
from participants.states import State

log = logging.getLogger(__name__)


def locked(enrolment_id: int) -> Enrolment:
    """The enrolment under its row lock; call inside a transaction."""
    return Enrolment.objects.select_for_update().get(pk=enrolment_id)


@transaction.atomic
def answer_step(*, enrolment_id: int, position: int, data: Mapping[str, str]) -> Enrolment:
    """Take the answer to the step at `position` and move on.

    A second answer to a step that was already passed changes nothing: whoever pressed twice, or went
    back, is simply shown where they are.

    Raises:
        StepRefused: with a reason per field.
    """
    enrolment = locked(enrolment_id)
    if enrolment.ended or enrolment.step is None or enrolment.position != position:
        return enrolment
    step = steps.of(enrolment, enrolment.step)
    step.answer(data)
    enrolment.last_seen_at = timezone.now()
    if enrolment.ended:
        return enrolment
    Visit.objects.filter(enrolment=enrolment, position=position, answered_at=None).update(answered_at=timezone.now())
    enrolment.position += 1
    if enrolment.step is None:
        end(enrolment, State.COMPLETED)
        return enrolment
    following = steps.of(enrolment, enrolment.step)
    enrolment.state = step.done_state or following.state
    enrolment.save()
    following.enter()
    return enrolment


@transaction.atomic
def show_step(*, enrolment_id: int) -> tuple[Enrolment, steps.Step | None]:
    """The participant's present step, prepared and marked as seen; None when the way has ended."""
    enrolment = locked(enrolment_id)
    if enrolment.ended or enrolment.step is None:
        return enrolment, None
    step = steps.of(enrolment, enrolment.step)
    step.enter()
    if enrolment.ended:
        return enrolment, None
    enrolment.last_seen_at = timezone.now()
    enrolment.state = step.state_now()
    enrolment.save(update_fields=["last_seen_at", "state"])
    Visit.objects.get_or_create(enrolment=enrolment, position=enrolment.position, defaults={"kind": step.kind})
    return enrolment, step


def end(enrolment: Enrolment, state: State) -> None:
    """Bring a participant to a terminal state, once; pay follows in the same transaction."""
    if enrolment.ended:
        return
    enrolment.state = state
    enrolment.ended_at = timezone.now()
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
