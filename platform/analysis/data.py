"""Datasets written by `manage.py export_dataset`, as typed pandas data frames that are read on first use."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from analysis.errors import DataError
from analysis.naming import Names

MANIFEST = "manifest.json"
FORMAT, FORMAT_VERSION = "parley-dataset", 6
TABLES = (
    "matches", "seats", "rounds", "decisions", "messages", "chat", "participants", "signals", "behaviour", "llm_calls",
    "tool_calls", "excluded_calls", "help", "payments", "excluded", "cells", "flow", "codebook", "ratings",
)  # fmt: skip
MATCH_TABLES = ("seats", "rounds", "decisions", "messages", "chat", "llm_calls", "tool_calls")
"""Tables whose rows belong to a match; rows of excluded matches are excluded too."""
HUMAN = "human"
MATCH_COLUMNS = (
    "match", "game", "rules_version", "version", "cell", "cell_kind", "purpose", "source", "name", "unverified",
    "seed", "started_at", "ended_at", "seconds", "session", "stage", "pass", "repeat", "cluster", "repetition",
    "environment", "ended_how", "decisions", "messages", "in_dataset", "reason", "reasons", "dataset",
)  # fmt: skip
PAYOFF, YOU = "Payoff of ", "You"
"""How codebooks begin the name of a role's payoff, and how they call the player of a one-player game."""
_NAME_IN_MEANING = re.compile(r"(?:Parameter of the game|Field of the move): ([^.]+)\.|(Payoff of [^.]+)\.")
_LOWEST, _HIGHEST = (re.compile(rf"(?:^|; ){word} (-?[\d.e+-]+)(?:;|$)") for word in ("from", "to"))
_SCALE = re.compile(r"1 (?:.* )?to (\d+)\b")
"""How codebooks state the range of a result, such as "from 0; to 1", and the points of a scale."""
FACTOR, CONFIG = "factor_", "config_"
POOLED = ("dataset", "information")
"""Columns whose values are never pooled silently."""
PREFIXES = ("player_", "agent_", "participant_", FACTOR, CONFIG, "payoffs_")
"""Columns of matches without these prefixes and not in MATCH_COLUMNS are the game's results."""
OUTCOMES = ("number", "integer", "boolean")
"""Kinds of the columns that are outcomes."""
DTYPES: Mapping[str, Any] = {
    "number": "float64",
    "integer": "Int64",
    "boolean": "boolean",
    "time": "datetime64[us, UTC]",
}
"""The type of each kind of column; text for all other kinds."""
_ARROW = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype(), pa.string(): pd.Series([], dtype="str").dtype}


@dataclass(frozen=True)
class Field:
    """What a dataset says of a column: in its Parquet file or, where there is none, in its codebook."""

    kind: str = "text"
    unit: str = ""
    meaning: str = ""
    values: str = ""

    @property
    def range(self) -> tuple[float | None, float | None]:
        """The smallest and largest value that the game's results, or a scale's points, may have; None if not stated."""
        if self.kind == "boolean":
            return 0.0, 1.0
        if scale := _SCALE.match(self.values):
            return 1.0, float(scale[1])
        low, high = _LOWEST.search(self.values), _HIGHEST.search(self.values)
        return low and float(low[1]), high and float(high[1])


@dataclass(frozen=True)
class Folder:
    """A dataset on disk."""

    path: Path
    name: str
    manifest: Mapping[str, Any]
    modified: tuple[str, ...] = ()

    def file(self, table: str) -> Path | None:
        """Return the table's Parquet file if there is one, else its CSV file."""
        paths = [self.path / f"{table}{ending}" for ending in (".parquet", ".csv")]
        return next((path for path in paths if path.exists()), None)

    @cached_property
    def _codebook(self) -> dict[tuple[str, str], Field]:
        path = self.file("codebook")
        if path is None:
            return {}
        rows = pd.read_parquet(path) if path.suffix == ".parquet" else _texts(path, None)
        rows = rows.fillna("").astype("str").reindex(columns=["table", "column", *_FIELDS])
        return {(row[1], row[2]): Field(*row[3:]) for row in rows.fillna("").itertuples()}

    @cached_property
    def _fields(self) -> dict[str, dict[str, Field]]:
        return {}

    def fields(self, table: str) -> dict[str, Field]:
        """Return the table's columns in order; none if there is no such table."""
        path = self.file(table)
        if path is None or table in self._fields:
            return self._fields.get(table, {})
        if path.suffix == ".parquet":
            stored = {column.name: (_field_of(column), Field(_kind_of(column))) for column in pq.read_schema(path)}
        else:
            stored = {name: (None, Field()) for name in _texts(path, None, nrows=0).columns}
        found = {name: own or self._codebook.get((table, name)) or other for name, (own, other) in stored.items()}
        return self._fields.setdefault(table, found)

    def read(self, table: str, names: Sequence[str]) -> pd.DataFrame:
        """Return columns of the table, typed by their kinds; what cannot be read is missing.

        Raises:
            DataError: there is no such table.
        """
        path = self.file(table)
        if path is None:
            raise DataError(f"{self.name} has no table {table}.")
        if path.suffix == ".parquet":
            if not names:
                return pd.DataFrame(index=range(pq.read_metadata(path).num_rows))
            return pq.read_table(path, columns=list(names)).to_pandas(types_mapper=_ARROW.get)
        return _texts(path, names or [*self.fields(table)][:1])[[*names]]


_FIELDS = ("kind", "unit", "meaning", "values")


def _field_of(column: pa.Field) -> Field | None:
    about = {key.decode(): value.decode() for key, value in (column.metadata or {}).items()}
    return Field(*(about.get(name, "") for name in _FIELDS)) if "kind" in about else None


def _kind_of(column: pa.Field) -> str:
    if pa.types.is_boolean(column.type):
        return "boolean"
    if pa.types.is_integer(column.type):
        return "integer"
    return "number" if pa.types.is_floating(column.type) else "time" if pa.types.is_timestamp(column.type) else "text"


def _texts(path: Path, names: Sequence[str] | None, nrows: int | None = None) -> pd.DataFrame:
    """Return columns of a CSV file as text, missing if empty."""
    frame: pd.DataFrame = pd.read_csv(path, usecols=None if names is None else list(names), dtype="str", nrows=nrows,
                                      keep_default_na=False, na_values=[""], encoding="utf-8")  # fmt: skip
    return frame


@dataclass
class Data:
    """The tables of one or more datasets of a game, without excluded rows unless `everything` is set.

    Tables are attributes: `data.matches`, `data.decisions`, …; each is a data frame with a `dataset` column. Infinite
    or unreadable numbers and negative times count as missing.

    Attributes:
        invalid_values: number of such values by (table, column).
        used_columns: every (table, column) used since the set was last cleared.
        reader_names: set by `readers.names_of`.
        everything: whether rows of excluded matches are in every table, if the dataset was exported with them.
    """

    folders: Sequence[Folder]
    invalid_values: Counter[tuple[str, str]] = field(default_factory=Counter)
    used_columns: set[tuple[str, str]] = field(default_factory=set)
    everything: bool = False
    reader_names: Names | None = None
    _columns: dict[tuple[str, str], Any] = field(default_factory=dict)

    # ---- metadata

    @cached_property
    def sha256(self) -> str:
        """The manifest's hash; for several datasets, the hash of their hashes in the order given."""
        hashes = [str(folder.manifest.get("sha256") or _own_hash(folder.manifest)) for folder in self.folders]
        return hashes[0] if len(hashes) == 1 else hashlib.sha256("\n".join(hashes).encode()).hexdigest()

    @property
    def modified(self) -> list[str]:
        """Files whose hash differs from the manifest's although their datasets were accepted."""
        return [f"{folder.name}/{file}" for folder in self.folders for file in folder.modified]

    @property
    def demonstration(self) -> bool:
        """Whether a dataset holds demonstration data; every page then says so."""
        return any(folder.manifest.get("demonstration") for folder in self.folders)

    @property
    def simulated(self) -> bool:
        """Whether a dataset holds data of simulated participants; every page then says so."""
        return any((folder.manifest.get("study") or {}).get("purpose") == "simulated" for folder in self.folders)

    def publication_values(self, key: str) -> list[str]:
        """Return the datasets' distinct values of "title", "authors", "licence" or "citation"."""
        values = []
        for folder in self.folders:
            value = (folder.manifest.get("publication") or {}).get(key) or (
                (folder.manifest.get("study") or {}).get("title") if key == "title" else ""
            )
            values.append(value or "")
        return list(dict.fromkeys(text for text in values if text))

    @cached_property
    def flow_counts(self) -> dict[str, Any]:
        """The sum of the manifests' flows: arrived, in_dataset, stages [{stage, reached, left}], matches."""
        return _sum_flows([folder.manifest.get("flow") or {} for folder in self.folders])

    @cached_property
    def games(self) -> tuple[str, ...]:
        """Sorted keys of the games; taken from the manifest if there are no matches."""
        if self.has("matches", "game"):
            games = sorted(set(self.column("matches", "game").dropna()))
            if games:
                return tuple(games)
        versions = [v for folder in self.folders for v in folder.manifest.get("versions") or ()]
        return tuple(sorted({game for version in versions for game in version.get("games") or ()}))

    # ---- tables

    def has(self, table: str, *columns: str) -> bool:
        """Return whether every dataset has the table, and at least one dataset has each column."""
        if any(folder.file(table) is None for folder in self.folders):
            return False
        return set(columns) <= {*self.names(table), "dataset"}

    def names(self, table: str) -> list[str]:
        """Return the table's columns in order, over all datasets that have the table."""
        return list(self.fields(table))

    def fields(self, table: str) -> dict[str, Field]:
        """Return what is known of the table's columns, over all datasets that have the table."""
        known: dict[str, Field] = {}
        for folder in self.folders:
            for name, of_column in folder.fields(table).items():
                known.setdefault(name, of_column)
        return known

    @cached_property
    def with_excluded(self) -> Data | None:
        """The same data with the rows of excluded matches; None if there are none."""
        if not self.has("matches", "match", "in_dataset") or self._included("matches") is None:
            return None
        return Data(self.folders, self.invalid_values, self.used_columns, everything=True)

    def column(self, table: str, name: str, *, everything: bool = False) -> pd.Series:
        """Return one column; see `table`."""
        return self.table(table, [name], everything=everything)[name]

    def table(self, table: str, columns: Iterable[str] | None = None, *, everything: bool = False) -> pd.DataFrame:
        """Return columns of a table (by default all), typed by the codebook's kinds.

        Args:
            everything: include excluded rows, if the dataset was exported with them.
        """
        names = [*dict.fromkeys(columns if columns is not None else [*self.names(table), "dataset"])]
        self._read(table, [name for name in dict.fromkeys([*names, "dataset"]) if (table, name) not in self._columns])
        self.used_columns |= {(table, name) for name in names}
        frame = pd.DataFrame({name: self._columns[table, name] for name in names}, copy=False)
        if everything or (mask := self._included(table)) is None:
            return frame
        return frame[mask].reset_index(drop=True)

    def __getattr__(self, name: str) -> pd.DataFrame:
        if name in TABLES:
            return self.table(name)
        raise AttributeError(name)

    def _included(self, table: str) -> pd.Series | None:
        """Return which of the table's rows are in the dataset; None if all are."""
        if self.everything:
            return None
        if table not in ("matches", *MATCH_TABLES) or not self.has("matches", "in_dataset", "match"):
            return None
        flags = self.table("matches", ["match", "in_dataset"], everything=True)
        in_dataset = flags["in_dataset"].fillna(True).astype(bool)
        seat_flags = None
        if table == "seats" and "in_dataset" in self.names("seats"):
            seat_flags = self.column("seats", "in_dataset", everything=True).fillna(True).astype(bool)
        if in_dataset.all():
            return None if seat_flags is None or seat_flags.all() else seat_flags
        if table == "matches":
            return in_dataset
        in_included_match = self.column(table, "match", everything=True).isin(set(flags["match"][in_dataset]))
        return in_included_match if seat_flags is None else in_included_match & seat_flags

    def _read(self, table: str, names: Sequence[str]) -> None:
        """Read columns that have not been read yet."""
        if not names:
            return
        fields = {**self.fields(table), "dataset": Field()}
        if unknown := [name for name in names if name not in fields]:
            raise DataError(f"{table} has no column {', '.join(unknown)}.")
        parts = []
        for folder in self.folders:
            frame = folder.read(table, [name for name in folder.fields(table) if name in names and name != "dataset"])
            columns = {name: self._typed(frame.get(name), len(frame), fields[name], (table, name)) for name in names}
            parts.append(columns | ({"dataset": pd.Series([folder.name] * len(frame), dtype="str")}
                                    if "dataset" in names else {}))  # fmt: skip
        for name in names:
            series = [part[name] for part in parts]
            joined = series[0] if len(series) == 1 else pd.concat(series, ignore_index=True)
            self._columns[table, name] = joined.astype("category") if name == "dataset" else joined

    def _typed(self, stored: pd.Series | None, rows: int, of_column: Field, name: tuple[str, str]) -> pd.Series:
        """Return a column of its kind's type; infinite or unreadable values and negative times are missing."""
        kind = of_column.kind
        if stored is None:
            return pd.Series([None] * rows, dtype=DTYPES.get(kind, "str"))
        values = _parsed(stored, kind) if stored.dtype == "str" else stored
        if kind == "number":
            values = values.astype("float64")
            values = values.where(np.isfinite(values) & ~((values < 0) & (of_column.unit == "seconds")))
        values = values.astype(DTYPES.get(kind, "str"))
        if n_invalid := int(stored.notna().sum() - values.notna().sum()):
            self.invalid_values[name] += n_invalid
        return values

    def kind(self, table: str, column: str) -> str:
        """Return a column's kind; "text" if it has none."""
        return self.fields(table).get(column, Field()).kind

    def range(self, table: str, column: str) -> tuple[float | None, float | None]:
        """Return the smallest and largest possible value of a column; None where there is none."""
        return self.fields(table).get(column, Field()).range

    def heading(self, column: str, table: str = "matches") -> str:
        """Return a column's heading: its parameter's, move's or payoff's name in the codebook, or else its own name.

        A factor keeps the name that the researcher gave it.
        """
        if column.startswith(FACTOR):
            return column.removeprefix(FACTOR)
        match = _NAME_IN_MEANING.match(self.fields(table).get(column, Field()).meaning)
        heading = (match[1] or match[2]) if match else label(column)
        return "Payoff" if heading == PAYOFF + YOU else heading

    def role_name(self, role: str) -> str:
        """Return a role's name in the codebook, such as "Player 1" for p1."""
        heading = self.heading(f"payoffs_{role}")
        if heading == "Payoff":
            return "Player"
        return heading.removeprefix(PAYOFF) if heading.startswith(PAYOFF) else label(role)

    # ---- roles, outcomes and parameters

    @cached_property
    def roles(self) -> list[str]:
        """Roles in the order of their columns."""
        return [name.removeprefix("player_") for name in self.names("matches") if name.startswith("player_")]

    @cached_property
    def outcomes(self) -> list[str]:
        """Numeric and boolean columns of matches that are outcomes: payoffs, then the game's metrics."""
        names = self.names("matches")
        results = [n for n in names if n not in MATCH_COLUMNS and not n.startswith(PREFIXES)]
        candidates = [*(n for n in names if n.startswith("payoffs_")), *results]
        return [n for n in candidates if self.kind("matches", n) in OUTCOMES]

    @cached_property
    def factors(self) -> list[str]:
        """The plan's factors (`factor_*`) that vary over the matches; rows of published tables only identify."""
        return [name for name in self.treatments("matches") if self.column("matches", name).nunique(dropna=False) > 1]

    def treatments(self, table: str) -> list[str]:
        """Return the table's columns of factors whose levels are treatments, not rows of published tables."""
        return [n for n in self.names(table) if n.startswith(FACTOR) and self.kind(table, n) != "identifier"]

    @cached_property
    def varying(self) -> list[str]:
        """What makes configurations differ: factors, parameters (`config_*`) that vary otherwise, `POOLED`.

        A parameter that has one value under each combination of the factors' levels stands behind them.
        """
        varying = [n for n in (*self._config, *POOLED) if self._varies(n)]
        frame = self.table("matches", [*self.factors, *varying])
        return [*self.factors, *(n for n in varying if n in POOLED or not is_fixed_by(frame, n, self.factors))]

    def _varies(self, name: str) -> bool:
        known = name == "dataset" or self.has("matches", name)
        return known and self.column("matches", name).nunique(dropna=False) > 1

    @cached_property
    def constant(self) -> dict[str, Any]:
        """The value of each parameter that does not vary; None if it is empty."""
        constants: dict[str, Any] = {}
        for name in self._config:
            values = self.column("matches", name)
            if len(values) and values.nunique(dropna=False) == 1:
                constants[name] = plain(values.iloc[0])
        return constants

    @property
    def _config(self) -> list[str]:
        return [name for name in self.names("matches") if name.startswith(CONFIG)]

    @cached_property
    def players_by_role(self) -> pd.DataFrame:
        """The players, with a column per role and rows aligned with `matches`.

        A player is "human" or the name of a model or script. If a model or script was prompted in several ways, the
        agent's label is used; if a label has several hashes, the first four digits of the hash are appended.
        """
        if not self.roles:
            return pd.DataFrame(index=range(len(self.column("matches", "match"))))
        played = pd.concat({role: self.labels(role) for role in self.roles})
        hashes = played[played["hash"] != ""].groupby("label")["hash"].nunique()
        ambiguous = played["label"].isin(hashes.index[hashes > 1])
        several_labels = played.groupby("player")["label"].transform("nunique") > 1
        relabelled = (several_labels | ambiguous).groupby(played["player"]).transform("any")
        name = played["player"].mask(relabelled, played["label"])
        name = name.mask(relabelled & ambiguous, name + " #" + played["hash"].str.slice(0, 4))
        players: pd.DataFrame = name.mask(played["player"] == "").unstack(level=0).reindex(columns=self.roles)
        return players.astype("str")

    def labels(self, role: str) -> pd.DataFrame:
        """Return the player, label and hash in a role as text; "" if missing."""
        names = {"player": f"player_{role}", "label": f"agent_{role}", "hash": f"agent_{role}_hash"}
        present = {key: name for key, name in names.items() if self.has("matches", name)}
        frame = self.table("matches", [*present.values()]).rename(columns={v: k for k, v in present.items()})
        frame = frame.fillna("").astype("str")
        for key in names:
            if key not in frame:
                frame[key] = frame["player"] if key == "label" else ""
        frame["label"] = frame["label"].mask(frame["label"] == "", frame["player"])
        return frame

    @cached_property
    def players(self) -> list[str]:
        """All players, people first, then by name; the order determines their colours."""
        names = {name for role in self.roles for name in self.players_by_role[role].dropna().unique()}
        return sorted(names, key=lambda name: (name != HUMAN, name))

    @cached_property
    def cells(self) -> pd.Series:
        """The number of each match's cell, its varying parameters and its players; aligned with `matches`."""
        frame = pd.concat([self.table("matches", self.varying), self.players_by_role], axis=1)
        if not len(frame.columns):
            return pd.Series(0, index=frame.index)
        return frame.groupby([*frame], sort=False, dropna=False, observed=True).ngroup()

    @cached_property
    def records(self) -> pd.Series:
        """The number of each match's record if only agents played, else missing; aligned with `matches`.

        It is equal for matches of one cell in which everybody made the same moves, wrote the same and earned the same.
        """
        fields = [n for n in self.names("decisions") if n.startswith("move_") and n != "move_number"]
        moves = ["move_number", *(fields or ["move"])]
        agents_only = (self.players_by_role != HUMAN).all(axis=1) & ~self.persons.notna().any(axis=1)
        missing = pd.Series(float("nan"), index=agents_only.index)
        if not agents_only.any() or not self.has("decisions", "match", "role", *moves):
            return missing
        columns = [n for n in ("decisions", "messages") if self.has("matches", n)]
        keys = self.table("matches", ["match", *columns, *self.outcomes]).assign(cell=self.cells)[agents_only]
        # Most matches differ in their results already; only the moves and messages of the others are compared.
        alike = keys[keys.drop(columns="match").duplicated(keep=False)]
        texts = ["role", "text"] if self.has("messages", "match", "role", "text") else []
        alike = alike.assign(
            moves=alike["match"].map(self._digests("decisions", ["role", *moves], alike["match"])),
            words=alike["match"].map(self._digests("messages", texts, alike["match"])),
        ).drop(columns="match")
        records = alike.groupby([*alike], sort=False, dropna=False).ngroup()
        others = pd.Series(range(len(records), len(records) + len(keys)), index=keys.index)
        return records.reindex(missing.index).fillna(others.reindex(missing.index)).astype("float64")

    def _digests(self, table: str, columns: Sequence[str], matches: pd.Series) -> pd.Series:
        """Return a number for each of these matches that is equal if these columns of its rows are, in their order."""
        if not columns or not len(matches):
            return pd.Series(dtype="uint64")
        frame = self.table(table, ["match", *columns])
        frame = frame[frame["match"].isin(set(matches))]
        rows = frame[[*columns]].assign(position=frame.groupby("match").cumcount())
        return pd.util.hash_pandas_object(rows, index=False).groupby(frame["match"]).sum()

    @cached_property
    def persons(self) -> pd.DataFrame:
        """The person in each role, aligned with `matches`; missing for agents."""
        names = [f"participant_{role}" for role in self.roles if self.has("matches", f"participant_{role}")]
        people, person = self.table("matches", names or ["match"])[names], self.person()
        return people.apply(lambda column: column.map(person, na_action="ignore"))

    @cached_property
    def replays(self) -> pd.Series:
        """`records` in cells where agents always play the same (one record, played at least twice), else missing."""
        records = self.records.groupby(self.cells)
        always_the_same = (records.transform("min") == records.transform("max")) & (records.transform("size") > 1)
        return self.records.where(always_the_same)

    @cached_property
    def clusters(self) -> pd.Series:
        """The number of each match's independent unit, aligned with `matches`.

        Two matches belong to one unit if a person took part in both, directly or through a chain of others; if they
        are of one group; or if agents repeat one seed, or one record, in the same configuration.
        """
        from analysis.toolbox import components

        n = len(self.column("matches", "match"))
        relations: list[list[Any]] = [[self.persons[name] for name in self.persons]]
        if self.has("matches", "cluster"):
            relations.append([self.column("matches", "cluster")])
        if self.has("matches", "seed"):
            instance = self.table("matches", [*self.varying, "seed"])
            number = instance.groupby([*instance], sort=False, dropna=False, observed=True).ngroup()
            relations.append([number.where(instance["seed"].notna())])
        relations.append([self.records])
        return pd.Series(components(n, relations), name="cluster")

    def person(self) -> Callable[[str], str]:
        """Return a function from a participant's pseudonym to the person's pseudonym across studies."""
        if not self.has("participants", "participant", "person"):
            return lambda name: name
        rows = self.table("participants", ["participant", "person"]).dropna()
        persons = dict(zip(rows["participant"], rows["person"], strict=True))
        return lambda name: persons.get(name, name)

    @property
    def size(self) -> int:
        """Number of matches."""
        return len(self.column("matches", "match")) if self.has("matches", "match") else 0

    def precompute(self) -> None:
        """Compute the values that analyses share, so that `used_columns` does not depend on the order of analyses."""
        if self.size:
            for name in ("games", "roles", "outcomes", "varying", "constant", "players_by_role", "players",
                         "replays", "clusters"):  # fmt: skip
                getattr(self, name)


def is_fixed_by(frame: pd.DataFrame, column: str, factors: Sequence[str]) -> bool:
    """Return whether a column has only one value under each combination of the factors' levels."""
    if not factors:
        return False
    values = frame.groupby([*factors], dropna=False, observed=True)[column].nunique(dropna=False)
    return bool((values <= 1).all())


def load(*folders: str | Path, allow_modified: bool = False) -> Data:
    """Read datasets of one game that are analysed together.

    Args:
        folders: folders written by `manage.py export_dataset`.
        allow_modified: also read files whose SHA-256 differs from the manifest's.

    Raises:
        DataError: a folder is not a dataset, was modified, or cannot be pooled with the others.
    """
    if not folders:
        raise DataError("Give at least one dataset folder.")
    paths = [Path(folder) for folder in folders]
    datasets = [_folder(path, name, allow_modified) for path, name in zip(paths, _short_names(paths), strict=True)]
    data = Data(datasets)
    _check_together(data)
    return data


def label(column: str) -> str:
    """Return a readable form of a column's name, such as "Payoffs alice" for "payoffs_alice"."""
    words = column.removeprefix("config_").removeprefix("move_").replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def plain(value: Any) -> Any:
    """Return a cell's value as a plain Python object; None if it is missing."""
    if value is None or (not isinstance(value, str) and pd.isna(value)):
        return None
    return value.item() if hasattr(value, "item") else value


# ---- opening -------------------------------------------------------------------------------------------


def _short_names(paths: Sequence[Path]) -> list[str]:
    """Return a short name for each folder; if several have the same name, their positions are appended."""
    names = [path.resolve().name or "dataset" for path in paths]
    return [name if names.count(name) == 1 else f"{name} ({number})" for number, name in enumerate(names, start=1)]


def _folder(path: Path, name: str, allow_modified: bool) -> Folder:
    if not path.is_dir():
        raise DataError(f"{path} is not a folder.")
    file = path / MANIFEST
    if not file.is_file():
        raise DataError(f"{path} has no {MANIFEST}: it is not a dataset written by export_dataset.")
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, OSError) as problem:
        raise DataError(f"{file} cannot be read: {problem}.") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise DataError(f"{file} is not a manifest in the format {FORMAT}.")
    if (version := manifest.get("format_version")) != FORMAT_VERSION:
        raise DataError(f"{path} has format version {version}; this software reads {FORMAT_VERSION}.")
    changed = tuple(_changed(path, manifest))
    if changed and not allow_modified:
        raise DataError(
            f"{path} was changed after its export ({', '.join(changed)}): export it again or allow modified files."
        )
    return Folder(path, name, manifest, changed)


def _changed(path: Path, manifest: Mapping[str, Any]) -> Iterable[str]:
    """Yield files whose hash differs from the manifest's; deleted files are ignored."""
    stated_hash = manifest.get("sha256")
    if stated_hash and stated_hash != _own_hash(manifest):
        yield MANIFEST
    for name, entry in sorted((manifest.get("files") or {}).items()):
        file = path / name
        if file.is_file() and _hash_of(file) != entry.get("sha256"):
            yield name


def _own_hash(manifest: Mapping[str, Any]) -> str:
    """Return the hash of the manifest without its own hash, as the exporter computes it."""
    content = {key: value for key, value in manifest.items() if key != "sha256"}
    return hashlib.sha256((json.dumps(content, ensure_ascii=True, indent=2) + "\n").encode()).hexdigest()


def _hash_of(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _check_together(data: Data) -> None:
    """Raise an error if matches are duplicated or datasets are of different games."""
    games_by_folder = {}
    for folder in data.folders:
        single_dataset = Data([folder])
        try:
            games_by_folder[folder.name] = single_dataset.games
        except Exception as problem:  # noqa: BLE001 - any library's error about a damaged file
            raise DataError(f"{folder.path} cannot be read: {' '.join(str(problem).split())}") from None
    if len(set(games_by_folder.values()) - {()}) > 1:
        names = "; ".join(f"{name}: {', '.join(games) or 'none'}" for name, games in games_by_folder.items())
        raise DataError(f"Only datasets of one game can be pooled ({names}).")
    if data.has("matches", "match"):
        match = data.column("matches", "match", everything=True)
        duplicates = sorted(set(match[match.duplicated()].dropna()))
        if duplicates:
            more = "" if len(duplicates) <= 5 else f" and {len(duplicates) - 5} more"
            raise DataError(f"Duplicate matches: {', '.join(duplicates[:5])}{more}.")


# ---- values --------------------------------------------------------------------------------------------


def _parsed(values: pd.Series, kind: str) -> pd.Series:
    """Return text from a CSV file as values of a kind; what cannot be read is missing."""
    if kind in ("number", "integer"):
        numbers = pd.to_numeric(values, errors="coerce").astype("float64")
        return numbers if kind == "number" else numbers.where(np.isfinite(numbers) & (numbers == numbers.round()))
    if kind == "boolean":
        return values.str.upper().map({"TRUE": True, "FALSE": False, "1": True, "0": False})
    return pd.to_datetime(values, errors="coerce", utc=True, format="ISO8601") if kind == "time" else values


def _sum_flows(flows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    stages: dict[str, dict[str, Any]] = {}
    matches: dict[str, Any] = {"seen": 0, "in_dataset": 0, "unverified": 0, "excluded": Counter()}
    for flow in flows:
        for stage in flow.get("stages") or ():
            total = stages.setdefault(stage["stage"], {"stage": stage["stage"], "reached": 0, "left": Counter()})
            total["reached"] += stage["reached"]
            total["left"].update(stage["left"])
        match_counts = flow.get("matches") or {}
        for key in ("seen", "in_dataset", "unverified"):
            matches[key] += match_counts.get(key) or 0
        matches["excluded"].update(match_counts.get("excluded") or {})
    return {
        "arrived": sum(flow.get("arrived") or 0 for flow in flows),
        "in_dataset": sum(flow.get("in_dataset") or 0 for flow in flows),
        "stages": [{**stage, "left": dict(stage["left"])} for stage in stages.values()],
        "matches": {**matches, "excluded": dict(matches["excluded"])},
    }
