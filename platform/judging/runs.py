"""Judges a collection in the background. The database holds the request; a lost task is sent again."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any

from celery import current_app
from django.db import transaction
from django.utils.translation import gettext as _

import leasing
from collecting.models import Collection
from judging import services
from judging.errors import JudgingError
from judging.models import JudgingRun
from judging.texts import of_collection

LEASE = timedelta(minutes=10)
"""Longer than a batch takes: a worker silent for this long has died."""


def budget_of(collection: Collection) -> str:
    """Return the name under which the calls of a collection's judges are stored."""
    return f"judge:{collection.slug}"


@transaction.atomic
def begin(collection: Collection, judges: Sequence[str], cap: Decimal | None, by: Any = None) -> JudgingRun:
    """Start judging a collection's justifications.

    Raises:
        JudgingError: the collection cannot be judged, or it is being judged already.
    """
    if services.rubric_of(collection.game) is None:
        raise JudgingError(_("This game has no labels for justifications."))
    names = services.validate_judges(judges, cap)
    Collection.objects.select_for_update().get(pk=collection.pk)
    if JudgingRun.objects.filter(collection=collection, status=JudgingRun.Status.RUNNING).exists():
        raise JudgingError(_("This collection is already being judged."))
    judging_run = JudgingRun.objects.create(collection=collection, judges=names, cap=cap, asked_by=by)
    transaction.on_commit(lambda: send(judging_run))
    return judging_run


def send(judging_run: JudgingRun) -> None:
    """Queue a run that no worker has taken."""
    if JudgingRun.objects.filter(leasing.free(), pk=judging_run.pk, status=JudgingRun.Status.RUNNING).exists():
        # If the message is lost, opening the page sends it again.
        current_app.send_task("judging.judge", (judging_run.pk,))


def run(run_id: int) -> None:
    """Judge until everything is judged, the cap is reached or it is stopped; do nothing if another worker has it."""
    rows = JudgingRun.objects.filter(pk=run_id)
    holder = secrets.token_hex(8)
    if not leasing.take(rows.filter(status=JudgingRun.Status.RUNNING), holder, LEASE):
        return
    judging_run = rows.select_related("collection").get()
    rubric = services.rubric_of(judging_run.collection.game)
    assert rubric is not None

    def keep_going(judged: int) -> bool:
        rows.filter(holder=holder).update(known=judged)
        return bool(leasing.renew(rows.filter(status=JudgingRun.Status.RUNNING), holder, LEASE))

    try:
        justifications = list(of_collection(judging_run.collection))
        wanted = len({justification.sha256 for justification in justifications}) * len(judging_run.judges)
        rows.filter(holder=holder).update(wanted=wanted)
        progress = services.judge(
            rubric,
            justifications,
            judging_run.judges,
            budget_of=budget_of(judging_run.collection),
            cap=judging_run.cap,
            keep_going=keep_going,
        )
    except BaseException:
        leasing.release(rows, holder)
        raise
    fields = {"known": progress.known, "wanted": progress.wanted, "problem": progress.problem[:500]}
    status = JudgingRun.Status.STOPPED if progress.stopped else JudgingRun.Status.DONE
    leasing.release(rows.filter(status=JudgingRun.Status.RUNNING), holder, status=status, **fields)


def stop(judging_run: JudgingRun) -> bool:
    """Stop judging and keep the labels so far; return whether it was running."""
    running = JudgingRun.objects.filter(pk=judging_run.pk, status=JudgingRun.Status.RUNNING)
    return bool(running.update(status=JudgingRun.Status.STOPPED, problem=_("Stopped by a researcher.")))
