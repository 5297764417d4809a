"""Checking a dataset for consistency and against the rules of its games. Needs no database."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, lru_cache
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings

import games.play
from analysis.formulas import defused
from analysis.parallel import in_order
from exports import codebook, columns, derived, gate, manifest, parquet, versions
from exports.csvsafe import cell
from exports.errors import ExportError, Unreadable
from exports.glee_files import LISTING, TREE
from exports.manifest import Manifest
from exports.metadata import psych_ds
from exports.processes import prepare
from exports.transcripts import ABOUT_EVENTS, TRANSCRIPTS
from games import registry
from games.errors import GameError
from games.interface import Event, Game

MIN_BYTES = 4 * 1024 * 1024
"""Below this many bytes of transcripts, starting processes would take longer than replaying."""
MATCHES_AT_ONCE = 20
"""Number of matches that are sent to a process at once."""
MAX_CACHED = 60
"""Length from which texts are hardly ever repeated."""
CUT_SECONDS, ROUNDED_SECONDS = 3600.0, 0.002
"""How far a duration may be from its points in time, if these are cut, and if they are not."""
_MATCH_FIRST = re.compile(rb'\{"match":"([0-9a-zA-Z-]+)"')
_MALFORMED = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError, csv.Error, ExportError)
csv.field_size_limit(2**31 - 1)


@dataclass
class Verification:
    """The result: `differences` as sentences, and how much was checked."""

    differences: list[str] = field(default_factory=list)
    files: int = 0
    matches: int = 0
    decisions: int = 0


def verify(folder: Path) -> list[str]:
    """Return every difference between a dataset and what it should be.

    Raises:
        Unreadable: `folder` has no dataset.
    """
    return examine(folder).differences


def examine(folder: Path, *, processes: int | None = None) -> Verification:
    """Hash every file, replay every match and compare everything that can be recomputed.

    Args:
        processes: number that replay; None: one per core if there are enough matches.

    Raises:
        Unreadable: `folder` has no dataset.
    """
    folder = Path(folder)
    text, listed = read_manifest(folder)
    checks = _Checks(folder, listed, processes)
    found = checks.verification.differences
    if listed.rendered() != text:
        found.append(f"{manifest.FILE}: its hash or content differs, so it was changed after the export.")
    for check in (
        checks.files,
        checks.flow,
        checks.glee,
        checks.codebook,
        checks.versions,
        checks.psych_ds,
        checks.people,
        checks.parquet,
        checks.calls,
        checks.matches,
    ):
        try:
            for difference in check():
                found.append(difference)
        except _malformed() as error:
            found.append(f"A file cannot be read: {type(error).__name__}: {error}")
    return checks.verification


def _malformed() -> tuple[type[Exception], ...]:
    """Return the exceptions that reading a damaged file may raise."""
    import pyarrow as pa

    return (*_MALFORMED, pa.ArrowException)


def read_manifest(folder: Path) -> tuple[str, Manifest]:
    """Return the text and the content of a dataset's manifest.

    Raises:
        Unreadable: `folder` has no dataset.
    """
    try:
        text = (folder / manifest.FILE).read_bytes().decode("utf-8")
        listed = manifest.read(text)
    except FileNotFoundError:
        raise Unreadable(f"{folder} has no dataset: {manifest.FILE} is missing.") from None
    except (OSError, ValueError) as error:
        raise Unreadable(f"{folder / manifest.FILE} cannot be read: {str(error).splitlines()[0]}") from None
    if listed.format != manifest.FORMAT or listed.format_version != manifest.FORMAT_VERSION:
        raise Unreadable(f"This software does not read the format {listed.format} {listed.format_version}.")
    return text, listed


class _Checks:
    """Everything that is checked of one dataset; each check yields the differences that it finds."""

    def __init__(self, folder: Path, listed: Manifest, processes: int | None):
        self.folder, self.listed, self.processes = folder, listed, processes
        self.verification = Verification()
        self.present = {name for name in listed.files if Path(name).name == name and (folder / name).is_file()}

    def files(self) -> Iterator[str]:
        """Compare hashes, and that every listed file is there."""
        for name, entry in self.listed.files.items():
            if name not in self.present:
                yield f"{name}: the file is missing."
                continue
            self.verification.files += 1
            if (digest := file_sha256(self.folder / name)) != entry.sha256:
                yield f"{name}: the SHA-256 is {digest}, the manifest has {entry.sha256}."

    # ---- folders -----------------------------------------------------------------------------------------

    def glee(self) -> Iterator[str]:
        """Check that the files of the published layout are exactly those listed."""
        if LISTING not in self.present:
            return
        names = yield from self._tree(LISTING, TREE)
        matches = self.listed.flow["matches_in_dataset"]
        if len(names) != 2 * matches:
            yield f"{LISTING}: it has {len(names)} files for {matches} matches."

    def psych_ds(self) -> Iterator[str]:
        """Check that the Psych-DS folder is as listed, with the dataset's tables."""
        if psych_ds.LISTING not in self.present:
            return
        digests = yield from self._tree(psych_ds.LISTING, psych_ds.TREE)
        expected = {self.listed.files[f"{table}.csv"].sha256 for table in psych_ds.tables_in(self.listed.files)}
        if {digest for name, digest in digests.items() if name.endswith(".csv")} != expected:
            yield f"{psych_ds.LISTING}: its tables are not those of the dataset."

    def _tree(self, listing: str, tree: str) -> Generator[str, None, dict[str, str]]:
        """Check that the files of a folder are those of its list; return the listed hashes by file."""
        lines = (self.folder / listing).read_text("utf-8").splitlines()
        digests = {name: digest for digest, _space, name in (line.partition("  ") for line in lines)}
        for name, digest in digests.items():
            path = self.folder / name
            if not path.is_file() or file_sha256(path) != digest:
                yield f"{name}: the file is missing or was changed."
        paths = (path for path in (self.folder / tree).rglob("*") if path.is_file())
        for name in sorted({path.relative_to(self.folder).as_posix() for path in paths} - digests.keys()):
            yield f"{name}: the file is not in the list."
        self.verification.files += len(digests)
        return digests

    # ---- tables that describe ----------------------------------------------------------------------------

    def flow(self) -> Iterator[str]:
        """Check the flow's sums and its files against the manifest."""
        flow = self.listed.flow
        try:
            problem = gate.mismatch(flow)
        except (KeyError, TypeError, AttributeError):
            problem = "the flow cannot be read"
        if problem:
            yield f"{manifest.FILE}: {problem}"
        if "flow.json" in self.present and json.loads((self.folder / "flow.json").read_text("utf-8")) != flow:
            yield "flow.json: the flow differs from the manifest's."
        if "flow.csv" in self.present:
            expected = [
                {"stage": stage, "what": what, "participants": str(count)}
                for stage, what, count in gate.flow_rows(flow)
            ]
            if list(_rows(self.folder / "flow.csv")) != expected:
                yield "flow.csv: the flow differs from the manifest's."

    @cached_property
    def _described(self) -> dict[str, list[str]]:
        """The columns of each table in the codebook."""
        entries: dict[str, list[str]] = {}
        for row in _rows(self.folder / "codebook.csv") if "codebook.csv" in self.present else ():
            entries.setdefault(row["table"], []).append(row["column"])
        return entries

    def codebook(self) -> Iterator[str]:
        """Check that every column of every table has an entry, and every entry a column."""
        if "codebook.csv" not in self.present:
            return
        for row in _rows(self.folder / "codebook.csv"):
            if not row["meaning"]:
                yield f"codebook.csv: {row['table']}.{row['column']} has no meaning."
        if self._described.get("transcripts") != [column.name for column in codebook.TRANSCRIPT.columns]:
            yield "codebook.csv: the entries of the transcripts' keys are wrong."
        for name in sorted(self.present):
            if name.endswith(".csv") and self._described.get(name.removesuffix(".csv")) != next(
                _records(self.folder / name), []
            ):
                yield f"{name}: its columns are not those of the codebook."

    def versions(self) -> Iterator[str]:
        """Check the frozen versions against their hashes, and the plans against them."""
        if versions.FILE not in self.present:
            return
        frozen = json.loads((self.folder / versions.FILE).read_text("utf-8"))
        if [(v["number"], v["sha256"]) for v in frozen] != [(v["number"], v["sha256"]) for v in self.listed.versions]:
            yield f"{versions.FILE}: the versions are not those of the manifest."
        for version in frozen:
            if problem := versions.problem(version):
                yield f"{versions.FILE}: {problem}."
            name = versions.plan_file(version["number"])
            plan = (self.folder / name).read_text("utf-8") if name in self.present else None
            if plan is not None and (problem := versions.yaml_problem(version, plan)):
                yield f"{name}: {problem}."

    def people(self) -> Iterator[str]:
        """Check the participants' table against the flow."""
        if not self.present & {"participants.csv", f"participants{parquet.ENDING}"}:
            return
        name, records = _table(self.folder, "participants")
        header = next(records)
        matches = self.listed.flow["matches"]
        flow = gate.Flow(
            matches=matches["in_dataset"],
            unverified=matches["unverified"],
            excluded_matches=Counter(matches["excluded"]),
        )
        for record in records:
            row = dict(zip(header, record, strict=True))
            if (stage := row["stage"]) not in gate.STAGES:
                raise ValueError(f"there is no stage {stage!r}")
            reasons = tuple(reason for reason in row["reasons"].split(";") if reason)
            included = stage == "in_dataset"
            if (row["in_dataset"].upper() == "TRUE") != included or bool(reasons) == included:
                yield f"{name}: {row['participant']} is both included and excluded."
                continue
            if row["reason"] != (reasons[0] if reasons else ""):
                yield f"{name}: {row['participant']}'s reason is not the first of the reasons."
            flow.count(stage=stage, reasons=reasons)
        if flow.as_dict() != self.listed.flow:
            yield f"{name}: the rows don't add up to the manifest's flow."

    def calls(self) -> Iterator[str]:
        """Check that at most one call of each turn is marked as the move."""
        if "llm_calls.csv" not in self.present:
            return
        moves: Counter[tuple[str, str, str]] = Counter()
        for row in _rows(self.folder / "llm_calls.csv"):
            if row.get("outcome") == "move" and row.get("purpose", "move") == "move":
                moves[row["match"], row["role"], row["answering"]] += 1
        for (match, role, answering), calls in moves.items():
            if calls > 1:
                yield f"llm_calls.csv: {calls} calls are the move of {role} after event {answering} of {match}."

    # ---- Parquet -----------------------------------------------------------------------------------------

    def parquet(self) -> Iterator[str]:
        """Check every Parquet file against the codebook's columns, the manifest's number of rows and the CSV file."""
        for name in sorted(name for name in self.present if name.endswith(parquet.ENDING)):
            try:
                yield from self._parquet_file(name, name.removesuffix(parquet.ENDING))
            except _malformed() as error:
                yield f"{name}: it cannot be read: {type(error).__name__}: {error}"

    def _parquet_file(self, name: str, table: str) -> Iterator[str]:
        path = self.folder / name
        if table in self._described and parquet.columns_in(path) != self._described[table]:
            yield f"{name}: its columns are not those of the codebook."
        csv_rows = _records(self.folder / f"{table}.csv") if f"{table}.csv" in self.present else None
        if csv_rows is not None:
            next(csv_rows, None)
        rows = 0
        for rows, values in enumerate(parquet.rows_in(path), start=1):
            if csv_rows is None:
                continue
            csv_row = next(csv_rows, None)
            if csv_row is None or not all(map(_same_value, csv_row, values)):
                yield f"{name}: row {rows} differs from {table}.csv."
                return
        yield from self._count(name, rows)
        if csv_rows is not None and next(csv_rows, None) is not None:
            yield f"{name}: it has fewer rows than {table}.csv."

    def _count(self, name: str, rows: int) -> Iterator[str]:
        """Compare a file's number of rows with the manifest's."""
        if not rows == self.listed.files[name].rows == self.listed.counts.get(name):
            yield f"{name}: it has {rows} rows, the manifest {self.listed.files[name].rows}."

    # ---- matches -----------------------------------------------------------------------------------------

    def matches(self) -> Iterator[str]:
        """Replay the transcripts and compare the tables with them, row by row; on every core if there are many."""
        if TRANSCRIPTS not in self.present:
            return
        endings = (".csv", parquet.ENDING)
        names = [name for name in derived.ROWS if any(f"{name}{ending}" in self.present for ending in endings)]
        tables = {name: _TableReader(self.folder, name) for name in names}
        size = (self.folder / TRANSCRIPTS).stat().st_size
        done = in_order(
            _check_match,
            self._lines(tables),
            processes=self.processes or (os.cpu_count() or 1 if size >= MIN_BYTES else 1),
            chunk=MATCHES_AT_ONCE,
            start=prepare,
            start_args=(settings.SETTINGS_MODULE or os.environ["DJANGO_SETTINGS_MODULE"], None),
            caller_works=True,
        )
        for differences, decisions in done:
            yield from differences
            self.verification.matches += 1
            self.verification.decisions += decisions
        for table in tables.values():
            for match in table.rest():
                yield f"{table.name}: a row of match {match} is not in the transcripts."
        matches, in_flow = self.verification.matches, self.listed.flow["matches_in_dataset"]
        if not self.listed.include and matches != in_flow:
            yield f"{TRANSCRIPTS}: it has {matches} matches, the flow {in_flow}."
        rows = {TRANSCRIPTS: matches}
        rows |= {f"{name}{ending}": table.rows_read for name, table in tables.items() for ending in endings}
        for name in self.listed.files:
            if name in rows:
                yield from self._count(name, rows[name])

    def _lines(self, tables: Mapping[str, _TableReader]) -> Iterator[_Line]:
        with (self.folder / TRANSCRIPTS).open("rb") as lines:
            for line in lines:
                prefix = _MATCH_FIRST.match(line)
                match = prefix[1].decode() if prefix else str(json.loads(line)["match"])
                yield _Line(line, {name: table.rows_of(match) for name, table in tables.items()})


# ---- one match -------------------------------------------------------------------------------------------


class _Rows(NamedTuple):
    """Rows of a table about one match: the table's file and header, the number of the first row, and the rows."""

    file: str
    header: tuple[str, ...]
    first: int
    rows: list[list[str]]


class _Line(NamedTuple):
    """A line of the transcripts, and the rows about its match by table."""

    text: bytes
    rows: Mapping[str, _Rows]


def _check_match(line: _Line) -> tuple[list[str], int]:
    """Return the differences of one match, and the number of its decisions."""
    transcript = json.loads(line.text)
    differences = [*_replay(transcript), *_wrong_times(transcript)]
    for table, found in line.rows.items():
        differences += _compare_rows(transcript, table, found)
    return differences, len(derived.counted_moves(transcript))


def _replay(line: Mapping[str, Any]) -> Iterator[str]:
    """Replay a match and yield what differs from the rules."""
    about = f"match {line['match']}"
    try:
        game = games.play.configure(registry.get(line["game"]), line["config"])
        if game.rules_version != line["rules_version"]:
            yield (
                f"{about}: it was played under rules version {line['rules_version']} of {game.key}; this "
                f"code has the {'newer' if game.rules_version > line['rules_version'] else 'older'} version "
                f"{game.rules_version}; check it with the code revision named in the manifest."
            )
            return
        events = [
            Event(event["number"], event["kind"], {k: v for k, v in event.items() if k not in ABOUT_EVENTS})
            for event in line["events"]
        ]
        play = _replayed_play(game, line, events)
    except GameError as error:
        yield f"{about}: {error}"
        return
    start = events[0].data
    if (start.get("seed"), start.get("game")) != (line["seed"], line["game"]):
        yield f"{about}: the seed or game differs from its log."
    if set(line["players"]) != set(game.roles()) or list(line["seats"]) != list(line["players"]):
        yield f"{about}: the players are not the game's."
    given = {"payoffs": play.payoffs(), "metrics": play.metrics(), "rounds": play.records()}
    for name, value in given.items():
        if json.loads(json.dumps(value)) != line[name]:
            yield f"{about}: the {name} are {line[name]}, the rules give {value}."
    moves = derived.counted_moves(line)
    stages = games.play.stages(game, line["seed"], [(move["role"], move["move"]) for move in moves])
    for move, stage in zip(moves, stages, strict=True):
        if (move["turn"].get("round"), move["turn"].get("phase")) != tuple(stage):
            yield f"{about}: the rules give round and phase {stage} for event {move['number']}."


def _replayed_play(game: Game[Any, Any], line: Mapping[str, Any], events: list[Event]) -> games.play.Play:
    """Return the play replayed by the rules; an unverified one is rebuilt from its log.

    Raises:
        GameError: the log is not a valid play.
    """
    if line.get("unverified") is None:
        return games.play.replay_events(game, events)
    moves = [(event.data["role"], event.data["move"]) for event in events if event.kind == "move"]
    return games.play.record_moves(game, line["seed"], moves)[0]


def _wrong_times(line: Mapping[str, Any]) -> Iterator[str]:
    """Compare durations with the points in time, unless these are cut; and their order."""
    for event in line["events"]:
        turn = event.get("turn") or {}
        since, until = turn.get("shown_at") or turn.get("asked_at"), turn.get("answered_at")
        seconds = turn.get("seconds")
        if since is None or until is None or seconds is None:
            continue
        passed = (datetime.fromisoformat(until) - datetime.fromisoformat(since)).total_seconds()
        if abs(passed - seconds) > (CUT_SECONDS if _is_cut(until) and _is_cut(since) else ROUNDED_SECONDS):
            yield f"match {line['match']}: event {event['number']} took {passed} seconds, not {seconds}."


def _is_cut(moment: str) -> bool:
    return moment.endswith(":00.000000Z")


def _compare_rows(line: Mapping[str, Any], table: str, found: _Rows) -> Iterator[str]:
    """Compare every column of a match's rows with what its transcript gives."""
    expected = list(derived.ROWS[table][1](line))
    if len(found.rows) != len(expected):
        yield f"{found.file}: match {line['match']} has {len(found.rows)} rows, its transcript gives {len(expected)}."
    readers = _readers(table, found.header)
    for number, (row, values) in enumerate(zip(found.rows, expected, strict=False), start=found.first):
        for (column, read), text in zip(readers, row, strict=True):
            if not _same(text, value := read(values)):
                yield f"{found.file}: row {number}: {column} is {text!r}, it should be {value!r}."


@lru_cache(maxsize=64)
def _readers(table: str, header: tuple[str, ...]) -> list[tuple[str, Callable[[Any], Any]]]:
    return columns.readers(derived.ROWS[table][0], header)


# ---- reading -----------------------------------------------------------------------------------------------


class RowsByMatch:
    """Rows read alongside the transcripts: those of a match are together, in the same order.

    Args:
        match: returns the match of a row.

    Attributes:
        rows_read: the number of rows returned so far.
    """

    def __init__(self, rows: Iterable[Any], match: Callable[[Any], str]):
        self.rows_read = 0
        self._groups = groupby(rows, match)
        self._next = next(self._groups, None)

    def of(self, match: str) -> list[Any]:
        """Return the rows of this match, if they are next."""
        if self._next is None or self._next[0] != match:
            return []
        rows = list(self._next[1])
        self.rows_read += len(rows)
        self._next = next(self._groups, None)
        return rows

    def rest(self) -> Iterator[str]:
        """Yield the match of every row that is left."""
        while self._next is not None:
            match = self._next[0]
            yield from (match for _row in self.of(match))


class _TableReader(RowsByMatch):
    """A table of the dataset read alongside the transcripts."""

    def __init__(self, folder: Path, table: str):
        self.name, records = _table(folder, table)
        self._header = tuple(next(records, ()))
        super().__init__(self._whole(records), itemgetter(self._header.index("match")))

    def rows_of(self, match: str) -> _Rows:
        """Return the rows of this match, if they are next."""
        return _Rows(self.name, self._header, self.rows_read + 1, self.of(match))

    def _whole(self, records: Iterator[list[str]]) -> Iterator[list[str]]:
        for record in records:
            if len(record) != len(self._header):
                raise ValueError(f"{self.name} has a record with too many or too few cells")
            yield record


def _same_value(csv_text: str, value: Any) -> bool:
    """Return whether a CSV cell equals a Parquet value; an empty cell means no value or an empty text."""
    if value is None or value == "":
        return csv_text == ""
    if type(value) is str:
        return csv_text == value or csv_text == defused(value)  # a numeric choice is not quoted in CSV
    return _same(csv_text, value)


def _same(text: str, expected: Any) -> bool:
    """Return whether values are equal as text, or numerically, as 5 and 5.0 are."""
    if expected is None:
        return text == ""
    kind = type(expected)
    if kind is int or kind is float:
        try:
            return float(text) == expected
        except ValueError:
            return False
    return text == (_cell(expected) if kind is str and len(expected) < MAX_CACHED else cell(expected))


_cell = lru_cache(maxsize=4096)(cell)


def _rows(path: Path) -> Iterator[dict[str, str]]:
    """Yield the records of a CSV file.

    Raises:
        ValueError: a record has too many or too few cells.
    """
    with path.open(encoding="utf-8", newline="") as opened:
        for row in csv.DictReader(opened, strict=True):
            if None in row or None in row.values():
                raise ValueError(f"{path.name} has a record with too many or too few cells")
            yield row


def _table(folder: Path, table: str) -> tuple[str, Iterator[list[str]]]:
    """Return a table's file and its records, header first: the CSV file if there is one, else the Parquet file."""
    path = folder / f"{table}.csv"
    if path.exists():
        return path.name, _records(path)
    path = folder / f"{table}{parquet.ENDING}"
    packed = ([cell(value) for value in row] for row in parquet.rows_in(path))
    return path.name, chain([parquet.columns_in(path)], packed)


def _records(path: Path) -> Iterator[list[str]]:
    """The records of a CSV file, the header first."""
    with path.open(encoding="utf-8", newline="") as opened:
        yield from csv.reader(opened, strict=True)


def file_sha256(path: Path) -> str:
    """Return a file's SHA-256."""
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
