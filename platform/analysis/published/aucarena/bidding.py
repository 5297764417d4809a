"""How models plan, bid and track the state (sections 4.2 and 4.3; figures 3 to 13; appendix B)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING, Any

from analysis import charts
from analysis.errors import SkippedError
from analysis.published.aucarena.measures import corrected_failure_rate
from analysis.published.aucarena.seats import (
    GAMES,
    MATCH,
    OF_ITEMS,
    REQUIRED_COLUMNS,
    bidders,
    objective,
    settings,
    with_setting,
)
from analysis.results import Analysis, Options, Result, Table, count, estimate_columns, number, share, text
from analysis.toolbox import bootstrap, spearman
from analysis.toolbox.resampling import bootstrap_ratio

if TYPE_CHECKING:
    import pandas as pd

    from analysis.data import Data

EDGES = (0.0, 10.0, 11.0, 15.0, 20.0, float("inf"))
"""Boundaries of the increment classes, in percent. The paper defines five classes and reports two."""
MAX_DRAWS = 300
"""Maximum number of bootstrap draws for rank correlations."""
PUBLISHED_CORRELATIONS: Mapping[str, str] = {
    "gpt-4-turbo": ".2348, .0715, .6423, .4328", "mistral": ".1252, .2728, .1139, .2779",
    "gpt-4": ".3741, .3959, .6318, .6443",
}  # fmt: skip
INTERVAL = (number("low", "Low"), number("high", "High"))


# ---- state tracking ---------------------------------------------------------------------------------------------


def errors(data: Data, options: Options) -> Result:
    """Return corrected failure rates of bids and beliefs."""
    kinds = ("belief_claims", "belief_errors_budget", "belief_errors_own", "belief_errors_others")
    rows = bidders(data, ["bids", "withdrawals", *(k for k in kinds if data.has("seats", k))])
    refused = _refused(data)
    rows["failed"] = [refused.get((m, r), 0) for m, r in zip(rows["match"], rows["role"], strict=True)]
    seats = rows.groupby("match")["role"].transform("nunique")
    results, numbers = [], {}
    counts_by_kind: list[tuple[str, Any, Any]] = [("bids", rows["failed"], rows["bids"] + rows["withdrawals"])]
    if set(kinds) <= set(rows.columns):
        reports = rows["belief_claims"] / (3 + 2 * (seats - 1))
        for kind, claims in (("budget", 1), ("own", 2), ("others", 2 * (seats - 1))):
            title = {"budget": "beliefs: own budget", "own": "beliefs: own profit and items",
                     "others": "beliefs: others' profits and items"}[kind]  # fmt: skip
            counts_by_kind.append((title, rows[f"belief_errors_{kind}"], reports * claims))
    for kind, failures, correct in counts_by_kind:
        frame = rows[["match", "player"]].assign(f=failures.astype(float), c=correct.astype(float))
        for player, subset in frame.groupby("player"):
            interval = bootstrap_ratio(
                subset["f"],
                subset["f"] + subset["c"],
                subset["match"],
                options.draws,
                options.seed,
                level=options.level,
            )
            f, c = int(subset["f"].sum()), round(float(subset["c"].sum()))
            results.append({"kind": kind, "player": player, "failures": f, "correct": c,
                         "estimate": corrected_failure_rate(f, c),
                         "low": interval.get("low"), "high": interval.get("high"),
                         "published": ".21 % (lowest)" if kind == "bids" and "gpt-4" in player else None})  # fmt: skip
            numbers[f"{kind}.{player}"] = {**{k: results[-1][k] for k in ("estimate", "low", "high")}, "n": f + c}
    table = Table(
        "rates", "Corrected failure rates",
        [text("kind", "Kind"), text("player", "Bidder"), count("failures", "F"), count("correct", "C"),
         *estimate_columns("CFR", share), text("published", "Published")], results,
        note="CFR = F/(C + F). For bids, F counts refused attempts and C counts bids and withdrawals; for beliefs, C "
        "counts the states to report. We take the lowest published rate to be that of failed bids.",
    )  # fmt: skip
    drawn = [row for row in results if row["estimate"] is not None]
    figure = charts.figure(
        "bars",
        "rates",
        "Corrected failure rates",
        drawn,
        y="player",
        facet="kind",
        titles={"x": "CFR"},
        formats={"x": ".1%"},
    )
    return Result([table], [figure] if drawn else [], numbers)


def _refused(data: Data) -> dict[tuple[str, str], int]:
    """Return the number of refused attempts before bids and withdrawals, by (match, role)."""
    if not data.has("decisions", "match", "role", "move", "refused"):
        return {}
    moves = data.table("decisions", ["match", "role", "move", "refused"])
    moves = moves[moves["move"].str.startswith('{"bid"') & moves["refused"].notna()]
    sums = moves.groupby(["match", "role"])["refused"].sum()
    return {(str(m), str(r)): int(value) for (m, r), value in sums.items()}


# ---- plans ---------------------------------------------------------------------------------------------------------


def priorities(data: Data, options: Options) -> Result:
    """Return the mean priority of every item in the plans made before each item."""
    plans = _plans(data)
    if not len(plans):
        raise SkippedError("No bidder made a plan.")
    items = data.table("rounds", OF_ITEMS).drop_duplicates(["match", "round"])
    item_numbers: dict[str, dict[str, int]] = {}
    for match, round_number, name in zip(items["match"], items["round"], items["item"], strict=True):
        item_numbers.setdefault(match, {})[name] = int(round_number)
    cells: dict[tuple[str, str, int, int], list[float]] = {}
    for (match, _role), subset in plans.groupby(["match", "role"], sort=True):
        first_row = subset.iloc[0]
        for step, item, value in steps(subset, item_numbers.get(match, {})):
            cells.setdefault((first_row["player"], first_row["order"], step, item), []).append(value)
    results = []
    for (player, order, step, item), values in sorted(cells.items()):
        earlier = cells.get((player, order, step - 1, item))
        results.append({"player": player, "order": order, "step": step, "item": item, "estimate": fmean(values),
                     "change": fmean(values) - fmean(earlier) if earlier else None, "past": item < step,
                     "n": len(values), "where": f"{player}, {order}"})  # fmt: skip
    table = Table(
        "priorities", "Mean priority of each item in the plans before each sale",
        [text("player", "Bidder"), text("order", "Order"), count("step", "Before item"), count("item", "Item"),
         number("estimate", "Priority"), number("change", "Change"), text("past", "Already sold"),
         count("n", "Auctions")], results,
        note="Items are numbered in order of sale; 3 is the highest priority. Priorities of items already sold are "
        "included and marked.",
    )  # fmt: skip
    drawn = [{**row, "mark": f"{row['item']}", "step": f"{row['step']}"} for row in results]
    figure = charts.figure(
        "heat_map",
        "priorities",
        "Mean priority of each item, by plan (left of the diagonal: already sold)",
        drawn,
        x="mark",
        y="step",
        facet="where",
        titles={"x": "Item, in order of sale", "y": "Plan before item", "colour": "Priority"},
        formats={"colour": ".1f"},
        order={
            "x": [str(position) for position in range(1, 1 + max(row["item"] for row in results))],
            "y": [str(position) for position in range(1, 1 + max(row["step"] for row in results))],
        },
    )
    return Result([table], [figure])


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


PAIRS = (("priority_initial", "bids"), ("priority_initial", "won"), ("priority_current", "bids"),
         ("priority_current", "won"))  # fmt: skip


def faithful(data: Data, options: Options) -> Result:
    """Return rank correlations of priorities with the number of bids and with winning."""
    items = data.table("rounds", [*OF_ITEMS, "bids", "priority_initial", "priority_current"])
    items["won"] = (items["winner"] == items["role"]).astype(float)
    rows = with_setting(data, items)
    results, numbers = [], {}
    for player, subset in rows.groupby("player"):
        row: dict[str, Any] = {"player": player, "published": _published(player)}
        for priority, outcome in PAIRS:
            with_priority = subset[subset[priority].notna()]
            result = correlation(with_priority, priority, outcome, options)
            key = f"{priority.removeprefix('priority_')}_{outcome}"
            row |= {key: result["estimate"], f"{key}_low": result.get("low"), f"{key}_high": result.get("high"),
                    f"{key}_p": result["p"], f"{key}_mean": result["mean"], "n": result["n"]}  # fmt: skip
            numbers[f"{player}.{key}"] = {k: result.get(k) for k in ("estimate", "low", "high", "p", "n")}
        results.append(row)
    if not any(numbers[key]["n"] for key in numbers):
        raise SkippedError("No bidder made a plan.")
    titles = {"initial_bids": "Initial, bids", "initial_won": "Initial, won", "current_bids": "Current, bids",
              "current_won": "Current, won"}  # fmt: skip
    columns = [text("player", "Bidder")]
    for key, title in titles.items():
        columns += [number(key, title), number(f"{key}_low", "Low"), number(f"{key}_high", "High"),
                    number(f"{key}_mean", "Mean within auctions")]  # fmt: skip
    table = Table("correlations", "Rank correlations of priorities with bids and wins", [*columns, count("n", "Items"),
                  text("published", "Published, in this order")], results,
                  note="Undefined if either variable is constant.")  # fmt: skip
    return Result([table], [], numbers)


def correlation(rows: pd.DataFrame, priority: str, outcome: str, options: Options) -> dict[str, Any]:
    """Return Spearman's correlation over all items, its bootstrap interval by auction, and its mean within auctions."""
    overall = spearman(rows[priority].tolist(), rows[outcome].tolist())
    within_auctions = [
        value for _key, subset in rows.groupby(["match", "role"])
        if (value := spearman(subset[priority].tolist(), subset[outcome].tolist())["estimate"]) is not None
    ]  # fmt: skip
    results = {**overall, "mean": fmean(within_auctions) if within_auctions else None}
    if overall["estimate"] is None:
        return results
    records = [
        {"match": m, "x": x, "y": y} for m, x, y in zip(rows["match"], rows[priority], rows[outcome], strict=True)
    ]
    interval = bootstrap(
        records, lambda sample: spearman([r["x"] for r in sample], [r["y"] for r in sample])["estimate"], "match",
        min(options.draws, MAX_DRAWS), options.seed, level=options.level,
    )  # fmt: skip
    return {**results, "low": interval.get("low"), "high": interval.get("high")}


def _published(player: str) -> str | None:
    return next((values for name, values in PUBLISHED_CORRELATIONS.items() if name in player), None)


# ---- increments -----------------------------------------------------------------------------------------------------


def increments(data: Data, options: Options) -> Result:
    """Return bid increments by class, relative to both bases."""
    rows = bid_increments(data)
    if not len(rows):
        raise SkippedError("No one bid.")
    results, numbers = [], {}
    for player, subset in rows.groupby("player"):
        for base, title in (("own", "own preceding bid"), ("standing", "standing bid")):
            values = subset[base].tolist()
            for low, high in pairwise(EDGES):
                k = sum(low <= round(value, 9) < high for value in values)
                results.append({"player": player, "base": title, "class": _class_name(low, high), "k": k,
                "n": len(values),
                             "estimate": k / len(values)})  # fmt: skip
            n_steep = sum(round(value, 9) >= EDGES[2] for value in values)
            numbers[f"{player}.{base}.from_11"] = {"estimate": n_steep / len(values), "n": len(values)}
    steepness = [
        {"player": key.rsplit(".", 2)[0], "base": "own preceding bid" if ".own." in key else "standing bid",
         **value} for key, value in numbers.items()
    ]  # fmt: skip
    tables = [
        Table("classes", "Bids by increment", [text("player", "Bidder"), text("base", "Relative to"),
              text("class", "Increment, %"), count("k", "Bids"), share("estimate", "Share"), count("n", "of")],
              results),
        Table("steep", "Bids with an increment of at least 11 %", [text("player", "Bidder"), text("base",
        "Relative to"),
              share("estimate", "Share"), count("n", "Bids")], steepness),
    ]  # fmt: skip
    figure = charts.figure(
        "bars",
        "classes",
        "Bids by increment",
        results,
        y="player",
        colour="class",
        facet="base",
        stacked=True,
        titles={"x": "Share of bids"},
        formats={"x": "%"},
        order={"colour": [_class_name(low, high) for low, high in pairwise(EDGES)]},
    )
    return Result(tables, [figure], numbers)


def _class_name(low: float, high: float) -> str:
    return f"{low:g} and more" if high == float("inf") else f"{low:g} to {high:g}"


def bid_increments(data: Data) -> pd.DataFrame:
    """Return one row per bid: percent above the bidder's previous bid and above the standing bid before the round.

    Without such a bid, the base is the current start price. All bids of a round are sealed.
    """
    import pandas as pd

    moves = data.table("decisions", ["match", "role", "round", "phase", "move_number", "move_bid"])
    moves = moves[moves["move_bid"].notna() & moves["round"].notna()]
    items = data.table("rounds", [*OF_ITEMS, *(["discounts"] if data.has("rounds", "discounts") else [])])
    start_prices = {}
    for row in items.drop_duplicates(["match", "round"]).to_dict("records"):
        price = int(row["start_price"])
        for _discount in range(int(row.get("discounts") or 0)):
            price = max(1, price // 2)
        start_prices[row["match"], int(row["round"])] = price
    records = []
    moves["bidding"] = moves["phase"].fillna("").str.extract(r"(\d+)", expand=False).fillna("0").astype(int)
    for (match, round_number), subset in moves.sort_values("move_number", kind="stable").groupby(["match", "round"]):
        start_price = start_prices.get((match, int(round_number)))
        if start_price is None:
            continue
        last_bids: dict[str, float] = {}
        standing = None
        for _round, bids in subset.groupby("bidding", sort=True):
            for role, bid in zip(bids["role"], bids["move_bid"].astype(float), strict=True):
                above_own = 100 * (bid / last_bids.get(role, start_price) - 1)
                above_standing = 100 * (bid / (start_price if standing is None else standing) - 1)
                records.append({"match": match, "role": role, "own": above_own, "standing": above_standing})
                last_bids[role] = bid
            standing = max([*bids["move_bid"].astype(float), *([] if standing is None else [standing])])
    rows = pd.DataFrame(records, columns=["match", "role", "own", "standing"])
    return with_setting(data, rows) if len(rows) else rows


# ---- what sells -----------------------------------------------------------------------------------------


def niches(data: Data, options: Options) -> Result:
    """Return winning bids by objective and budget."""
    import numpy as np
    from scipy.stats import gaussian_kde, ks_2samp

    items = data.table("rounds", OF_ITEMS)
    rows = with_setting(data, items[(items["winner"] == items["role"]) & items["price"].notna()])
    rows["objective"] = [objective(row) for row in rows.to_dict("records")]
    if rows["objective"].nunique() < 2:
        raise SkippedError("All bidders had the same objective.")
    prices = rows["price"].astype(float).to_numpy()
    edges = np.linspace(prices.min(), prices.max() if prices.max() > prices.min() else prices.min() + 1, 21)
    drawn, tests = [], []
    for budget in sorted(rows["budget"].unique(), key=float):
        subset = rows[rows["budget"] == budget]
        groups = {str(name): group["price"].astype(float).to_numpy() for name, group in subset.groupby("objective")}
        for name, values in groups.items():
            density, _edges = np.histogram(values, bins=edges, density=True)
            kernel = gaussian_kde(values) if len(values) > 2 and np.ptp(values) > 0 else None
            for low, high, height in zip(edges, edges[1:], density, strict=False):
                middle = (low + high) / 2
                drawn.append({"budget": f"budget {budget}", "objective": name, "low": float(low), "high": float(high),
                              "price": float(middle), "density": float(height),
                              "kernel": None if kernel is None else float(kernel(middle)[0])})  # fmt: skip
        row: dict[str, Any] = {"budget": budget, "n": len(subset)}
        row |= {f"n_{name}": len(values) for name, values in groups.items()}
        if len(groups) == 2:
            test = ks_2samp(*groups.values())
            row |= {"estimate": float(test.statistic), "p": float(test.pvalue)}
        tests.append(row)
    tables = [
        Table("distance", "Kolmogorov–Smirnov distance of winning bids between objectives",
              [text("budget", "Budget"), number("estimate", "D"), number("p", "p"), count("n_profit", "Profit"),
               count("n_items", "Items")], tests,
               note="In the paper, the distributions diverge from a budget of 30,000 upwards."),
        Table("densities", "Densities of winning bids", [text("budget", "Budget"), text("objective", "Objective"),
              number("low", "From"), number("high", "To"), number("density", "Histogram"),
              number("kernel", "Kernel")], drawn),
    ]  # fmt: skip
    figure = _densities(drawn)
    numbers = {f"budget {r['budget']}": {k: r.get(k) for k in ("estimate", "p", "n")} for r in tests}
    return Result(tables, [figure], numbers)


def _densities(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Return a chart with one panel per budget: histograms as dashed lines, kernel densities as solid lines."""
    results = [{**row, "what": f"{row['objective']}: {curve}", "value": row[key]}
            for curve, key in (("kernel", "kernel"), ("histogram", "density")) for row in rows
            if row[key] is not None]  # fmt: skip
    return charts.figure(
        "lines",
        "densities",
        "Density of winning bids by objective",
        results,
        x="price",
        y="value",
        colour="what",
        facet="budget",
        points=False,
        titles={"x": "Winning bid", "y": "Density"},
    )


def behaviour(data: Data, options: Options) -> Result:
    """Return profit per item won and number of bids, by start price, order and budget."""
    items = data.table("rounds", [*OF_ITEMS, "bids", "payoff"])
    rows = with_setting(data, items)
    results = []
    for (setting, player, start), subset in rows.groupby(["setting", "player", "start_price"]):
        won = subset[subset["winner"] == subset["role"]]
        results.append({"setting": setting, "player": player, "start_price": float(start), "won": len(won),
                     "estimate": float(won["payoff"].mean()) if len(won) else None,
                     "bids": float(subset["bids"].mean()), "n": len(subset)})  # fmt: skip
    order = settings(rows)
    results.sort(key=lambda row: (order.index(row["setting"]), row["player"], row["start_price"]))
    table = Table(
        "items", "Profit per item won and bids, by start price",
        [text("setting", "Setting"), text("player", "Bidder"), number("start_price", "Start price"),
         number("estimate", "Profit per item won"), count("won", "Won"), number("bids", "Mean bids"),
         count("n", "Items")], results,
    )  # fmt: skip
    figure = charts.figure(
        "scatter",
        "items",
        "Profit per item won, by start price",
        results,
        x="start_price",
        y="estimate",
        size="bids",
        colour="player",
        facet="setting",
        players=data.players,
        titles={"x": "Start price", "y": "Mean profit per item won", "size": "Mean bids"},
    )
    return Result([table], [figure])


ROUNDS = {"matches": MATCH, "rounds": OF_ITEMS}

ANALYSES = [
    Analysis(
        id="aucarena.errors", title="State tracking (AucArena, figure 3)",
            question="Do bidders keep track of the auction?",
        method="Corrected failure rates F/(C + F) of bids and of beliefs by kind; percentile bootstrap by auction.",
        run=errors, games=GAMES, columns={**REQUIRED_COLUMNS, "seats": ["match", "role", "bids", "withdrawals"]},
    ),
    Analysis(
        id="aucarena.priorities", title="Plans (AucArena, figures 4 and 9)", question="How do plans change?",
        method="Mean priority of each item before each sale, and its change from one sale to the next.",
        run=priorities, games=GAMES,
        columns={**ROUNDS, "decisions": ["match", "role", "round", "move_number", "move_priorities"]},
    ),
    Analysis(
        id="aucarena.faithful", title="Plans and behaviour (AucArena, figure 6)",
        question="Do bidders follow their plans?",
        method="Spearman's correlation over (auction, bidder, item) of the initial and the current priority with the "
        f"number of bids and with winning; percentile bootstrap by auction, at most {MAX_DRAWS} draws.",
        run=faithful, games=GAMES,
        columns={**ROUNDS, "rounds": [*OF_ITEMS, "bids", "priority_initial", "priority_current"]},
    ),
    Analysis(
        id="aucarena.increments", title="Bid increments (AucArena, figure 5)", question="How aggressive are bids?",
        method="Percentage above the bidder's own preceding bid and above the standing bid before the round, in five "
        "classes, two of which the paper reports.",
        run=increments, games=GAMES,
        columns={**ROUNDS, "decisions": ["match", "role", "round", "phase", "move_number", "move_bid"]},
    ),
    Analysis(
        id="aucarena.niches", title="Objectives (AucArena, figure 8)", question="Do objectives find different niches?",
        method="Winning bids by objective and budget: density histogram with 20 common bins, Gaussian kernel density "
        "with Scott's bandwidth, and Kolmogorov–Smirnov distance.",
        run=niches, games=GAMES, columns=ROUNDS,
    ),
    Analysis(
        id="aucarena.behaviour", title="What sells (AucArena, figures 10 to 13)", question="Which items pay?",
        method="Mean profit per item won and mean number of bids, by start price, order of sale, budget and bidder.",
        run=behaviour, games=GAMES, columns={**ROUNDS, "rounds": [*OF_ITEMS, "bids", "payoff"]},
    ),
]  # fmt: skip
