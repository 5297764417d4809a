"""Who wins, and how robust the result is (sections 4.1 and 4.2; figures 2 and 7; table 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd

from analysis.data import Data
from analysis.frames import UNITS, by_group, shares, with_dependence
from analysis.options import Options
from analysis.published.aucarena import printed
from analysis.published.aucarena.seats import (
    BIDDER,
    GAMES,
    OF_ITEMS,
    REQUIRED_COLUMNS,
    SETTING,
    bidders,
    profits_by_auction,
    settings,
    with_setting,
)
from analysis.results import Result, analysis
from analysis.tables import Chart, Table, count, number, numbers, share, text
from analysis.toolbox import mean, trueskill

ORDERS_DRAWN, MAX_UPDATES = 100, 6_000
"""Number of shuffled orders in which auctions are rated, and maximum number of updates over all orders."""
of_auctions = partial(analysis, games=GAMES, columns=REQUIRED_COLUMNS)


@of_auctions(
    "aucarena.skill", "Skill (AucArena, figures 2 and 7)", "Who wins?",
    "TrueSkill (μ 25, σ 25/3, β 25/6, τ 25/300, draw 10 %) by profit, with equal profits as draws, auctions "
    "in order of their start, and one pool per setting; also the mean over shuffled orders. All auctions of a "
    "setting are in the same pool, so that each baseline has one rating. If the package trueskill is not "
    "installed, Plackett–Luce ratings are used.",
)  # fmt: skip
def skill(data: Data, options: Options) -> Result:
    rows = bidders(data, ["profit"])
    found, notes = [], []
    for setting in settings(rows):
        auctions = profits_by_auction(rows[rows["setting"] == setting])
        over_orders = mean_over_orders(auctions, options.seed)
        for player, rating in sorted(trueskill(auctions).items(), key=lambda pair: -pair[1]["mu"]):
            mu, sigma = rating["mu"], rating["sigma"]
            notes.append(rating.get("note"))
            found.append({"setting": setting, "player": player, "estimate": mu, "sigma": sigma, "low": mu - sigma,
                          "high": mu + sigma, "over_orders": over_orders.get(player),
                          "n": sum(player in auction for auction in auctions)})  # fmt: skip
    table = Table(
        "ratings", "Skill by setting (budget, order of sale)",
        [SETTING, BIDDER, number("estimate", "μ"), number("sigma", "σ"), number("over_orders", "μ, mean over orders"),
         count("n", "Auctions")],
        found,
        note="The paper shows its ratings only as a figure: the rule-based bidder ranks above most models, and "
        "adaptive planning above static and no planning. Each setting has its own pool.",
        charts=[Chart("dots", title="Skill by setting, μ ± σ", y="player", facet="setting", titles={"x": "μ ± σ"},
                      same_scale=True)],
    )  # fmt: skip
    of = numbers(table.frame.rename(columns={"sigma": "se"}), "{setting}.{player}")
    return Result([table], numbers=of, warnings=[note for note in dict.fromkeys(notes) if note])


def mean_over_orders(auctions: Sequence[Mapping[str, float]], seed: int) -> dict[str, float]:
    """Return each player's μ, averaged over shuffled orders of the auctions."""
    rng = np.random.default_rng(seed)
    orders = max(5, min(ORDERS_DRAWN, MAX_UPDATES // max(1, len(auctions))))
    mu_values: dict[str, list[float]] = {}
    for _order in range(orders):
        for player, rating in trueskill([auctions[index] for index in rng.permutation(len(auctions))]).items():
            mu_values.setdefault(player, []).append(rating["mu"])
    return {player: fmean(values) for player, values in mu_values.items()}


@of_auctions(
    "aucarena.human", "People (AucArena, table 2)", "How well do people do?",
    "Mean profit and items by bidder and order, with t intervals clustered by auction.", needs="people",
)  # fmt: skip
def human(data: Data, options: Options) -> Result:
    def means(seats: pd.DataFrame) -> dict[str, Any]:
        profit, items = (mean(seats[name].tolist(), seats["match"].tolist(), level=options.level)
                         for name in ("profit", "items"))  # fmt: skip
        return {**{key: profit[key] for key in ("estimate", "low", "high")}, "items": items["estimate"],
                "n": seats["match"].nunique(), "se": profit["se"], "seats": len(seats),
                "published": _published(*seats[["player", "order"]].iloc[0])}  # fmt: skip

    found = by_group(bidders(data, ["profit", "items"]), ["order", "player"], means)
    table = Table(
        "bidders", "Profit and items by bidder and order",
        [text("order", "Order"), BIDDER, number("estimate", "Profit"), "low", "high", number("items", "Items"),
         count("n", "Auctions"), text("published", "Published (profit, items)")],
        found.drop(columns=["se", "seats"]),
        charts=[Chart("dots", title="Profit by bidder and order", y="player", facet="order", same_scale=True)],
    )  # fmt: skip
    return Result([table], numbers=numbers(found.assign(n=found["seats"]), "{order}.{player}"))


def _published(player: str, order: str) -> str | None:
    found = printed.BIDDERS.get(printed.name_of(player) or "", {}).get(order)
    return found and "{:g}, {:g}".format(*found)


@of_auctions(
    "aucarena.robustness", "Robustness (AucArena's auctions)", "Are ranks stable across settings?",
    "Kendall's W of rating ranks across settings, over the bidders present in all of them; share of items "
    f"won at a price above their true value, with intervals over units. {UNITS}",
)  # fmt: skip
def robustness(data: Data, options: Options) -> Result:
    rows = bidders(data, ["profit"])
    ratings = [trueskill(profits_by_auction(rows[rows["setting"] == setting])) for setting in settings(rows)]
    common = sorted(set.intersection(*map(set, ratings)))
    agreement = concordance([[rated[player]["mu"] for player in common] for rated in ratings])
    tables = [Table(
        "ranks", "Agreement of rating ranks across settings",
        [number("estimate", "Kendall's W"), count("players", "Bidders"), count("settings", "Settings"),
         text("note", "Note")],
        [{**agreement, "players": len(common), "settings": len(ratings)}],
    )]  # fmt: skip
    found = {"w": {"estimate": agreement["estimate"], "n": len(ratings)}}
    if data.has("rounds", *OF_ITEMS, "true_value"):
        items = data.table("rounds", [*OF_ITEMS, "true_value"])
        won = with_dependence(data, with_setting(data, items[items["winner"] == items["role"]]))
        overpaid = won.assign(above=(won["price"] > won["true_value"]).astype(float))
        tables.append(Table(
            "overpaid", "Items bought above their true value",
            [BIDDER, count("k", "Above"), count("n", "Items won"), share("estimate", "Share"), "low", "high",
             "clusters", "note"],
            shares(overpaid, ["player"], "above", level=options.level).rename(columns={"number": "k"}),
        ))  # fmt: skip
        found |= tables[1].numbers("overpaid.{player}")
    return Result(tables, numbers=found)


def concordance(scores: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Return Kendall's W for several rankings of the same players, corrected for ties; 1 is perfect agreement."""
    from scipy.stats import rankdata, tiecorrect

    m, n = len(scores), len(scores[0]) if scores else 0
    if m < 2 or n < 2:
        return {"estimate": None, "note": "fewer than two settings, or two bidders in all of them"}
    ranks = rankdata(scores, axis=1)
    untied = sum(tiecorrect(row) for row in ranks)
    if untied <= 0:
        return {"estimate": None, "note": "all bidders are tied"}
    spread = float(((ranks.sum(axis=0) - m * (n + 1) / 2) ** 2).sum())
    return {"estimate": 12 * spread / (m * (n**3 - n) * untied), "note": ""}
