"""Datasets written by `manage.py export_dataset`, as typed pandas data frames that are read on first use."""

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
FORMAT, FORMAT_VERSION = "parley-dataset", 6
TABLES = (
    "matches", "seats", "rounds", "decisions", "messages", "participants", "signals", "behaviour", "llm_calls",
    "tool_calls", "excluded_calls", "payments", "excluded", "cells", "flow", "codebook", "ratings",
)  # fmt: skip
MATCH_TABLES = ("seats", "rounds", "decisions", "messages", "llm_calls", "tool_calls")
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
FACTOR, CONFIG = "factor_", "config_"
POOLED = ("dataset", "information")
"""Columns whose values are never pooled silently."""
PREFIXES = ("player_", "agent_", "participant_", FACTOR, CONFIG, "payoffs_")
"""Columns of matches.csv without these prefixes and not in MATCH_COLUMNS are the game's results."""


@dataclass(frozen=True)
class Folder:
    """A dataset on disk. `kinds`, `units` and `meanings` are the codebook's, by (table, column)."""

    path: Path
    name: str
    manifest: Mapping[str, Any]
    kinds: Mapping[tuple[str, str], str]
    units: Mapping[tuple[str, str], str]
    meanings: Mapping[tuple[str, str], str]
    modified: tuple[str, ...] = ()

    def file(self, table: str) -> Path | None:
        """Return the table's Parquet file if there is one, else its CSV file."""
        paths = [self.path / f"{table}{ending}" for ending in (".parquet", ".csv")]
        return next((path for path in paths if path.exists()), None)


@dataclass
class Data:
    """The tables of one or more datasets of a game, without excluded rows unless `everything` is set.

    Tables are attributes: `data.matches`, `data.decisions`, …; each is a data frame with a `dataset` column. Infinite
    or unreadable numbers and negative times count as missing.

    Attributes:
        invalid_values: number of such values by (table, column).
        used_columns: every (table, column) used since the set was last cleared.
    """

    folders: Sequence[Folder]
    invalid_values: Counter[tuple[str, str]] = field(default_factory=Counter)
    used_columns: set[tuple[str, str]] = field(default_factory=set)
    _columns: dict[tuple[str, str], Any] = field(default_factory=dict)

    # ---- metadata

    @cached_property
    def sha256(self) -> str:
        """The manifest's hash; for several datasets, the hash of their hashes in the order given."""
        hashes = [_manifest_hash(folder) for folder in self.folders]
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
        if (table, "") not in self._columns:
            columns: dict[str, None] = {}
            for folder in self.folders:
                path = folder.file(table)
                columns |= dict.fromkeys([] if path is None else _column_names(path))
            self._columns[table, ""] = list(columns)
        return list(self._columns[table, ""])

    def column(self, table: str, name: str, *, everything: bool = False) -> pd.Series:
        """Return one column; see `table`."""
        return self.table(table, [name], everything=everything)[name]

    def table(self, table: str, columns: Iterable[str] | None = None, *, everything: bool = False) -> pd.DataFrame:
        """Return columns of a table (by default all), typed by the codebook's kinds.

        Args:
            everything: include excluded rows, if the dataset was exported with them.
        """
        import pandas as pd

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
        import pandas as pd

        if not names:
            return
        existing = set(self.names(table)) | {"dataset"}
        if unknown := [name for name in names if name not in existing]:
            raise DataError(f"{table} has no column {', '.join(unknown)}.")
        series_by_column: dict[str, list[Any]] = {name: [] for name in names}
        for folder in self.folders:
            path = folder.file(table)
            if path is None:
                raise DataError(f"{folder.name} has no table {table}.")
            present = [name for name in _column_names(path) if name in series_by_column and name != "dataset"]
            raw = _stored_columns(path, present)
            for name in names:
                if name == "dataset":
                    series_by_column[name].append(pd.Series([folder.name] * len(raw), dtype="str"))
                    continue
                kind = folder.kinds.get((table, name)) or _guess_kind(raw.get(name))
                values = raw[name] if name in raw else pd.Series([None] * len(raw), dtype="object")
                typed, n_invalid = _convert(values, kind, timing=folder.units.get((table, name)) == "seconds")
                self.invalid_values.update({(table, name): n_invalid} if n_invalid else {})
                series_by_column[name].append(typed)
        for name, series in series_by_column.items():
            joined = series[0] if len(series) == 1 else pd.concat(series, ignore_index=True)
            self._columns[table, name] = joined.astype("category") if name == "dataset" else joined

    def kind(self, table: str, column: str) -> str:
        """Return the codebook's kind of a column; "text" if it has none."""
        kinds = (folder.kinds.get((table, column)) for folder in self.folders)
        return next((kind for kind in kinds if kind), "text")

    def meaning(self, table: str, column: str) -> str:
        """Return the codebook's description of a column; empty if it has none."""
        meanings = (folder.meanings.get((table, column)) for folder in self.folders)
        return next((text for text in meanings if text), "")

    def heading(self, column: str, table: str = "matches") -> str:
        """Return a column's heading: its parameter's, move's or payoff's name in the codebook, or else its own name.

        A factor keeps the name that the researcher gave it.
        """
        if column.startswith(FACTOR):
            return column.removeprefix(FACTOR)
        match = _NAME_IN_MEANING.match(self.meaning(table, column))
        heading = (match[1] or match[2]) if match else charts.label(column)
        return "Payoff" if heading == PAYOFF + YOU else heading

    def role_name(self, role: str) -> str:
        """Return a role's name in the codebook, such as "Player 1" for p1."""
        heading = self.heading(f"payoffs_{role}")
        if heading == "Payoff":
            return "Player"
        return heading.removeprefix(PAYOFF) if heading.startswith(PAYOFF) else charts.label(role)

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
        kinds = ("number", "integer", "boolean")
        candidates = [*(n for n in names if n.startswith("payoffs_")), *results]
        return [n for n in candidates if self.kind("matches", n) in kinds]

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
        import pandas as pd

        frames = {}
        labels_of_player: dict[str, set[str]] = {}
        hashes_of_label: dict[str, set[str]] = {}
        for role in self.roles:
            frame = self._role_columns(role)
            frames[role] = frame
            for player, label in set(zip(frame["player"], frame["label"], strict=True)):
                labels_of_player.setdefault(player, set()).add(label)
            for label, agent_hash in set(zip(frame["label"], frame["hash"], strict=True)):
                hashes_of_label.setdefault(label, set()).add(agent_hash)
        ambiguous_labels = {label for label, hashes in hashes_of_label.items() if len(hashes - {""}) > 1}
        relabelled = {
            player for player, labels in labels_of_player.items() if len(labels) > 1 or labels & ambiguous_labels
        }
        players = {}
        for role, frame in frames.items():
            is_relabelled = frame["player"].isin(relabelled)
            name = frame["label"].where(is_relabelled, frame["player"])
            name_with_hash = name + " #" + frame["hash"].str.slice(0, 4)
            name = name.mask(is_relabelled & frame["label"].isin(ambiguous_labels), name_with_hash)
            players[role] = name.mask(frame["player"] == "").astype("str")
        return pd.DataFrame(players, index=range(len(self.table("matches", ["match"]))))

    def _role_columns(self, role: str) -> pd.DataFrame:
        """Return the player, label and hash in a role as text; "" if missing."""
        import pandas as pd

        names = {"player": f"player_{role}", "label": f"agent_{role}", "hash": f"agent_{role}_hash"}
        present = {key: name for key, name in names.items() if self.has("matches", name)}
        frame = self.table("matches", [*present.values()]).rename(columns={v: k for k, v in present.items()})
        frame = frame.fillna("").astype("str")
        for key in names:
            if key not in frame:
                frame[key] = frame["player"] if key == "label" else pd.Series("", index=frame.index, dtype="str")
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
        import pandas as pd

        frame = pd.concat([self.table("matches", self.varying), self.players_by_role], axis=1)
        if not len(frame.columns):
            return pd.Series(0, index=frame.index)
        return frame.groupby([*frame], sort=False, dropna=False, observed=True).ngroup()

    @cached_property
    def records(self) -> pd.Series:
        """The number of each match's record if only agents played, else missing; aligned with `matches`.

        It is equal for matches of one cell in which everybody made the same moves, wrote the same and earned the same.
        """
        import pandas as pd

        fields = [n for n in self.names("decisions") if n.startswith("move_") and n != "move_number"]
        moves = ["move_number", *(fields or ["move"])]
        agents_only = (self.players_by_role != HUMAN).all(axis=1) & ~self._persons.notna().any(axis=1)
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
        return missing.fillna(records).fillna(others)

    def _digests(self, table: str, columns: Sequence[str], matches: pd.Series) -> pd.Series:
        """Return a number for each of these matches that is equal if these columns of its rows are, in their order."""
        import pandas as pd

        if not columns or not len(matches):
            return pd.Series(dtype="uint64")
        frame = self.table(table, ["match", *columns])
        frame = frame[frame["match"].isin(set(matches))]
        rows = frame[[*columns]].assign(position=frame.groupby("match").cumcount())
        return pd.util.hash_pandas_object(rows, index=False).groupby(frame["match"]).sum()

    @cached_property
    def _persons(self) -> pd.DataFrame:
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
        import pandas as pd

        from analysis.toolbox import components

        n = len(self.column("matches", "match"))
        relations = [[self._persons[name] for name in self._persons]]
        if self.has("matches", "cluster"):
            relations.append([self.column("matches", "cluster")])
        if self.has("matches", "seed"):
            instance = self.table("matches", [*self.varying, "seed"])
            number = instance.groupby([*instance], sort=False, dropna=False, observed=True).ngroup()
            relations.append([number.where(instance["seed"].notna())])
        relations.append([self.records])
        return pd.Series(components(n, relations), name="cluster")

    def person(self) -> Any:
        """Return a function from a participant's pseudonym to the person's pseudonym across studies."""
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

    def precompute(self) -> None:
        """Compute the values that analyses share, so that `used_columns` does not depend on the order of analyses."""
        if self.size:
            for name in ("games", "roles", "outcomes", "varying", "constant", "players_by_role", "players",
                         "replays", "clusters"):  # fmt: skip
                getattr(self, name)

    def run(self, name: str, **options: Any) -> Outcome:
        """Run one analysis in a notebook and return its `.tables`, `.figures`, `.numbers`, `.status` and `.reason`.

        Raises:
            DataError: no analysis has this name.
        """
        from analysis.registry import get_analysis
        from analysis.running import run_analysis

        return run_analysis(get_analysis(name), self, _options(options))


def is_fixed_by(frame: pd.DataFrame, column: str, factors: Sequence[str]) -> bool:
    """Return whether a column has only one value under each combination of the factors' levels."""
    if not factors:
        return False
    values = frame.groupby([*factors], dropna=False, observed=True)[column].nunique(dropna=False)
    return bool((values <= 1).all())


def _options(options: Mapping[str, Any]) -> Options:
    from analysis.results import Options

    return Options(**options)


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


def plain(value: Any) -> Any:
    """Return a cell's value as a plain Python object; None if it is missing."""
    import pandas as pd

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
    kinds, units, meanings = _codebook(path)
    return Folder(path, name, manifest, kinds, units, meanings, changed)


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


def _manifest_hash(folder: Folder) -> str:
    return str(folder.manifest.get("sha256") or _own_hash(folder.manifest))


def _hash_of(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _codebook(path: Path) -> tuple[dict[tuple[str, str], str], ...]:
    """Return the kinds, units and meanings by (table, column); empty without a codebook."""
    codebook: tuple[dict[tuple[str, str], str], ...] = ({}, {}, {})
    file = next((path / name for name in ("codebook.parquet", "codebook.csv") if (path / name).exists()), None)
    if file is None:
        return codebook
    rows = _stored_columns(file, _column_names(file)).fillna("")
    for row in rows.to_dict("records"):
        for values, key in zip(codebook, ("kind", "unit", "meaning"), strict=True):
            values[str(row.get("table")), str(row.get("column"))] = str(row.get(key, ""))
    return codebook


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


def _column_names(path: Path) -> list[str]:
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        return list(pq.read_schema(path).names)
    import csv

    with path.open(encoding="utf-8", newline="") as opened:
        return next(csv.reader(opened), [])


def _stored_columns(path: Path, names: Sequence[str]) -> pd.DataFrame:
    """Return columns as stored: from Parquet with their types, from CSV as text with None for empty cells."""
    import pandas as pd

    if path.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        string_dtype = pd.Series([], dtype="str").dtype
        types = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype(), pa.string(): string_dtype}
        if not names:
            return pd.DataFrame(index=range(pq.read_metadata(path).num_rows))
        return pq.read_table(path, columns=list(names)).to_pandas(types_mapper=types.get)
    first = _column_names(path)[:1]
    frame = pd.read_csv(
        path, usecols=list(names) or first, dtype="str", keep_default_na=False, na_values=[""], encoding="utf-8"
    )
    return frame if names else frame[[]]


def _guess_kind(values: pd.Series | None) -> str:
    """Return the kind of a column that is not in the codebook."""
    import pandas as pd

    if values is None:
        return "text"
    if pd.api.types.is_bool_dtype(values):
        return "boolean"
    if pd.api.types.is_numeric_dtype(values):
        return "number"
    if pd.api.types.is_datetime64_any_dtype(values):
        return "time"
    present = values.dropna()
    if len(present) and set(present.unique()) <= {"TRUE", "FALSE"}:
        return "boolean"
    return "number" if len(present) and pd.to_numeric(present, errors="coerce").notna().all() else "text"


def _convert(values: pd.Series, kind: str, *, timing: bool) -> tuple[pd.Series, int]:
    """Return values converted to their kind, and the number of infinite or unreadable values and negative times."""
    import numpy as np
    import pandas as pd

    n_present = int(values.notna().sum())
    if kind in ("number", "integer"):
        numbers = pd.to_numeric(values, errors="coerce").astype("Float64").astype("float64")
        numbers = numbers.where(np.isfinite(numbers))
        if timing:
            numbers = numbers.where(~(numbers < 0))
        n_invalid = n_present - int(numbers.notna().sum())
        if kind == "integer":
            whole_numbers = numbers.where(numbers == numbers.round())
            exact = values if pd.api.types.is_integer_dtype(values) else pd.array(whole_numbers, dtype="Int64")
            n_invalid = n_present - int(pd.isna(exact).__invert__().sum())
            return pd.Series(exact, index=values.index, dtype="Int64"), n_invalid
        return numbers, n_invalid
    if kind == "boolean":
        if pd.api.types.is_bool_dtype(values):
            return values.astype("boolean"), 0
        flags = values.astype("str").str.upper().map({"TRUE": True, "FALSE": False, "1": True, "0": False})
        booleans = flags.astype("boolean")
        return booleans, n_present - int(booleans.notna().sum())
    if kind == "time":
        times = pd.to_datetime(values, errors="coerce", utc=True, format="ISO8601") if values.dtype == "str" else values
        times = pd.to_datetime(times, errors="coerce", utc=True)
        return times, n_present - int(times.notna().sum())
    return values.astype("str"), 0


def _sum_flows(flows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the sum of several datasets' flows."""
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
