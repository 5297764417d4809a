"""One row per match of an EconEvals game, in which an agent or a person plays an instance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import level_text
from analysis.results import analysis
from analysis.tables import text
from analysis.toolbox import paired

BENCHMARKS = ("procurement", "scheduling", "pricing")
AGENT, OTHER = text("agent", "Agent"), text("other", "minus")
LEVELS = ("small", "basic", "medium", "hard")
DISCLOSURE: Mapping[str, str] = {
    "baseline": "not told the horizon", "horizon": "told the horizon", "horizon_goal": "told horizon and goal"
}  # fmt: skip
of_benchmarks = partial(analysis, games=BENCHMARKS)


def game_of(data: Data, games: Sequence[str]) -> str:
    """Return the first of these games that the dataset contains."""
    return next(game for game in games if game in data.games)


def frame(data: Data, game: str, columns: Sequence[str]) -> pd.DataFrame:
    """Return one row per match with agent, level (and what the agent was told), instance and these columns.

    An instance is identified by its number, by its full text if it was given in full, or else by the match's seed.
    Levels are ordered from easiest to hardest.

    Raises:
        SkippedError: a column is missing, or the game has no matches.
    """
    if missing := [name for name in columns if not data.has("matches", name)]:
        raise SkippedError(f"The table matches has no column {', '.join(missing)}.")
    optional = ("config_instance_seed", "config_instance", "seed", "config_level", "config_told", "config_preferences",
                "config_pattern")  # fmt: skip
    known = [name for name in optional if data.has("matches", name)]
    rows = data.table("matches", [*dict.fromkeys(["match", "game", *known, *columns])])
    players = data.players_by_role
    rows["agent"] = players.get("agent")
    if "firm_1" in players:
        first = players["firm_1"]
        second = players["firm_2"] if "firm_2" in players else pd.Series(None, index=first.index, dtype="str")
        rows["agent"] = first.where(second.isna() | (first == second), first + " & " + second)
    rows = rows[(rows["game"] == game) & rows["agent"].notna()].reset_index(drop=True)
    if not len(rows):
        raise SkippedError("The dataset has no matches.")
    levels = _levels(rows)
    return rows.assign(instance=_instances(rows), level=pd.Categorical(levels, level_order(levels)))


def _instances(rows: pd.DataFrame) -> list[str]:
    instances = []
    for row in rows.to_dict("records"):
        seed, definition = row.get("config_instance_seed"), row.get("config_instance")
        if seed is not None and seed == seed:
            identifier = level_text(seed)
        else:
            identifier = definition if isinstance(definition, str) else f"seed {row.get('seed')}"
        variants = [str(row[key]) for key in ("config_preferences", "config_pattern") if isinstance(row.get(key), str)]
        instances.append(" ".join([identifier, *variants]))
    return instances


def _levels(rows: pd.DataFrame) -> list[str]:
    if "config_level" not in rows:
        return [""] * len(rows)
    levels = rows["config_level"].map(str)
    if "config_told" in rows and rows["config_told"].nunique() > 1:
        levels += ", " + rows["config_told"].map(lambda told: str(DISCLOSURE.get(str(told), told)))
    return levels.tolist()


def level_order(levels: Iterable[str]) -> list[str]:
    """Return levels from easiest to hardest."""

    def sort_key(level: str) -> tuple[int, int, str]:
        difficulty, _comma, told = level.partition(", ")
        return (LEVELS.index(difficulty) if difficulty in LEVELS else 9,
                list(DISCLOSURE.values()).index(told) if told else 0, level)  # fmt: skip

    return sorted(set(levels), key=sort_key)


def by_instance(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return the means of the column, with a row per instance and a column per agent."""
    return rows[rows[column].notna()].groupby(["instance", "agent"])[column].mean().unstack()


def difference(a: pd.Series, b: pd.Series, *, level: float) -> dict[str, Any] | None:
    """Return the paired t test of two agents on the instances that both played; None if there are none."""
    both = pd.concat([a, b], axis=1).dropna()
    return paired(both.iloc[:, 0].tolist(), both.iloc[:, 1].tolist(), level=level) if len(both) else None
