"""Writing datasets in the background. The database records which are requested; a task is only a hint."""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import partial
from typing import cast

from celery import current_app
from django.core.files import File
from django.db import IntegrityError, InterfaceError, OperationalError, close_old_connections, connections, transaction
from django.db.models import Model
from django.utils import timezone
from django.utils.translation import gettext as _

from collecting.models import Collection
from exports.dataset import Progress
from exports.errors import ExportError, NothingToExport, Stopped
from exports.formats import DEFAULT_FORMATS, validate_formats
from exports.models import DEAD_AFTER, Dataset, lookup
from exports.packing import pack_dataset
from exports.times import Times
from studies.models import Study

log = logging.getLogger(__name__)

KEPT_DATASETS = 3
"""Number of a study's or collection's datasets whose files are kept."""
LISTED_DATASETS = 6
"""Number of datasets listed, including failed ones."""
_UNFINISHED = (Dataset.State.QUEUED, Dataset.State.WRITING)
_RESEND_AFTER = timedelta(seconds=30)
"""A task that no worker took is sent again after this time."""


def request_dataset(
    parent: Study | Collection,
    formats: Iterable[str] = DEFAULT_FORMATS,
    *,
    excluded: bool = False,
    times: Times = "exact",
) -> tuple[Dataset, bool]:
    """Request a dataset; return it and whether it is new. If one is already being written, return that one.

    Raises:
        UnknownFormat, NothingToExport
    """
    format_names = list(validate_formats(formats))
    if isinstance(parent, Study) and not parent.versions.exists():
        raise NothingToExport(_("The study has never been launched, so there is nothing to export."))
    running = _running(parent)
    if running is not None:
        return running, False
    try:
        with transaction.atomic():
            requested = Dataset.objects.create(**lookup(parent), formats=format_names, excluded=excluded, times=times)
            _enqueue(requested)
    except IntegrityError:  # someone else asked at the same time
        return Dataset.objects.get(**lookup(parent), state__in=_UNFINISHED), False
    return requested, True


def recent_datasets(parent: Study | Collection) -> list[Dataset]:
    """Return the datasets of a study or collection with their current states, newest first."""
    newest = Dataset.objects.filter(**lookup(parent)).select_related(*lookup(parent), "report")[:LISTED_DATASETS]
    return [refresh(dataset) for dataset in newest]


def stop(dataset: Dataset) -> bool:
    """Stop an unfinished dataset; return whether there was one to stop."""
    unfinished = Dataset.objects.filter(pk=dataset.pk, state__in=_UNFINISHED)
    return bool(unfinished.update(state=Dataset.State.FAILED, reason=_("It was stopped."), ended_at=timezone.now()))


def refresh(dataset: Dataset) -> Dataset:
    """Return the dataset's current state; mark it failed if its writer died, queue it again if no worker took it."""
    dataset.refresh_from_db()
    if dataset.abandoned:
        abandoned_dataset = Dataset.objects.filter(
            pk=dataset.pk, state=Dataset.State.WRITING, alive_at__lt=timezone.now() - DEAD_AFTER
        )
        marked_failed = abandoned_dataset.update(
            state=Dataset.State.FAILED,
            reason=_("The process writing it ended. Please request another dataset."),
            ended_at=timezone.now(),
        )
        if marked_failed:
            dataset.file.storage.delete(_file_name(dataset))  # left by a writer killed before it recorded it
        dataset.refresh_from_db()
    elif dataset.state == Dataset.State.QUEUED and dataset.asked_at < timezone.now() - _RESEND_AFTER:
        _enqueue(dataset)
    return dataset


def write(dataset_id: int) -> None:
    """Write a queued dataset, unless another process is writing or has written it."""
    queued = Dataset.objects.filter(pk=dataset_id, state=Dataset.State.QUEUED)
    if not queued.update(state=Dataset.State.WRITING, alive_at=timezone.now()):
        return
    dataset = Dataset.objects.select_related("study", "collection").get(pk=dataset_id)
    try:
        with heartbeat(dataset):
            _write(dataset)
    except ExportError as error:
        _fail(dataset, str(error))
    except Exception:
        _fail(dataset, _("The dataset could not be written; see the server's log."))
        raise


def delete_datasets(study: Study) -> int:
    """Delete the study's datasets and stop one that is being written, because their content may no longer be kept.

    A queued one stays queued. Return how many were deleted or stopped.
    """
    datasets = Dataset.objects.filter(study=study).exclude(state=Dataset.State.QUEUED)
    files = [dataset.file for dataset in datasets if dataset.file]
    for file in files:
        transaction.on_commit(partial(file.delete, save=False))
    return datasets.delete()[1].get(Dataset._meta.label, 0)


def _write(dataset: Dataset) -> None:
    name = str(dataset)
    pack, manifest = pack_dataset(
        dataset.parent,
        name,
        dataset.formats,
        excluded=dataset.excluded,
        times=cast(Times, dataset.times),
        on_progress=progress_recorder(dataset),
    )
    with pack:
        digest = hashlib.file_digest(pack, "sha256").hexdigest()
        size = pack.tell()
        pack.seek(0)
        dataset.file.save(_file_name(dataset), File(pack), save=False)
    fields = {"state": Dataset.State.READY, "ended_at": timezone.now(), "file": dataset.file.name, "size": size}
    fields |= {"sha256": digest, "counts": manifest.counts, "flow": manifest.flow}
    if not Dataset.objects.filter(pk=dataset.pk, state=Dataset.State.WRITING).update(**fields):
        dataset.file.delete(save=False)  # marked as abandoned in the meantime
        return
    for old in Dataset.objects.filter(**lookup(dataset.parent), state=Dataset.State.READY)[KEPT_DATASETS:]:
        old.file.delete(save=False)
        old.delete()


def _file_name(dataset: Dataset) -> str:
    return f"{dataset.uid}.zip"


def progress_recorder(dataset: Dataset) -> Callable[[Progress], None]:
    """Update the dataset's row about once a second while it is written."""
    recorded_at = 0.0

    def record(progress: Progress) -> None:
        nonlocal recorded_at
        if time.monotonic() - recorded_at < 1 and progress.done < progress.total:
            return
        recorded_at = time.monotonic()
        figures = {"done": progress.done, "expected": progress.total, "written": progress.bytes}
        writing = Dataset.objects.filter(pk=dataset.pk, state=Dataset.State.WRITING)
        if not writing.update(**figures, alive_at=timezone.now()):
            raise Stopped(_("It was stopped."))

    return record


def _fail(dataset: Dataset, reason: str) -> None:
    Dataset.objects.filter(pk=dataset.pk, state=Dataset.State.WRITING).update(
        state=Dataset.State.FAILED, reason=reason[:400], ended_at=timezone.now()
    )


def _running(parent: Study | Collection) -> Dataset | None:
    dataset = Dataset.objects.filter(**lookup(parent), state__in=_UNFINISHED).first()
    if dataset is None:
        return None
    dataset = refresh(dataset)
    return dataset if dataset.state in _UNFINISHED else None


def _enqueue(dataset: Dataset) -> None:
    transaction.on_commit(lambda: current_app.send_task("exports.write", (dataset.pk,)), robust=True)


@contextmanager
def heartbeat(row: Model) -> Iterator[None]:
    """Update `alive_at` of a dataset or report regularly while the process that writes it is alive."""
    finished = threading.Event()

    def beat() -> None:
        try:
            while not finished.wait(DEAD_AFTER.total_seconds() / 6):
                close_old_connections()
                with suppress(OperationalError, InterfaceError):  # the database is unavailable: try again later
                    type(row)._default_manager.filter(pk=row.pk).update(alive_at=timezone.now())
        finally:
            connections.close_all()

    thread = threading.Thread(target=beat, name="dataset writer", daemon=True)
    thread.start()
    try:
        yield
    finally:
        finished.set()
        thread.join()
