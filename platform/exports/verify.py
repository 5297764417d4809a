"""Checking a dataset against itself and against the rules of its games. Needs no database."""

from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import games.play
from exports import codebook, gate, manifest
from exports.csvsafe import cell, compact_json
from exports.dataset import VERSIONS
from exports.errors import ExportError, Unreadable
from exports.glee_files import LISTING, TREE
from exports.manifest import Manifest
from exports.tables import move_column
from exports.transcripts import TRANSCRIPTS
from games import registry
from games.errors import GameError
from games.interface import Event, Game
from studies.freezing import sha256_of

_BLOCK = 1024 * 1024
_MALFORMED = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError, csv.Error, ExportError)
csv.field_size_limit(2**31 - 1)


@dataclass
class Verification:
    """What was found: `differences` in words, and how much was checked."""

    differences: list[str] = field(default_factory=list)
    files: int = 0
    matches: int = 0
    decisions: int = 0

    def differ(self, what: str) -> None:
        self.differences.append(what)


def verify(folder: Path) -> list[str]:
    """Every difference between a dataset and what it should be; an empty list when there is none.

    Raises:
        Unreadable: there is no dataset in `folder`.
    """
    return examine(folder).differences


def examine(folder: Path) -> Verification:
    """Hash every file, replay every match and compare all that can be computed again.

    Raises:
        Unreadable: there is no dataset in `folder`.
    """
    folder = Path(folder)
    found = Verification()
    listed = _read_manifest(folder, found)
    present = _compare_files(folder, listed, found)
    if gate_problem := _flow_problem(listed):
        found.differ(f"{manifest.FILE}: {gate_problem}")
    comparisons = (
        _compare_glee,
        _compare_flow,
        _compare_codebook,
        _compare_versions,
        _compare_people,
        _compare_matches,
    )
    for compare in comparisons:
        try:
            compare(folder, listed, present, found)
        except _MALFORMED as error:
            found.differ(f"A file cannot be read as what it should be: {type(error).__name__}: {error}")
    return found


# ---- the manifest and the files ------------------------------------------------------------------------


def _read_manifest(folder: Path, found: Verification) -> Manifest:
    try:
        text = (folder / manifest.FILE).read_bytes().decode("utf-8")
        listed = manifest.read(text)
    except FileNotFoundError:
        raise Unreadable(f"There is no dataset in {folder}: it has no {manifest.FILE}.") from None
    except (OSError, ValueError) as error:
        raise Unreadable(f"{folder / manifest.FILE} cannot be read: {str(error).splitlines()[0]}") from None
    if listed.format != manifest.FORMAT or listed.format_version > manifest.FORMAT_VERSION:
        raise Unreadable(f"{listed.format} {listed.format_version} is not a format that this software reads.")
    if listed.rendered() != text:
        found.differ(f"{manifest.FILE}: its own hash or wording differs, so it was changed after the export.")
    return listed


def _compare_files(folder: Path, listed: Manifest, found: Verification) -> set[str]:
    """Sizes and hashes; returns the names of the listed files that are there."""
    present = set()
    for name, entry in listed.files.items():
        path = folder / name
        if Path(name).name != name or not path.is_file():
            found.differ(f"{name}: the file is missing.")
            continue
        present.add(name)
        found.files += 1
        digest = hashlib.sha256()
        with path.open("rb") as opened:
            while block := opened.read(_BLOCK):
                digest.update(block)
        if digest.hexdigest() != entry.sha256:
            found.differ(f"{name}: the SHA-256 is {digest.hexdigest()}, the manifest has {entry.sha256}.")
    return present


def _compare_glee(folder: Path, listed: Manifest, present: set[str], found: Verification) -> None:
    """The files of the published layout are those of the list, no more and no fewer."""
    if LISTING not in present:
        return
    named = set()
    for line in (folder / LISTING).read_text("utf-8").splitlines():
        digest, _blank, name = line.partition("  ")
        named.add(name)
        path = folder / name
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            found.differ(f"{name}: the file is missing or was changed.")
    there = {path.relative_to(folder).as_posix() for path in (folder / TREE).rglob("*") if path.is_file()}
    for name in sorted(there - named):
        found.differ(f"{name}: the file is not in the list.")
    if len(named) != 2 * listed.flow["matches_in_dataset"]:
        found.differ(f"{LISTING}: it has {len(named)} files for {listed.flow['matches_in_dataset']} matches.")
    found.files += len(named)


# ---- tables that describe ------------------------------------------------------------------------------


def _flow_problem(listed: Manifest) -> str | None:
    try:
        return gate.mismatch(listed.flow)
    except (KeyError, TypeError, AttributeError):
        return "the flow cannot be read"


def _compare_flow(folder: Path, listed: Manifest, present: set[str], found: Verification) -> None:
    if "flow.json" in present and json.loads((folder / "flow.json").read_text("utf-8")) != listed.flow:
        found.differ("flow.json: it is not the flow of the manifest.")
    if "flow.csv" in present:
        expected = [
            {"stage": stage["stage"], "what": what, "participants": str(count)}
            for stage in listed.flow["stages"]
            for what, count in [("reached", stage["reached"]), *stage["left"].items()]
        ]
        if list(_rows(folder / "flow.csv")) != expected:
            found.differ("flow.csv: it is not the flow of the manifest.")


def _compare_codebook(folder: Path, listed: Manifest, present: set[str], found: Verification) -> None:
    """Every column of every table has its entry, and every entry its column."""
    if "codebook.csv" not in present:
        return
    entries: dict[str, list[str]] = {}
    for row in _rows(folder / "codebook.csv"):
        entries.setdefault(row["table"], []).append(row["column"])
        if not row["meaning"]:
            found.differ(f"codebook.csv: {row['table']}.{row['column']} has no meaning.")
    if entries.pop("transcripts", None) != [column.name for column in codebook.TRANSCRIPT]:
        found.differ("codebook.csv: the keys of the transcripts are not described as they are.")
    for name in sorted(present):
        if name.endswith(".csv"):
            with (folder / name).open(encoding="utf-8", newline="") as opened:
                header = next(csv.reader(opened), [])
            if entries.get(name.removesuffix(".csv")) != header:
                found.differ(f"{name}: its columns are not those of the codebook.")


def _compare_versions(folder: Path, listed: Manifest, present: set[str], found: Verification) -> None:
    if VERSIONS not in present:
        return
    frozen = json.loads((folder / VERSIONS).read_text("utf-8"))
    if [(v["number"], v["sha256"]) for v in frozen] != [(v["number"], v["sha256"]) for v in listed.versions]:
        found.differ(f"{VERSIONS}: the versions are not those of the manifest.")
    for version in frozen:
        if sha256_of(version["content"]) != version["sha256"]:
            found.differ(f"{VERSIONS}: the content of version {version['number']} does not have its hash.")


def _compare_people(folder: Path, listed: Manifest, present: set[str], found: Verification) -> None:
    """The participants' table gives the flow again."""
    if "participants.csv" not in present:
        return
    matches = listed.flow["matches"]
    flow = gate.Flow(
        matches=matches["in_dataset"], unverified=matches["unverified"], kept_out=Counter(matches["excluded"])
    )
    for row in _rows(folder / "participants.csv"):
        stage, reasons = row_stage(row), tuple(reason for reason in row["reasons"].split(";") if reason)
        if (row["in_dataset"] == "true") != (stage == "in_dataset") or bool(reasons) == (stage == "in_dataset"):
            found.differ(f"participants.csv: {row['participant']} is both in the dataset and out of it.")
            continue
        if row["reason"] != (reasons[0] if reasons else ""):
            found.differ(f"participants.csv: {row['participant']}'s reason is not the first of the reasons.")
        flow.count(stage=stage, reasons=reasons)
    if flow.as_dict() != listed.flow:
        found.differ("participants.csv: it does not give the flow of the manifest.")


def row_stage(row: Mapping[str, str]) -> str:
    """How far the participant of a row came."""
    if row["stage"] not in gate.STAGES:
        raise ValueError(f"there is no stage {row['stage']!r}")
    return row["stage"]


# ---- matches -------------------------------------------------------------------------------------------


def _compare_matches(folder: Path, listed: Manifest, present: set[str], found: Verification) -> None:
    """Replay the transcripts and walk the tables beside them, row by row."""
    if TRANSCRIPTS not in present:
        return
    beside = {
        name: _Beside(folder / f"{name}.csv", found)
        for name in ("matches", "decisions", "messages")
        if f"{name}.csv" in present
    }
    with (folder / TRANSCRIPTS).open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            transcript = json.loads(line)
            found.matches += 1
            _replay(transcript, found)
            _compare_rows(transcript, beside, found)
    for table in beside.values():
        table.expect_end()
    if found.matches != listed.flow["matches_in_dataset"]:
        found.differ(f"{TRANSCRIPTS}: it has {found.matches} matches, the flow {listed.flow['matches_in_dataset']}.")
    for name, entry in listed.files.items():
        rows = beside[name.removesuffix(".csv")].read if name.removesuffix(".csv") in beside else None
        if name == TRANSCRIPTS:
            rows = found.matches
        if rows is not None and not rows == entry.rows == listed.counts.get(name):
            found.differ(f"{name}: it has {rows} rows, the manifest {entry.rows}.")


def _replay(transcript: Mapping[str, Any], found: Verification) -> None:
    uid = transcript["match"]
    try:
        game = games.play.configure(registry.get(transcript["game"]), transcript["config"])
        if game.rules_version != transcript["rules_version"]:
            found.differ(
                f"match {uid}: it was played under rules version {transcript['rules_version']} of {game.key}, "
                f"this code has the {'newer' if game.rules_version > transcript['rules_version'] else 'older'} version "
                f"{game.rules_version}; check it with the code revision named in the manifest."
            )
            return
        events = [
            Event(event["number"], event["kind"], {k: v for k, v in event.items() if k not in ("number", "kind")})
            for event in transcript["events"]
        ]
        play = _played_again(game, transcript, events)
    except GameError as error:
        found.differ(f"match {uid}: {error}")
        return
    start = events[0].data
    if (start.get("seed"), start.get("game")) != (transcript["seed"], transcript["game"]):
        found.differ(f"match {uid}: the seed or game is not the one that its log starts with.")
    if _plain(play.payoffs()) != _plain(transcript["payoffs"]):
        found.differ(f"match {uid}: the payoffs are {transcript['payoffs']}, the rules give {play.payoffs()}.")
    if _plain(play.metrics()) != _plain(transcript["metrics"]):
        found.differ(f"match {uid}: the metrics are {transcript['metrics']}, the rules give {play.metrics()}.")
    if set(transcript["players"]) != set(game.roles()):
        found.differ(f"match {uid}: the players are not those of the game.")


def _played_again(game: Game[Any, Any], transcript: Mapping[str, Any], events: list[Event]) -> games.play.Play:
    """The play that the log makes by the rules; an unverified one is written down again as it stands.

    Raises:
        GameError: it does not make one.
    """
    if transcript["unverified"] is None:
        return games.play.replay_events(game, events)
    moves = [(event.data["role"], event.data["move"]) for event in events if event.kind == "move"]
    return games.play.record_moves(game, transcript["seed"], moves)[0]


def _compare_rows(transcript: Mapping[str, Any], beside: Mapping[str, _Beside], found: Verification) -> None:
    """Compare a transcript with its rows in the tables."""
    uid = transcript["match"]
    moves = [event for event in transcript["events"] if event["kind"] == "move"]
    messages = [event for event in moves if event["move"].get("message") is not None]
    found.decisions += len(moves)
    if "matches" in beside:
        rows = beside["matches"].rows_of(uid)
        if len(rows) != 1:
            found.differ(f"matches.csv: match {uid} has {len(rows)} rows.")
        for row in rows:
            beside["matches"].compare(uid, row, expected_match(transcript, row, len(moves), len(messages)))
    if "decisions" in beside:
        rows = beside["decisions"].rows_of(uid)
        if len(rows) != len(moves):
            found.differ(f"decisions.csv: match {uid} has {len(rows)} rows, its transcript {len(moves)} moves.")
        for i, (row, event) in enumerate(zip(rows, moves, strict=False), start=1):
            beside["decisions"].compare(uid, row, expected_decision(transcript, row, event, i))
    if "messages" in beside:
        rows = beside["messages"].rows_of(uid)
        if len(rows) != len(messages):
            found.differ(f"messages.csv: match {uid} has {len(rows)} rows, its transcript {len(messages)} messages.")
        for row, event in zip(rows, messages, strict=False):
            beside["messages"].compare(uid, row, expected_message(transcript, event))


def expected_match(
    transcript: Mapping[str, Any], row: Mapping[str, str], decisions: int, messages: int
) -> dict[str, Any]:
    """What a row of matches.csv must hold, as far as the transcript says it."""
    same = ("match", "game", "rules_version", "version", "seed", "source", "name", "unverified")
    expected: dict[str, Any] = {name: transcript[name] for name in same}
    expected |= {"decisions": decisions, "messages": messages, "in_dataset": True}
    for name, value in transcript["metrics"].items():
        column = f"metric_{name}" if f"metric_{name}" in row else name
        if column in row:
            expected[column] = value
    for prefix, values in (("config_", "config"), ("payoffs_", "payoffs"), ("player_", "players")):
        for column in row:
            if column.startswith(prefix) and column not in expected:
                expected[column] = transcript[values].get(column.removeprefix(prefix))
    return expected


def expected_decision(
    transcript: Mapping[str, Any], row: Mapping[str, str], event: Mapping[str, Any], move_number: int
) -> dict[str, Any]:
    """What a row of decisions.csv must hold, as far as the transcript says it."""
    expected: dict[str, Any] = {column: None for column in row if column.startswith("move_")}
    expected |= {column: value for name, value in event["move"].items() if (column := move_column(name)) in row}
    return expected | {
        "match": transcript["match"],
        "move_number": move_number,
        "number": event["number"],
        "role": event["role"],
        "player": transcript["players"][event["role"]],
        "by": event.get("by"),
        "move": compact_json(event["move"]),
    }


def expected_message(transcript: Mapping[str, Any], event: Mapping[str, Any]) -> dict[str, Any]:
    """What a row of messages.csv must hold."""
    text = event["move"]["message"]
    return {
        "match": transcript["match"],
        "number": event["number"],
        "role": event["role"],
        "player": transcript["players"][event["role"]],
        "text": text,
        "characters": len(text),
        "words": len(text.split()),
    }


class _Beside:
    """A table walked along with the transcripts: its rows of one match stand together, in the same order."""

    def __init__(self, path: Path, found: Verification):
        self.name = path.name
        self.read = 0
        self._found = found
        self._rows = _rows(path)
        self._next: dict[str, str] | None = next(self._rows, None)

    def rows_of(self, uid: str) -> list[dict[str, str]]:
        """The rows of this match, if they are next."""
        rows = []
        while self._next is not None and self._next["match"] == uid:
            rows.append(self._next)
            self._step()
        return rows

    def compare(self, uid: str, row: Mapping[str, str], expected: Mapping[str, str]) -> None:
        for column, value in expected.items():
            if column not in row or not _same(row[column], value):
                self._found.differ(
                    f"{self.name}: match {uid}: {column} is {row.get(column)!r}, it should be {value!r}."
                )

    def expect_end(self) -> None:
        while self._next is not None:
            self._found.differ(f"{self.name}: a row of match {self._next['match']} has no place in the transcripts.")
            self._step()

    def _step(self) -> None:
        self.read += 1
        self._next = next(self._rows, None)


def _same(written: str, expected: Any) -> bool:
    """Equal as text; numbers numerically, so that 5 and 5.0 are the same."""
    if isinstance(expected, int | float) and not isinstance(expected, bool):
        try:
            return float(written) == expected
        except ValueError:
            return False
    return written == cell(expected)


def _rows(path: Path) -> Iterator[dict[str, str]]:
    """The records of a CSV file.

    Raises:
        ValueError: a record has not one cell per column.
    """
    with path.open(encoding="utf-8", newline="") as opened:
        for row in csv.DictReader(opened, strict=True):
            if None in row or None in row.values():
                raise ValueError(f"{path.name} has a record with too many or too few cells")
            yield row


def _plain(data: Any) -> Any:
    return json.loads(json.dumps(data))
