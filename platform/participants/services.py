"""Every change to an enrolment, one function each, under its row lock."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.utils import timezone
from django.utils.translation import override

from participants import steps
from participants.models import Enrolment, ProblemReport
from participants.signals import consented, enrolment_ended
from participants.states import State
from participants.values import values_at, values_of
from plans.conditions import Condition

_COLUMNS = ", ".join(str(field.column) for field in Enrolment._meta.concrete_fields)
_EARLIEST = {
    "postgresql": "jsonb_build_object(position::text, jsonb_build_array(%s::text)) || page_times",
    "sqlite": "json_patch(json_object(CAST(position AS TEXT), json_array(%s)), page_times)",
}
_MARK_SHOWN = {
    vendor: f"""
UPDATE participants_enrolment SET last_seen_at = %s, page_times = {earliest}, state_shown = '',
state = CASE WHEN state_shown = '' THEN state ELSE state_shown END
WHERE {{column}} = %s AND ended_at IS NULL RETURNING {{columns}}
"""
    for vendor, earliest in _EARLIEST.items()
}

log = logging.getLogger(__name__)


def locked(enrolment_id: int | None, token: str = "") -> Enrolment:
    """Return the enrolment with this key, or else with this token, under its row lock; call inside a transaction.

    Raises:
        Enrolment.DoesNotExist: there is none.
    """
    enrolments = Enrolment.objects.select_for_update()
    return enrolments.get(token=token) if enrolment_id is None else enrolments.get(pk=enrolment_id)


def prepare_step(enrolment: Enrolment) -> None:
    """Let the current step do its slow work before any row is locked; end an expired enrolment."""
    if enrolment.ended or enrolment.step is None:
        return
    if enrolment.expired:
        _end_if_expired(enrolment.pk)
        return
    steps.step_object(enrolment, enrolment.step).prepare(enrolment.position)


def judged(enrolment: Enrolment) -> list[dict[str, Any]]:
    """Return the steps with the conditions judged of those that the current step leads to, up to the first one shown.

    A condition can be judged once the step before it is done: what it refers to no longer changes.
    """
    judged_steps, values = list(enrolment.steps), None
    for position, step in enumerate(enrolment.steps[enrolment.position + 1 :], start=enrolment.position + 1):
        if "show_if" in step and "shown" not in step:
            values = values_of(enrolment) if values is None else values
            step = {**step, "shown": Condition.parse(step["show_if"]).holds(values_at(step, values))}
            judged_steps[position] = step
        if step.get("shown", True):
            break
    return judged_steps


def remaining(enrolment: Enrolment) -> list[tuple[int, dict[str, Any]]]:
    """Return the steps after the current one with their positions, without those whose condition is false.

    Conditions that cannot be judged yet count as true.
    """
    after = enrolment.position + 1
    return [(n, step) for n, step in enumerate(judged(enrolment)[after:], start=after) if step.get("shown", True)]


def _judge(enrolment: Enrolment) -> int:
    """Write into the steps which of the next ones are shown, and return the next position; the caller saves them.

    A step that stands for others is replaced by them.
    """
    while True:
        judged_steps = judged(enrolment)
        if judged_steps != enrolment.steps:
            enrolment.steps = judged_steps
        following = next((position for position, _step in remaining(enrolment)), len(enrolment.steps))
        if following == len(enrolment.steps):
            return following
        others = steps.step_object(enrolment, enrolment.steps[following]).unfolded()
        if others is None:
            return following
        enrolment.steps = [*enrolment.steps[:following], *others, *enrolment.steps[following + 1 :]]


class Unprepared(Exception):
    """Raised when something must be done before this `enrolment` is locked; nothing was changed."""

    def __init__(self, enrolment: Enrolment):
        super().__init__(enrolment)
        self.enrolment = enrolment


def answer_step(
    *,
    enrolment_id: int | None = None,
    token: str = "",
    prepared: bool = True,
    position: int,
    data: Mapping[str, str],
) -> Enrolment:
    """Take the answer to the step at `position` and move on.

    A second answer to a step already passed changes nothing: participants who clicked twice or went
    back are shown their current step.

    Args:
        enrolment_id, token: identify the enrolment; give one of them.
        prepared: if False, raise Unprepared when the time limit has passed.

    Raises:
        Enrolment.DoesNotExist, Unprepared
        StepRefused: with a reason per field.
    """
    try:
        with transaction.atomic():
            enrolment = locked(enrolment_id, token)
            if not prepared and not enrolment.ended and enrolment.expired:
                raise Unprepared(enrolment)
            if enrolment.step is not None and enrolment.position == position:
                if not enrolment.ended:
                    _take_answer(enrolment, data)
                elif result_step(enrolment) is not None:  # on to the last page
                    enrolment.position = len(enrolment.steps)
                    enrolment.save(update_fields=["position"])
            return enrolment
    except steps.StepRefused as refusal:
        if refusal.stored:
            _store_refused(enrolment, refusal.stored)
        raise


@transaction.atomic
def _store_refused(seen: Enrolment, stored: Mapping[str, Any]) -> None:
    """Add to the current step what its refused answer leaves, unless it has changed since the answer was judged."""
    enrolment = locked(seen.pk)
    if not enrolment.ended and enrolment.position == seen.position and enrolment.step == seen.step:
        enrolment.steps[seen.position] = {**enrolment.steps[seen.position], **stored}
        enrolment.save(update_fields=["steps"])


def _take_answer(enrolment: Enrolment, data: Mapping[str, str]) -> None:
    position, original_steps = enrolment.position, enrolment.steps
    assert enrolment.step is not None
    step = steps.step_object(enrolment, enrolment.step)
    step.answer(data)
    if enrolment.state == State.ARRIVED:
        consented.send(Enrolment, enrolment=enrolment)
    enrolment.last_seen_at = timezone.now()
    if enrolment.ended or not step.ends_with_answer:
        return
    enrolment.mark_answered(position)
    enrolment.position = _judge(enrolment)
    enrolment.refusal = None
    if enrolment.step is None:
        end(enrolment, State.COMPLETED)
        return
    enrolment.state_shown = steps.step_object(enrolment, enrolment.step).state
    enrolment.state = step.done_state or enrolment.state_shown
    changed = ["position", "state", "state_shown", "page_times", "last_seen_at", "refusal", "display_name"]
    enrolment.save(update_fields=changed if enrolment.steps is original_steps else [*changed, "steps", "may_ask"])


def result_step(enrolment: Enrolment) -> steps.Step | None:
    """Return the step whose result is still shown to a participant who has completed; None if there is none."""
    if enrolment.state != State.COMPLETED or enrolment.step is None:
        return None
    step = steps.step_object(enrolment, enrolment.step)
    return step if step.shows_result and not remaining(enrolment) and is_finished(enrolment) else None


def keep_refusal(*, enrolment_id: int, position: int, posted: Mapping[str, str], errors: Mapping[str, object]) -> None:
    """Store a refused answer and the reasons until the page with the error is shown."""
    refusal = {
        "position": position,
        "posted": {name: value.replace("\x00", "") for name, value in posted.items()},
        "errors": {name: str(reason) for name, reason in errors.items()},
    }
    Enrolment.objects.filter(pk=enrolment_id, ended_at=None).update(refusal=refusal)


def take_refusal(enrolment: Enrolment) -> dict[str, Any] | None:
    """Return the refused answer to the current step and delete it; None if there is none."""
    refusal = enrolment.refusal
    if refusal is None:
        return None
    Enrolment.objects.filter(pk=enrolment.pk).update(refusal=None)
    return refusal if refusal["position"] == enrolment.position else None


@transaction.atomic
def show_step(
    *, enrolment_id: int | None = None, token: str = "", prepared: bool = True
) -> tuple[Enrolment, steps.Step | None]:
    """Return the participant's current step, prepared and marked as seen.

    If the enrolment has ended, return the step whose result is still to be shown; None if there is none.

    Args:
        enrolment_id, token: identify the enrolment; give one of them.
        prepared: as for `answer_step`; also when the step has slow work to do first.

    Raises:
        Enrolment.DoesNotExist, Unprepared
    """
    now = timezone.now()
    enrolment = _marked_as_shown(enrolment_id, token, now)
    if enrolment is None:
        enrolment = locked(enrolment_id, token)
        return enrolment, result_step(enrolment)
    assert enrolment.step is not None
    step = steps.step_object(enrolment, enrolment.step)
    if not prepared and (enrolment.expired or step.slow):
        raise Unprepared(enrolment)
    step.enter(first=enrolment.page_times[str(enrolment.position)] == [now.isoformat()])
    if enrolment.ended:
        return enrolment, None
    if (state := step.state_now()) != enrolment.state:
        enrolment.state = state
        enrolment.save(update_fields=["state"])
    return enrolment, step


def _marked_as_shown(enrolment_id: int | None, token: str, now: datetime) -> Enrolment | None:
    """Lock, mark and return an enrolment that has not ended, in one statement: its step's page is shown now."""
    column, value = ("id", enrolment_id) if enrolment_id is not None else ("token", token)
    marked = Enrolment.objects.raw(
        _MARK_SHOWN[connection.vendor].format(columns=_COLUMNS, column=column),
        [connection.ops.adapt_datetimefield_value(now), now.isoformat(), value],
    )
    return next(iter(marked), None)


def end(enrolment: Enrolment, state: State) -> None:
    """End the enrolment, once; pay is computed in the same transaction."""
    if enrolment.ended:
        return
    enrolment.state = state
    enrolment.ended_at = timezone.now()
    enrolment.refusal = None
    enrolment.save()
    with override(enrolment.language):
        enrolment_ended.send(Enrolment, enrolment=enrolment)


def is_finished(enrolment: Enrolment, *, present: bool = True) -> bool:
    """Return whether every step that is required for being finished is done, from the current one on.

    Args:
        present: whether the participant is there now; what was done for them while they were away does not count.
    """
    current = _current_step(enrolment)
    is_done = current is None or current.is_done(present=present)
    return is_done and not any(steps.step_object(enrolment, step).required for _position, step in remaining(enrolment))


def unanswered(enrolment: Enrolment) -> list[str]:
    """Return the kinds of the steps after the game that are still open, or that a finished participant left open."""
    rest = [*([] if enrolment.step is None else [enrolment.step]), *(step for _position, step in remaining(enrolment))]
    return [step["kind"] for step in rest if not steps.step_object(enrolment, step).required]


def complete_if_last(enrolment: Enrolment) -> None:
    """Complete an enrolment whose current step has just been finished by its last move, if no other step follows.

    Call it under the enrolment's lock.
    """
    if not enrolment.ended and not remaining(enrolment) and is_finished(enrolment, present=False):
        _judge(enrolment)
        enrolment.mark_answered(enrolment.position)
        end(enrolment, State.COMPLETED)


def end_early(enrolment: Enrolment, state: State) -> None:
    """End the enrolment in `state`, or as completed if only steps that are not required are left.

    Call it under the enrolment's lock, taken with `held`; if it has ended, nothing changes.
    """
    if not enrolment.ended:
        _end_unfinished(enrolment, state)
        _leave(enrolment)


def _end_unfinished(enrolment: Enrolment, state: State) -> None:
    present = state == State.WITHDREW
    end(enrolment, State.COMPLETED if is_finished(enrolment, present=present) else state)


def _leave(enrolment: Enrolment) -> None:
    """Take an ended enrolment out of its step, in the transaction that ended it: no move can come in between."""
    if (step := _current_step(enrolment)) is not None:
        step.leave()


def held(enrolment_id: int) -> Enrolment:
    """Return the enrolment under its row lock, taken after the locks of what its current step depends on."""
    enrolment = Enrolment.objects.get(pk=enrolment_id)
    if not enrolment.ended and (step := _current_step(enrolment)) is not None:
        step.hold()
    return locked(enrolment_id)


def _current_step(enrolment: Enrolment) -> steps.Step | None:
    return None if enrolment.step is None else steps.step_object(enrolment, enrolment.step)


@transaction.atomic
def withdraw(*, enrolment_id: int) -> None:
    """End the enrolment because the participant chose to stop."""
    end_early(held(enrolment_id), State.WITHDREW)


@transaction.atomic
def record_return(*, enrolment_id: int) -> bool:
    """Record that the assignment was returned to the recruiter; return False if the enrolment had already ended."""
    enrolment = held(enrolment_id)
    if enrolment.ended:
        return False
    end(enrolment, State.RETURNED)
    _leave(enrolment)
    return True


def touch(enrolment_id: int) -> None:
    """Record that the participant's page is still open."""
    Enrolment.objects.filter(pk=enrolment_id, ended_at=None).update(last_seen_at=timezone.now())


@transaction.atomic
def touch_all(enrolments: Collection[int]) -> None:
    """Record that these participants' pages are still open, but wait for no row that is being written."""
    free = Enrolment.objects.filter(pk__in=enrolments, ended_at=None).select_for_update(skip_locked=True)
    Enrolment.objects.filter(pk__in=free.values("pk")).update(last_seen_at=timezone.now())


def report_problem(*, enrolment_id: int, text: str) -> None:
    """Store a problem report, without null characters, which the database cannot hold."""
    ProblemReport.objects.create(enrolment_id=enrolment_id, text=text.replace("\x00", "")[:2000])


def end_expired() -> int:
    """End every enrolment whose time limit has passed; return how many. One error does not stop the others."""
    ended = 0
    expired = Enrolment.objects.filter(ended_at=None, expires_at__lt=timezone.now())
    for enrolment_id in expired.values_list("pk", flat=True):
        try:
            ended += _end_if_expired(enrolment_id)
        except Exception as error:  # noqa: BLE001  (one error must not stop the others)
            log.error("ending the enrolment of participant %s failed: %s", enrolment_id, type(error).__name__)
    return ended


@transaction.atomic
def _end_if_expired(enrolment_id: int) -> int:
    """End the enrolment if its time limit has passed, and all others of its match that are as late; return how many."""
    enrolment = held(enrolment_id)
    step = _current_step(enrolment)
    others = [] if step is None else step.others()
    late = [each for each in (enrolment, *map(locked, others)) if not each.ended and each.expired]
    for each in late:
        _end_unfinished(each, each.state_when_expired)
    for each in late:
        _leave(each)
    return len(late)


def expiry_after(minutes: int):
    """Return when an enrolment that starts now expires."""
    return timezone.now() + timedelta(minutes=minutes)
