"""Data frames with one row per match or seat, its outcomes and factors; and estimates by group."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from analysis.data import FACTOR, OUTCOMES, Data, is_fixed_by, label, plain
from analysis.toolbox import holm, q_values
from analysis.toolbox.dependence import ALWAYS_THE_SAME, FEWEST_UNITS, NO_OBSERVATIONS, mean_intervals
from analysis.toolbox.numbers import finite

MAX_LEVELS = 20
"""A parameter with more values than this is taken to be drawn for each match and is not a treatment."""
MAX_POSITIONS = 10
LARGE = 1000
"""Above this number of values, intervals of medians come from order statistics instead of a bootstrap."""
UNITS = (
    "Matches are one unit if people met again in them, directly or through a chain of others, if they are of one "
    "cohort or group, or if agents repeated one seed or record."
)
GROUP, PERSON = "of_group", "person_of_"
"""The column with a match's cohort or group, and the beginning of those with the persons of its roles."""
DEPENDENCE = ("cluster", "cell", "replay", GROUP)
POSITION = "position"
"""The column with a match's position among those of its first participant."""
NOT_SEAT_OUTCOMES = (
    "match", "role", "kind", "player", "agent", "agent_hash", "participant", "fills_in", "left_at", "payoff",
    "decisions", "substituted", "unanswered", "in_dataset", "reason", "reasons", "dataset",
)  # fmt: skip


@dataclass(frozen=True)
class Unit:
    """A unit of observation, match or seat, with its data.

    Attributes:
        name: "match", or "seat" for interchangeable seats.
        frame: outcomes as floats (booleans as 0 and 1), factors as text, `match`, `cluster` (its independent unit),
            `cell`, and `replay`: its record if agents always play the same in that cell, else missing. If people
            played several matches, `position` says which of theirs it is, as text. `people` names the columns with
            the persons of the match, and `of_group` is its cohort or group.
        outcomes: headings of the outcomes, by column.
        config: columns of the factors and parameters that are treatments.
        players: headings of the columns with players, by column.
        headings: headings of the parameters, by column.
        shares: the boolean outcomes.
        ranges: the smallest and largest possible value of each outcome, None where there is none.
    """

    name: str
    frame: pd.DataFrame
    outcomes: Mapping[str, str]
    config: Sequence[str]
    players: Mapping[str, str]
    shares: frozenset[str]
    headings: Mapping[str, str] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)

    def heading(self, factor: str) -> str:
        """Return the heading of a parameter or player."""
        return self.players.get(factor) or self.headings.get(factor) or label(factor)

    @property
    def factors(self) -> list[str]:
        """The plan's factors, parameters and players that vary, without players whom the factors determine."""
        factors = [name for name in self.config if name.startswith(FACTOR)]
        free = [name for name in self.players if not is_fixed_by(self.frame, name, factors)]
        return [name for name in (*self.config, *free) if self.frame[name].nunique(dropna=False) > 1]


def people_in(frame: pd.DataFrame) -> list[str]:
    """Return the columns with the persons of the match."""
    return [name for name in map(str, frame.columns) if name.startswith(PERSON)]


def roles_by_kind(data: Data) -> dict[str, list[str]]:
    """Return roles by kind, such as {"player": [p1, p2, p3]}; roles of the same kind are interchangeable."""
    kinds: dict[str, str] = {}
    if data.has("seats", "role", "kind"):
        pairs = data.table("seats", ["role", "kind"]).drop_duplicates().dropna()
        kinds = dict(zip(pairs["role"], pairs["kind"], strict=True))
    by_kind: dict[str, list[str]] = {}
    for role in data.roles:
        by_kind.setdefault(kinds.get(role) or role, []).append(role)
    return {kind if len(roles) > 1 else roles[0]: roles for kind, roles in by_kind.items()}


def units(data: Data) -> list[Unit]:
    """Return the units of observation: matches and, if seats are interchangeable, seats."""
    result = [matches(data)]
    if any(len(roles) > 1 for roles in roles_by_kind(data).values()) and data.has("seats", "match", "role", "payoff"):
        result.append(seats(data))
    return result


def matches(data: Data) -> Unit:
    """Return one row per match, with its metrics and the payoffs and outcomes of its non-interchangeable seats."""
    by_kind = roles_by_kind(data)
    single_roles = [roles[0] for roles in by_kind.values() if len(roles) == 1]
    shared_payoffs = [f"payoffs_{role}" for roles in by_kind.values() if len(roles) > 1 for role in roles]
    columns = [name for name in data.outcomes if name not in shared_payoffs or not data.has("seats", "payoff")]
    frame = _numbers(data, "matches", columns)
    frame.insert(0, "match", data.column("matches", "match"))
    outcomes = {name: data.heading(name) for name in columns}
    shares = {name for name in columns if data.kind("matches", name) == "boolean"}
    frame["cluster"], frame["cell"] = data.clusters, data.cells
    frame["replay"] = data.replays
    frame[GROUP] = data.column("matches", "cluster") if data.has("matches", "cluster") else None
    for name in data.persons:
        frame[f"{PERSON}{name}"] = data.persons[name]
    config = _with_config(data, frame)
    _add_position(data, frame)
    players = {}
    for role in single_roles:
        frame[f"player_{role}"] = data.players_by_role[role]
        players[f"player_{role}"] = data.role_name(role)
    if data.has("seats", "match", "role"):
        for role in single_roles:
            _add_seat_outcomes(data, frame, role, outcomes, shares)
    headings = {POSITION: "Position", **{name: data.heading(name) for name in config}}
    seats_too = {f"{role}_{n}": data.range("seats", n) for role in single_roles for n in data.names("seats")}
    ranges = {name: seats_too.get(name) or data.range("matches", name) for name in outcomes}
    return Unit("match", frame, outcomes, config, players, frozenset(shares), headings, ranges)


def seats(data: Data) -> Unit:
    """Return one row per interchangeable seat."""
    shared_roles = [role for roles in roles_by_kind(data).values() if len(roles) > 1 for role in roles]
    names = ["payoff", *seat_outcomes(data)]
    frame = _numbers(data, "seats", names)
    for name in ("match", "role"):
        frame[name] = data.column("seats", name)
    frame = frame[frame["role"].isin(shared_roles)].reset_index(drop=True)
    base = matches(data)
    shared = [name for name in map(str, base.frame.columns)
              if name in ("match", *base.config, *DEPENDENCE, POSITION) or name.startswith(PERSON)]  # fmt: skip
    of_match = base.frame[shared].set_index("match")
    frame = frame.join(of_match, on="match")
    frame["player"] = players_of(data, frame)
    shares = frozenset(name for name in names if data.kind("seats", name) == "boolean")
    outcomes = {name: label(name) for name in names}
    ranges = {name: data.range("seats", name) for name in names}
    return Unit("seat", frame, outcomes, base.config, {"player": "Player"}, shares, base.headings, ranges)


def seat_outcomes(data: Data) -> list[str]:
    """Return the columns of seats.csv that are the game's results."""
    names = [name for name in data.names("seats") if name not in NOT_SEAT_OUTCOMES and not name.startswith(FACTOR)]
    return [name for name in names if data.kind("seats", name) in OUTCOMES]


def players_of(data: Data, frame: pd.DataFrame) -> pd.Series:
    """Return the player of each row with `match` and `role`; missing if the match or role is unknown."""
    match = data.column("matches", "match")
    positions = pd.Series(range(len(match)), index=match).reindex(frame["match"]).to_numpy()
    players = pd.Series(None, index=frame.index, dtype="str")
    for role in data.roles:
        rows = (frame["role"] == role).to_numpy() & ~pd.isna(positions)
        players[rows] = data.players_by_role[role].to_numpy()[positions[rows].astype(int)]
    return players


def level_text(value: Any) -> str:
    """Return a factor's level as text, such as "12" for 12.0 and "none" for missing values."""
    value = plain(value)
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.10g}"
    return str(value)


def factors_and_levels(term: str, factors: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the factors of a term of a regression on them with their levels; none for others, such as "Intercept"."""
    pieces = re.split(f"(?:^|:)({'|'.join(map(re.escape, factors))})=", term)
    return pieces[1::2], pieces[2::2]


def arms_of(people: pd.DataFrame) -> pd.Series:
    """Return the arm of each participant from `cell`, `version` and `dataset`: a key, such as "cell 1"."""
    arm = people["cell"].map(level_text).astype("str")
    if people["version"].nunique() > 1 or people["dataset"].nunique() > 1:
        arm = people["version"].map(level_text).astype("str") + "." + arm
    return "cell " + (people["dataset"].astype("str") + " " + arm if people["dataset"].nunique() > 1 else arm)


def _numbers(data: Data, table: str, columns: Sequence[str]) -> pd.DataFrame:
    return data.table(table, columns).astype("float64") if columns else data.table(table, ["match"])[[]].copy()


def _with_config(data: Data, frame: pd.DataFrame) -> list[str]:
    """Add the parameters that are treatments to the frame, as text, and return their names."""
    config = []
    for name in data.varying:
        values = data.column("matches", name)
        if values.nunique(dropna=False) > MAX_LEVELS:
            continue
        levels = {value: level_text(value) for value in values.unique()}
        frame[name] = values.map(lambda value, levels=levels: levels.get(value, "none")).fillna("none").astype("str")
        config.append(name)
    return config


def _add_position(data: Data, frame: pd.DataFrame) -> None:
    """Add which match of its first participant each match is, if people played several and not too many."""
    if data.has("matches", "session"):
        position = data.column("matches", "session")
        if 1 < position.nunique() <= MAX_POSITIONS:
            frame[POSITION] = position.map(level_text).astype("str")


def drawn_for_each_match(data: Data) -> list[str]:
    """Return the parameters that vary but have too many values to be treatments."""
    return [name for name in data.varying if data.column("matches", name).nunique(dropna=False) > MAX_LEVELS]


def _add_seat_outcomes(data: Data, frame: pd.DataFrame, role: str, outcomes: dict[str, str], shares: set[str]) -> None:
    """Add a seat's outcomes to its match, unless the match already has them."""
    names = [name for name in seat_outcomes(data) if f"{role}_{name}" not in outcomes]
    if not names:
        return
    seat_rows = _numbers(data, "seats", names)
    seat_rows["match"] = data.column("seats", "match")
    seat_rows = seat_rows[data.column("seats", "role") == role].drop_duplicates("match").set_index("match")
    for name in names:
        column = seat_rows[name].reindex(frame["match"]).to_numpy()
        frame[f"{role}_{name}"] = column
        outcomes[f"{role}_{name}"] = label(f"{role}_{name}")
        if data.kind("seats", name) == "boolean":
            shares.add(f"{role}_{name}")


def without_unverified(data: Data, frame: pd.DataFrame) -> pd.DataFrame | None:
    """Return the rows without imported matches marked as unverified; None if there are none, or no others."""
    if not data.has("matches", "unverified"):
        return None
    rows = data.table("matches", ["match", "unverified"])
    unverified = set(rows["match"][rows["unverified"].notna() & (rows["unverified"] != "")])
    verified = frame[~frame["match"].isin(unverified)]
    return verified if unverified and len(verified) else None


FAR = 10
"""Values further than so many interquartile ranges from the quartiles are reported, and left out as a check."""
FEW = 0.05


def far(values: pd.Series) -> pd.Series:
    """Return which values are far from the quartiles; if half of all values are equal, only a few can be."""
    low, high = values.quantile([0.25, 0.75])
    is_far = (values < low - FAR * (high - low)) | (values > high + FAR * (high - low))
    return is_far & (high > low or is_far.mean() < FEW)


# ---- estimates by group -------------------------------------------------------------------------------------


def sorted_levels(values: Iterable[str]) -> list[str]:
    """Return the distinct levels: numbers first, by value, then everything else, by text."""
    return sorted(set(values), key=level_key)


def level_key(value: str) -> tuple[int, float, str]:
    """Return a level's sort key: numbers first, by value, then everything else, by text."""
    number = finite(value)
    return (1, 0.0, value) if number is None else (0, number, "")


def ranks(column: pd.Series) -> pd.Series:
    """Return each value's rank in the order of levels, for sorting; missing ones have none."""
    place = {level: rank for rank, level in enumerate(sorted_levels(column.dropna()))}
    return column.map(place)


class Groups:
    """Rows grouped by the levels of some columns, for estimates of several outcomes.

    Attributes:
        levels: one row per group, in order of first appearance.
        code: each row's group, as its position in `levels`.
        cluster: each row's independent unit, as a number.
        exact: whether agents always play the same in all cells of the group.
    """

    def __init__(self, frame: pd.DataFrame, by: Sequence[str]) -> None:
        self.frame = frame
        self.code = frame.groupby([*by], sort=False, dropna=False).ngroup().to_numpy()
        first = np.unique(self.code, return_index=True)[1]
        self.levels = frame[[*by]].iloc[first].reset_index(drop=True)
        self.cluster = np.unique(frame["cluster"].to_numpy(), return_inverse=True)[1]
        exact = frame["replay"].notna().to_numpy() if "replay" in frame else np.zeros(len(frame), dtype=bool)
        self.exact = np.bincount(self.code, exact, len(self.levels)) == np.bincount(self.code)

    def values(self, outcome: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return an outcome's known values with their groups and clusters, sorted by group and value."""
        values = self.frame[outcome].to_numpy(dtype=float)
        order = np.lexsort((values, self.code))
        order = order[~np.isnan(values[order])]
        return values[order], self.code[order], self.cluster[order]

    def estimates(
        self, outcome: str, *, share: bool, level: float, bounds: tuple[float | None, float | None] = (None, None)
    ) -> pd.DataFrame:
        """Return an outcome's mean or share in each group, with its interval (see `toolbox.dependence`).

        Rows without the outcome are ignored.

        Args:
            bounds: the smallest and largest possible value, None if there is none.

        Returns:
            `levels` with n, estimate, sd, median, smallest, largest, clusters, missing, se, low, high, method, and
            note: why there is no interval.
        """
        values, code, cluster = self.values(outcome)
        groups = len(self.levels)
        n = np.bincount(code, minlength=groups)
        first = np.cumsum(n) - n
        has_values = n > 0
        middle = [np.where(has_values, first + (n - 1) // 2, 0), np.where(has_values, first + n // 2, 0)]
        ends = [np.where(has_values, first, 0), np.where(has_values, first + n - 1, 0)]
        ordered = np.append(values, np.nan)  # a position for groups without values
        smallest, largest, lower, upper = (
            np.where(has_values, ordered[positions], np.nan) for positions in (*ends, *middle)
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            # Distances from the smallest value are summed, so that equal values have exactly that mean and SD 0.
            mean = smallest + np.bincount(code, values - smallest[code], groups) / n
            deviations = values - mean[code]
            sd = np.sqrt(np.bincount(code, deviations**2, groups) / np.where(n > 1, n - 1, np.nan))
        low, high = (end if own is None else own for own, end in zip(bounds, (-np.inf, np.inf), strict=True))
        found = mean_intervals(mean, deviations, code, cluster, share=share, units_in_all=len(np.unique(cluster)),
                               level=level, bounds=(low, high))  # fmt: skip
        exact = self.exact & has_values
        method = np.where(np.isnan(found["low"]), "none", "Wilson" if share else "CR3")
        return self.levels.assign(
            n=n, estimate=mean, sd=sd, median=np.nan if share else (lower + upper) / 2, smallest=smallest,
            largest=largest, clusters=found["clusters"], missing=np.bincount(self.code, minlength=groups) - n,
            **{name: np.where(exact, np.nan, found[name]) for name in ("se", "low", "high")},
            method=np.where(exact, "exact", method),
            note=np.where(exact, ALWAYS_THE_SAME, np.where(has_values, found["note"], NO_OBSERVATIONS)),
        )  # fmt: skip


def estimates(
    frame: pd.DataFrame,
    by: Sequence[str],
    outcome: str,
    *,
    share: bool,
    level: float,
    bounds: tuple[float | None, float | None] = (None, None),
) -> pd.DataFrame:
    """Return the estimates of an outcome, one row per group; see `Groups.estimates`."""
    return Groups(frame, by).estimates(outcome, share=share, level=level, bounds=bounds)


def grouped(frame: pd.DataFrame, *by: str, sort: bool = True) -> Any:
    """Return (levels, rows) of every group, sorted or in order of first rows; the level alone if by one column."""
    return frame.groupby(by[0] if len(by) == 1 else [*by], sort=sort)


def by_group(
    frame: pd.DataFrame,
    by: Sequence[str],
    statistic: Callable[[pd.DataFrame], Mapping[str, Any] | None],
    *,
    sort: bool = True,
) -> pd.DataFrame:
    """Return a statistic of each group's rows: the levels with what it returns; groups without a result are left out.

    Args:
        sort: whether groups are sorted by their levels, or stand in order of their first row.
    """
    found = ((levels, statistic(rows)) for levels, rows in frame.groupby([*by], sort=sort))
    return pd.DataFrame([dict(zip(by, levels, strict=True)) | {**row} for levels, row in found if row is not None])


IN_SHORT = ("n", "estimate", "se", "low", "high", "clusters", "method", "note")


def share_of(frame: pd.DataFrame, outcome: str, *, level: float) -> dict[str, Any]:
    """Return the share of all rows with the outcome: n, estimate, se, low, high, clusters, method and note."""
    return _overall(frame, outcome, share=True, level=level)


def mean_of(frame: pd.DataFrame, outcome: str, *, level: float) -> dict[str, Any]:
    """Return the mean of the outcome over all rows: n, estimate, se, low, high, clusters, method and note."""
    return _overall(frame, outcome, share=False, level=level)


def _overall(frame: pd.DataFrame, outcome: str, *, share: bool, level: float) -> dict[str, Any]:
    if not len(frame):
        return {**dict.fromkeys(IN_SHORT), "n": 0, "clusters": 0, "note": NO_OBSERVATIONS}
    row = estimates(frame.assign(**{"": ""}), [""], outcome, share=share, level=level).iloc[0]
    return {name: plain(row[name]) for name in IN_SHORT}


def shares(frame: pd.DataFrame, by: Sequence[str], flag: str, *, level: float) -> pd.DataFrame:
    """Return the share of rows with the flag in each group, in the order of levels.

    Returns:
        the levels with n, estimate, se, low, high, clusters, note, and the `number` of rows with the flag.
    """
    rows = estimates(frame, by, flag, share=True, level=level).sort_values([*by], key=ranks, kind="stable")
    number = (rows["estimate"] * rows["n"]).round().fillna(0).astype("int64")
    return rows[[*by, *IN_SHORT]].assign(number=number).reset_index(drop=True)


def distribution(
    frame: pd.DataFrame, by: Sequence[str], of: str, *, level: float, order: Sequence[Any] | None = None
) -> pd.DataFrame:
    """Return the share of each value of a column in each group, in the order of levels and then of values.

    Args:
        order: the values, whether they occur or not; by default those that occur, sorted.

    Returns:
        the levels and the value with n, estimate, se, low, high, clusters, note, and `k`, the number of rows.
    """
    known = frame.dropna(subset=[*by, of])
    values = sorted(set(known[of])) if order is None else order
    found = [shares(known.assign(here=known[of].eq(value).astype(float)), by, "here", level=level)
             .assign(**{of: value, "place": place}) for place, value in enumerate(values)]  # fmt: skip
    rows = pd.concat(found).rename(columns={"number": "k"})
    return rows.sort_values([*by, "place"], key=lambda column: column if column.name == "place" else ranks(column),
                            kind="stable").drop(columns="place").reset_index(drop=True)  # fmt: skip


def shares_by_each(frame: pd.DataFrame, flag: str, factors: Mapping[str, str], *, level: float) -> pd.DataFrame:
    """Return the share of rows with the flag, of all rows and at each level of each factor.

    Args:
        factors: headings by column.

    Returns:
        `factor` ("All" or a heading) and `level`, with the columns of `shares`.
    """
    overall = share_of(frame, flag, level=level)
    rows = [pd.DataFrame([{"level": "", **overall, "number": round((overall["estimate"] or 0) * overall["n"]),
                           "factor": "All"}])]  # fmt: skip
    for name, heading in factors.items():
        known = frame[frame[name].notna()]
        known = known.assign(level=known[name])
        if len(known):
            rows.append(shares(known, ["level"], flag, level=level).assign(factor=heading))
    return pd.concat(rows, ignore_index=True)


def at_level(rows: pd.DataFrame) -> pd.Series:
    """Return the words for each row's `factor` and `level` in figures, such as "Rounds: 12"; "All" for all rows."""
    words = map(_level_of, rows["factor"], rows["level"])
    return pd.Series([*words], index=rows.index, dtype="str")


def _level_of(factor: str, level: str) -> str:
    """Return the level with its factor, unless it contains the factor's name, such as "cell 3"."""
    if not level or not factor:
        return factor or level
    return level if level.startswith(factor.lower()) else f"{factor}: {level}"


def with_dependence(data: Data, frame: pd.DataFrame) -> pd.DataFrame:
    """Return rows of matches (`match`) with the match's independent unit (`cluster`) and `replay`; see `Unit`."""
    match = data.column("matches", "match")
    return frame.assign(**{name: frame["match"].map(values.set_axis(match))
                           for name, values in (("cluster", data.clusters), ("replay", data.replays))})  # fmt: skip


def median_interval(values: np.ndarray, clusters: np.ndarray, *, draws: int, seed: int, level: float) -> Any:
    """Return a median's interval by bootstrap over units, or from the share below it for many values.

    Without enough units, both ends are None.
    """
    labels, cluster_index = np.unique(np.asarray(clusters), return_inverse=True)
    if len(labels) < FEWEST_UNITS:
        return None, None
    if len(values) > LARGE:
        # The ranks between which the share of values below the median may lie.
        below = (values < np.median(values)).astype(float)
        found = mean_intervals(np.array([0.5]), below - below.mean(), np.zeros(len(values), dtype=int), cluster_index,
                               share=True, units_in_all=len(labels), level=level)  # fmt: skip
        if found["note"][0]:
            return None, None
        ends = np.array([found["low"][0], found["high"][0]]) * len(values)
        return tuple(np.sort(values)[np.clip([int(ends[0]), int(np.ceil(ends[1])) - 1], 0, len(values) - 1)])
    # These are the draws of `toolbox.bootstrap`, all at once: each value is weighted by how often its cluster is drawn.
    draw_counts = times_drawn(len(labels), draws, seed)
    order = np.argsort(values, kind="stable")
    ordered, cumulative = values[order], np.cumsum(draw_counts[:, cluster_index[order]], axis=1, dtype=np.int32)
    total = cumulative[:, -1]
    lower = (cumulative > ((total - 1) // 2)[:, None]).argmax(axis=1)
    upper = (cumulative > (total // 2)[:, None]).argmax(axis=1)
    drawn = (ordered[lower] + ordered[upper]) / 2
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


@lru_cache(maxsize=2)
def times_drawn(clusters: int, draws: int, seed: int) -> np.ndarray:
    """Return how often each cluster is drawn, with shape (draws, clusters); cached for groups of the same size."""
    drawn = np.random.default_rng(seed).integers(0, clusters, size=(draws, clusters))
    indices = drawn + clusters * np.arange(draws)[:, None]
    return np.bincount(indices.ravel(), minlength=draws * clusters).astype(np.int16).reshape(draws, clusters)


def quantiles(frame: pd.DataFrame, by: Sequence[str], column: str, names: Mapping[str, float]) -> pd.DataFrame:
    """Return a column's quantiles by name in each group that has values, with their number `n`, in sorted order."""
    known = frame[frame[column].notna()].astype({column: "float64"}).groupby([*by], observed=True)[column]
    found = known.quantile(np.array([*names.values()])).unstack()
    return found.set_axis([*names], axis=1).assign(n=known.size()).reset_index()


def with_holm(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with Holm-adjusted p-values, `p_holm`, over all rows with a `p`."""
    return _adjusted(frame, "p_holm", holm)


EXPLORATORY = "Exploratory: q is Benjamini and Hochberg's, over the whole table."


def with_q(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with Benjamini and Hochberg's q-values, `q`, over all rows with a `p`."""
    return _adjusted(frame, "q", q_values)


def _adjusted(frame: pd.DataFrame, name: str, adjust: Callable[..., list[float | None]]) -> pd.DataFrame:
    adjusted = adjust([finite(value) for value in frame["p"]]) if len(frame) else []
    return frame.assign(**{name: pd.Series(adjusted, index=frame.index, dtype="float64")})
