"""Make the samples: enrol their people, pay them, play the collection, write datasets and reports.

Everything goes through the services that real people's pages call; only the clock is simulated. People come one after
the other, or a group at a time, each in one transaction: a process that is killed leaves whole sessions, and the next
one continues with the first that is missing. Other processes never see a session in progress, so that their sweeps,
which read the real time, find nothing overdue. Between two transactions, others get the time to write to SQLite.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from types import ModuleType
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Max, Min
from django.utils import timezone

from collecting import driver
from collecting import services as collections
from collecting.models import Collection
from exports import background as datasets
from exports.models import Dataset, Publication, lookup
from participants.models import Enrolment
from payouts import deciding, paying
from payouts.models import LedgerRow
from recruiters import simulated
from recruiters.models import Identity
from reports import background as reports
from reports.models import Report
from showcase.samples import bargaining, guessing, tournament
from showcase.samples.clock import Clock
from showcase.samples.person import Person
from studies import pausing
from studies.launching import launch
from studies.models import Study

RESEARCHER = "simulated-researcher"
DAYS_AGO, FIRST_HOUR = 3, 9
"""The samples' first session begins at this hour (UTC) of the day this many days before they are made."""
ROWS_AT_ONCE = 4
"""Payments that are approved and made in one transaction."""
LINE_EVERY = 8
"""Sessions between two lines of progress."""
BREATH = 0.5
"""How long others may write to SQLite after each transaction, as a share of the time that it took."""
WAIT_SECONDS = 0.3
"""How often this process looks whether another has finished what both began."""
Parts = Iterator[tuple[float, str]]
"""Parts of a sample as they are done: the share of all that is done, and what it is."""


@dataclass(frozen=True)
class Line:
    """Progress: what is done, and about how many seconds the rest takes."""

    text: str
    seconds_left: float


def everything() -> Iterator[Line]:
    """Make what is missing of all samples; yield a line about each part that is done."""
    left = sum(part[-1] for part in PARTS) + len(PARTS) * (DATASET_SECONDS + REPORT_SECONDS)
    for slug, title, make, seconds in PARTS:
        for share, text in make():
            yield Line(f"{title}: {text}", left - share * seconds)
        left -= seconds
        if written_dataset(parent := parent_of(slug)) is None:
            datasets.request_dataset(parent)  # a worker, if there is one, writes it meanwhile
    written = []
    for slug, *_part in PARTS:
        written.append(dataset(parent_of(slug)))
        left -= DATASET_SECONDS
        yield Line(f"dataset of {slug}", left)
    if not reports.available():
        yield Line("no reports: their libraries are not installed (`make analysis`)", 0)
        return
    missing = [each for each in written if not Report.objects.filter(dataset=each, state=Report.State.READY).exists()]
    for each in missing:
        reports.request_report(each)
    for each in missing:  # shared with a worker, if there is one
        reports.write_report(Report.objects.get(dataset=each).pk)
    for each in missing:
        _awaited(Report.objects.get(dataset=each), _refreshed)
        left -= REPORT_SECONDS
        yield Line(f"report on {each.parent.slug}", max(left, 1))


def bargaining_study(people: int = bargaining.PEOPLE) -> Parts:
    """Make the 2 × 2 study, or one with only the first people."""
    study, clock = _launched(bargaining)
    if study.status == Study.Status.CLOSED:
        return
    one_by_one = [[person] for person in bargaining.people(study)[:people]]
    for share, text in _sessions(study, clock, one_by_one, every=timedelta(minutes=8), per_day=40):
        yield 0.8 * share, text
    yield 1, _pay(study, clock, up_to=bargaining.APPROVED_UP_TO)
    _close(study, clock)


def group_study() -> Parts:
    """Make the study in groups."""
    study, clock = _launched(guessing)
    if study.status == Study.Status.CLOSED:
        return
    everybody = guessing.people(study)
    groups = [everybody[first - 1 : last] for first, last in guessing.SESSIONS]
    yield from _sessions(study, clock, groups, every=timedelta(minutes=20), per_day=len(groups))
    _close(study, clock)


def collection() -> Parts:
    """Make the tournament; other drivers may play a part of it."""
    made = Collection.objects.filter(slug=tournament.SLUG).first()
    if made is None:
        with transaction.atomic():
            made = tournament.new_collection()
            describe(made, tournament.TITLE, tournament.DESCRIPTION)
    if made.status == Collection.Status.READY:
        made = collections.start(made)
    while made.status == Collection.Status.RUNNING:
        driver.drive(made, 0)
        made.refresh_from_db()
        if made.status == Collection.Status.RUNNING:
            time.sleep(WAIT_SECONDS)
    yield 1, f"{made.planned} matches"


PARTS: Sequence[tuple[str, str, Callable[[], Parts], float]] = (
    (bargaining.SLUG, "2 × 2 study", bargaining_study, 14),
    (tournament.SLUG, "tournament", collection, 2),
    (guessing.SLUG, "group study", group_study, 6),
)
"""Each sample's short name and title, what makes it, and about how many seconds that takes."""
DATASET_SECONDS, REPORT_SECONDS = 1, 7


# ---- people ----------------------------------------------------------------------------------------------


def _launched(sample: ModuleType) -> tuple[Study, Clock]:
    """Return the sample's launched study, and a clock that shows when its first session begins."""
    study = Study.objects.filter(slug=sample.SLUG).first()
    if study is None:
        today = timezone.now().replace(hour=FIRST_HOUR, minute=0, second=0, microsecond=0)
        clock = Clock(today - timedelta(days=DAYS_AGO))
        with clock.running(), transaction.atomic():
            study = Study.objects.create(slug=sample.SLUG, draft=deepcopy(sample.PLAN), created_by=researcher())
            launch(study)
            describe(study, sample.TITLE, sample.DESCRIPTION)
            study.refresh_from_db()
    begins = study.versions.aggregate(begins=Min("launched_at"))["begins"]
    return study, Clock(begins)


def researcher() -> Any:
    """Return the user in whose name the samples are made, who cannot sign in."""
    defaults = {"is_active": False, "first_name": "Simulated", "last_name": "researcher", "password": "!"}
    return get_user_model().objects.get_or_create(username=RESEARCHER, defaults=defaults)[0]


def describe(parent: Study | Collection, title: str, description: str) -> None:
    """Store what the parent's datasets and reports say about it."""
    details = {
        "title": title,
        "authors": "Scripts of the Parley project",
        "licence": Publication.Licence.CC0,
        "description": description,
        "limitations": "Nobody took part: the data show what Parley records and what its analyses find in it.",
    }
    Publication.objects.get_or_create(**lookup(parent), defaults=details)


def _sessions(
    study: Study, clock: Clock, sessions: Sequence[Sequence[Person]], *, every: timedelta, per_day: int
) -> Parts:
    """Let everybody take part who has not yet, session by session: one begins when the last is over."""
    first_begins, last = clock.at + timedelta(minutes=30), sessions[-1][-1].number
    for number, session in enumerate(sessions):
        day, slot = divmod(number, per_day)
        first = simulated.arrival(session[0].number).proof
        if not Identity.objects.filter(study=study.slug, recruiter=simulated.KIND, proof=first).exists():
            ended = Enrolment.objects.filter(placement__version__study=study).aggregate(at=Max("ended_at"))["at"]
            clock.at = max(filter(None, [first_begins + timedelta(days=day) + slot * every, ended]))
            _hold(study, clock, session)
        if number % LINE_EVERY == LINE_EVERY - 1 or session[-1].number == last:
            yield (number + 1) / len(sessions), f"{session[-1].number} of {last} people"


def _hold(study: Study, clock: Clock, session: Sequence[Person]) -> None:
    """Let these people arrive shortly after each other, and act until the study has ended for all of them."""
    rng, arrives, walks = Random(f"{study.slug}/arrivals/{session[0].number}"), clock.at, []
    for person in session:
        arrives += timedelta(seconds=rng.uniform(5, 45))
        walks.append((arrives, person.walk()))
    with _in_turn(clock):
        clock.run(walks)


@contextmanager
def _in_turn(clock: Clock) -> Iterator[None]:
    """Open a transaction under this clock; then let other processes write, too."""
    begun_at = time.monotonic()
    with clock.running(), transaction.atomic():
        yield
    time.sleep(BREATH * (time.monotonic() - begun_at))


def _close(study: Study, clock: Clock) -> None:
    with clock.running():
        pausing.close(study)


# ---- pay -------------------------------------------------------------------------------------------------


def _pay(study: Study, clock: Clock, *, up_to: int) -> str:
    """Let the researcher approve the pay of the first people on the morning after the last session, and pay it."""
    workers = [simulated.arrival(number).worker for number in range(1, up_to + 1)]
    first = Identity.objects.filter(study=study.slug, recruiter=simulated.KIND, worker__in=workers)
    due = LedgerRow.objects.filter(enrolment__in=first.values("enrolment"), state=LedgerRow.State.DUE)
    keys = list(due.order_by("enrolment", "reason").values_list("pk", flat=True))
    clock.at = (clock.at + timedelta(days=1)).replace(hour=FIRST_HOUR, minute=30)
    for start in range(0, len(keys), ROWS_AT_ONCE):
        rows = keys[start : start + ROWS_AT_ONCE]
        with _in_turn(clock):
            deciding.approve(study=study.slug, rows=rows, user=researcher())
            for row in rows:  # base pay first: the bonus waits for it
                clock.at += timedelta(seconds=2)
                paying.pay_row(row)
    return f"{len(keys)} payments approved"


# ---- datasets and reports ----------------------------------------------------------------------------------


def parent_of(slug: str) -> Study | Collection:
    """Return the study or collection with this short name."""
    return Study.objects.filter(slug=slug).first() or Collection.objects.get(slug=slug)


def written_dataset(parent: Study | Collection) -> Dataset | None:
    """Return the parent's first dataset; None if none has been written."""
    return Dataset.objects.filter(**lookup(parent), state=Dataset.State.READY).order_by("pk").first()


def dataset(parent: Study | Collection) -> Dataset:
    """Return the parent's first dataset, written now if there is none."""
    if (written := written_dataset(parent)) is not None:
        return written
    requested, _is_new = datasets.request_dataset(parent)
    datasets.write(requested.pk)
    written = _awaited(requested, datasets.refresh)
    assert isinstance(written, Dataset)
    return written


def _refreshed(row: Report) -> Report:
    row.refresh_from_db()
    return row


def _awaited(row: Any, refresh: Callable[[Any], Any]) -> Any:
    """Return a dataset or report that another process may have begun to write, when it is written.

    Raises:
        RuntimeError: it could not be written.
    """
    while refresh(row).unfinished:
        time.sleep(WAIT_SECONDS)
    if row.state == row.State.FAILED:
        raise RuntimeError(f"{row}: {row.reason}")
    return row
