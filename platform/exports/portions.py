"""Portions of a dataset: one process writes each portion, and they are joined in order."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import count, islice
from pathlib import Path

from django.conf import settings
from django.db import connection, connections

from analysis.formulas import encoded
from analysis.parallel import in_order
from exports import derived, gate, glee_files, otree_wide
from exports import tables as tables_of
from exports.collected import collection_matches
from exports.formats import Tables, files_of
from exports.participants import Participant, PlayedMatch, Reading
from exports.pieces import Pieces
from exports.processes import prepare
from exports.sources import StudySource
from exports.transcripts import TRANSCRIPTS, as_line, transcript
from studies.models import Placement

PEOPLE, MATCHES = 200, 250
"""Number of people of a study, or of matches of a collection, in one portion."""
MIN_PORTIONS = 5
"""Number of portions below which writing finishes before other processes could start."""
JOB = "job"
"""Name of the file with the job, beside the portions: determined once for all processes."""


@dataclass(frozen=True)
class Job:
    """The dataset to write, its target folder, and the folder for intermediate pieces."""

    reading: Reading
    formats: tuple[str, ...]
    target: Path
    scratch: Path


@dataclass(frozen=True)
class Portion:
    """The people (by placement key) or matches (by number) of the job in `scratch` from `first` to `last`."""

    scratch: Path
    number: int
    first: int
    last: int


@dataclass(frozen=True)
class PortionResult:
    """A portion's pieces, the rows in each, and the people and matches it counted."""

    folder: Path
    rows: Mapping[str, int]
    flow: gate.Flow


def tables_for(reading: Reading, formats: Iterable[str] = ()) -> Tables:
    """Return the dataset's tables by name, those that only some of the formats have included."""
    tables = tables_of.tables(reading.shape, reading.source, reading.times)
    if otree_wide.FORMAT in formats:
        tables[otree_wide.NAME] = otree_wide.wide_table(reading)
    return tables


def write_portions(job: Job, *, processes: int | None = None, caller_works: bool = False) -> Iterator[PortionResult]:
    """Write a job's portions, on every core if there are enough portions, and yield them in order.

    Args:
        processes: None: as many as the cores and the work allow; 1: in this process.
        caller_works: whether this process is one of them.
    """
    if connection.in_atomic_block:
        processes = 1  # other processes cannot see what this transaction has written
    (job.scratch / JOB).write_bytes(pickle.dumps(job))
    database = connections["default"].settings_dict["NAME"]
    yield from in_order(
        write,
        _portions(job),
        processes=processes,
        chunk=1,
        min_items=MIN_PORTIONS,
        start=prepare,
        start_args=(settings.SETTINGS_MODULE or os.environ["DJANGO_SETTINGS_MODULE"], str(database)),
        caller_works=caller_works,
    )


def _portions(job: Job) -> Iterator[Portion]:
    source = job.reading.source
    if isinstance(source, StudySource):
        placed = Placement.objects.filter(version__study=source.study, placed_at__lte=job.reading.cutoff)
        keys = placed.order_by("pk").values_list("pk", flat=True).iterator(chunk_size=2000)
        size = PEOPLE
    else:
        keys = iter(range(1, source.collection.planned + 1))
        size = MATCHES
    for number in count():
        chunk = list(islice(keys, size))
        if number and not chunk:
            return
        yield Portion(job.scratch, number, *((chunk[0], chunk[-1]) if chunk else (1, 0)))


@lru_cache(maxsize=1)
def _job_in(scratch: Path) -> tuple[Job, Tables]:
    """Return the job of all portions and its tables, read once in each process."""
    job: Job = pickle.loads((scratch / JOB).read_bytes())
    return job, tables_for(job.reading, job.formats)


def write(portion: Portion) -> PortionResult:
    """Write one portion. Writing the same portion again gives the same result."""
    job, tables = _job_in(portion.scratch)
    folder = portion.scratch / f"{portion.number}"
    folder.mkdir(exist_ok=True)
    source, flow = job.reading.source, gate.Flow()
    with Pieces(folder, files_of(job.formats, tables, about=False)) as pieces:
        writer = _PortionWriter(pieces, job.target, flow)
        if isinstance(source, StudySource):
            for participant in job.reading.participants(first=portion.first, last=portion.last):
                writer.write_participant(participant)
        else:
            items = collection_matches(job.reading, source.collection, first=portion.first, last=portion.last)
            for item, played in items:
                reasons = ("not_begun",) if played is None else played.reasons
                flow.count_match(reasons=reasons, unverified=bool(item.unverified))
                if played is not None:
                    writer.write_match(played)
    return PortionResult(folder, pieces.rows, flow)


@dataclass(frozen=True)
class _PortionWriter:
    """Fills all tables and all other files at once.

    Attributes:
        target: the dataset's own folder, for files that belong to a single match.
    """

    pieces: Pieces
    target: Path
    flow: gate.Flow

    def write_participant(self, participant: Participant) -> None:
        """Write a participant, and the matches of which they are the first one."""
        self.flow.count(stage=participant.stage, reasons=participant.reasons)
        self.flow.count_cell(participant.version.number, participant.cell_number, "participants")
        for table, row in tables_of.people_rows(participant):
            self.pieces.row(table, row)
        self.pieces.row(otree_wide.NAME, participant)
        for match in participant.matches:
            if match.is_first_participant(participant.enrolment):
                self.flow.count_match(reasons=match.reasons)
                self.write_match(match)

    def write_match(self, match: PlayedMatch) -> None:
        """Write a match that has begun, or only its costs."""
        self.flow.count_cell(match.place.version, match.place.cell, "matches")
        if match.reasons:
            for row in tables_of.excluded_call_rows(match):
                self.pieces.row("excluded_calls", row)
        else:
            self.flow.count_cell(match.place.version, match.place.cell, "matches_in_dataset")
        if not match.exported:
            return
        line = transcript(match)
        for name, (_columns, rows) in derived.ROWS.items():
            for row in rows(line):
                self.pieces.row(name, row)
        if match.reading.source.asks_models:
            for call, tools in tables_of.call_rows(match):
                self.pieces.row("llm_calls", call)
                for tool in tools:
                    self.pieces.row("tool_calls", tool)
        if TRANSCRIPTS in self.pieces:
            self.pieces.line(TRANSCRIPTS, encoded(as_line(line)))
        if glee_files.LISTING in self.pieces and not match.reasons:
            for written in glee_files.write_game(match, self.target):
                self.pieces.line(glee_files.LISTING, written)
