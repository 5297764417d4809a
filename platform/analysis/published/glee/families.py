"""The three families of games: their parameters, the reference level of each, and a data frame of their matches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from analysis.data import Data
from analysis.errors import SkippedError
from analysis.results import analysis
from analysis.tables import text

HUMAN = "human"
REFERENCE_PLAYER = "gemini-1.5-flash"
ROLES = ("alice", "bob")
GAINS = ("alice_self_gain", "bob_self_gain")
METRICS: Mapping[str, str] = {
    "efficiency": "Efficiency", "fairness": "Fairness", "alice_self_gain": "Alice's self-gain",
    "bob_self_gain": "Bob's self-gain",
}  # fmt: skip
FAMILY, METRIC = text("family", "Family"), text("metric", "Metric")
MARKET = "market"


@dataclass(frozen=True)
class Family:
    """One family of games.

    Attributes:
        parameters: (display name, reference level) by column; each column is a factor.
        market: (column, display name) pairs; their combinations form one factor.
        reference_market: reference level of the market factor, as column values; None for an infinite horizon.
        fairness: column of the metric that the paper calls fairness.
        other_formulas: metrics whose published values may come from formulas other than the paper's own.
    """

    title: str
    parameters: Mapping[str, tuple[str, Any]]
    market: Sequence[tuple[str, str]]
    reference_market: Sequence[Any]
    fairness: str = "fairness"
    other_formulas: Sequence[str] = ()

    @property
    def columns(self) -> list[str]:
        """Return the family's columns of matches.csv beyond the shared ones."""
        return [*self.parameters, *(column for column, _title in self.market), self.fairness]

    @property
    def factors(self) -> dict[str, Any]:
        """Return the reference level of each configuration factor."""
        references = {column: reference for column, (_title, reference) in self.parameters.items()}
        return {**references, MARKET: market_level(self.reference_market)}


FAMILIES: Mapping[str, Family] = {
    "bargaining": Family(
        "Bargaining",
        {"config_delta_alice": ("δ Alice", 0.9), "config_delta_bob": ("δ Bob", 0.9), "config_money": ("M", 10_000.0)},
        (("config_rounds", "T"), ("config_complete_information", "CI"), ("config_messages_allowed", "MA")),
        (None, True, False),
        other_formulas=("efficiency", "fairness", "bob_self_gain"),
    ),
    "negotiation": Family(
        "Negotiation",
        {"config_seller_factor": ("F Alice", 1.0), "config_buyer_factor": ("F Bob", 1.0),
         "config_scale": ("M", 10_000.0)},
        (("config_rounds", "T"), ("config_complete_information", "CI"), ("config_messages_allowed", "MA")),
        (1, True, False),
        fairness="fairness_raw",
        other_formulas=("efficiency",),
    ),
    "persuasion": Family(
        "Persuasion",
        {"config_prior": ("p", 0.5), "config_high_value": ("v", 1.25), "config_price": ("M", 10_000.0)},
        (("config_complete_information", "CI"), ("config_message_type", "Messages"), ("config_buyer_type", "Buyer")),
        (True, "binary", "long_living"),
        other_formulas=("bob_self_gain",),
    ),
}  # fmt: skip
SHARED = ("match", "game", "player_alice", "player_bob", *[m for m in METRICS if m != "fairness"])
"""Columns of matches.csv that every family needs."""
GAMES = tuple(FAMILIES)
REQUIRED_COLUMNS: Mapping[str, Sequence[str]] = {"matches": [*SHARED, "fairness"]}
of_families = partial(analysis, games=GAMES, columns=REQUIRED_COLUMNS)


def families(data: Data) -> list[str]:
    """Return the families that have matches in the dataset.

    Raises:
        SkippedError: there are none.
    """
    present = [family for family in GAMES if family in set(data.column("matches", "game"))]
    if not present:
        raise SkippedError("The dataset contains no matches of bargaining, negotiation or persuasion.")
    return present


def frame(data: Data, family: str) -> pd.DataFrame:
    """Return one row per match of a family.

    Returns:
        match, the metrics by their names in METRICS, alice and bob (the players), market (one level per combination),
        the family's columns, whether the match is unverified, and its cluster, setting (cell) and replay.

    Raises:
        SkippedError: a column is missing.
    """
    definition = FAMILIES[family]
    if missing := [name for name in definition.columns if not data.has("matches", name)]:
        raise SkippedError(f"The table matches has no column {', '.join(missing)}.")
    optional_columns = [name for name in ("unverified", "messages", "decisions") if data.has("matches", name)]
    rows = data.table("matches", [*dict.fromkeys([*SHARED, *definition.columns, *optional_columns])])
    rows[list(ROLES)] = data.players_by_role[list(ROLES)]
    rows["cluster"], rows["setting"], rows["replay"] = data.clusters, data.cells, data.replays
    rows = rows[rows["game"] == family].reset_index(drop=True)
    rows["fairness"] = rows[definition.fairness]
    rows = rows.astype(dict.fromkeys([*METRICS, *definition.parameters], "float64"))
    columns = [[None if pd.isna(value) else value for value in rows[column].tolist()]
               for column, _title in definition.market]  # fmt: skip
    rows[MARKET] = [market_level(values) for values in zip(*columns, strict=True)]
    rows["unverified"] = rows["unverified"].notna() if "unverified" in optional_columns else False
    return rows


def market_level(values: Sequence[Any]) -> str:
    """Return the name of a combination's level, such as "∞ · yes · no"."""
    return " · ".join(display(value) for value in values)


def display(value: Any) -> str:
    """Return a parameter's value for display: ∞ for an infinite horizon, yes or no for booleans."""
    if value is None:
        return "∞"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:,.10g}"
    return str(value).replace("_", "-")


def reference_player(rows: pd.DataFrame) -> tuple[str | None, str]:
    """Return the reference for players' effects: gemini-1.5-flash as in the paper, or else the most frequent agent.

    Returns:
        the player (None without an agent), and a warning or an empty string.
    """
    counts = Counter(name for role in ROLES for name in rows[role].dropna() if name != HUMAN)
    ordered = sorted(counts, key=lambda name: (-counts[name], name))
    for name in ordered:
        if name.replace("/", ":").split(":")[-1] == REFERENCE_PLAYER:
            return name, ""
    if not ordered:
        return None, ""
    return ordered[0], f"{REFERENCE_PLAYER} did not play; effects of players are relative to {ordered[0]}."
