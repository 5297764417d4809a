"""A session of an oTree experiment as a dataset: from its file all_apps_wide.csv to tables for `manage.py analyse`.

docs/otree.md has the mapping. The dataset has no transcripts: its results are oTree's, and cannot be replayed.
"""

from __future__ import annotations

import csv
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

from django.utils import timezone

from exports.columns import Column, Design, Kind, Row, Table, described_in, table_of
from exports.csvsafe import cell
from exports.derived import Matches
from exports.errors import ExportError
from exports.folder import PIECES, Folder
from exports.manifest import Manifest, software_version
from exports.parquet import ENDING
from exports.pieces import Pieces
from exports.tables import Codebook

NOTICE = "Data of an oTree session. Results are as oTree exported them; there are no transcripts to verify them by."
MAX_CHOICES = 20
"""Number of different texts up to which a column is a choice."""
_IN_ROUND = re.compile(r"([A-Za-z]\w*)\.(\d+)\.(player|group|subsession)\.(\w+)")
_CONFIG = "session.config."
_OWN_CONFIG = frozenset({
    "name", "display_name", "doc", "app_sequence", "num_demo_participants", "participation_fee",
    "real_world_currency_per_point",
})  # fmt: skip
"""Settings of every oTree session, which are not parameters of the game."""
_STRUCTURE = frozenset({"id_in_group", "role", "payoff", "id_in_subsession", "round_number"})
_TAKEN = frozenset(described_in(Matches))
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class NotASession(ExportError):
    """The file is not a session's wide export, or does not hold what was asked for."""


class _Place(NamedTuple):
    """Where a column of the file belongs."""

    app: str
    round: int
    of: str
    field: str


@dataclass
class _Match:
    """A group in a round."""

    session: str
    round: int
    group: int
    members: list[_Person] = field(default_factory=list)
    uid: str = ""


@dataclass(frozen=True)
class _Person:
    """A row of the file."""

    number: int
    cells: Mapping[str, str]

    @property
    def pseudonym(self) -> str:
        return f"p{self.number:06}"

    def get(self, name: str) -> str | None:
        """Return the cell of a column; None if it is empty or missing."""
        return self.cells.get(name) or None

    @property
    def came(self) -> bool:
        started = ("participant.time_started_utc", "participant.time_started")
        return self.get("participant.visited") not in (None, "0") or any(map(self.get, started))

    @property
    def player(self) -> str:
        return "script:bot" if self.get("participant._is_bot") == "1" else "human"

    @property
    def arrived_at(self) -> datetime | None:
        text = self.get("participant.time_started_utc")
        try:
            when = datetime.fromisoformat(text) if text else None
        except ValueError:
            return None
        return when and (when if when.tzinfo else when.replace(tzinfo=UTC))


class Session:
    """The content of a wide export, read for one of its apps.

    Args:
        app: the app whose groups become matches; by default the only one, or the only one in which people meet.
        factors: fields that the researcher set as treatments, such as "group.treatment" or "session.config.stake".

    Raises:
        NotASession: with a sentence for the researcher.
    """

    def __init__(self, file: Path, *, app: str = "", factors: Sequence[str] = ()):
        try:
            with file.open(encoding="utf-8-sig", newline="") as opened:
                rows = list(csv.DictReader(opened))
        except (OSError, UnicodeDecodeError, csv.Error) as problem:
            raise NotASession(f"{file} cannot be read: {problem}.") from None
        self.header = list(rows[0]) if rows else []
        self.places = {
            name: _Place(m[1], int(m[2]), m[3], m[4]) for name in self.header if (m := _IN_ROUND.fullmatch(name))
        }
        if not self.places or "session.code" not in self.header:
            raise NotASession(f"{file.name} is not oTree's file all_apps_wide.csv, or nobody is in it.")
        people = [_Person(number, row) for number, row in enumerate(rows, start=1)]
        self.invited, self.people = len(people), [person for person in people if person.came]
        self.app = app or self._only_app()
        if self.app not in self.apps:
            raise NotASession(f"No app is called {self.app}. The file has {', '.join(self.apps)}.")
        self.factors = dict(self._factor(name) for name in factors)

    @cached_property
    def apps(self) -> list[str]:
        """The apps in the order of the session."""
        return list(dict.fromkeys(place.app for place in self.places.values()))

    def _only_app(self) -> str:
        meeting = [app for app in self.apps if _meet(self._matches_of(app))]
        if len(candidates := meeting or self.apps) > 1:
            raise NotASession(f"Choose the app whose groups are the matches: {', '.join(candidates)}.")
        return candidates[0]

    def _factor(self, name: str) -> tuple[str, str]:
        """Return a factor's name and its field."""
        known = {f"{place.of}.{place.field}" for place in self.places.values() if place.app == self.app}
        if name not in known and not (name.startswith(_CONFIG) and name in self.header):
            raise NotASession(
                f"No field is called {name}: a factor is one of {', '.join(sorted(known))}, or {_CONFIG}…."
            )
        return name.rpartition(".")[2], name

    # ---- matches -----------------------------------------------------------------------------------------

    @cached_property
    def matches(self) -> list[_Match]:
        """The groups of the app, by session, round and group; each has an identifier."""
        found = self._matches_of(self.app)
        for number, match in enumerate(found, start=1):
            match.uid = f"m{number:06}"
        return found

    def _matches_of(self, app: str) -> list[_Match]:
        own: dict[int, list[str]] = {}
        for name, place in self.places.items():
            if place.app == app:
                entered = place.of != "subsession" and place.field not in _STRUCTURE
                own.setdefault(place.round, []).extend([name] if entered else [])
        found: dict[tuple[str, int, int], _Match] = {}
        for person in self.people:
            for number, names in own.items():
                group = person.get(f"{app}.{number}.group.id_in_subsession")
                # oTree fills in the structure of rounds that a person never reached.
                if group is None or (names and not any(map(person.get, names))):
                    continue
                key = person.get("session.code") or "", number, int(float(group))
                found.setdefault(key, _Match(*key)).members.append(person)
        for match in found.values():
            match.members.sort(key=lambda person: float(person.get(f"{app}.{match.round}.player.id_in_group") or 0))
        return [found[key] for key in sorted(found)]

    def value(self, match: _Match, person: _Person, of: str, name: str) -> str | None:
        """Return a field of the player, group or subsession, in the match's round."""
        return person.get(f"{self.app}.{match.round}.{of}.{name}")

    def role(self, match: _Match, person: _Person) -> str:
        """Return the player's role in small letters or, where members have none of their own, p1, p2, …"""
        roles = [self.value(match, each, "player", "role") for each in match.members]
        if None in roles or len(set(roles)) < len(roles):
            return f"p{match.members.index(person) + 1}"
        return re.sub(r"\W+", "_", (self.value(match, person, "player", "role") or "").lower()).strip("_")

    @cached_property
    def roles(self) -> list[str]:
        return sorted({self.role(match, person) for match in self.matches for person in match.members})

    @cached_property
    def fields(self) -> Mapping[str, list[str]]:
        """The app's own fields of the player, group and subsession, in the file's order."""
        found: dict[str, dict[str, None]] = {"player": {}, "group": {}, "subsession": {}}
        for place in self.places.values():
            if place.app == self.app and place.field not in _STRUCTURE and not place.field.startswith("_"):
                found[place.of][place.field] = None
        return {of: [*names] for of, names in found.items()}

    def factor(self, name: str, match: _Match | None, person: _Person) -> str | None:
        """Return the level of a factor; None if it is a field of a match that the person did not play."""
        path = self.factors[name]
        if path.startswith(_CONFIG):
            return person.get(path)
        return self.value(match, person, *path.split(".")) if match else None

    @cached_property
    def _cells(self) -> list[tuple[str | None, ...]]:
        levels = {self._levels(match, person) for match in self.matches for person in match.members}
        return sorted(levels, key=lambda each: [str(level) for level in each])

    def _levels(self, match: _Match | None, person: _Person) -> tuple[str | None, ...]:
        return tuple(self.factor(name, match, person) for name in self.factors)

    def cell(self, match: _Match | None, person: _Person) -> str | None:
        """Return the number of the factors' combination, from 1; None if the person has none."""
        levels = self._levels(match, person)
        return str(self._cells.index(levels) + 1) if levels in self._cells else None

    # ---- tables ------------------------------------------------------------------------------------------

    def tables(self) -> dict[str, tuple[Table, list[dict[str, str | None]]]]:
        """Return each table with its rows of text."""
        return {
            "matches": _typed("matches", "One row per group and round.", self._match_rows(), self._meanings()),
            "seats": _typed("seats", "One row per player, group and round.", self._seat_rows(), self._meanings()),
            "participants": _typed(
                "participants", "One row per person who came.", self._people_rows(), self._meanings()
            ),
        }

    def _match_rows(self) -> Iterator[dict[str, str | None]]:
        config = [
            name for name in self.header if name.startswith(_CONFIG) and name.rpartition(".")[2] not in _OWN_CONFIG
        ]
        for match in self.matches:
            first = match.members[0]
            seats = {self.role(match, person): person for person in match.members}
            row: dict[str, str | None] = {"match": match.uid, "game": self.app, "purpose": "study", "source": "otree"}
            row |= {"version": "1", "cell": self.cell(match, first)}
            row |= {"name": f"{match.session}, round {match.round}, group {match.group}", "session": str(match.round)}
            for role in self.roles:
                row[f"player_{role}"] = seats[role].player if role in seats else None
            for role in self.roles:
                row[f"participant_{role}"] = seats[role].pseudonym if role in seats else None
            row |= {f"factor_{name}": self._shared(name, match) for name in self.factors}
            row |= {
                f"config_{name.removeprefix(_CONFIG)}": first.get(name)
                for name in config
                if name not in self.factors.values()
            }
            row |= self._fields_of(match, first, "subsession", "config_")
            for role in self.roles:
                payoff = self.value(match, seats[role], "player", "payoff") if role in seats else None
                row[f"payoffs_{role}"] = payoff
            row |= {_result(name): value for name, value in self._fields_of(match, first, "group", "").items()}
            for role in self.roles:
                own = self._fields_of(match, seats[role], "player", f"{role}_") if role in seats else {}
                row |= own or {f"{role}_{name}": None for name in self.fields["player"]}
            yield {**row, "in_dataset": "1"}

    def _shared(self, name: str, match: _Match) -> str | None:
        """Return the level that all members share; None if they differ."""
        levels = {self.factor(name, match, person) for person in match.members}
        return levels.pop() if len(levels) == 1 else None

    def _fields_of(self, match: _Match, person: _Person, of: str, prefix: str) -> dict[str, str | None]:
        names = (name for name in self.fields[of] if f"{of}.{name}" not in self.factors.values())
        return {f"{prefix}{name}": self.value(match, person, of, name) for name in names}

    def _seat_rows(self) -> Iterator[dict[str, str | None]]:
        for match in self.matches:
            for person in match.members:
                row: dict[str, str | None] = {"match": match.uid, "role": self.role(match, person)}
                row |= {"player": person.player, "participant": person.pseudonym}
                row["payoff"] = self.value(match, person, "player", "payoff")
                row |= {f"factor_{name}": self.factor(name, match, person) for name in self.factors}
                yield {**row, "in_dataset": "1"}

    def _people_rows(self) -> Iterator[dict[str, str | None]]:
        played = {person.number: match for match in reversed(self.matches) for person in match.members}
        for person in self.people:
            match = played.get(person.number)
            row: dict[str, str | None] = {
                "participant": person.pseudonym,
                "state": "completed" if match else "left",
                "stage": "finished" if match else "arrived",
            }
            row |= {"role": self.role(match, person) if match else None, "match": match.uid if match else None}
            row |= {"version": "1", "cell": self.cell(match, person)}
            row |= {f"factor_{name}": self.factor(name, match, person) for name in self.factors}
            row |= {"arrived_at": when.isoformat() if (when := person.arrived_at) else None, "recruiter": "otree"}
            yield {**row, **self._answers(person), "in_dataset": "1" if match else "0"}

    def _answers(self, person: _Person) -> dict[str, str | None]:
        """Return what the person entered in other apps, before or after the game, of the last round with a value."""
        answers: dict[str, str | None] = {}
        for name, place in self.places.items():
            if place.app == self.app or place.of != "player" or place.field in _STRUCTURE:
                continue
            when = "before" if self.apps.index(place.app) < self.apps.index(self.app) else "after"
            column = f"survey_{when}_{place.app}_{place.field}"
            answers[column] = person.get(name) or answers.get(column)
        return answers

    def _meanings(self) -> dict[str, str]:
        """Return what columns mean, where their names do not say where they come from."""
        meanings = {f"factor_{name}": f"Treatment: {path} of oTree." for name, path in self.factors.items()}
        meanings |= {_result(name): f"Field of the group in {self.app}." for name in self.fields["group"]}
        for role in self.roles:
            meanings |= {
                f"{role}_{name}": f"Field of the player {role} in {self.app}: {name}." for name in self.fields["player"]
            }
            meanings[f"payoffs_{role}"] = f"Payoff of {role}."
        return meanings

    def flow(self) -> dict[str, Any]:
        """Return the counts of people and matches, as in every manifest."""
        finished = len({person.number for match in self.matches for person in match.members})
        left = {"left": len(self.people) - finished} if finished < len(self.people) else {}
        return {
            "arrived": len(self.people),
            "in_dataset": finished,
            "stages": [
                {"stage": "arrived", "reached": len(self.people), "left": left},
                {"stage": "in_dataset", "reached": finished, "left": {}},
            ],
            "matches": {
                "seen": len(self.matches),
                "in_dataset": len(self.matches),
                "unverified": len(self.matches),
                "excluded": {},
            },
        }


def _result(name: str) -> str:
    """Return the column of a group's field, which must not be another column's."""
    return f"group_{name}" if name in _TAKEN else name


def _meet(matches: Sequence[_Match]) -> bool:
    """Whether people meet in groups; where everybody plays alone, oTree puts the whole session into one group."""
    sessions = Counter((match.session, match.round) for match in matches)
    return max(sessions.values(), default=0) > 1 and any(len(match.members) > 1 for match in matches)


# ---- types -----------------------------------------------------------------------------------------------------


_KINDS: Mapping[str, Kind] = {
    "match": "identifier", "name": "text", "session": "integer",
    "version": "integer", "cell": "integer", "in_dataset": "boolean", "arrived_at": "time",
}  # fmt: skip


def _typed(
    name: str, meaning: str, rows: Iterable[dict[str, str | None]], meanings: Mapping[str, str]
) -> tuple[Table, list[dict[str, str | None]]]:
    """Return a table whose columns have the kinds that all their values have."""
    listed = list(rows)
    names = list(dict.fromkeys(column for row in listed for column in row))
    columns = []
    for column in names:
        values = [value for row in listed if (value := row.get(column)) is not None]
        kind = _kind(column, values)
        choices = ", ".join(sorted(set(values))) if kind == "choice" else ""
        columns.append(Column(column, kind, meanings.get(column, ""), partial(_read, kind, column), values=choices))
    return Table(name, meaning, columns), listed


def _kind(column: str, values: Sequence[str]) -> Kind:
    if column in _KINDS:
        return _KINDS[column]
    if column.startswith(("participant", "player_")) or column in ("game", "role", "player", "state", "stage"):
        return "identifier" if column.startswith("participant") else "choice"
    if values and all(_NUMBER.fullmatch(value) for value in values):
        if set(values) <= {"0", "1"}:
            return "boolean"
        return "integer" if all(float(value).is_integer() and "." not in value for value in values) else "number"
    return "choice" if len(set(values)) <= MAX_CHOICES else "text"


def _read(kind: Kind, column: str, row: Mapping[str, str | None]) -> Any:
    value = row.get(column)
    if value is None:
        return None
    if kind == "boolean":
        return value == "1"
    readers: Mapping[Kind, Callable[[str], Any]] = {"integer": int, "number": float, "time": datetime.fromisoformat}
    return readers.get(kind, str)(value)


# ---- writing ---------------------------------------------------------------------------------------------------


def write(session: Session, folder: Path, *, title: str, overwrite: bool = False) -> Manifest:
    """Write the session's dataset.

    Raises:
        FolderInUse: nothing was written.
    """
    content = session.tables()
    tables = [table for table, _rows in content.values()]
    book = table_of(Codebook, Design(None, None))
    files: dict[str, Table | None] = {f"{table.name}{ending}": table for table in tables for ending in (".csv", ENDING)}
    files["codebook.csv"] = book
    with Folder(folder, names=list(files), overwrite=overwrite) as target:
        target.open_for_pieces(files)
        scratch = Path(tempfile.mkdtemp(dir=target.path, prefix=PIECES))
        with Pieces(scratch, files) as pieces:
            for table, rows in content.values():
                for row in rows:
                    pieces.row(table.name, row)
            for table in tables:
                for column in table.columns:
                    pieces.row(book.name, Row(table=table.name, **vars(column)))
        target.join(scratch, pieces.rows)
        target.close()
        now, entries = cell(timezone.now()), dict(sorted(target.entries.items()))
        made = Manifest(
            study={"slug": session.app, "title": title, "purpose": "study", "source": "otree"},
            demonstration=False,
            notice=NOTICE,
            created_at=now,
            cutoff=now,
            software={"name": "Parley", "version": software_version()},
            versions=(),
            formats=("csv", "parquet"),
            files=entries,
            counts={name: entry.rows for name, entry in entries.items() if entry.rows is not None},
            flow=session.flow(),
        )
        target.seal(made.rendered())
    return made
