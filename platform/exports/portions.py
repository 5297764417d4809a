"""Portions of a dataset: one process writes each portion, and they are joined in order."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import connection, connections
from django.db.models import Count, Q, Sum

from collecting.models import Collection
from exports import gate, sources
from exports import tables as tables_of
from exports.collected import collected
from exports.formats import Sink, Tables, named
from exports.parallel import in_order
from exports.participants import Played, Reading
from exports.pieces import Pieces
from exports.processes import prepare
from exports.shape import Shape, of_configurations
from exports.signals import hand_uses, page_uses
from exports.sources import CollectionSource, StudySource
from exports.tables import CallRow, ToolRow
from opponents.models import Call
from studies.models import Placement

PEOPLE, MATCHES = 200, 250
"""Number of people of a study, or of matches of a collection, in one portion."""
WORTHWHILE = 5
"""Number of portions below which writing finishes sooner than processes can start."""
SHAPE = "shape"
"""Name of the shape's file in a job's folder, beside the portions: determined once for all processes."""


@dataclass(frozen=True)
class Job:
    """The dataset to write, its target folder, and the folder for intermediate pieces."""

    model: str
    pk: int
    cutoff: datetime
    formats: tuple[str, ...]
    target: Path
    scratch: Path
    excluded: bool = False


@dataclass(frozen=True)
class Portion:
    """The people (by placement key) or matches (by number) of a job from `first` to `last`."""

    job: Job
    number: int
    first: int
    last: int


@dataclass(frozen=True)
class Written:
    """A portion's pieces, the rows in each, and the people and matches it counted."""

    folder: Path
    rows: Mapping[str, int]
    flow: gate.Flow


def reading_of(made: Any, cutoff: datetime, shape: Shape | None = None, *, excluded: bool = False) -> Reading:
    """Return what to write as of `cutoff`; `shape`: if already known; `excluded`: also excluded data, flagged."""
    source = made if isinstance(made, StudySource | CollectionSource) else sources.of(made)
    shape = shape or of_configurations(source.configurations())
    return Reading(source=source, cutoff=cutoff, shape=shape, excluded=excluded)


def tables_for(reading: Reading) -> Tables:
    """Return the dataset's tables by name."""
    source = reading.source
    return tables_of.tables(reading.shape, steps=source.steps(), checks=source.checks(), questions=source.questions())


def job_of(reading: Reading, formats: tuple[str, ...], *, target: Path, scratch: Path) -> Job:
    """Return the job that writes this reading."""
    made = reading.source.made
    return Job(made._meta.label, made.pk, reading.cutoff, formats, target, scratch, reading.excluded)


def written_portions(
    job: Job, reading: Reading, *, processes: int | None = None, helping: bool = False
) -> Iterator[Written]:
    """Write a job's portions, on every core if there are enough portions, and yield them in order.

    Args:
        processes: None: as many as the cores and the work allow; 1: in this process.
        helping: whether this process is one of them.
    """
    if connection.in_atomic_block:
        processes = 1  # other processes cannot see what this transaction has written
    _prepared(job, reading)
    (job.scratch / SHAPE).write_bytes(pickle.dumps(reading.shape))
    database = connections["default"].settings_dict["NAME"]
    yield from in_order(
        write,
        _portions(job, reading),
        processes=processes,
        chunk=1,
        worthwhile=WORTHWHILE,
        start=prepare,
        given=(settings.SETTINGS_MODULE or os.environ["DJANGO_SETTINGS_MODULE"], str(database)),
        helping=helping,
    )


def _portions(job: Job, reading: Reading) -> Iterator[Portion]:
    source = reading.source
    if isinstance(source, StudySource):
        placed = Placement.objects.filter(cell__version__study=source.study, placed_at__lte=job.cutoff)
        keys = placed.order_by("pk").values_list("pk", flat=True).iterator(chunk_size=2000)
        size = PEOPLE
    else:
        keys = iter(range(1, source.collection.planned + 1))
        size = MATCHES
    number, portion = 0, []
    for key in keys:
        portion.append(key)
        if len(portion) == size:
            yield Portion(job, number, portion[0], portion[-1])
            number, portion = number + 1, []
    if portion or number == 0:
        yield Portion(job, number, *((portion[0], portion[-1]) if portion else (1, 0)))


_last: dict[Job, tuple[Reading, Tables]] = {}


def _prepared(job: Job, reading: Reading | None = None) -> tuple[Reading, Tables]:
    """Return what all portions of a job read and write, built once in each process."""
    if (known := _last.get(job)) is None:
        if reading is None:
            shape = pickle.loads((job.scratch / SHAPE).read_bytes())
            made = apps.get_model(job.model).objects.get(pk=job.pk)
            reading = reading_of(made, job.cutoff, shape, excluded=job.excluded)
        known = reading, tables_for(reading)
        _last.clear()
        _last[job] = known
    return known


def write(portion: Portion) -> Written:
    """Write one portion. Writing the same portion again gives the same result."""
    job = portion.job
    reading, tables = _prepared(job)
    folder = job.scratch / f"{portion.number}"
    folder.mkdir(exist_ok=True)
    pieces = Pieces(folder, job.target)
    try:
        sinks = [made.sink(pieces, reading, tables) for made in named(job.formats)]
        flow = _Pass(sinks, tables).over(reading, first=portion.first, last=portion.last)
        for sink in sinks:
            sink.close()
    finally:
        pieces.close()
    return Written(folder, pieces.rows, flow)


class _Pass:
    """One pass over people and matches that fills all tables and all other files at once."""

    def __init__(self, sinks: list[Sink], tables: Tables):
        self._sinks = sinks
        self._tables = tables
        self._takers = {name: [sink for sink in sinks if name in sink.tables] for name in tables}

    def over(self, reading: Reading, *, first: int, last: int) -> gate.Flow:
        source, flow = reading.source, gate.Flow()
        if isinstance(source, StudySource):
            self._people(reading, flow, first, last)
        else:
            self._collected(reading, source.collection, flow, first, last)
        return flow

    def _people(self, reading: Reading, flow: gate.Flow, first: int, last: int) -> None:
        for participant in reading.participants(first=first, last=last):
            flow.count(stage=participant.stage, reasons=participant.reasons)
            flow.count_cell(participant.cell.version.number, participant.cell.number, "participants")
            self._row("participants", participant)
            if not participant.in_dataset:
                self._row("excluded", participant)
            for use in page_uses(participant):
                self._row("signals", use)
            for hand in hand_uses(participant):
                self._row("behaviour", hand)
            for owed in participant.ledger:
                self._row("payments", owed)
            for sink in self._sinks:
                sink.participant(participant)
            for match in participant.matches:
                if match.reported_by(participant.enrolment):
                    flow.count_match(reasons=match.reasons)
                    self._seen(match, flow)

    def _collected(self, reading: Reading, collection: Collection, flow: gate.Flow, first: int, last: int) -> None:
        for item, played in collected(reading, collection, first=first, last=last):
            reasons = ("not_begun",) if played is None else played.reasons
            flow.count_match(reasons=reasons, unverified=bool(item.unverified))
            if played is not None:
                self._seen(played, flow)

    def _seen(self, match: Played, flow: gate.Flow) -> None:
        """Write a match that has begun, or only its costs."""
        flow.count_cell(match.place.version, match.place.cell, "matches")
        if match.reasons:
            self._excluded_calls(match)
        else:
            flow.count_cell(match.place.version, match.place.cell, "matches_in_dataset")
        if match.written:
            self._match(match)

    def _excluded_calls(self, match: Played) -> None:
        if not match.reading.source.asks_models:
            return
        calls = Call.objects.filter(match_uid=match.match.uid).order_by("role", "model").values("role", "model")
        failed, broken = (Q(outcome=outcome) for outcome in (Call.Outcome.FAILED, Call.Outcome.RULE_BREAK))
        sums = {"calls": Count("pk"), "failed": Count("pk", filter=failed), "cost": Sum("cost")}
        for row in calls.annotate(**sums, rule_breaks=Count("pk", filter=broken)):
            self._row("excluded_calls", (match, row))

    def _match(self, match: Played) -> None:
        self._row("matches", match)
        for role in match.seats:
            self._row("seats", (match, role))
        for number, record in enumerate(match.records, start=1):
            self._row("rounds", (match, number, record))
        for decision in match.decisions:
            self._row("decisions", decision)
        for message in match.messages:
            self._row("messages", message)
        if match.reading.source.asks_models:
            for call in Call.objects.filter(match_uid=match.match.uid).order_by("pk").iterator(chunk_size=50):
                row = CallRow(match, call)
                self._row("llm_calls", row)
                for place, tool in enumerate(row.tools, start=1):
                    self._row("tool_calls", ToolRow(match, row, place, tool))
        for sink in self._sinks:
            sink.match(match)

    def _row(self, table: str, about: Any) -> None:
        if takers := self._takers[table]:
            values = self._tables[table].values(about)
            for sink in takers:
                sink.row(table, values)
