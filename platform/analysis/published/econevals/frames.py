"""One row per match of an EconEvals game, in which an agent or a person plays an instance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from analysis.errors import SkippedError
from analysis.frames import level_text

if TYPE_CHECKING:
    import pandas as pd

    from analysis.data import Data

BENCHMARKS = ("procurement", "scheduling", "pricing")
LEVELS = ("small", "basic", "medium", "hard")
DISCLOSURE: Mapping[str, str] = {
    "baseline": "not told the horizon", "horizon": "told the horizon", "horizon_goal": "told horizon and goal"
}  # fmt: skip


def game_of(data: Data, games: Sequence[str]) -> str:
    """Return the first of these games that the dataset contains."""
    return next(game for game in games if game in data.games)


def frame(data: Data, game: str, columns: Sequence[str]) -> pd.DataFrame:
    """Return one row per match with agent, level (and what the agent was told), instance and these columns.

    An instance is identified by its number, by its full text if it was given in full, or else by the match's seed.

    Raises:
        SkippedError: a column is missing, or the game has no matches.
    """
    import pandas as pd

    if missing := [name for name in columns if not data.has("matches", name)]:
        raise SkippedError(f"The table matches has no column {', '.join(missing)}.")
    optional = ("config_instance_seed", "config_instance", "seed", "config_level", "config_told", "config_preferences",
                "config_pattern")  # fmt: skip
    setting_columns = [name for name in optional if data.has("matches", name)]
    rows = data.table("matches", [*dict.fromkeys(["match", "game", *setting_columns, *columns])])
    players = data.players_by_role
    rows["agent"] = players.get("agent")
    if "firm_1" in players:
        first = players["firm_1"]
        second = players["firm_2"] if "firm_2" in players else pd.Series(None, index=first.index, dtype="str")
        rows["agent"] = first.where(second.isna() | (first == second), first + " & " + second)
    rows = rows[(rows["game"] == game) & rows["agent"].notna()].reset_index(drop=True)
    if not len(rows):
        raise SkippedError("The dataset has no matches.")
    rows["instance"] = _instances(rows)
    rows["level"] = _levels(rows)
    return pd.DataFrame(rows)


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
    several_disclosures = "config_told" in rows and rows["config_told"].nunique() > 1
    return [
        f"{row['config_level']}, {DISCLOSURE.get(str(row['config_told']), row['config_told'])}" if several_disclosures
        else str(row["config_level"])
        for row in rows.to_dict("records")
    ]  # fmt: skip


def level_order(levels: Sequence[str]) -> list[str]:
    """Return levels from easiest to hardest."""

    def sort_key(level: str) -> tuple[int, int]:
        difficulty, _comma, disclosure = level.partition(", ")
        return (
            LEVELS.index(difficulty) if difficulty in LEVELS else 9,
            list(DISCLOSURE.values()).index(disclosure) if disclosure else 0,
        )

    return sorted(set(levels), key=lambda level: (*sort_key(level), level))


def by_instance(rows: pd.DataFrame, column: str) -> dict[str, dict[str, float]]:
    """Return {agent: {instance: mean of the column}}."""
    valid = rows[rows[column].notna()]
    means = valid.groupby(["agent", "instance"])[column].mean()
    by_agent: dict[str, dict[str, Any]] = {}
    for (agent, instance), value in means.items():
        by_agent.setdefault(agent, {})[instance] = float(value)
    return by_agent
