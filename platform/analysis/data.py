"""A dataset as `manage.py export_dataset` writes it, as typed pandas frames that are read when they are touched."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis import charts
from analysis.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

    from analysis.results import Options, Outcome

MANIFEST = "manifest.json"
FORMAT, FORMAT_VERSION = "parley-dataset", 5
TABLES = (
    "matches", "seats", "rounds", "decisions", "messages", "participants", "signals", "behaviour", "llm_calls",
    "tool_calls", "excluded_calls", "payments", "excluded", "cells", "flow", "codebook", "ratings",
)  # fmt: skip
OF_MATCHES = ("seats", "rounds", "decisions", "messages", "llm_calls", "tool_calls")
"""Tables whose rows belong to a match: those of matches that the gate kept out are left out with them."""
HUMAN = "human"
ABOUT_MATCHES = (
    "match", "game", "rules_version", "version", "cell", "cell_kind", "purpose", "source", "name", "unverified",
    "seed", "started_at", "ended_at", "seconds", "session", "repetition", "environment", "ended_how", "decisions",
    "messages", "in_dataset", "reason", "reasons", "dataset",
)  # fmt: skip
PAYOFF, YOU = "Payoff of ", "You"
"""How codebooks name a role's payoff, and what a game for one calls its only player."""
_NAMED = re.compile(r"(?:Parameter of the game|Field of the move): ([^.]+)\.|(Payoff of [^.]+)\.")
PREFIXES = ("player_", "agent_", "participant_", "config_", "payoffs_")
"""Columns of matches.csv that are neither of these are results by the game's rules."""


@dataclass(frozen=True)
class Folder:
    """One dataset on disk. `kinds` is the codebook's kind by (table, column)."""

    path: Path
    name: str
    manifest: Mapping[str, Any]
    kinds: Mapping[tuple[str, str], str]
    units: Mapping[tuple[str, str], str]
    meanings: Mapping[tuple[str, str], str]
    modified: tuple[str, ...] = ()

    def file(self, table: str) -> Path | None:
        """Parquet where there is one, else CSV."""
        found = [self.path / f"{table}{ending}" for ending in (".parquet", ".csv")]
        return next((path for path in found if path.exists()), None)


@dataclass
class Data:
    """The tables of one or more datasets of a game; only rows that passed the gate, unless `everything` is asked for.

    A frame is an attribute: `data.matches`, `data.decisions`, …, each with a `dataset` column. Numbers that are
    infinite or no numbers, and negative times, are missing; how many there were stands in `oddities`.

    Attributes:
        oddities: such values by (table, column).
        touched: (table, column) read since it was last cleared.
    """

    folders: Sequence[Folder]
    oddities: Counter[tuple[str, str]] = field(default_factory=Counter)
    touched: set[tuple[str, str]] = field(default_factory=set)
    _columns: dict[tuple[str, str], Any] = field(default_factory=dict)

    # ---- what it says of itself

    @cached_property
    def sha256(self) -> str:
        """The manifest's hash; of several datasets, the hash of theirs in order."""
        own = [_manifest_hash(folder) for folder in self.folders]
        return own[0] if len(own) == 1 else hashlib.sha256("\n".join(own).encode()).hexdigest()

    @property
    def modified(self) -> list[str]:
        """Files that are not as the manifest says, of datasets that were read nevertheless."""
        return [f"{folder.name}/{file}" for folder in self.folders for file in folder.modified]

    @property
    def demonstration(self) -> bool:
        """Whether a dataset is of a demonstration: every page then says so."""
        return any(folder.manifest.get("demonstration") for folder in self.folders)

    def said(self, what: str) -> list[str]:
        """The distinct "title", "authors", "licence" or "citation" of the datasets."""
        found = []
        for folder in self.folders:
            value = (folder.manifest.get("publication") or {}).get(what) or (
                (folder.manifest.get("study") or {}).get("title") if what == "title" else ""
            )
            found.append(value or "")
        return list(dict.fromkeys(text for text in found if text))

    @cached_property
    def flow_counts(self) -> dict[str, Any]:
        """The manifests' flows, added up: arrived, in_dataset, stages [{stage, reached, left}], matches."""
        return _added([folder.manifest.get("flow") or {} for folder in self.folders])

    @cached_property
    def games(self) -> tuple[str, ...]:
        """Keys of the games, in the order of the datasets; from the manifest where there are no matches."""
        if self.has("matches", "game"):
            found = sorted(set(self.column("matches", "game").dropna()))
            if found:
                return tuple(found)
        versions = [v for folder in self.folders for v in folder.manifest.get("versions") or ()]
        return tuple(sorted({version["game"] for version in versions if version.get("game")}))

    # ---- tables

    def has(self, table: str, *columns: str) -> bool:
        """Whether every dataset has the table, and one of them each column."""
        if any(folder.file(table) is None for folder in self.folders):
            return False
        return set(columns) <= {*self.names(table), "dataset"}

    def names(self, table: str) -> list[str]:
        """The table's columns in order; none where a dataset lacks it."""
        if (table, "") not in self._columns:
            found: dict[str, None] = {}
            for folder in self.folders:
                path = folder.file(table)
                found |= dict.fromkeys([] if path is None else _names_in(path))
            self._columns[table, ""] = list(found)
        return list(self._columns[table, ""])

    def column(self, table: str, name: str, *, everything: bool = False) -> pd.Series:
        """One column; see `table`."""
        return self.table(table, [name], everything=everything)[name]

    def table(self, table: str, columns: Iterable[str] | None = None, *, everything: bool = False) -> pd.DataFrame:
        """Columns of a table, typed by the codebook's kinds; all of them where none are named.

        Args:
            everything: also the rows that did not pass the gate, where the dataset was exported with them.
        """
        import pandas as pd

        wanted = [*dict.fromkeys(columns if columns is not None else [*self.names(table), "dataset"])]
        self._read(table, [name for name in dict.fromkeys([*wanted, "dataset"]) if (table, name) not in self._columns])
        self.touched |= {(table, name) for name in wanted}
        frame = pd.DataFrame({name: self._columns[table, name] for name in wanted}, copy=False)
        if everything or (mask := self._passed(table)) is None:
            return frame
        return frame[mask].reset_index(drop=True)

    def __getattr__(self, name: str) -> pd.DataFrame:
        if name in TABLES:
            return self.table(name)
        raise AttributeError(name)

    def _passed(self, table: str) -> pd.Series | None:
        """Which rows passed the gate; None where all did."""
        if table not in ("matches", *OF_MATCHES) or not self.has("matches", "in_dataset", "match"):
            return None
        flags = self.table("matches", ["match", "in_dataset"], everything=True)
        kept = flags["in_dataset"].fillna(True).astype(bool)
        own = None
        if table == "seats" and "in_dataset" in self.names("seats"):
            own = self.column("seats", "in_dataset", everything=True).fillna(True).astype(bool)
        if kept.all():
            return None if own is None or own.all() else own
        if table == "matches":
            return kept
        inside = self.column(table, "match", everything=True).isin(set(flags["match"][kept]))
        return inside if own is None else inside & own

    def _read(self, table: str, names: Sequence[str]) -> None:
        """Read columns that nobody has asked for yet."""
        import pandas as pd

        if not names:
            return
        known = set(self.names(table)) | {"dataset"}
        if unknown := [name for name in names if name not in known]:
            raise DataError(f"{table} has no column {', '.join(unknown)}.")
        parts: dict[str, list[Any]] = {name: [] for name in names}
        for folder in self.folders:
            path = folder.file(table)
            if path is None:
                raise DataError(f"{folder.name} has no table {table}.")
            there = [name for name in _names_in(path) if name in parts and name != "dataset"]
            raw = _raw(path, there)
            for name in names:
                if name == "dataset":
                    parts[name].append(pd.Series([folder.name] * len(raw), dtype="str"))
                    continue
                kind = folder.kinds.get((table, name)) or _guessed(raw.get(name))
                values = raw[name] if name in raw else pd.Series([None] * len(raw), dtype="object")
                typed, odd = _typed(values, kind, timing=folder.units.get((table, name)) == "seconds")
                self.oddities.update({(table, name): odd} if odd else {})
                parts[name].append(typed)
        for name, found in parts.items():
            joined = found[0] if len(found) == 1 else pd.concat(found, ignore_index=True)
            self._columns[table, name] = joined.astype("category") if name == "dataset" else joined

    def kind(self, table: str, column: str) -> str:
        """The codebook's kind of a column; "text" where it does not say."""
        found = (folder.kinds.get((table, column)) for folder in self.folders)
        return next((kind for kind in found if kind), "text")

    def meaning(self, table: str, column: str) -> str:
        """The codebook's sentence about a column; empty where it says nothing."""
        found = (folder.meanings.get((table, column)) for folder in self.folders)
        return next((text for text in found if text), "")

    def heading(self, column: str, table: str = "matches") -> str:
        """What readers call a column: the codebook's name of a parameter, move or payoff, else the column's words."""
        named = _NAMED.match(self.meaning(table, column))
        words = (named[1] or named[2]) if named else charts.label(column)
        return "Payoff" if words == PAYOFF + YOU else words

    def called(self, role: str) -> str:
        """What readers call a role: "Player 1" for p1, as the codebook does."""
        named = self.heading(f"payoffs_{role}")
        if named == "Payoff":
            return "Player"
        return named.removeprefix(PAYOFF) if named.startswith(PAYOFF) else charts.label(role)

    # ---- what the matches are made of

    @cached_property
    def roles(self) -> list[str]:
        """Roles in the order of the columns."""
        return [name.removeprefix("player_") for name in self.names("matches") if name.startswith("player_")]

    @cached_property
    def outcomes(self) -> list[str]:
        """Columns of matches that are results: payoffs, then the game's metrics; numbers and booleans only."""
        names = self.names("matches")
        results = [n for n in names if n not in ABOUT_MATCHES and not n.startswith(PREFIXES)]
        kinds = ("number", "integer", "boolean")
        found = [*(n for n in names if n.startswith("payoffs_")), *results]
        return [n for n in found if self.kind("matches", n) in kinds]

    @cached_property
    def varying(self) -> list[str]:
        """Parameters (`config_*`) that take several values, then `dataset` where several are pooled."""
        return [n for n in (*self._config, "dataset") if self.column("matches", n).nunique(dropna=False) > 1]

    @cached_property
    def constant(self) -> dict[str, Any]:
        """The one value of each parameter that does not vary; None where it is empty."""
        found: dict[str, Any] = {}
        for name in self._config:
            values = self.column("matches", name)
            if name not in self.varying and len(values):
                found[name] = plain(values.iloc[0])
        return found

    @property
    def _config(self) -> list[str]:
        return [name for name in self.names("matches") if name.startswith("config_")]

    @cached_property
    def who(self) -> pd.DataFrame:
        """Who played, a column per role, aligned with `matches`: "human", the model or script, or the agent's label.

        The label stands where one model or script was asked in several ways; where one label has several hashes,
        the hash's first four digits follow it.
        """
        import pandas as pd

        columns = {}
        labels: dict[str, set[str]] = {}
        hashes: dict[str, set[str]] = {}
        for role in self.roles:
            part = self._seated(role)
            columns[role] = part
            for player, label in set(zip(part["player"], part["label"], strict=True)):
                labels.setdefault(player, set()).add(label)
            for label, digits in set(zip(part["label"], part["hash"], strict=True)):
                hashes.setdefault(label, set()).add(digits)
        several = {label for label, known in hashes.items() if len(known - {""}) > 1}
        asked = {player for player, known in labels.items() if len(known) > 1 or known & several}
        made = {}
        for role, part in columns.items():
            name = part["label"].where(part["player"].isin(asked), part["player"])
            digits = name + " #" + part["hash"].str.slice(0, 4)
            name = name.mask(part["player"].isin(asked) & part["label"].isin(several), digits)
            made[role] = name.mask(part["player"] == "").astype("str")
        return pd.DataFrame(made, index=range(len(self.table("matches", ["match"]))))

    def _seated(self, role: str) -> pd.DataFrame:
        """Player, label and hash of a role as texts, empty where there is none."""
        import pandas as pd

        names = {"player": f"player_{role}", "label": f"agent_{role}", "hash": f"agent_{role}_hash"}
        known = {key: name for key, name in names.items() if self.has("matches", name)}
        frame = self.table("matches", [*known.values()]).rename(columns={v: k for k, v in known.items()})
        frame = frame.fillna("").astype("str")
        for key in names:
            if key not in frame:
                frame[key] = frame["player"] if key == "label" else pd.Series("", index=frame.index, dtype="str")
        frame["label"] = frame["label"].mask(frame["label"] == "", frame["player"])
        return frame

    @cached_property
    def players(self) -> list[str]:
        """Everybody in `who`, people first, then by name: their order gives them their colours."""
        found = {name for role in self.roles for name in self.who[role].dropna().unique()}
        return sorted(found, key=lambda name: (name != HUMAN, name))

    @cached_property
    def clusters(self) -> pd.Series:
        """To what each match belongs, aligned with `matches`: its one person, or the match itself."""
        import pandas as pd

        match = self.column("matches", "match")
        columns = [f"participant_{role}" for role in self.roles if self.has("matches", f"participant_{role}")]
        if not columns:
            return match
        people = self.table("matches", columns)
        # Column by column: filling along rows takes minutes where there are many matches.
        number, found = people[columns[0]].notna().astype(int), people[columns[0]]
        for name in columns[1:]:
            number, found = number + people[name].notna(), found.where(found.notna(), people[name])
        alone = number == 1
        if not alone.any():
            return match
        found = found.map(self.person(), na_action="ignore")
        return pd.Series(match.mask(alone, "person " + found.astype("str")), name="cluster")

    def person(self) -> Any:
        """The function from a participant's pseudonym to that of the person over all participations."""
        if not self.has("participants", "participant", "person"):
            return lambda name: name
        rows = self.table("participants", ["participant", "person"]).dropna()
        persons = dict(zip(rows["participant"], rows["person"], strict=True))
        return lambda name: persons.get(name, name)

    # ---- running an analysis

    @property
    def size(self) -> int:
        """Number of matches."""
        return len(self.column("matches", "match")) if self.has("matches", "match") else 0

    def settle(self) -> None:
        """Compute what analyses share, so that what each of them reads does not depend on which ran before."""
        if self.size:
            for name in ("games", "roles", "outcomes", "varying", "constant", "who", "players", "clusters"):
                getattr(self, name)

    def run(self, name: str, **options: Any) -> Outcome:
        """What one analysis finds, for notebooks: `.tables`, `.figures`, `.numbers`, `.status`, `.reason`.

        Raises:
            DataError: there is no analysis of this name.
        """
        from analysis.registry import named
        from analysis.running import outcome

        return outcome(named(name), self, _options(options))


def _options(given: Mapping[str, Any]) -> Options:
    from analysis.results import Options

    return Options(**given)


def load(*folders: str | Path, allow_modified: bool = False) -> Data:
    """Datasets of one game, to analyse together.

    Args:
        folders: what `manage.py export_dataset` wrote.
        allow_modified: read files whose SHA-256 is not the manifest's.

    Raises:
        DataError: a folder is no dataset, was changed, or does not go with the others.
    """
    if not folders:
        raise DataError("Name at least one folder with a dataset.")
    paths = [Path(folder) for folder in folders]
    read = [_folder(path, name, allow_modified) for path, name in zip(paths, _names(paths), strict=True)]
    data = Data(read)
    _check_together(data)
    return data


def plain(value: Any) -> Any:
    """A cell as plain Python: None for what is missing."""
    import pandas as pd

    if value is None or (not isinstance(value, str) and pd.isna(value)):
        return None
    return value.item() if hasattr(value, "item") else value


# ---- opening -------------------------------------------------------------------------------------------


def _names(paths: Sequence[Path]) -> list[str]:
    """A short name of each folder; its place follows where two are called alike."""
    own = [path.resolve().name or "dataset" for path in paths]
    return [name if own.count(name) == 1 else f"{name} ({at})" for at, name in enumerate(own, start=1)]


def _folder(path: Path, name: str, allow_modified: bool) -> Folder:
    if not path.is_dir():
        raise DataError(f"{path} is no folder.")
    file = path / MANIFEST
    if not file.is_file():
        raise DataError(f"{path} holds no {MANIFEST}: it is no dataset that export_dataset wrote.")
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, OSError) as problem:
        raise DataError(f"{file} cannot be read: {problem}.") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise DataError(f"{file} is no manifest of the format {FORMAT}.")
    version = manifest.get("format_version")
    if not isinstance(version, int) or version > FORMAT_VERSION:
        raise DataError(f"{path} has format version {version}; this software reads up to {FORMAT_VERSION}.")
    changed = tuple(_changed(path, manifest))
    if changed and not allow_modified:
        raise DataError(
            f"{path} was changed after its export ({', '.join(changed)}): export it again, or allow modified files."
        )
    kinds, units, meanings = _codebook(path)
    return Folder(path, name, manifest, kinds, units, meanings, changed)


def _changed(path: Path, manifest: Mapping[str, Any]) -> Iterable[str]:
    """Files whose content is not what the manifest says; files that are gone do not count."""
    said = manifest.get("sha256")
    if said and said != _own_hash(manifest):
        yield MANIFEST
    for name, entry in sorted((manifest.get("files") or {}).items()):
        file = path / name
        if file.is_file() and _hash_of(file) != entry.get("sha256"):
            yield name


def _own_hash(manifest: Mapping[str, Any]) -> str:
    """The manifest's hash over all the rest of it, as the exporter makes it."""
    content = {key: value for key, value in manifest.items() if key != "sha256"}
    return hashlib.sha256((json.dumps(content, ensure_ascii=True, indent=2) + "\n").encode()).hexdigest()


def _manifest_hash(folder: Folder) -> str:
    return str(folder.manifest.get("sha256") or _own_hash(folder.manifest))


def _hash_of(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _codebook(path: Path) -> tuple[dict[tuple[str, str], str], ...]:
    """Kind, unit and meaning by (table, column); empty without a codebook."""
    found: tuple[dict[tuple[str, str], str], ...] = ({}, {}, {})
    file = next((path / name for name in ("codebook.parquet", "codebook.csv") if (path / name).exists()), None)
    if file is None:
        return found
    rows = _raw(file, _names_in(file)).fillna("")
    for row in rows.to_dict("records"):
        for kept, key in zip(found, ("kind", "unit", "meaning"), strict=True):
            kept[str(row.get("table")), str(row.get("column"))] = str(row.get(key, ""))
    return found


def _check_together(data: Data) -> None:
    """Refuse matches that occur twice, and folders of different games."""
    played = {}
    for folder in data.folders:
        alone = Data([folder])
        try:
            played[folder.name] = alone.games
        except Exception as problem:  # noqa: BLE001 - a file that is damaged, by whatever library reads it
            raise DataError(f"{folder.path} cannot be read: {' '.join(str(problem).split())}") from None
    if len(set(played.values()) - {()}) > 1:
        names = "; ".join(f"{name}: {', '.join(games) or 'none'}" for name, games in played.items())
        raise DataError(f"Only datasets of one game can be pooled ({names}).")
    if data.has("matches", "match"):
        match = data.column("matches", "match", everything=True)
        twice = sorted(set(match[match.duplicated()].dropna()))
        if twice:
            more = "" if len(twice) <= 5 else f" and {len(twice) - 5} more"
            raise DataError(f"The same match occurs twice: {', '.join(twice[:5])}{more}.")


# ---- values --------------------------------------------------------------------------------------------


def _names_in(path: Path) -> list[str]:
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        return list(pq.read_schema(path).names)
    import csv

    with path.open(encoding="utf-8", newline="") as opened:
        return next(csv.reader(opened), [])


def _raw(path: Path, names: Sequence[str]) -> pd.DataFrame:
    """Columns as the file has them: Parquet with its types, CSV as texts with None for empty cells."""
    import pandas as pd

    if path.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        words = pd.Series([], dtype="str").dtype
        types = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype(), pa.string(): words}
        if not names:
            return pd.DataFrame(index=range(pq.read_metadata(path).num_rows))
        return pq.read_table(path, columns=list(names)).to_pandas(types_mapper=types.get)
    first = _names_in(path)[:1]
    frame = pd.read_csv(
        path, usecols=list(names) or first, dtype="str", keep_default_na=False, na_values=[""], encoding="utf-8"
    )
    return frame if names else frame[[]]


def _guessed(values: pd.Series | None) -> str:
    """The kind of a column that the codebook does not know."""
    import pandas as pd

    if values is None:
        return "text"
    if pd.api.types.is_bool_dtype(values):
        return "boolean"
    if pd.api.types.is_numeric_dtype(values):
        return "number"
    if pd.api.types.is_datetime64_any_dtype(values):
        return "time"
    known = values.dropna()
    if len(known) and set(known.unique()) <= {"TRUE", "FALSE"}:
        return "boolean"
    return "number" if len(known) and pd.to_numeric(known, errors="coerce").notna().all() else "text"


def _typed(values: pd.Series, kind: str, *, timing: bool) -> tuple[pd.Series, int]:
    """Values as their kind asks for, and how many could not be: infinite, unreadable, or negative times."""
    import numpy as np
    import pandas as pd

    before = int(values.notna().sum())
    if kind in ("number", "integer"):
        numbers = pd.to_numeric(values, errors="coerce").astype("Float64").astype("float64")
        numbers = numbers.where(np.isfinite(numbers))
        if timing:
            numbers = numbers.where(~(numbers < 0))
        odd = before - int(numbers.notna().sum())
        if kind == "integer":
            whole = numbers.where(numbers == numbers.round())
            exact = values if pd.api.types.is_integer_dtype(values) else pd.array(whole, dtype="Int64")
            return pd.Series(exact, index=values.index, dtype="Int64"), before - int(pd.isna(exact).__invert__().sum())
        return numbers, odd
    if kind == "boolean":
        if pd.api.types.is_bool_dtype(values):
            return values.astype("boolean"), 0
        words = values.astype("str").str.upper().map({"TRUE": True, "FALSE": False, "1": True, "0": False})
        found = words.astype("boolean")
        return found, before - int(found.notna().sum())
    if kind == "time":
        times = pd.to_datetime(values, errors="coerce", utc=True, format="ISO8601") if values.dtype == "str" else values
        times = pd.to_datetime(times, errors="coerce", utc=True)
        return times, before - int(times.notna().sum())
    return values.astype("str"), 0


def _added(flows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Flows of several datasets as one."""
    stages: dict[str, dict[str, Any]] = {}
    matches: dict[str, Any] = {"seen": 0, "in_dataset": 0, "unverified": 0, "excluded": Counter()}
    for flow in flows:
        for stage in flow.get("stages") or ():
            own = stages.setdefault(stage["stage"], {"stage": stage["stage"], "reached": 0, "left": Counter()})
            own["reached"] += stage["reached"]
            own["left"].update(stage["left"])
        counted = flow.get("matches") or {}
        for what in ("seen", "in_dataset", "unverified"):
            matches[what] += counted.get(what) or 0
        matches["excluded"].update(counted.get("excluded") or {})
    return {
        "arrived": sum(flow.get("arrived") or 0 for flow in flows),
        "in_dataset": sum(flow.get("in_dataset") or 0 for flow in flows),
        "stages": [{**stage, "left": dict(stage["left"])} for stage in stages.values()],
        "matches": {**matches, "excluded": dict(matches["excluded"])},
    }
