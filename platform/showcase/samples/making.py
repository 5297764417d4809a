"""Make the samples: enrol their people, pay them, play the collection, write datasets and reports.

Everything goes through the services that real people's pages call; only the clock is simulated. People come in small
sessions, one transaction each: a process that is killed leaves whole sessions, and the next one continues with the
first that is missing. Other processes never see a session in progress, so that their sweeps, which read the real time,
find nothing overdue.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from types import ModuleType
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Min, QuerySet
from django.utils import timezone

from collecting import driver
from collecting import services as collections
from collecting.models import Collection
from exports import background as datasets
from exports.models import Dataset, Publication, lookup
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
from studies.freezing import launch
from studies.models import Study

RESEARCHER = "simulated-researcher"
SESSION_SIZE = 5
SESSIONS_PER_DAY = 8
BETWEEN_SESSIONS = timedelta(minutes=35)
"""Longer than a session can last: what happens in one depends only on those before it."""
DAYS_AGO, FIRST_HOUR = 3, 9
"""The samples' first session begins at this hour (UTC) of the day this many days before they are made."""
ROWS_AT_ONCE = 8
"""Payments that are approved and made in one transaction."""
BREATH_SECONDS = 0.02
"""Pause after each transaction, in which others may write to SQLite."""
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
    left = sum(seconds for _title, _make, seconds in STUDIES) + PARENTS * (DATASET_SECONDS + REPORT_SECONDS)
    for title, make, seconds in STUDIES:
        for share, text in make():
            yield Line(f"{title}: {text}", left - share * seconds)
        left -= seconds
    written = []
    for parent in (*Study.objects.filter(slug__in=[bargaining.SLUG, guessing.SLUG]), *_tournaments()):
        written.append(dataset(parent))
        left -= DATASET_SECONDS
        yield Line(f"dataset of {parent.slug}", left)
    for each in written:
        has_report = report(each) is not None
        left -= REPORT_SECONDS
        yield Line(f"report on {each.parent.slug}" + ("" if has_report else " left out: run `make analysis`"), left)


def bargaining_study(people: int = bargaining.PEOPLE) -> Parts:
    """Make the 2 × 2 study, or one with only the first people."""
    study, clock = _launched(bargaining)
    if study.status == Study.Status.CLOSED:
        return
    everybody = bargaining.people(study)[:people]
    sessions = [everybody[first : first + SESSION_SIZE] for first in range(0, len(everybody), SESSION_SIZE)]
    for share, text in _sessions(study, clock, sessions):
        yield 0.8 * share, text
    yield 1, _pay(study, clock, up_to=bargaining.APPROVED_UP_TO)
    _close(study, clock)


def group_study() -> Parts:
    """Make the study in groups."""
    study, clock = _launched(guessing)
    if study.status == Study.Status.CLOSED:
        return
    everybody = guessing.people(study)
    yield from _sessions(study, clock, [everybody[first - 1 : last] for first, last in guessing.SESSIONS])
    _close(study, clock)


def collection() -> Parts:
    """Make the tournament; other drivers may play a part of it."""
    made = _tournaments().first()
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


def _tournaments() -> QuerySet[Collection]:
    return Collection.objects.filter(slug=tournament.SLUG)


STUDIES: Sequence[tuple[str, Callable[[], Parts], float]] = (
    ("2 × 2 study", bargaining_study, 10),
    ("tournament", collection, 2),
    ("group study", group_study, 6),
)
"""Each sample with what makes it, and about how many seconds that takes."""
PARENTS, DATASET_SECONDS, REPORT_SECONDS = 3, 1.5, 10


# ---- people ----------------------------------------------------------------------------------------------


def _launched(sample: ModuleType) -> tuple[Study, Clock]:
    """Return the sample's launched study, and a clock that shows when its first session begins."""
    study = Study.objects.filter(slug=sample.SLUG).first()
    if study is None:
        today = timezone.now().replace(hour=FIRST_HOUR, minute=0, second=0, microsecond=0)
        clock = Clock(today - timedelta(days=DAYS_AGO))
        with clock.running(), transaction.atomic():
            study = sample.new_study()
            study.created_by = researcher()
            study.save()
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
        "title": f"{title} (simulated)",
        "authors": "Scripts of the Parley project",
        "licence": Publication.Licence.CC0,
        "description": description,
        "limitations": "Nobody took part: the data show what Parley records and what its analyses find in it.",
    }
    Publication.objects.get_or_create(**lookup(parent), defaults=details)


def _sessions(study: Study, clock: Clock, sessions: Sequence[Sequence[Person]]) -> Parts:
    """Let everybody take part who has not yet, session by session."""
    begins = clock.at + timedelta(minutes=30)
    for number, session in enumerate(sessions):
        day, slot = divmod(number, SESSIONS_PER_DAY)
        clock.at = begins + timedelta(days=day) + slot * BETWEEN_SESSIONS
        if not _has_arrived(study, session[0]):
            _hold(study, clock, session)
            time.sleep(BREATH_SECONDS)
        yield (number + 1) / len(sessions), f"{session[-1].number} of {sessions[-1][-1].number} people"


def _has_arrived(study: Study, person: Person) -> bool:
    proof = simulated.arrival(person.number).proof
    return Identity.objects.filter(study=study.slug, recruiter=simulated.KIND, proof=proof).exists()


def _hold(study: Study, clock: Clock, session: Sequence[Person]) -> None:
    """Let these people arrive shortly after each other, and act until the study has ended for all of them."""
    rng, arrives, walks = Random(f"{study.slug}/arrivals/{session[0].number}"), clock.at, []
    for person in session:
        arrives += timedelta(seconds=rng.uniform(5, 45))
        walks.append((arrives, person.walk()))
    with clock.running(), transaction.atomic():
        clock.run(walks)


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
        with clock.running(), transaction.atomic():
            deciding.approve(study=study.slug, rows=rows, user=researcher())
            for row in rows:  # base pay first: the bonus waits for it
                clock.at += timedelta(seconds=2)
                paying.pay_row(row)
        time.sleep(BREATH_SECONDS)
    return f"{len(keys)} payments approved"


# ---- datasets and reports ----------------------------------------------------------------------------------


def dataset(parent: Study | Collection) -> Dataset:
    """Return the parent's dataset, written now if there is none."""
    written = Dataset.objects.filter(**lookup(parent), state=Dataset.State.READY).first()
    if written is not None:
        return written
    requested, _is_new = datasets.request_dataset(parent)
    datasets.write(requested.pk)
    return _awaited(requested, datasets.refresh)


def report(written: Dataset) -> Report | None:
    """Return the dataset's report, written now if there is none; None without the analysis libraries."""
    if not reports.available():
        return None
    if not Report.objects.filter(dataset=written, state=Report.State.READY).exists():
        reports.request_report(written)
        reports.write_report(written.report.pk)
    return _awaited(Report.objects.get(dataset=written), _refreshed)


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
