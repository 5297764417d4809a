"""Procurement, scheduling and pricing: scores, differences, exploration, learning (section 4; appendix A)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import by_group, grouped, times_drawn, with_holm
from analysis.options import Options
from analysis.published.econevals import printed
from analysis.published.econevals.frames import (
    AGENT,
    BENCHMARKS,
    OTHER,
    by_instance,
    difference,
    frame,
    game_of,
    of_benchmarks,
)
from analysis.results import Result
from analysis.tables import Chart, Table, count, number, numbers, share, text
from analysis.toolbox import mean, proportion
from analysis.toolbox.dependence import FEWEST_UNITS

REQUIRED_COLUMNS = {"matches": ["match", "game", "config_level", "score"]}
NEAR_BEST = 0.9
KEYS = ["level", "agent"]


@of_benchmarks(
    "econevals.scores", "Benchmark scores (EconEvals, table 1)", "How well do agents do?",
    "Mean score over instances × 100, with t intervals; share of instances fully solved, with Wilson "
    "intervals. The scheduling score divides by the exact expected number of blocking pairs, so it needs no "
    "bootstrap.",
    columns=REQUIRED_COLUMNS,
)  # fmt: skip
def scores(data: Data, options: Options) -> Result:
    game = game_of(data, BENCHMARKS)
    has_solved = data.has("matches", "solved") and game != "pricing"
    rows = frame(data, game, ["score", *(["solved"] if has_solved else [])])

    def scored(matches: pd.DataFrame) -> dict[str, Any]:
        found = mean(matches["score"].tolist(), level=options.level)
        row = {**{key: None if (value := found[key]) is None else 100 * value
                  for key in ("estimate", "se", "low", "high")},
               "n": found["n"], "instances": matches["instance"].nunique(),
               "missing": int(matches["score"].isna().sum()),
               "published": _published(game, str(matches["level"].iloc[0]).split(",")[0])}  # fmt: skip
        if has_solved:
            solved = int(matches["solved"].fillna(False).sum())
            of = proportion(solved, len(matches), level=options.level)
            row |= {"solved": solved, "solved_share": of["estimate"],
                    "solved_low": of["low"], "solved_high": of["high"]}  # fmt: skip
        return row

    found = by_group(rows, KEYS, scored)
    of_solved = [count("solved", "Solved"), share("solved_share", "Share"), share("solved_low", "Low"),
                 share("solved_high", "High")]  # fmt: skip
    table = Table(
        "scores", "Mean score by level and agent",
        ["level", AGENT, number("estimate", "Score × 100"), "low", "high", count("n", "Matches"),
         count("instances", "Instances"), *(of_solved if has_solved else []),
         text("published", "Published (Claude, Gemini, GPT-4o)")],
        found,
    )  # fmt: skip
    warnings = [f"{row['level']}, {row['agent']}: {row['missing']} matches have no score because no gain is possible."
                for row in table.records if row["missing"]]  # fmt: skip
    return Result([table], numbers=table.numbers("{level}.{agent}"), warnings=warnings)


def _published(game: str, level: str) -> str | None:
    values = printed.SCORES.get((game, level))
    return None if values is None else ", ".join(f"{value:.1f}" for value in values)


def differences(rows: pd.DataFrame, column: str, *, level: float) -> pd.DataFrame:
    """Return paired t tests for all pairs of agents at each level, on the instances that both played."""
    return pd.DataFrame([
        {"level": level_name, "agent": first, "other": second, **test}
        for level_name, of_level in grouped(rows, "level")
        for means in [by_instance(of_level, column)]
        for first, second in combinations(means, 2)
        if (test := difference(means[first], means[second], level=level)) is not None
    ])  # fmt: skip


@of_benchmarks(
    "econevals.tests", "Differences between agents (EconEvals, section 4)", "Do agents differ?",
    "Paired t tests for every pair of agents at each level, on the instances that both played; raw and "
    "Holm-adjusted p-values. Agents that share no instance are not compared.",
    columns=REQUIRED_COLUMNS,
)  # fmt: skip
def tests(data: Data, options: Options) -> Result:
    game = game_of(data, BENCHMARKS)
    has_exploration = data.has("matches", "exploration_rate") and game != "pricing"
    titles = {"score": "Score", **({"exploration_rate": "Exploration rate"} if has_exploration else {})}
    rows = frame(data, game, [*titles])
    finding = " In scheduling, it finds Claude ahead of both others at every level (p < .05)."
    tables: list[Table] = []
    found: dict[str, Any] = {}
    for column, title in titles.items():
        tested = differences(rows, column, level=options.level)
        if not len(tested):
            raise SkippedError("No two agents played the same instance, so there are no pairs for the tests.")
        tables.append(Table(
            column, f"{title}: differences between agents on the same instances",
            ["level", AGENT, OTHER, number("estimate", "Difference"), "low", "high", number("t", "t"),
             count("df", "df"), "p", "p_holm", count("n", "Instances")],
            with_holm(tested),
            note="The paper's p-values are unadjusted." + (finding if game == "scheduling" else ""),
        ))  # fmt: skip
        found |= tables[-1].numbers(column + ".{level}.{agent} less {other}")
    return Result(tables, numbers=found)


@of_benchmarks(
    "econevals.runs", "Every run (EconEvals, figures 2 to 6 and 9)", "How much do runs vary?",
    "Each ring is a match's score; bars mark means.", columns=REQUIRED_COLUMNS,
)  # fmt: skip
def runs(data: Data, options: Options) -> Result:
    game = game_of(data, BENCHMARKS)
    rows = frame(data, game, ["score"]).sort_values(["level", "agent", "instance"])
    title = f"{game.capitalize()}: score of every run"
    charts = [Chart("strip_plot", x="score", y="agent", facet="level")]
    if game == "scheduling" and (rows["score"] < 0).any():
        charts.insert(0, Chart("strip_plot", name="runs_from_0", title=f"{title}, truncated at 0", x="score", y="agent",
                               facet="level", titles={"x": "Score; lower scores are drawn at 0"},
                               domain=(0, 1)))  # fmt: skip
    columns = ["level", AGENT, text("instance", "Instance"), number("score", "Score")]
    return Result([Table("runs", title, columns, rows[["level", "agent", "instance", "score"]], charts=charts)])


@of_benchmarks(
    "econevals.exploration", "Exploration (EconEvals, figures 7 and 8, table 4)", "Do agents explore enough?",
    "Share of distinct plans among each match's plans; means with t intervals, by level and by what the "
    "agent was told.",
    games=("procurement", "scheduling"),
    columns={"matches": ["match", "game", "config_level", "exploration_rate"]},
)  # fmt: skip
def exploration(data: Data, options: Options) -> Result:
    game = game_of(data, ("procurement", "scheduling"))
    rows = frame(data, game, ["exploration_rate"])

    def explored(matches: pd.DataFrame) -> dict[str, Any]:
        first = matches.iloc[0]
        _scores, rates = printed.TOLD.get(str(first.get("config_told", "")), ((), ()))
        published = dict(zip(printed.LEVELS, rates, strict=False)).get(str(first["config_level"]))
        return {**mean(matches["exploration_rate"].tolist(), level=options.level),
                "published": published if game == "procurement" else None}  # fmt: skip

    table = Table(
        "rates", "Exploration rate by level and agent",
        ["level", AGENT, number("estimate", "Rate"), "low", "high", count("n", "Matches"),
         number("published", "Published (Gemini)")],
        by_group(rows, KEYS, explored),
        note="Number of distinct plans (ignoring zeros) divided by the number of plans.",
        charts=[Chart("strip_plot", title=f"{game.capitalize()}: exploration rate of every run", x="exploration_rate",
                      y="agent", facet="level", titles={"x": "Share of distinct plans"},
                      rows=rows.sort_values([*KEYS, "instance"])[[*KEYS, "exploration_rate"]])],
    )  # fmt: skip
    return Result([table], numbers=table.numbers("{level}.{agent}"))


@of_benchmarks(
    "econevals.learning", "Learning over periods (EconEvals' games)", "How fast do agents learn?",
    "Best score so far (in pricing, profit relative to the optimum) by period, with a percentile bootstrap "
    "band over instances; first period at 90 % of the match's best and mean over periods, with t intervals.",
    columns={"matches": [*REQUIRED_COLUMNS["matches"], "config_periods"], "rounds": ["match", "round"]},
)  # fmt: skip
def learning(data: Data, options: Options) -> Result:
    game = game_of(data, BENCHMARKS)
    rows = frame(
        data, game, ["score", "config_periods", *(["expected_blocking_pairs"] if game == "scheduling" else [])]
    )
    values = progress(data, game, rows)
    curves, speeds = [], []
    for (level, agent), subset in grouped(rows[rows["match"].isin(values)], *KEYS):
        grid = padded([values[match] for match in subset["match"]], int(subset["config_periods"].max()))
        low, high = _band(grid, subset["instance"].tolist(), options)
        curves.append(pd.DataFrame({"period": range(1, grid.shape[1] + 1), "estimate": grid.mean(axis=0), "low": low,
                                    "high": high, "level": level, "agent": agent, "n": len(grid)}))  # fmt: skip
        first = mean([value for path in grid if (value := first_near_best(path)) is not None], level=options.level)
        area = mean(grid.mean(axis=1).tolist(), level=options.level)
        speeds.append({"level": level, "agent": agent, "se": area["se"], "n": len(grid),
                       **{name + end: found[key] for name, found in (("first", first), ("area", area))
                          for end, key in (("", "estimate"), ("_low", "low"), ("_high", "high"))}})  # fmt: skip
    if not curves:
        raise SkippedError("The table rounds has no periods for these matches.")
    quantity = "Profit relative to the optimum" if game == "pricing" else "Best score so far"
    speed = pd.DataFrame(speeds)
    tables = [
        Table("speed", "How fast agents learn",
              ["level", AGENT, number("first", f"First period at {NEAR_BEST:.0%} of the match's best"),
               number("first_low", "Low"), number("first_high", "High"), number("area", "Mean over periods"),
               number("area_low", "Low"), number("area_high", "High"), count("n", "Matches")],
              speed.drop(columns="se")),
        Table("curves", f"{quantity} by period",
              ["level", AGENT, count("period", "Period"), number("estimate", quantity), "low", "high",
               count("n", "Matches")],
              pd.concat(curves, ignore_index=True),
              charts=[Chart("lines", title=f"{game.capitalize()}: {quantity.lower()} by period", x="period",
                            colour="agent", facet="level", players=data.players)]),
    ]  # fmt: skip
    area = {"area": "estimate", "area_low": "low", "area_high": "high"}
    return Result(tables, numbers=numbers(speed.rename(columns=area), "{level}.{agent}.area"))


def progress(data: Data, game: str, rows: pd.DataFrame) -> dict[str, list[float]]:
    """Return each match's value in every period: best score so far, or in pricing profit relative to the optimum."""
    columns = {"procurement": ["best_so_far", "optimum"], "scheduling": ["blocking_pairs"],
               "pricing": ["profit", "optimal_profit"]}[game]  # fmt: skip
    if not data.has("rounds", "match", "round", *columns):
        raise SkippedError(f"The table rounds has no column {', '.join(columns)}.")
    periods = data.table("rounds", ["match", "round", *columns])
    periods = periods[periods["match"].isin(rows["match"])].sort_values(["match", "round"], kind="stable")
    if game == "pricing":
        products = periods.groupby(["match", "round"])
        value = products["profit"].sum() / products["optimal_profit"].first()
    else:
        if game == "procurement":
            value = periods["best_so_far"] / periods["optimum"].where(periods["optimum"] > 0)
        else:
            expected = periods["match"].map(rows.set_index("match")["expected_blocking_pairs"])
            fewest = periods.groupby("match")["blocking_pairs"].cummin()
            value = (1 - fewest / expected.where(expected > 0)).fillna(1.0)
        value = value.set_axis(pd.MultiIndex.from_frame(periods[["match", "round"]]))
    return {str(match): path.tolist() for match, path in value.dropna().groupby(level=0)}


def padded(paths: Sequence[Sequence[float]], periods: int) -> np.ndarray:
    """Return one row per match; a match that ended early keeps its last value."""
    return np.array([[*path, *[path[-1]] * (periods - len(path))][:periods] for path in paths], dtype=float)


def first_near_best(path: Sequence[float]) -> int | None:
    """Return the first period (from 1) whose value is at least 90 % of the match's best; None without a gain."""
    best = max(path)
    if best <= 0:
        return None
    return next(period for period, value in enumerate(path, start=1) if value >= NEAR_BEST * best)


def _band(grid: np.ndarray, instances: Sequence[str], options: Options) -> tuple[Any, Any]:
    """Return a percentile bootstrap band over instances for every period; (None, None) with fewer than five."""
    labels, codes = np.unique(np.asarray(instances), return_inverse=True)
    if len(labels) < FEWEST_UNITS:
        return None, None
    weights = times_drawn(len(labels), options.draws, options.seed)[:, codes].astype(float)
    means = weights @ grid / weights.sum(axis=1, keepdims=True)
    low, high = np.quantile(means, [(1 - options.level) / 2, (1 + options.level) / 2], axis=0)
    return low, high
