"""One row per auction and bidder, with the auction's setting: budget and order of sale."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import grouped, level_text, players_of
from analysis.tables import text

GAMES = ("item_auction",)
ORDERS = ("random", "ascending", "descending", "listed")
MATCH = ["match", "game", "config_budget", "config_order"]
REQUIRED_COLUMNS: Mapping[str, Sequence[str]] = {"matches": MATCH, "seats": ["match", "role", "profit", "items"]}
BIDDER, SETTING = text("player", "Bidder"), text("setting", "Setting")
OF_ITEMS = ["match", "round", "role", "item", "start_price", "winner", "price"]


def bidders(data: Data, columns: Sequence[str]) -> pd.DataFrame:
    """Return one row per seat, with the given columns of seats.csv, the player and the auction's setting."""
    if missing := [name for name in columns if not data.has("seats", name)]:
        raise SkippedError(f"The table seats has no column {', '.join(missing)}.")
    rows = data.table("seats", [*dict.fromkeys(["match", "role", *columns])])
    return with_setting(data, rows)


def with_setting(data: Data, rows: pd.DataFrame) -> pd.DataFrame:
    """Add the player, the auction's setting and its position in time (`at`) to rows with `match` and `role`."""
    optional = [name for name in ("started_at", "config_objectives", "config_players") if data.has("matches", name)]
    auctions = data.table("matches", [*MATCH, *optional])
    auctions = auctions.sort_values([*({"started_at"} & {*optional}), "match"], kind="stable").set_index("match")
    auctions = auctions.assign(at=range(len(auctions)), budget=auctions["config_budget"].map(level_text),
                               order=auctions["config_order"])  # fmt: skip
    auctions["setting"] = auctions["budget"] + ", " + auctions["order"]
    rows = rows.assign(player=players_of(data, rows))
    rows = rows.join(auctions[["at", "budget", "order", "setting", *optional]], on="match")
    rows = rows[rows["player"].notna() & rows["setting"].notna()]
    if not len(rows):
        raise SkippedError("The dataset contains no auctions.")
    return rows.sort_values(["at", "role"], kind="stable").reset_index(drop=True)


def settings(rows: pd.DataFrame) -> list[str]:
    """Return settings sorted by budget, then by order."""

    def sort_key(setting: str) -> tuple[float, int, str]:
        budget, order = setting.split(", ", 1)
        return (float(budget), ORDERS.index(order) if order in ORDERS else 9, order)

    return sorted(rows["setting"].unique(), key=sort_key)


def profits_by_auction(rows: pd.DataFrame) -> list[dict[str, float]]:
    """Return {player: mean profit over its seats} for each auction, in chronological order."""
    return [auction.groupby("player")["profit"].mean().to_dict() for _at, auction in grouped(rows, "at")]


def objective(row: Mapping[str, Any]) -> str:
    """Return the bidder's objective in this auction, or profit if none was given."""
    given = row.get("config_objectives")
    objectives = json.loads(given) if isinstance(given, str) else None
    seat = int(str(row["role"]).removeprefix("p")) - 1
    return str(objectives[seat]) if objectives and seat < len(objectives) else "profit"
