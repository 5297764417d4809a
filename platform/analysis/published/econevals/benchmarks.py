"""Procurement, scheduling and pricing: scores, differences, exploration, learning (section 4; appendix A)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from analysis import charts
from analysis.errors import SkippedError
from analysis.frames import add_holm, times_drawn
from analysis.published.econevals.frames import BENCHMARKS, by_instance, frame, game_of, level_order
from analysis.results import Analysis, Options, Result, Table, count, estimate_columns, number, p_value, share, text
from analysis.toolbox import mean, paired, proportion

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from analysis.data import Data

PUBLISHED_SCORES: Mapping[tuple[str, str], str] = {
    ("procurement", "basic"): "72.8, 62.3, 43.8", ("procurement", "medium"): "54.5, 37.9, 38.3",
    ("procurement", "hard"): "54.6, 35.5, 9.0", ("scheduling", "basic"): "100, 63.5, 37.4",
    ("scheduling", "medium"): "69.4, 29.9, -4.5", ("scheduling", "hard"): "36.3, 16.1, 3.2",
    ("pricing", "basic"): "83.2, 68.8, 76.1", ("pricing", "medium"): "68.7, 53.2, 69.6",
    ("pricing", "hard"): "58.7, 39.1, 46.7",
}  # fmt: skip
"""Scores of Claude, Gemini and GPT-4o, from table 1."""
PUBLISHED_EXPLORATION: Mapping[tuple[str, str], float] = {
    ("baseline", "basic"): 0.27, ("baseline", "medium"): 0.46, ("baseline", "hard"): 0.35,
    ("horizon", "basic"): 0.23, ("horizon", "medium"): 0.26, ("horizon", "hard"): 0.41,
    ("horizon_goal", "basic"): 0.28, ("horizon_goal", "medium"): 0.29, ("horizon_goal", "hard"): 0.52,
}  # fmt: skip
"""Exploration rates of Gemini in procurement, from table 4."""
REQUIRED_COLUMNS = {"matches": ["match", "game", "config_level", "score"]}
NEAR_BEST = 0.9
AGENT = (text("level", "Level"), text("agent", "Agent"))


def _groups(rows: pd.DataFrame) -> list[tuple[str, str, pd.DataFrame]]:
    """Return (level, agent, rows), ordered by level."""
    return [
        (level, agent, subset)
        for level in level_order(rows["level"].tolist())
        for agent, subset in rows[rows["level"] == level].groupby("agent")
    ]


def scores(data: Data, options: Options) -> Result:
    """Return the mean score by level and agent, and the number of fully solved instances."""
    game = game_of(data, BENCHMARKS)
    has_solved = data.has("matches", "solved") and game != "pricing"
    rows = frame(data, game, ["score", *(["solved"] if has_solved else [])])
    results, numbers, warnings = [], {}, []
    for level, agent, subset in _groups(rows):
        estimate = mean(subset["score"].tolist(), level=options.level)
        row = {"level": level, "agent": agent, **_times_100(estimate), "instances": subset["instance"].nunique()}
        row |= {
            "missing": int(subset["score"].isna().sum()),
            "published": PUBLISHED_SCORES.get((game, level.split(",")[0])),
        }
        if has_solved:
            k = int(subset["solved"].fillna(False).sum())
            solved_share = proportion(k, len(subset), level=options.level)
            row |= {"solved": k, "solved_share": solved_share["estimate"], "solved_low": solved_share["low"],
                    "solved_high": solved_share["high"]}  # fmt: skip
        results.append(row)
        numbers[f"{level}.{agent}"] = {key: row[key] for key in ("estimate", "se", "low", "high", "n")}
        if row["missing"]:
            warnings.append(f"{level}, {agent}: {row['missing']} matches have no score because no gain is possible.")
    columns = [*AGENT, *estimate_columns("Score × 100"),
               count("n", "Matches"), count("instances", "Instances")]  # fmt: skip
    if has_solved:
        columns += [count("solved", "Solved"), share("solved_share", "Share"), share("solved_low", "Low"),
                    share("solved_high", "High")]  # fmt: skip
    columns.append(text("published", "Published (Claude, Gemini, GPT-4o)"))
    return Result([Table("scores", "Mean score by level and agent", columns, results)], [], numbers, warnings=warnings)


def _times_100(estimate: Mapping[str, Any]) -> dict[str, Any]:
    scaled = {k: None if estimate.get(k) is None else 100 * estimate[k] for k in ("estimate", "se", "low", "high")}
    return {**scaled, "n": estimate["n"]}


def differences(rows: pd.DataFrame, column: str, *, level: float) -> list[dict[str, Any]]:
    """Return paired t tests for all pairs of agents at each level, on the instances that both played."""
    results = []
    for level_name in level_order(rows["level"].tolist()):
        means = by_instance(rows[rows["level"] == level_name], column)
        for first, second in combinations(sorted(means), 2):
            shared = sorted(set(means[first]) & set(means[second]))
            if shared:
                test = paired([means[first][i] for i in shared], [means[second][i] for i in shared], level=level)
                results.append({"level": level_name, "agent": first, "other": second, **test})
    return results


def tests(data: Data, options: Options) -> Result:
    """Return the differences between agents in score and exploration."""
    game = game_of(data, BENCHMARKS)
    has_exploration = data.has("matches", "exploration_rate") and game != "pricing"
    rows = frame(data, game, ["score", *(["exploration_rate"] if has_exploration else [])])
    tables, numbers = [], {}
    for column, title in (("score", "Score"), ("exploration_rate", "Exploration rate")):
        if column == "exploration_rate" and not has_exploration:
            continue
        results = add_holm(differences(rows, column, level=options.level))
        if not results:
            raise SkippedError("No two agents played the same instance, so there are no pairs for the tests.")
        tables.append(Table(
            column, f"{title}: differences between agents on the same instances",
            [*AGENT, text("other", "minus"), *estimate_columns("Difference"),
         number("t", "t"), count("df", "df"), p_value(), p_value("p_holm", "p, Holm"),
             count("n", "Instances")], results,
            note="The paper's p-values are unadjusted." + (
                " In scheduling, it finds Claude ahead of both others at every level (p < .05)."
                if game == "scheduling" else ""
            ),
        ))  # fmt: skip
        for row in results:
            numbers[f"{column}.{row['level']}.{row['agent']} less {row['other']}"] = {
                key: row.get(key) for key in ("estimate", "low", "high", "p", "n")
            }
    return Result(tables, [], numbers)


def runs(data: Data, options: Options) -> Result:
    """Return every run's score."""
    game = game_of(data, BENCHMARKS)
    rows = frame(data, game, ["score"])
    order = level_order(rows["level"].tolist())
    rows["place"] = [order.index(level) for level in rows["level"]]
    rows = rows.sort_values(["place", "agent", "instance"])
    results = rows[["level", "agent", "instance", "score"]].to_dict("records")
    columns = [*AGENT, text("instance", "Instance"), number("score", "Score")]
    title = f"{game.capitalize()}: score of every run"
    figures = [
        charts.figure("strip_plot", "runs", title, results, y="agent", x="score", facet="level", titles={"x": "Score"})
    ]
    if game == "scheduling" and (rows["score"] < 0).any():
        figures.insert(
            0,
            charts.figure(
                "strip_plot",
                "runs_from_0",
                f"{title}, truncated at 0",
                results,
                y="agent",
                x="score",
                facet="level",
                domain=(0, 1),
                titles={"x": "Score; lower scores are drawn at 0"},
            ),
        )
    return Result([Table("runs", title, columns, results)], figures)


def exploration(data: Data, options: Options) -> Result:
    """Return the exploration rate: the share of distinct plans among all plans."""
    game = game_of(data, ("procurement", "scheduling"))
    rows = frame(data, game, ["exploration_rate"])
    disclosure = rows.get("config_told")
    results, numbers = [], {}
    for level, agent, subset in _groups(rows):
        key = (
            str(disclosure.loc[subset.index[0]]) if disclosure is not None else "",
            str(subset["config_level"].iloc[0]),
        )
        rate = mean(subset["exploration_rate"].tolist(), level=options.level)
        results.append({"level": level, "agent": agent, **rate,
                     "published": PUBLISHED_EXPLORATION.get(key) if game == "procurement" else None})  # fmt: skip
        numbers[f"{level}.{agent}"] = {k: rate.get(k) for k in ("estimate", "se", "low", "high", "n")}
    table = Table(
        "rates", "Exploration rate by level and agent",
        [*AGENT, *estimate_columns("Rate"), count("n", "Matches"),
         number("published", "Published (Gemini)")], results,
             note="Number of distinct plans (ignoring zeros) divided by the number of plans.",
    )  # fmt: skip
    drawn = rows.sort_values(["agent", "instance"])[["level", "agent", "exploration_rate"]].to_dict("records")
    drawn.sort(key=lambda row: level_order(rows["level"].tolist()).index(row["level"]))
    figure = charts.figure(
        "strip_plot",
        "rates",
        f"{game.capitalize()}: exploration rate of every run",
        drawn,
        y="agent",
        x="exploration_rate",
        facet="level",
        titles={"x": "Share of distinct plans"},
    )
    return Result([table], [figure], numbers)


# ---- learning -----------------------------------------------------------------------------------------------------


def learning(data: Data, options: Options) -> Result:
    """Return how results improve over the periods."""
    game = game_of(data, BENCHMARKS)
    extra_columns = ["expected_blocking_pairs"] if game == "scheduling" else []
    rows = frame(data, game, ["score", "config_periods", *extra_columns])
    values = progress(data, game, rows)
    results, speeds, numbers = [], [], {}
    for level, agent, subset in _groups(rows):
        paths = [values[match] for match in subset["match"] if match in values]
        if not paths:
            continue
        grid = padded(paths, int(subset["config_periods"].max()))
        low, high = _band(grid, subset["instance"].tolist(), options)
        average = grid.mean(axis=0)
        for index, value in enumerate(average):
            results.append({"level": level, "agent": agent, "period": index + 1, "estimate": float(value),
                         "low": None if low is None else float(low[index]),
                         "high": None if high is None else float(high[index]), "n": len(paths)})  # fmt: skip
        first_good_periods = [first_near_best(path) for path in grid]
        first_period = mean([value for value in first_good_periods if value is not None], level=options.level)
        area = mean(grid.mean(axis=1).tolist(), level=options.level)
        speeds.append({"level": level, "agent": agent, "first": first_period.get("estimate"),
                       "first_low": first_period.get("low"), "first_high": first_period.get("high"),
                       "area": area["estimate"], "area_low": area["low"], "area_high": area["high"],
                       "n": len(paths)})  # fmt: skip
        numbers[f"{level}.{agent}.area"] = {k: area.get(k) for k in ("estimate", "se", "low", "high", "n")}
    if not results:
        raise SkippedError("The table rounds has no periods for these matches.")
    quantity = "Profit relative to the optimum" if game == "pricing" else "Best score so far"
    tables = [
        Table("speed", "How fast agents learn",
              [*AGENT, number("first", f"First period at {NEAR_BEST:.0%} of the match's best"), number("first_low",
              "Low"),
               number("first_high", "High"), number("area", "Mean over periods"), number("area_low", "Low"),
               number("area_high", "High"), count("n", "Matches")], speeds),
        Table("curves", f"{quantity} by period",
              [*AGENT, count("period", "Period"), number("estimate", quantity), number("low", "Low"),
               number("high", "High"), count("n", "Matches")], results),
    ]  # fmt: skip
    figure = charts.figure(
        "lines",
        "curves",
        f"{game.capitalize()}: {quantity.lower()} by period",
        results,
        x="period",
        colour="agent",
        facet="level",
        players=data.players,
        titles={"x": "Period", "y": quantity},
    )
    return Result(tables, [figure], numbers)


def progress(data: Data, game: str, rows: pd.DataFrame) -> dict[str, list[float]]:
    """Return each match's value in every period: best score so far, or in pricing profit relative to the optimum."""
    columns = {
        "procurement": ["best_so_far", "optimum"], "scheduling": ["blocking_pairs"],
        "pricing": ["profit", "optimal_profit"],
    }[game]  # fmt: skip
    if not data.has("rounds", "match", "round", *columns):
        raise SkippedError(f"The table rounds has no column {', '.join(columns)}.")
    periods = data.table("rounds", ["match", "round", *columns])
    periods = periods[periods["match"].isin(set(rows["match"]))].sort_values(["match", "round"], kind="stable")
    if game == "pricing":
        products = periods.groupby(["match", "round"], sort=True)
        value = products["profit"].sum() / products["optimal_profit"].first()
    elif game == "procurement":
        value = (periods["best_so_far"] / periods["optimum"].where(periods["optimum"] > 0)).set_axis(
            [periods["match"], periods["round"]]
        )
    else:
        expected = periods["match"].map(rows.set_index("match")["expected_blocking_pairs"])
        fewest = periods.groupby("match")["blocking_pairs"].cummin()
        value = (1 - fewest / expected.where(expected > 0)).fillna(1.0).set_axis([periods["match"], periods["round"]])
    return {str(match): subset.tolist() for match, subset in value.dropna().groupby(level=0)}


def padded(paths: Sequence[Sequence[float]], periods: int) -> np.ndarray:
    """Return one row per match; a match that ended early keeps its last value."""
    import numpy as np

    return np.array([[*path, *[path[-1]] * (periods - len(path))][:periods] for path in paths], dtype=float)


def first_near_best(path: Sequence[float]) -> int | None:
    """Return the first period (from 1) whose value is at least 90 % of the match's best; None without a gain."""
    best = max(path)
    if best <= 0:
        return None
    return next(period for period, value in enumerate(path, start=1) if value >= NEAR_BEST * best)


def _band(grid: np.ndarray, instances: Sequence[str], options: Options) -> tuple[Any, Any]:
    """Return a percentile bootstrap band over instances for every period; (None, None) for a single instance."""
    import numpy as np

    labels, codes = np.unique(np.asarray(instances[: len(grid)]), return_inverse=True)
    if len(labels) < 2:
        return None, None
    weights = times_drawn(len(labels), options.draws, options.seed)[:, codes].astype(float)
    means = weights @ grid / weights.sum(axis=1, keepdims=True)
    low, high = np.quantile(means, [(1 - options.level) / 2, (1 + options.level) / 2], axis=0)
    return low, high


ANALYSES = [
    Analysis(
        id="econevals.scores", title="Benchmark scores (EconEvals, table 1)", question="How well do agents do?",
        method="Mean score over instances × 100, with t intervals; share of instances fully solved, with Wilson "
        "intervals. The scheduling score divides by the exact expected number of blocking pairs, so it needs no "
        "bootstrap.",
        run=scores, games=BENCHMARKS, columns=REQUIRED_COLUMNS,
    ),
    Analysis(
        id="econevals.tests", title="Differences between agents (EconEvals, section 4)", question="Do agents differ?",
        method="Paired t tests for every pair of agents at each level, on the instances that both played; raw and "
        "Holm-adjusted p-values. Agents that share no instance are not compared.",
        run=tests, games=BENCHMARKS, columns=REQUIRED_COLUMNS,
    ),
    Analysis(
        id="econevals.runs", title="Every run (EconEvals, figures 2 to 6 and 9)", question="How much do runs vary?",
        method="Each ring is a match's score; bars mark means.",
        run=runs, games=BENCHMARKS, columns=REQUIRED_COLUMNS,
    ),
    Analysis(
        id="econevals.exploration", title="Exploration (EconEvals, figures 7 and 8, table 4)",
        question="Do agents explore enough?",
        method="Share of distinct plans among each match's plans; means with t intervals, by level and by what the "
        "agent was told.",
        run=exploration, games=("procurement", "scheduling"),
        columns={"matches": ["match", "game", "config_level", "exploration_rate"]},
    ),
    Analysis(
        id="econevals.learning", title="Learning over periods (EconEvals' games)", question="How fast do agents learn?",
        method="Best score so far (in pricing, profit relative to the optimum) by period, with a percentile bootstrap "
        "band over instances; first period at 90 % of the match's best and mean over periods, with t intervals.",
        run=learning, games=BENCHMARKS,
        columns={"matches": [*REQUIRED_COLUMNS["matches"], "config_periods"], "rounds": ["match", "round"]},
    ),
]  # fmt: skip
