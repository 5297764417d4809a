"""Checking a dataset for consistency and against the rules of its games. Needs no database."""

from __future__ import annotations

import csv
import hashlib
import json
import multiprocessing
import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import Any

from django.conf import settings

import games.play
from exports import codebook, columns, derived, gate, manifest, parquet, versions
from exports.csvsafe import cell, defused
from exports.errors import ExportError, Unreadable
from exports.glee_files import LISTING, TREE
from exports.manifest import Manifest
from exports.metadata import psych_ds
from exports.parallel import in_order
from exports.processes import prepare
from exports.transcripts import ABOUT_EVENTS, TRANSCRIPTS
from games import registry
from games.errors import GameError
from games.interface import Event, Game

_BLOCK = 1024 * 1024
MIN_BYTES = 4 * 1024 * 1024
"""Below this many bytes of transcripts, starting processes would take longer than replaying."""
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

    def add_difference(self, sentence: str) -> None:
        self.differences.append(sentence)


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
    verification = Verification()
    listed = _read_manifest(folder, verification)
    present = _compare_files(folder, listed, verification)
    if gate_problem := _flow_problem(listed):
        verification.add_difference(f"{manifest.FILE}: {gate_problem}")
    comparisons = (
        _compare_glee,
        _compare_flow,
        _compare_codebook,
        _compare_versions,
        _compare_psych_ds,
        _compare_people,
        _compare_parquet,
        _compare_calls,
        partial(_compare_matches, processes=processes),
    )
    for compare in comparisons:
        try:
            compare(folder, listed, present, verification)
        except _malformed() as error:
            verification.add_difference(f"A file cannot be read: {type(error).__name__}: {error}")
    return verification


def _malformed() -> tuple[type[Exception], ...]:
    """Return the exceptions that reading a damaged file may raise."""
    import pyarrow as pa

    return (*_MALFORMED, pa.ArrowException)


# ---- the manifest and the files ------------------------------------------------------------------------


def _read_manifest(folder: Path, verification: Verification) -> Manifest:
    try:
        text = (folder / manifest.FILE).read_bytes().decode("utf-8")
        listed = manifest.read(text)
    except FileNotFoundError:
        raise Unreadable(f"{folder} has no dataset: {manifest.FILE} is missing.") from None
    except (OSError, ValueError) as error:
        raise Unreadable(f"{folder / manifest.FILE} cannot be read: {str(error).splitlines()[0]}") from None
    if listed.format != manifest.FORMAT or listed.format_version != manifest.FORMAT_VERSION:
        raise Unreadable(f"This software does not read the format {listed.format} {listed.format_version}.")
    if listed.rendered() != text:
        verification.add_difference(
            f"{manifest.FILE}: its hash or content differs, so it was changed after the export."
        )
    return listed


def _compare_files(folder: Path, listed: Manifest, verification: Verification) -> set[str]:
    """Compare sizes and hashes; return the names of the listed files that exist."""
    present = set()
    for name, entry in listed.files.items():
        path = folder / name
        if Path(name).name != name or not path.is_file():
            verification.add_difference(f"{name}: the file is missing.")
            continue
        present.add(name)
        verification.files += 1
        if (digest := _sha256(path)) != entry.sha256:
            verification.add_difference(f"{name}: the SHA-256 is {digest}, the manifest has {entry.sha256}.")
    return present


def _compare_glee(folder: Path, listed: Manifest, present: set[str], verification: Verification) -> None:
    """Check that the files of the published layout are exactly those listed."""
    if LISTING not in present:
        return
    listed_count = _compare_tree(folder, LISTING, TREE, verification)
    if listed_count != 2 * listed.flow["matches_in_dataset"]:
        verification.add_difference(
            f"{LISTING}: it has {listed_count} files for {listed.flow['matches_in_dataset']} matches."
        )


def _compare_psych_ds(folder: Path, listed: Manifest, present: set[str], verification: Verification) -> None:
    """Check that the Psych-DS folder is as listed, with the dataset's tables."""
    if psych_ds.LISTING not in present:
        return
    _compare_tree(folder, psych_ds.LISTING, psych_ds.TREE, verification)
    expected = {listed.files[f"{table}.csv"].sha256 for table in psych_ds.tables_in(listed.files)}
    lines = (folder / psych_ds.LISTING).read_text("utf-8").splitlines()
    if {line.partition("  ")[0] for line in lines if line.endswith(".csv")} != expected:
        verification.add_difference(f"{psych_ds.LISTING}: its tables are not those of the dataset.")


def _compare_tree(folder: Path, listing: str, tree: str, verification: Verification) -> int:
    """Check that the files of a folder are those of its list; return how many are listed."""
    listed_names = set()
    for line in (folder / listing).read_text("utf-8").splitlines():
        digest, _space, name = line.partition("  ")
        listed_names.add(name)
        path = folder / name
        if not path.is_file() or _sha256(path) != digest:
            verification.add_difference(f"{name}: the file is missing or was changed.")
    present_names = {path.relative_to(folder).as_posix() for path in (folder / tree).rglob("*") if path.is_file()}
    for name in sorted(present_names - listed_names):
        verification.add_difference(f"{name}: the file is not in the list.")
    verification.files += len(listed_names)
    return len(listed_names)


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as opened:
        while block := opened.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


# ---- tables that describe ------------------------------------------------------------------------------


def _flow_problem(listed: Manifest) -> str | None:
    try:
        return gate.mismatch(listed.flow)
    except (KeyError, TypeError, AttributeError):
        return "the flow cannot be read"


def _compare_flow(folder: Path, listed: Manifest, present: set[str], verification: Verification) -> None:
    if "flow.json" in present and json.loads((folder / "flow.json").read_text("utf-8")) != listed.flow:
        verification.add_difference("flow.json: the flow differs from the manifest's.")
    if "flow.csv" in present:
        expected = [
            {"stage": stage["stage"], "what": outcome, "participants": str(count)}
            for stage in listed.flow["stages"]
            for outcome, count in [("reached", stage["reached"]), *stage["left"].items()]
        ]
        if list(_rows(folder / "flow.csv")) != expected:
            verification.add_difference("flow.csv: the flow differs from the manifest's.")


def _compare_codebook(folder: Path, _listed: Manifest, present: set[str], verification: Verification) -> None:
    """Check that every column of every table has an entry, and every entry a column."""
    if "codebook.csv" not in present:
        return
    entries: dict[str, list[str]] = {}
    for row in _rows(folder / "codebook.csv"):
        entries.setdefault(row["table"], []).append(row["column"])
        if not row["meaning"]:
            verification.add_difference(f"codebook.csv: {row['table']}.{row['column']} has no meaning.")
    if entries.pop("transcripts", None) != [column.name for column in codebook.TRANSCRIPT.columns]:
        verification.add_difference("codebook.csv: the entries of the transcripts' keys are wrong.")
    for name in sorted(present):
        if name.endswith(".csv"):
            with (folder / name).open(encoding="utf-8", newline="") as opened:
                header = next(csv.reader(opened), [])
            if entries.get(name.removesuffix(".csv")) != header:
                verification.add_difference(f"{name}: its columns are not those of the codebook.")


def _compare_versions(folder: Path, listed: Manifest, present: set[str], verification: Verification) -> None:
    if versions.FILE not in present:
        return
    frozen = json.loads((folder / versions.FILE).read_text("utf-8"))
    if [(v["number"], v["sha256"]) for v in frozen] != [(v["number"], v["sha256"]) for v in listed.versions]:
        verification.add_difference(f"{versions.FILE}: the versions are not those of the manifest.")
    for version in frozen:
        for problem in versions.problems(version):
            verification.add_difference(f"{versions.FILE}: {problem}.")
        name = versions.plan_file(version["number"])
        if name in present and (problem := versions.yaml_problem(version, (folder / name).read_text("utf-8"))):
            verification.add_difference(f"{name}: {problem}.")


def _compare_people(folder: Path, listed: Manifest, present: set[str], verification: Verification) -> None:
    """Check the participants' table against the flow."""
    if not present & {"participants.csv", f"participants{parquet.ENDING}"}:
        return
    name, records = _table(folder, "participants")
    header = next(records)
    matches = listed.flow["matches"]
    flow = gate.Flow(
        matches=matches["in_dataset"], unverified=matches["unverified"], excluded_matches=Counter(matches["excluded"])
    )
    for record in records:
        row = dict(zip(header, record, strict=True))
        stage, reasons = row_stage(row), tuple(reason for reason in row["reasons"].split(";") if reason)
        if (row["in_dataset"].upper() == "TRUE") != (stage == "in_dataset") or bool(reasons) == (stage == "in_dataset"):
            verification.add_difference(f"{name}: {row['participant']} is both included and excluded.")
            continue
        if row["reason"] != (reasons[0] if reasons else ""):
            verification.add_difference(f"{name}: {row['participant']}'s reason is not the first of the reasons.")
        flow.count(stage=stage, reasons=reasons)
    if flow.as_dict() != listed.flow:
        verification.add_difference(f"{name}: the rows don't add up to the manifest's flow.")


def row_stage(row: Mapping[str, str]) -> str:
    """Return the stage that a row's participant reached."""
    if row["stage"] not in gate.STAGES:
        raise ValueError(f"there is no stage {row['stage']!r}")
    return row["stage"]


def _compare_parquet(folder: Path, listed: Manifest, present: set[str], verification: Verification) -> None:
    """Check every Parquet file against the codebook's columns, the manifest's number of rows and the CSV file."""
    described: dict[str, list[str]] = {}
    if "codebook.csv" in present:
        for row in _rows(folder / "codebook.csv"):
            described.setdefault(row["table"], []).append(row["column"])
    for name in sorted(present):
        if not name.endswith(parquet.ENDING):
            continue
        table = name.removesuffix(parquet.ENDING)
        try:
            _compare_parquet_file(folder, table, described.get(table), listed, f"{table}.csv" in present, verification)
        except _malformed() as error:
            verification.add_difference(f"{name}: it cannot be read: {type(error).__name__}: {error}")


def _compare_parquet_file(
    folder: Path, table: str, columns: list[str] | None, listed: Manifest, has_csv: bool, verification: Verification
) -> None:
    name = f"{table}{parquet.ENDING}"
    path = folder / name
    header = parquet.columns_in(path)
    if columns is not None and header != columns:
        verification.add_difference(f"{name}: its columns are not those of the codebook.")
    rows = 0
    csv_rows = _records(folder / f"{table}.csv") if has_csv else None
    if csv_rows is not None:
        next(csv_rows, None)
    for rows, values in enumerate(parquet.rows_in(path), start=1):
        if csv_rows is None:
            continue
        csv_row = next(csv_rows, None)
        if csv_row is None or not all(map(_same_value, csv_row, values)):
            verification.add_difference(f"{name}: row {rows} differs from {table}.csv.")
            return
    if not rows == listed.files[name].rows == listed.counts.get(name):
        verification.add_difference(f"{name}: it has {rows} rows, the manifest {listed.files[name].rows}.")
    if csv_rows is not None and next(csv_rows, None) is not None:
        verification.add_difference(f"{name}: it has fewer rows than {table}.csv.")


def _same_value(csv_text: str, value: Any) -> bool:
    """Return whether a CSV cell equals a Parquet value; an empty cell means no value or an empty text."""
    if value is None or value == "":
        return csv_text == ""
    if type(value) is str:
        return csv_text == value or csv_text == defused(value)  # a numeric choice is not quoted in CSV
    return _same(csv_text, value)


# ---- matches -------------------------------------------------------------------------------------------


def _compare_calls(folder: Path, listed: Manifest, present: set[str], verification: Verification) -> None:
    """Check that at most one call of each turn is marked as the move."""
    if "llm_calls.csv" not in present:
        return
    moves: Counter[tuple[str, str, str]] = Counter()
    for row in _rows(folder / "llm_calls.csv"):
        if row.get("outcome") == "move" and row.get("purpose", "move") == "move":
            moves[row["match"], row["role"], row["answering"]] += 1
    for (match, role, answering), calls in moves.items():
        if calls > 1:
            verification.add_difference(
                f"llm_calls.csv: {calls} calls are the move of {role} after event {answering} of {match}."
            )


def _compare_matches(
    folder: Path, listed: Manifest, present: set[str], verification: Verification, processes: int | None = None
) -> None:
    """Replay the transcripts and compare the tables with them, row by row; on every core if there are many.

    Several processes only check whether everything agrees. If not, this one goes through everything and reports the
    differences.
    """
    if TRANSCRIPTS not in present:
        return
    tables = tuple(name for name in derived.ROWS if present & {f"{name}.csv", f"{name}{parquet.ENDING}"})
    rows = _check_in_parallel(folder, tables, verification, processes)
    if rows is None:
        whole_file = _Stretch(folder, tables, 0, None)
        readers, matches, decisions = _replay_stretch(whole_file, verification)
        for table in readers.values():
            table.expect_end()
        verification.matches, verification.decisions = matches, decisions
        rows = {name: table.rows_read for name, table in readers.items()}
    if not listed.include and verification.matches != listed.flow["matches_in_dataset"]:
        verification.add_difference(
            f"{TRANSCRIPTS}: it has {verification.matches} matches, the flow {listed.flow['matches_in_dataset']}."
        )
    for name, entry in listed.files.items():
        rows_read = (
            verification.matches
            if name == TRANSCRIPTS
            else rows.get(name.removesuffix(".csv").removesuffix(parquet.ENDING))
        )
        if rows_read is not None and not rows_read == entry.rows == listed.counts.get(name):
            verification.add_difference(f"{name}: it has {rows_read} rows, the manifest {entry.rows}.")


@dataclass(frozen=True)
class _Stretch:
    """A stretch of the transcripts' lines, by its start and end in the file (None: the file's end)."""

    folder: Path
    tables: tuple[str, ...]
    begin: int
    end: int | None


@dataclass(frozen=True)
class _StretchResult:
    """A process's result: whether its stretch agrees, how much it read, and which rows of each table."""

    agrees: bool
    matches: int = 0
    decisions: int = 0
    rows: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    reached_end: bool = False


def _check_in_parallel(
    folder: Path, tables: tuple[str, ...], verification: Verification, processes: int | None
) -> dict[str, int] | None:
    """Return the number of rows by table if several processes find no difference in their stretches, else None."""
    stretches = _stretches(folder, tables, processes or os.cpu_count() or 1)
    if len(stretches) < 2 or multiprocessing.current_process().daemon:
        return None
    settings_module = settings.SETTINGS_MODULE or os.environ["DJANGO_SETTINGS_MODULE"]
    results = list(
        in_order(
            _check_stretch,
            stretches,
            processes=len(stretches),
            chunk=1,
            start=prepare,
            start_args=(settings_module, None),
            caller_works=True,
            queued=1,
        )
    )
    ends = dict.fromkeys(tables, 0)
    for result in results:
        if not result.agrees or any(result.rows[name][0] != ends[name] for name in tables):
            return None
        ends = {name: result.rows[name][1] for name in tables}
    if not results[-1].reached_end:
        return None
    verification.matches = sum(result.matches for result in results)
    verification.decisions = sum(result.decisions for result in results)
    return ends


def _stretches(folder: Path, tables: tuple[str, ...], number: int) -> list[_Stretch]:
    """Return stretches of whole lines with about equal bytes; only one if there are few lines."""
    path = folder / TRANSCRIPTS
    size = path.stat().st_size
    starts = [0]
    if size >= MIN_BYTES:
        with path.open("rb") as opened:
            for i in range(1, number):
                opened.seek(i * size // number)
                opened.readline()
                starts.append(opened.tell())
    ends = [*starts[1:], None]
    return [
        _Stretch(folder, tables, begin, end)
        for begin, end in zip(starts, ends, strict=True)
        if (size if end is None else end) > begin
    ]


def _check_stretch(stretch: _Stretch) -> _StretchResult:
    """Check one stretch, in its own process."""
    verification = Verification()
    try:
        readers, matches, decisions = _replay_stretch(stretch, verification)
    except _malformed():
        return _StretchResult(agrees=False)
    rows = {name: (table.rows_skipped, table.rows_read) for name, table in readers.items()}
    ended = all(table.ended for table in readers.values())
    return _StretchResult(not verification.differences, matches, decisions, rows, reached_end=ended)


def _replay_stretch(stretch: _Stretch, verification: Verification) -> tuple[dict[str, _TableReader], int, int]:
    """Replay a stretch of the transcripts alongside the tables and count matches and decisions."""
    earlier: set[str] = set()
    matches = decisions = offset = 0
    readers: dict[str, _TableReader] = {}
    with (stretch.folder / TRANSCRIPTS).open("rb") as lines:
        for line in lines:
            if offset < stretch.begin:
                earlier.add(_match_id(line))
            else:
                if not readers:
                    readers = _open_readers(stretch, earlier, verification)
                transcript = json.loads(line)
                matches += 1
                _replay(transcript, verification)
                decisions += _compare_rows(transcript, readers, verification)
            offset += len(line)
            if stretch.end is not None and offset >= stretch.end:
                break
    return readers or _open_readers(stretch, earlier, verification), matches, decisions


def _open_readers(stretch: _Stretch, earlier: Collection[str], verification: Verification) -> dict[str, _TableReader]:
    return {name: _TableReader(stretch.folder, name, verification, earlier) for name in stretch.tables}


def _match_id(line: bytes) -> str:
    """Return a transcript's match, without parsing the rest if it comes first."""
    if prefix := _MATCH_FIRST.match(line):
        return prefix[1].decode()
    return str(json.loads(line)["match"])


def _replay(line: Mapping[str, Any], verification: Verification) -> None:
    """Replay a match and record what differs from the rules."""
    uid = line["match"]
    try:
        game = games.play.configure(registry.get(line["game"]), line["config"])
        if game.rules_version != line["rules_version"]:
            verification.add_difference(
                f"match {uid}: it was played under rules version {line['rules_version']} of {game.key}; this "
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
        verification.add_difference(f"match {uid}: {error}")
        return
    start = events[0].data
    if (start.get("seed"), start.get("game")) != (line["seed"], line["game"]):
        verification.add_difference(f"match {uid}: the seed or game differs from its log.")
    if set(line["players"]) != set(game.roles()) or list(line["seats"]) != list(line["players"]):
        verification.add_difference(f"match {uid}: the players are not the game's.")
    given = {"payoffs": play.payoffs(), "metrics": play.metrics(), "rounds": play.records()}
    for name, value in given.items():
        if _plain(value) != line[name]:
            verification.add_difference(f"match {uid}: the {name} are {line[name]}, the rules give {value}.")
    moves = [event for event in line["events"] if event["kind"] == "move"]
    stages = games.play.stages(game, line["seed"], [(move["role"], move["move"]) for move in moves])
    for move, stage in zip(moves, stages, strict=True):
        if (move["turn"].get("round"), move["turn"].get("phase")) != tuple(stage):
            verification.add_difference(
                f"match {uid}: the rules give round and phase {stage} for event {move['number']}."
            )
    _check_times(line, verification)


def _check_times(line: Mapping[str, Any], verification: Verification) -> None:
    """Compare durations with the points in time, unless these are cut; and their order."""
    for event in line["events"]:
        turn = event.get("turn") or {}
        since, until, seconds = (
            turn.get("shown_at") or turn.get("asked_at"),
            turn.get("answered_at"),
            turn.get("seconds"),
        )
        if since is None or until is None or seconds is None:
            continue
        passed = (datetime.fromisoformat(until) - datetime.fromisoformat(since)).total_seconds()
        if abs(passed - seconds) > (CUT_SECONDS if _is_cut(until) and _is_cut(since) else ROUNDED_SECONDS):
            verification.add_difference(
                f"match {line['match']}: event {event['number']} took {passed} seconds, not {seconds}."
            )


def _is_cut(moment: str) -> bool:
    return moment.endswith(":00.000000Z")


def _replayed_play(game: Game[Any, Any], line: Mapping[str, Any], events: list[Event]) -> games.play.Play:
    """Return the play replayed by the rules; an unverified one is rebuilt from its log.

    Raises:
        GameError: the log is not a valid play.
    """
    if line.get("unverified") is None:
        return games.play.replay_events(game, events)
    moves = [(event.data["role"], event.data["move"]) for event in events if event.kind == "move"]
    return games.play.record_moves(game, line["seed"], moves)[0]


def _compare_rows(line: Mapping[str, Any], readers: Mapping[str, _TableReader], verification: Verification) -> int:
    """Compare every column of a match's rows with what its transcript gives; return the number of decisions."""
    uid = line["match"]
    for name, reader in readers.items():
        expected, found = list(derived.ROWS[name][1](line)), reader.rows_of(uid)
        if len(found) != len(expected):
            verification.add_difference(
                f"{reader.name}: match {uid} has {len(found)} rows, its transcript gives {len(expected)}."
            )
        first = reader.rows_read - len(found) + 1
        for number, (row, values) in enumerate(zip(found, expected, strict=False), start=first):
            reader.compare(number, row, values)
    return sum(event["kind"] == "move" for event in line["events"])


class _TableReader:
    """A table read alongside the transcripts: the rows of a match are together, in the same order.

    Args:
        earlier: matches before this stretch, whose rows another process checks.

    Attributes:
        rows_skipped, rows_read: rows skipped as earlier ones, and rows read so far, including these.
    """

    def __init__(self, folder: Path, table: str, verification: Verification, earlier: Collection[str] = ()):
        self.name, self._records = _table(folder, table)
        self.rows_read = 0
        self._verification = verification
        self._header = next(self._records, [])
        self._match = self._header.index("match")
        self._columns = columns.readers(derived.ROWS[table][0], self._header)
        self._next: list[str] | None = None
        self._advance()
        while earlier and self._next is not None and self._next[self._match] in earlier:
            self._step()
        self.rows_skipped = self.rows_read

    @property
    def ended(self) -> bool:
        """Whether every row was read."""
        return self._next is None

    def rows_of(self, uid: str) -> list[list[str]]:
        """Return the rows of this match, if they are next."""
        rows = []
        while self._next is not None and self._next[self._match] == uid:
            rows.append(self._next)
            self._step()
        return rows

    def compare(self, number: int, row: Sequence[str], expected: Any) -> None:
        """Compare every column of row `number`, from 1, with the derived row."""
        for (column, read), found in zip(self._columns, row, strict=True):
            if not _same(found, value := read(expected)):
                self._verification.add_difference(
                    f"{self.name}: row {number}: {column} is {found!r}, it should be {value!r}."
                )

    def expect_end(self) -> None:
        while self._next is not None:
            self._verification.add_difference(
                f"{self.name}: a row of match {self._next[self._match]} is not in the transcripts."
            )
            self._step()

    def _step(self) -> None:
        self.rows_read += 1
        self._advance()

    def _advance(self) -> None:
        self._next = next(self._records, None)
        if self._next is not None and len(self._next) != len(self._header):
            raise ValueError(f"{self.name} has a record with too many or too few cells")


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


def _plain(data: Any) -> Any:
    return json.loads(json.dumps(data))
