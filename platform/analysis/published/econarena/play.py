"""One row per session, run and player of the beauty contest or the sealed auction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import players_of

CONTEST, AUCTION = "beauty_contest", "sealed_auction"
GAMES = (CONTEST, AUCTION)
REQUIRED_COLUMNS: Mapping[str, Sequence[str]] = {
    "matches": ["match", "game", "config_players", "config_runs"],
    "rounds": ["match", "run", "role", "foul"],
}
SESSION_COLUMNS = (
    "environment", "started_at", "config_runs", "config_history_depth", "config_upper", "config_prize",
    "config_fraction", "config_assets", "config_foul_fee", "config_players",
)  # fmt: skip
STAKES = ("L", "M", "H")
HISTORY_SUFFIX = "-history"
WITH_HISTORY, WITHOUT_HISTORY = "with history", "without history"


def game_of(data: Data) -> str:
    """Return the key of the dataset's game: the contest or the sealed-bid auction."""
    return CONTEST if CONTEST in data.games else AUCTION


def actions(data: Data) -> pd.DataFrame:
    """Return one row per session (`match`), run and player, with the player's action, payoff and deviation.

    `at` is the session's position in time. `payoff` is the share of the prize in a contest; in an auction it is
    value - price for the winner and 0 for the others, and the fee for a foul is deducted. The deviation `d` is
    answer / limit in a contest and |final / equilibrium assets - 1| in an auction; fouls have none. `share` is the
    action relative to the limit or the value.
    """
    game = game_of(data)
    result_columns = ["answer", "won"] if game == CONTEST else ["bid", "won", "price", "final_assets"]
    for table, columns in (("rounds", result_columns), ("seats", [] if game == CONTEST else ["value", "nash_assets"])):
        if missing := [name for name in columns if not data.has(table, name)]:
            raise SkippedError(f"The table {table} has no column {', '.join(missing)}.")
    rows = data.table("rounds", ["match", "run", "role", "foul", *result_columns])
    sessions = data.table("matches", ["match", *(name for name in SESSION_COLUMNS if data.has("matches", name))])
    sessions = sessions.sort_values([*(["started_at"] if "started_at" in sessions else []), "match"], kind="stable")
    sessions["at"] = range(len(sessions))
    sessions["environment"] = sessions["environment"].fillna("play") if "environment" in sessions else "play"
    rows = rows.join(sessions.set_index("match"), on="match")
    rows["player"] = players_of(data, rows)
    rows = rows[rows["player"].notna() & rows["at"].notna()].reset_index(drop=True)
    if not len(rows):
        raise SkippedError("The dataset contains no runs.")
    depth = rows["config_history_depth"].fillna(0) if "config_history_depth" in rows else 0
    has_history = (rows["config_runs"] > 1) & (depth > 0)
    rows["history"] = has_history.map({True: WITH_HISTORY, False: WITHOUT_HISTORY})
    rows["base"] = rows["environment"].str.removesuffix(HISTORY_SUFFIX)
    rows["foul"] = rows["foul"].fillna(True).astype(bool)
    if game == CONTEST:
        _contest(rows)
    else:
        _auction(data, rows)
    rows["group"] = [_group(limit, game) for limit in rows["limit"]]
    return rows.sort_values(["at", "run", "role"], kind="stable").reset_index(drop=True)


def _contest(rows: pd.DataFrame) -> None:
    rows["limit"] = rows["config_upper"].astype(float)
    rows["action"] = rows["answer"].astype(float)
    rows["payoff"] = rows["won"].astype(float)
    rows["d"] = (rows["action"] / rows["limit"]).mask(rows["foul"])
    rows["share"] = rows["d"]
    rows["optimum"] = rows["config_prize"].astype(float) / rows["config_players"].astype(float)
    rows["result"] = rows["payoff"]


def _auction(data: Data, rows: pd.DataFrame) -> None:
    seats = data.table("seats", ["match", "role", "value", "nash_assets"]).drop_duplicates(["match", "role"])
    values_by_seat = seats.set_index(["match", "role"])
    joined = rows[["match", "role"]].join(values_by_seat, on=["match", "role"])
    rows["limit"] = rows["config_assets"].astype(float)
    rows["action"] = rows["bid"].astype(float)
    fee = rows["config_foul_fee"].fillna(0).astype(float) if "config_foul_fee" in rows else 0.0
    gain = (joined["value"] - rows["price"].astype(float)).where(rows["won"].fillna(False).astype(bool), 0.0)
    rows["payoff"] = gain - fee * rows["foul"]
    rows["d"] = ((rows["final_assets"].astype(float) / joined["nash_assets"]) - 1).abs().mask(rows["foul"])
    rows["share"] = (rows["action"] / joined["value"]).mask(rows["foul"])
    rows["optimum"] = joined["nash_assets"]
    rows["result"] = rows["final_assets"].astype(float)


def _group(limit: float, game: str) -> str:
    """Return the stakes L, M or H: contest limits up to 99, 999 or 9,999; auction assets of 100, 1,000 or 10,000."""
    for name, low in (("L", 10), ("M", 100), ("H", 1000)):
        if (low <= limit < 10 * low) if game == CONTEST else limit == 10 * low:
            return name
    return f"limit {limit:,.10g}"


def groups(rows: pd.DataFrame) -> list[str]:
    """Return the groups of stakes in the rows, from low to high."""
    return sorted(rows["group"].unique(), key=lambda g: (STAKES.index(g) if g in STAKES else 9, g))
