"""Who wins, and how robust the result is (sections 4.1 and 4.2; figures 2 and 7; table 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from analysis import charts
from analysis.published.aucarena.seats import (
    GAMES,
    OF_ITEMS,
    REQUIRED_COLUMNS,
    bidders,
    profits_by_auction,
    settings,
    with_setting,
)
from analysis.results import Analysis, Options, Result, Table, count, estimate_columns, number, share, text
from analysis.toolbox import mean, proportion, trueskill

if TYPE_CHECKING:
    from analysis.data import Data

ORDERS_DRAWN, MAX_UPDATES = 100, 6_000
"""Number of shuffled orders in which auctions are rated, and maximum number of updates over all orders."""
HUMAN_TABLE: Mapping[tuple[str, str], str] = {
    ("human", "random"): "7237.5, 3.8", ("human", "ascending"): "10862.5, 3.8", ("human", "descending"): "10025, 5",
    ("gpt-4-turbo", "random"): "8712.5, 5", ("gpt-4-turbo", "ascending"): "7525, 5",
    ("gpt-4-turbo", "descending"): "8287.5, 4.3", ("gpt-3.5", "random"): "3325, 1",
    ("gpt-3.5", "ascending"): "2875, 1.3", ("gpt-3.5", "descending"): "950, .5",
}  # fmt: skip
"""Profit and items from table 2, each over four auctions."""


def skill(data: Data, options: Options) -> Result:
    """Return ratings by setting, and their mean over shuffled orders of the auctions."""
    rows = bidders(data, ["profit"])
    results, numbers, warnings = [], {}, []
    for setting in settings(rows):
        matches = profits_by_auction(rows[rows["setting"] == setting])
        ratings = trueskill(matches)
        means_over_orders = mean_over_orders(matches, options.seed)
        for player, rating in sorted(ratings.items(), key=lambda pair: -pair[1]["mu"]):
            if note := rating.get("note"):
                warnings.append(note)
            mean_mu = means_over_orders.get(player)
            results.append({"setting": setting, "player": player, "estimate": rating["mu"], "sigma": rating["sigma"],
                         "low": rating["mu"] - rating["sigma"], "high": rating["mu"] + rating["sigma"],
                         "over_orders": mean_mu, "n": sum(player in match for match in matches)})  # fmt: skip
            numbers[f"{setting}.{player}"] = {"estimate": rating["mu"], "se": rating["sigma"], "n": results[-1]["n"]}
    table = Table(
        "ratings", "Skill by setting (budget, order of sale)",
        [text("setting", "Setting"), text("player", "Bidder"), number("estimate", "μ"), number("sigma", "σ"),
         number("over_orders", "μ, mean over orders"), count("n", "Auctions")], results,
        note="The paper shows its ratings only as a figure: the rule-based bidder ranks above most models, and "
        "adaptive planning above static and no planning. Each setting has its own pool.",
    )  # fmt: skip
    figure = charts.figure(
        "dots",
        "ratings",
        "Skill by setting, μ ± σ",
        results,
        y="player",
        facet="setting",
        same_scale=True,
        titles={"x": "μ ± σ"},
    )
    return Result([table], [figure], numbers, warnings=list(dict.fromkeys(warnings)))


def mean_over_orders(matches: Sequence[Mapping[str, float]], seed: int) -> dict[str, float]:
    """Return each player's μ, averaged over shuffled orders of the auctions."""
    import numpy as np

    rng = np.random.default_rng(seed)
    orders = max(5, min(ORDERS_DRAWN, MAX_UPDATES // max(1, len(matches))))
    mu_values: dict[str, list[float]] = {}
    for _order in range(orders):
        for player, rating in trueskill([matches[index] for index in rng.permutation(len(matches))]).items():
            mu_values.setdefault(player, []).append(rating["mu"])
    return {player: fmean(values) for player, values in mu_values.items()}


def human(data: Data, options: Options) -> Result:
    """Return mean profit and items by bidder and order of sale."""
    rows = bidders(data, ["profit", "items"])
    results, numbers = [], {}
    for (order, player), subset in rows.groupby(["order", "player"]):
        profit = mean(subset["profit"].tolist(), subset["match"].tolist(), level=options.level)
        items = mean(subset["items"].tolist(), subset["match"].tolist(), level=options.level)
        results.append({"order": order, "player": player, "estimate": profit["estimate"], "low": profit.get("low"),
                     "high": profit.get("high"), "items": items["estimate"], "n": subset["match"].nunique(),
                     "published": _published(player, order)})  # fmt: skip
        numbers[f"{order}.{player}"] = {
            **{k: profit.get(k) for k in ("estimate", "se", "low", "high")},
            "n": len(subset),
        }
    table = Table(
        "bidders", "Profit and items by bidder and order",
        [text("order", "Order"), text("player", "Bidder"), *estimate_columns("Profit"),
         number("items", "Items"), count("n", "Auctions"),
         text("published", "Published (profit, items)")], results,
    )  # fmt: skip
    figure = charts.figure(
        "dots",
        "bidders",
        "Profit by bidder and order",
        results,
        y="player",
        facet="order",
        same_scale=True,
        titles={"x": "Profit"},
    )
    return Result([table], [figure], numbers)


def _published(player: str, order: str) -> str | None:
    name = next((name for name, _order in HUMAN_TABLE if name in player), None)
    return HUMAN_TABLE.get((name, order)) if name else None


def robustness(data: Data, options: Options) -> Result:
    """Return whether bidders' ranks agree across settings, and how often they pay more than an item's true value."""
    rows = bidders(data, ["profit"])
    ratings_by_setting = [trueskill(profits_by_auction(rows[rows["setting"] == setting])) for setting in settings(rows)]
    common_players = sorted(set.intersection(*({*ratings} for ratings in ratings_by_setting)))
    agreement = concordance([[ratings[player]["mu"] for player in common_players] for ratings in ratings_by_setting])
    tables = [Table("ranks", "Agreement of rating ranks across settings",
                    [number("estimate", "Kendall's W"), count("players", "Bidders"), count("settings", "Settings"),
                     text("note", "Note")],
                    [{**agreement, "players": len(common_players), "settings": len(ratings_by_setting)}])]  # fmt: skip
    numbers: dict[str, Any] = {"w": {"estimate": agreement["estimate"], "n": len(ratings_by_setting)}}
    if data.has("rounds", *OF_ITEMS, "true_value"):
        items = data.table("rounds", [*OF_ITEMS, "true_value"])
        won = with_setting(data, items[items["winner"] == items["role"]])
        results = []
        for player, subset in won.groupby("player"):
            k = int((subset["price"] > subset["true_value"]).sum())
            results.append({"player": player, "k": k, **proportion(k, len(subset), level=options.level)})
        tables.append(Table(
            "overpaid", "Items bought above their true value",
            [text("player", "Bidder"), count("k", "Above"), count("n", "Items won"), *estimate_columns("Share", share)],
            results,
        ))  # fmt: skip
        numbers |= {f"overpaid.{r['player']}": {k: r[k] for k in ("estimate", "low", "high", "n")} for r in results}
    return Result(tables, [], numbers)


def concordance(scores: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Return Kendall's W for several rankings of the same players, corrected for ties; 1 is perfect agreement."""
    from scipy.stats import rankdata

    m, n = len(scores), len(scores[0]) if scores else 0
    if m < 2 or n < 2:
        return {"estimate": None, "note": "fewer than two settings, or two bidders in all of them"}
    ranks = [rankdata(setting_scores) for setting_scores in scores]
    totals = [float(sum(column)) for column in zip(*ranks, strict=True)]
    spread = sum((total - m * (n + 1) / 2) ** 2 for total in totals)
    ties = sum(float(sum(k**3 - k for k in _tie_sizes(setting_scores))) for setting_scores in scores)
    maximum = m**2 * (n**3 - n) - m * ties
    if maximum <= 0:
        return {"estimate": None, "note": "all bidders are tied"}
    return {"estimate": 12 * spread / maximum, "note": ""}


def _tie_sizes(values: Sequence[float]) -> list[int]:
    return [list(values).count(value) for value in set(values)]


ANALYSES = [
    Analysis(
        id="aucarena.skill", title="Skill (AucArena, figures 2 and 7)", question="Who wins?",
        method="TrueSkill (μ 25, σ 25/3, β 25/6, τ 25/300, draw 10 %) by profit, with equal profits as draws, auctions "
        "in order of their start, and one pool per setting; also the mean over shuffled orders. All auctions of a "
        "setting are in the same pool, so that each baseline has one rating. If the package trueskill is not "
        "installed, Plackett–Luce ratings are used.",
        run=skill, games=GAMES, columns=REQUIRED_COLUMNS,
    ),
    Analysis(
        id="aucarena.human", title="People (AucArena, table 2)", question="How well do people do?",
        method="Mean profit and items by bidder and order, with t intervals clustered by auction.",
        run=human, needs="people", games=GAMES, columns=REQUIRED_COLUMNS,
    ),
    Analysis(
        id="aucarena.robustness", title="Robustness (AucArena's auctions)",
        question="Are ranks stable across settings?",
        method="Kendall's W of rating ranks across settings, over the bidders present in all of them; share of items "
        "won at a price above their true value, with Wilson intervals.",
        run=robustness, games=GAMES, columns=REQUIRED_COLUMNS,
    ),
]  # fmt: skip
