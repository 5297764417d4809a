"""How models plan, bid and track the state (sections 4.2 and 4.3; figures 3 to 13; appendix B)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import pairwise
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd

from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import by_group, grouped
from analysis.options import Options
from analysis.published.aucarena import printed
from analysis.published.aucarena.measures import corrected_failure_rate
from analysis.published.aucarena.seats import (
    BIDDER,
    GAMES,
    MATCH,
    OF_ITEMS,
    REQUIRED_COLUMNS,
    SETTING,
    bidders,
    objective,
    settings,
    with_setting,
)
from analysis.results import Result, analysis
from analysis.tables import Chart, Table, count, number, numbers, records, share, text
from analysis.toolbox import bootstrap, spearman
from analysis.toolbox.dependence import FEWEST_UNITS
from analysis.toolbox.resampling import bootstrap_ratio

EDGES = (0.0, 10.0, 11.0, 15.0, 20.0, float("inf"))
"""Boundaries of the increment classes, in percent. The paper defines five classes and reports two."""
CLASSES = [f"{low:g} and more" if high == float("inf") else f"{low:g} to {high:g}" for low, high in pairwise(EDGES)]
STEEP = EDGES[2]
BASES = {"own": "own preceding bid", "standing": "standing bid"}
MAX_DRAWS = 300
"""Maximum number of bootstrap draws for rank correlations."""
of_auctions = partial(analysis, games=GAMES)
ROUNDS = {"matches": MATCH, "rounds": OF_ITEMS}


@of_auctions(
    "aucarena.errors", "State tracking (AucArena, figure 3)", "Do bidders keep track of the auction?",
    "Corrected failure rates F/(C + F) of bids and of beliefs by kind; percentile bootstrap by auction, "
    "from five auctions on.",
    columns={**REQUIRED_COLUMNS, "seats": ["match", "role", "bids", "withdrawals"]},
)  # fmt: skip
def errors(data: Data, options: Options) -> Result:
    beliefs = ("belief_claims", "belief_errors_budget", "belief_errors_own", "belief_errors_others")
    rows = bidders(data, ["bids", "withdrawals", *(name for name in beliefs if data.has("seats", name))])
    refused = _refused(data, rows)
    counted = [] if refused is None else [("bids", refused, rows["bids"] + rows["withdrawals"])]
    if set(beliefs) <= set(rows):
        others = rows.groupby("match")["role"].transform("nunique") - 1
        reports = rows["belief_claims"] / (3 + 2 * others)
        counted += [
            ("beliefs: own budget", rows["belief_errors_budget"], reports),
            ("beliefs: own profit and items", rows["belief_errors_own"], reports * 2),
            ("beliefs: others' profits and items", rows["belief_errors_others"], reports * (2 * others)),
        ]

    def rate(seats: pd.DataFrame) -> dict[str, Any]:
        interval = bootstrap_ratio(
            seats["failed"], seats["failed"] + seats["right"], seats["match"], options.draws, options.seed,
            level=options.level,
        )  # fmt: skip
        failures, correct = int(seats["failed"].sum()), round(float(seats["right"].sum()))
        return {"failures": failures, "correct": correct, "estimate": corrected_failure_rate(failures, correct),
                "low": interval["low"], "high": interval["high"]}  # fmt: skip

    found = pd.concat([
        by_group(rows[["match", "player"]].assign(failed=failed.astype(float), right=right.astype(float)),
                 ["player"], rate).assign(kind=kind)
        for kind, failed, right in counted
    ], ignore_index=True)  # fmt: skip
    lowest = (found["kind"] == "bids") & (found["player"].map(printed.name_of) == "GPT-4")
    table = Table(
        "rates", "Corrected failure rates",
        [text("kind", "Kind"), BIDDER, count("failures", "F"), count("correct", "C"), share("estimate", "CFR"), "low",
         "high", text("published", "Published")],
        found.assign(published=lowest.map({True: f"{printed.LOWEST_FAILURES:.2f} % (lowest)".removeprefix("0")})),
        note="CFR = F/(C + F). For bids, F counts refused attempts and C counts bids and withdrawals; for beliefs, C "
        "counts the states to report. We take the lowest published rate to be that of failed bids.",
        charts=[Chart("bars", y="player", facet="kind", formats={"x": ".1%"})] * int(found["estimate"].notna().any()),
    )  # fmt: skip
    of = found.assign(n=found["failures"] + found["correct"])
    return Result([table], numbers=numbers(of, "{kind}.{player}"))


def _refused(data: Data, seats: pd.DataFrame) -> pd.Series | None:
    """Return the number of refused attempts before each seat's bids and withdrawals; None if it is not known."""
    if not data.has("decisions", "match", "role", "move", "refused"):
        return None
    moves = data.table("decisions", ["match", "role", "move", "refused"])
    moves = moves[moves["move"].str.startswith('{"bid"') & moves["refused"].notna()]
    if not len(moves):
        return None
    refused = moves.groupby(["match", "role"])["refused"].sum()
    return refused.reindex(pd.MultiIndex.from_frame(seats[["match", "role"]])).fillna(0).set_axis(seats.index)


@of_auctions(
    "aucarena.priorities", "Plans (AucArena, figures 4 and 9)", "How do plans change?",
    "Mean priority of each item before each sale, and its change from one sale to the next.",
    columns={**ROUNDS, "decisions": ["match", "role", "round", "move_number", "move_priorities"]},
)  # fmt: skip
def priorities(data: Data, options: Options) -> Result:
    plans = _plans(data)
    if not len(plans):
        raise SkippedError("No bidder made a plan.")
    items = data.table("rounds", OF_ITEMS).drop_duplicates(["match", "round"])
    numbered = {match: dict(zip(sold["item"], sold["round"].astype(int), strict=True))
                for match, sold in grouped(items, "match")}  # fmt: skip
    of_cell = ["player", "order", "item"]
    held = [
        {"player": made["player"].iloc[0], "order": made["order"].iloc[0], "step": step, "item": item, "held": value}
        for (match, _role), made in grouped(plans, "match", "role")
        for step, item, value in steps(made, numbered.get(match, {}))
    ]
    cells = pd.DataFrame(held).groupby(["player", "order", "step", "item"])["held"]
    found = cells.agg(estimate="mean", n="size").reset_index()
    found = found.assign(change=found.groupby(of_cell)["estimate"].diff(), past=found["item"] < found["step"],
                         where=found["player"] + ", " + found["order"])  # fmt: skip
    numbers = {name: [str(place) for place in range(1, 1 + found[name].max())] for name in ("item", "step")}
    table = Table(
        "priorities", "Mean priority of each item in the plans before each sale",
        [BIDDER, text("order", "Order"), count("step", "Before item"), count("item", "Item"),
         number("estimate", "Priority"), number("change", "Change"), text("past", "Already sold"),
         count("n", "Auctions")],
        found,
        note="Items are numbered in order of sale; 3 is the highest priority. Priorities of items already sold are "
        "included and marked.",
        charts=[Chart("heat_map", title="Mean priority of each item, by plan (left of the diagonal: already sold)",
                      x="item", y="step", facet="where", formats={"colour": ".1f"},
                      titles={"x": "Item, in order of sale", "y": "Plan before item"},
                      order={"x": numbers["item"], "y": numbers["step"]})],
    )  # fmt: skip
    return Result([table])


def _plans(data: Data) -> pd.DataFrame:
    moves = data.table("decisions", ["match", "role", "round", "move_number", "move_priorities"])
    moves = moves[moves["move_priorities"].notna() & moves["round"].notna()]
    return with_setting(data, moves.sort_values(["match", "move_number"], kind="stable")) if len(moves) else moves


def steps(plans: pd.DataFrame, item_numbers: Mapping[str, int]) -> Iterator[tuple[int, int, float]]:
    """Yield (step, item, priority) for one bidder before each item; items missing from a plan keep their priority."""
    by_step: dict[int, dict[str, float]] = {}
    for step, plan in zip(plans["round"], plans["move_priorities"], strict=True):
        by_step.setdefault(int(step), {}).update(json.loads(plan))
    priorities_held: dict[str, float] = {}
    for step in range(1, max(item_numbers.values(), default=0) + 1):
        priorities_held.update(by_step.get(step, {}))
        for name, value in priorities_held.items():
            if name in item_numbers:
                yield step, item_numbers[name], float(value)


PAIRS = {f"{when}_{outcome}": (f"priority_{when}", outcome) for when in ("initial", "current")
         for outcome in ("bids", "won")}  # fmt: skip


@of_auctions(
    "aucarena.faithful", "Plans and behaviour (AucArena, figure 6)", "Do bidders follow their plans?",
    "Spearman's correlation over (auction, bidder, item) of the initial and the current priority with the "
    f"number of bids and with winning; percentile bootstrap by auction, from five auctions on, "
    f"at most {MAX_DRAWS} draws.",
    columns={**ROUNDS, "rounds": [*OF_ITEMS, "bids", "priority_initial", "priority_current"]},
)  # fmt: skip
def faithful(data: Data, options: Options) -> Result:
    items = data.table("rounds", [*OF_ITEMS, "bids", "priority_initial", "priority_current"])
    rows = with_setting(data, items.assign(won=(items["winner"] == items["role"]).astype(float)))
    found = {
        (player, key): correlation(subset[subset[priority].notna()], priority, outcome, options)
        for player, subset in grouped(rows, "player")
        for key, (priority, outcome) in PAIRS.items()
    }
    if not any(result["n"] for result in found.values()):
        raise SkippedError("No bidder made a plan.")
    results = [
        {"player": player, "n": found[player, "current_won"]["n"], "published": _published(player)}
        | {f"{key}{suffix}": found[player, key][name] for key in PAIRS for suffix, name in SUFFIXES.items()}
        for player in dict.fromkeys(player for player, _key in found)
    ]
    columns = [number(f"{key}{suffix}", label) for key in PAIRS
               for suffix, label in (("", key.capitalize().replace("_", ", ")), ("_low", "Low"), ("_high", "High"),
                                     ("_mean", "Mean within auctions"))]  # fmt: skip
    table = Table(
        "correlations", "Rank correlations of priorities with bids and wins",
        [BIDDER, *columns, count("n", "Items"), text("published", "Published, in this order")], results,
        note="Undefined if either variable is constant.",
    )  # fmt: skip
    return Result([table], numbers={
        f"{player}.{key}": {name: result[name] for name in ("estimate", "low", "high", "p", "n")}
        for (player, key), result in found.items()
    })  # fmt: skip


SUFFIXES = {"": "estimate", "_low": "low", "_high": "high", "_p": "p", "_mean": "mean"}
"""What the columns of a correlation say, by the end of their names."""


def correlation(rows: pd.DataFrame, priority: str, outcome: str, options: Options) -> dict[str, Any]:
    """Return Spearman's correlation over all items, its bootstrap interval by auction, and its mean within auctions."""

    def over(items: pd.DataFrame) -> dict[str, Any]:
        return spearman(items[priority].tolist(), items[outcome].tolist())

    overall = over(rows)
    within = [
        value for _key, items in rows.groupby(["match", "role"]) if (value := over(items)["estimate"]) is not None
    ]
    result = {**overall, "low": None, "high": None, "mean": fmean(within) if within else None}
    if overall["estimate"] is not None and rows["match"].nunique() >= FEWEST_UNITS:
        interval = bootstrap(
            records(rows[["match", priority, outcome]]),
            lambda sample: spearman([row[priority] for row in sample], [row[outcome] for row in sample])["estimate"],
            "match", min(options.draws, MAX_DRAWS), options.seed, level=options.level,
        )  # fmt: skip
        result |= {"low": interval["low"], "high": interval["high"]}
    return result


def _published(player: str) -> str | None:
    found = printed.FAITHFUL.get(printed.name_of(player) or "")
    return None if found is None else ", ".join(f"{value:.4f}".removeprefix("0") for value in found)


@of_auctions(
    "aucarena.increments", "Bid increments (AucArena, figure 5)", "How aggressive are bids?",
    "Percentage above the bidder's own preceding bid and above the standing bid before the round, in five "
    "classes, two of which the paper reports.",
    columns={**ROUNDS, "decisions": ["match", "role", "round", "phase", "move_number", "move_bid"]},
)  # fmt: skip
def increments(data: Data, options: Options) -> Result:
    rows = bid_increments(data)
    if not len(rows):
        raise SkippedError("No one bid.")
    bids = rows.melt("player", [*BASES], "key", "percent").assign(percent=lambda bids: bids["percent"].round(9))
    bids = bids.assign(base=bids["key"].map(BASES), steep=bids["percent"] >= STEEP)
    bids["class"] = pd.cut(bids["percent"], EDGES, right=False, labels=CLASSES)
    of = bids.groupby(["player", "base"])
    classes = bids.groupby(["player", "base", "class"], observed=False).size().rename("k").reset_index()
    classes = classes.join(of.size().rename("n"), on=["player", "base"])
    steep = of.agg(estimate=("steep", "mean"), n=("steep", "size"), key=("key", "first")).reset_index()
    base = text("base", "Relative to")
    tables = [
        Table("classes", "Bids by increment",
              [BIDDER, base, text("class", "Increment, %"), count("k", "Bids"), share("estimate", "Share"),
               count("n", "of")],
              classes.astype({"class": "str"}).assign(estimate=classes["k"] / classes["n"]),
              charts=[Chart("bars", y="player", colour="class", facet="base", stacked=True,
                            titles={"x": "Share of bids"}, order={"colour": CLASSES})]),
        Table("steep", f"Bids with an increment of at least {STEEP:g} %",
              [BIDDER, base, share("estimate", "Share"), count("n", "Bids")], steep.drop(columns="key")),
    ]  # fmt: skip
    return Result(tables, numbers=numbers(steep, "{player}.{key}.from_11"))


def bid_increments(data: Data) -> pd.DataFrame:
    """Return one row per bid: percent above the bidder's previous bid and above the standing bid before the round.

    Without such a bid, the base is the current start price. All bids of a round are sealed.
    """
    moves = data.table("decisions", ["match", "role", "round", "phase", "move_number", "move_bid"])
    moves = moves[moves["move_bid"].notna() & moves["round"].notna()].astype({"move_bid": "float64"})
    moves["bidding"] = moves["phase"].fillna("").str.extract(r"(\d+)", expand=False).fillna("0").astype(int)
    items = data.table("rounds", [*OF_ITEMS, *(["discounts"] if data.has("rounds", "discounts") else [])])
    start_prices = {}
    for row in items.drop_duplicates(["match", "round"]).to_dict("records"):
        price = int(row["start_price"])
        for _discount in range(int(row.get("discounts") or 0)):
            price = max(1, price // 2)
        start_prices[row["match"], int(row["round"])] = price
    found = []
    for (match, item), subset in grouped(moves.sort_values("move_number", kind="stable"), "match", "round"):
        start_price = start_prices.get((match, int(item)))
        if start_price is None:
            continue
        last_bids: dict[str, float] = {}
        standing: float | None = None
        for _round, bids in subset.groupby("bidding"):
            base = start_price if standing is None else standing
            for role, bid in zip(bids["role"], bids["move_bid"], strict=True):
                found.append({"match": match, "role": role, "own": 100 * (bid / last_bids.get(role, start_price) - 1),
                                "standing": 100 * (bid / base - 1)})  # fmt: skip
                last_bids[role] = bid
            standing = max(bids["move_bid"].max(), standing or 0)
    rows = pd.DataFrame(found, columns=["match", "role", "own", "standing"])
    return with_setting(data, rows) if len(rows) else rows


@of_auctions(
    "aucarena.niches", "Objectives (AucArena, figure 8)", "Do objectives find different niches?",
    "Winning bids by objective and budget: density histogram with 20 common bins, Gaussian kernel density "
    "with Scott's bandwidth, and Kolmogorov–Smirnov distance.",
    columns=ROUNDS,
)  # fmt: skip
def niches(data: Data, options: Options) -> Result:
    from scipy.stats import gaussian_kde, ks_2samp

    items = data.table("rounds", OF_ITEMS)
    rows = with_setting(data, items[(items["winner"] == items["role"]) & items["price"].notna()])
    rows = rows.assign(objective=[objective(row) for row in records(rows)]).astype({"price": "float64"})
    if rows["objective"].nunique() < 2:
        raise SkippedError("All bidders had the same objective.")
    low, high = rows["price"].min(), rows["price"].max()
    edges = np.linspace(low, high if high > low else low + 1, 21)
    curves, tests = [], []
    for budget in sorted(rows["budget"].unique(), key=float):
        of_budget = rows[rows["budget"] == budget]
        groups = {str(name): group["price"].to_numpy() for name, group in of_budget.groupby("objective")}
        for name, prices in groups.items():
            middle = (edges[:-1] + edges[1:]) / 2
            kernel = gaussian_kde(prices)(middle) if len(prices) > 2 and np.ptp(prices) > 0 else None
            curves.append(pd.DataFrame({
                "budget": f"budget {budget}", "objective": name, "low": edges[:-1], "high": edges[1:], "price": middle,
                "density": np.histogram(prices, bins=edges, density=True)[0], "kernel": kernel,
            }))  # fmt: skip
        row = {"budget": budget, "n": len(of_budget), **{f"n_{name}": len(prices) for name, prices in groups.items()}}
        if len(groups) == 2:
            test = ks_2samp(*groups.values())
            row |= {"estimate": float(test.statistic), "p": float(test.pvalue)}
        tests.append(row)
    densities = pd.concat(curves, ignore_index=True)
    budget_column = text("budget", "Budget")
    drawn = densities.melt(["budget", "objective", "price"], ["kernel", "density"], "curve", "value")
    curve_names = drawn["curve"].replace({"density": "histogram"})
    tables = [
        Table("distance", "Kolmogorov–Smirnov distance of winning bids between objectives",
              [budget_column, number("estimate", "D"), number("p", "p"), count("n_profit", "Profit"),
               count("n_items", "Items")], tests,
              note="In the paper, the distributions diverge from a budget of 30,000 upwards."),
        Table("densities", "Densities of winning bids",
              [budget_column, text("objective", "Objective"), number("low", "From"), number("high", "To"),
               number("density", "Histogram"), number("kernel", "Kernel")], densities,
              charts=[Chart("lines", title="Density of winning bids by objective", x="price", y="value", colour="what",
                            facet="budget", points=False, titles={"x": "Winning bid", "y": "Density"},
                            rows=drawn.assign(what=drawn["objective"] + ": " + curve_names))]),
    ]  # fmt: skip
    return Result(tables, numbers=tables[0].numbers("budget {budget}"))


@of_auctions(
    "aucarena.behaviour", "What sells (AucArena, figures 10 to 13)", "Which items pay?",
    "Mean profit per item won and mean number of bids, by start price, order of sale, budget and bidder.",
    columns={**ROUNDS, "rounds": [*OF_ITEMS, "bids", "payoff"]},
)  # fmt: skip
def behaviour(data: Data, options: Options) -> Result:
    def sold(items: pd.DataFrame) -> dict[str, Any]:
        won = items[items["winner"] == items["role"]]
        return {"won": len(won), "estimate": float(won["payoff"].mean()) if len(won) else None,
                "bids": float(items["bids"].mean()), "n": len(items)}  # fmt: skip

    rows = with_setting(data, data.table("rounds", [*OF_ITEMS, "bids", "payoff"])).astype({"start_price": "float64"})
    found = by_group(rows, ["setting", "player", "start_price"], sold)
    table = Table(
        "items", "Profit per item won and bids, by start price",
        [SETTING, BIDDER, number("start_price", "Start price"), number("estimate", "Profit per item won"),
         count("won", "Won"), number("bids", "Mean bids"), count("n", "Items")],
        found.sort_values("setting", key=lambda setting: setting.map(settings(rows).index), kind="stable"),
        charts=[Chart("scatter", title="Profit per item won, by start price", x="start_price", y="estimate",
                      size="bids", colour="player", facet="setting", players=data.players,
                      titles={"y": "Mean profit per item won", "size": "Mean bids"})],
    )  # fmt: skip
    return Result([table])
