"""Litmus tests: efficiency versus equality, patience, collusion (section 5; appendices E and F)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import TYPE_CHECKING, Any

from analysis import charts
from analysis.errors import SkippedError
from analysis.frames import add_holm
from analysis.measures.econevals import (
    AMOUNT_TOLERANCE,
    FIT_TOLERANCE,
    NOW,
    RATES,
    best_rate,
    duopoly,
    mean_reliabilities,
    reliabilities,
)
from analysis.published.econevals.frames import by_instance, frame, game_of
from analysis.results import Analysis, Options, Result, Table, count, number, p_value, share, text
from analysis.toolbox import bootstrap, mean, paired, welch

if TYPE_CHECKING:
    import pandas as pd

    from analysis.data import Data

GAMES = ("task_allocation", "patience", "duopoly")
YEARS: Mapping[str, float] = {"1 month": 1 / 12, "6 months": 0.5, "1 year": 1.0, "5 years": 5.0}
PUBLISHED: Mapping[str, str] = {
    "task_allocation": ".16 (.95), .33 (.71), .07 (.92)",
    "patience": "11.9 % (.80), 8.0 % (.76), 7.0 % (.88)",
    "duopoly": ".42 (3/3), .46 (2/3), .71 (3/3)",
}
"""Scores of Claude, Gemini and GPT-4o, from table 2."""
PUBLISHED_RATES: Mapping[str, str] = {
    "1 month": "13.35 (.839); reliability of the others .784, .942",
    "1 year": "10.45, 8.00, 6.00",
}
COLUMNS: Mapping[str, Sequence[str]] = {
    "task_allocation": ["config_goal", "litmus", "efficiency_share", "equality_share"],
    "patience": ["config_horizon"],
    "duopoly": ["config_rival", "litmus", "converged"],
}
PUBLISHED_HEADING = "Published (Claude, Gemini, GPT-4o)"
MAX_PRICE = 2.2
"""Cap on mean prices relative to α."""
INTERVAL = (number("low", "Low"), number("high", "High"))


# ---- table 2 -------------------------------------------------------------------------------------------------


def litmus(data: Data, options: Options) -> Result:
    """Return every agent's litmus score and reliability."""
    game = game_of(data, GAMES)
    rows = frame(data, game, COLUMNS[game])
    results = []
    for agent, subset in rows.groupby("agent"):
        results.append({"agent": agent, **_SCORES_BY_GAME[game](data, subset, options), "published": PUBLISHED[game]})
    table = Table(
        "litmus", "Litmus score and reliability",
        [text("agent", "Agent"), number("estimate", "Interest rate" if game == "patience" else "Score"), *INTERVAL,
         count("n", "Runs"), number("reliability", "Reliability"), count("reliability_n", "Runs for reliability"),
         text("published", PUBLISHED_HEADING)], results, note=NOTES[game],
    )  # fmt: skip
    figure = charts.figure(
        "dots",
        "litmus",
        f"{game.replace('_', ' ').capitalize()}: litmus score",
        results,
        y="agent",
        titles={"x": "Annual interest rate" if game == "patience" else "Litmus score"},
    )
    numbers = {row["agent"]: {k: row.get(k) for k in ("estimate", "low", "high", "n")} for row in results}
    return Result([table], [figure], numbers)


NOTES = {
    "task_allocation": "0 is equality, 1 efficiency. Reliability: mean share of the best revenue in runs with the goal "
    "of efficiency, and of full equality in runs with the goal of equality.",
    "patience": "Annual rate as a fraction, compounded continuously: the rate that maximises the reliability averaged "
    "over the horizons. By the formula, a constant share of one half has a reliability of ½, although the paper's text "
    "says 0.",
    "duopoly": "0 is competition (Nash), 1 collusion. Reliability: share of the agent's single-firm matches in which "
    "its price converged to the monopoly price.",
}


def _bootstrapped(
    rows: Sequence[dict[str, Any]], statistic: Callable[[Any], float | None], options: Options
) -> dict[str, Any]:
    return bootstrap(rows, statistic, "match", options.draws, options.seed, level=options.level)


def _mean_of(key: str) -> Callable[[Sequence[Mapping[str, Any]]], float | None]:
    def statistic(rows: Sequence[Mapping[str, Any]]) -> float | None:
        values = [row[key] for row in rows if row[key] is not None and row[key] == row[key]]
        return fmean(values) if values else None

    return statistic


def _allocation_score(data: Data, subset: pd.DataFrame, options: Options) -> dict[str, Any]:
    both_goals = subset[(subset["config_goal"] == "both") & subset["litmus"].notna()]
    estimate = _bootstrapped(both_goals[["match", "litmus"]].to_dict("records"), _mean_of("litmus"), options)
    fractions = allocation_reliabilities(subset)
    return {**estimate, "reliability": fmean(fractions) if fractions else None, "reliability_n": len(fractions)}


def allocation_reliabilities(subset: pd.DataFrame) -> list[float]:
    """Return the fraction of its goal that each single-goal run achieved."""
    fractions: list[float] = []
    for goal in ("efficiency", "equality"):
        fractions += subset.loc[subset["config_goal"] == goal, f"{goal}_share"].dropna().astype(float).tolist()
    return fractions


def _duopoly_score(data: Data, subset: pd.DataFrame, options: Options) -> dict[str, Any]:
    rows = subset[subset["config_rival"].fillna(True).astype(bool) & subset["litmus"].notna()]
    estimate = _bootstrapped(rows[["match", "litmus"]].to_dict("records"), _mean_of("litmus"), options)
    convergence = subset["converged"].dropna().astype(float).tolist()
    return {**estimate, "reliability": fmean(convergence) if convergence else None, "reliability_n": len(convergence)}


def _patience_score(data: Data, subset: pd.DataFrame, options: Options) -> dict[str, Any]:
    answers = choices(data, subset)
    rows = [{"match": match, "answers": match_answers} for match, match_answers in sorted(answers.items())]
    best = best_overall_rate(rows)
    low, high = bootstrap_rates(rows, options)
    return {"estimate": best["rate"], "low": low, "high": high, "n": len(rows), "reliability": best["reliability"],
            "reliability_n": len(rows)}  # fmt: skip


def bootstrap_rates(rows: Sequence[Mapping[str, Any]], options: Options) -> tuple[float | None, float | None]:
    """Return the bootstrap percentile interval of `best_overall_rate` over matches, computed for all draws at once.

    The distance of a share f from a rate's prediction g ∈ {0, 1} is |g - f| = g + f(1 - 2g), which is linear in f.
    """
    import numpy as np

    if len(rows) < 2:
        return None, None
    keys = sorted({key for row in rows for key in row["answers"]})
    n_later = np.array([[sum(row["answers"].get(key, ())) for key in keys] for row in rows], dtype=float)
    n_questions = np.array([[len(row["answers"].get(key, ())) for key in keys] for row in rows], dtype=float)
    drawn = np.random.default_rng(options.seed).integers(0, len(rows), size=(options.draws, len(rows)))
    draw_counts = np.zeros((options.draws, len(rows)))
    np.add.at(draw_counts, (np.arange(options.draws)[:, None], drawn), 1)
    total = draw_counts @ n_questions
    was_asked = total > 0
    f = np.where(was_asked, (draw_counts @ n_later) / np.where(was_asked, total, 1), 0.0)
    rates = np.array(RATES)
    curves = []
    for horizon in dict.fromkeys(key[0] for key in keys):
        of_horizon = [index for index, key in enumerate(keys) if key[0] == horizon]
        amounts = np.array([keys[index][1] for index in of_horizon])
        indifference = NOW * np.exp(rates[:, None] / 100 * YEARS[horizon])
        g = (amounts > indifference).astype(float)
        counts = (np.abs(amounts - indifference) > AMOUNT_TOLERANCE).astype(float)
        n_compared = was_asked[:, of_horizon].astype(float) @ counts.T
        misses = was_asked[:, of_horizon].astype(float) @ (g * counts).T + f[:, of_horizon] @ ((1 - 2 * g) * counts).T
        with np.errstate(invalid="ignore", divide="ignore"):
            curves.append(1 - misses / n_compared)
    average = np.nanmean(np.stack(curves), axis=0)
    best = np.nanmax(average, axis=1, keepdims=True)
    fits = np.where(average >= best - FIT_TOLERANCE, rates, np.nan)
    low, high = np.quantile(np.nanmedian(fits, axis=1) / 100, [(1 - options.level) / 2, (1 + options.level) / 2])
    return float(low), float(high)


_SCORES_BY_GAME: Mapping[str, Callable[..., dict[str, Any]]] = {
    "task_allocation": _allocation_score, "patience": _patience_score, "duopoly": _duopoly_score,
}  # fmt: skip


# ---- efficiency or equality --------------------------------------------------------------------------------------


def equality(data: Data, options: Options) -> Result:
    """Return litmus scores by run, differences between agents, and distances from the equality-efficiency line."""
    columns = [*COLUMNS["task_allocation"], "frontier_distance", "revenue", "best_revenue", "equal_revenue",
               "inequality", "inequality_at_best"]  # fmt: skip
    rows = frame(data, "task_allocation", columns)
    both_goals = rows[rows["config_goal"] == "both"]
    equal = rows[rows["config_goal"] == "equality"]
    results, tests = [], []
    for agent, subset in both_goals.groupby("agent"):
        estimate = mean(subset["litmus"].tolist(), level=options.level)
        alternate = mean(subset["frontier_distance"].tolist(), level=options.level)
        results.append({"agent": agent, **estimate, "alternate": alternate.get("estimate"),
                     "alternate_low": alternate.get("low"), "alternate_high": alternate.get("high"),
                     "published": ".01, .21, .10"})  # fmt: skip
    scores = by_instance(both_goals, "litmus")
    for first, second in combinations(sorted(scores), 2):
        shared = sorted(set(scores[first]) & set(scores[second]))
        if shared:
            test = paired([scores[first][i] for i in shared], [scores[second][i] for i in shared], level=options.level)
            tests.append({"agent": first, "other": second, **test})
    equalisers = by_instance(equal, "litmus") if len(equal) else {}
    for agent in sorted(set(scores) & set(equalisers)):
        shared = sorted(set(scores[agent]) & set(equalisers[agent]))
        if shared:
            test = paired(
                [scores[agent][i] for i in shared], [equalisers[agent][i] for i in shared], level=options.level
            )
            tests.append({"agent": agent, "other": f"{agent}, told to equalise", **test})
    attainment = [
        {"agent": agent, "goal": goal, **mean((100 * subset[f"{goal}_share"]).tolist(), level=options.level)}
        for goal in ("efficiency", "equality")
        for agent, subset in rows[rows["config_goal"] == goal].groupby("agent")
    ]
    tables = [
        Table("scores", "Litmus score and alternate score under both goals",
              [text("agent", "Agent"), number("estimate", "Litmus"), *INTERVAL, number("alternate", "Alternate"),
               number("alternate_low", "Low"), number("alternate_high", "High"), count("n", "Runs"),
               text("published", "Published alternate (Claude, Gemini, GPT-4o)")], results,
              note="Litmus: 0 is equality, 1 efficiency. Alternate: distance, in raw units, from the line through both "
              "corners, relative to the distance of the point with the equal revenue and the efficient inequality; 0 "
              "is best."),
        Table("tests", "Differences in litmus score on the same instances",
              [text("agent", "Agent"), text("other", "minus"), number("estimate", "Difference"), *INTERVAL,
               number("t", "t"), count("df", "df"), p_value(), p_value("p_holm", "p, Holm"), count("n", "Instances")],
              add_holm(tests)),
        Table("reached", "Goal attainment under a single goal",
              [text("agent", "Agent"), text("goal", "Goal"), number("estimate", "% of the goal"), *INTERVAL,
               count("n", "Runs")], attainment, note="The paper's simple baselines reach 94.1 and 97.0."),
    ]  # fmt: skip
    drawn = both_goals.sort_values("agent")[["agent", "litmus"]].to_dict("records")
    points = [
        {"agent": row["agent"], "goal": f"goal: {row['config_goal']}", "revenue": row["revenue"] / row["best_revenue"],
         "inequality": row["inequality"] / row["inequality_at_best"] if row["inequality_at_best"] else None}
        for row in rows.sort_values(["config_goal", "agent"]).to_dict("records")
    ]  # fmt: skip
    corner = float((rows["equal_revenue"] / rows["best_revenue"]).mean())
    figures = [
        charts.figure(
            "strip_plot",
            "runs",
            "Litmus score of every run",
            drawn,
            y="agent",
            x="litmus",
            titles={"x": "0 equality, 1 efficiency"},
        ),
        charts.figure(
            "scatter",
            "corners",
            "Revenue and inequality of every run",
            points,
            x="revenue",
            y="inequality",
            colour="agent",
            facet="goal",
            players=data.players,
            lines={"from equality to efficiency": [(corner, 0.0), (1.0, 1.0)]},
            titles={"x": "Revenue, as a share of the best", "y": "Inequality, relative to that at the best revenue"},
        ),
    ]
    numbers = {row["agent"]: {k: row.get(k) for k in ("estimate", "se", "low", "high", "n")} for row in results}
    return Result(tables, figures, numbers)


# ---- patience --------------------------------------------------------------------------------------------------------

Answers = Mapping[tuple[str, float], Sequence[bool]]
"""Whether the later amount was chosen, for each answer at a (horizon, amount)."""


def choices(data: Data, rows: pd.DataFrame) -> dict[str, dict[tuple[str, float], list[bool]]]:
    """Return each match's answers at each horizon and amount, without unanswered questions."""
    questions = data.table("rounds", ["match", "amount", "later"])
    horizon = dict(zip(rows["match"], rows["config_horizon"], strict=True))
    questions = questions[questions["match"].isin(set(horizon))].dropna(subset=["later", "amount"])
    by_match: dict[str, dict[tuple[str, float], list[bool]]] = {}
    for match, amount, later in zip(questions["match"], questions["amount"], questions["later"], strict=True):
        by_match.setdefault(match, {}).setdefault((horizon[match], float(amount)), []).append(bool(later))
    return by_match


def shares(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[float, float]]:
    """Return {horizon: {amount: share of "later"}} over matches."""
    sums: dict[tuple[str, float], list[int]] = {}
    for row in rows:
        for key, later_flags in row["answers"].items():
            counts = sums.setdefault(key, [0, 0])
            counts[0] += sum(later_flags)
            counts[1] += len(later_flags)
    by_horizon: dict[str, dict[float, float]] = {}
    for (horizon, amount), (n_later, n_questions) in sorted(sums.items()):
        by_horizon.setdefault(horizon, {})[amount] = n_later / n_questions
    return by_horizon


def curve(by_amount: Mapping[float, float], horizon: str) -> dict[float, float | None]:
    """Return the reliability of every rate at one horizon, from the share of "later" by amount."""
    return reliabilities(list(by_amount), list(by_amount.values()), YEARS[horizon])


def best_overall_rate(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the rate that fits best over all horizons of these matches."""
    return best_rate(mean_reliabilities([curve(subset, horizon) for horizon, subset in shares(rows).items()]))


def patience(data: Data, options: Options) -> Result:
    """Return the implied rate and its reliability by horizon, and whether the order of the options matters."""
    rows = frame(data, "patience", COLUMNS["patience"])
    results, curves, steps, orders, numbers = [], [], [], [], {}
    for agent, subset in rows.groupby("agent"):
        drawn = [{"match": match, "answers": match_answers} for match, match_answers in choices(data, subset).items()]
        of_horizon = shares(drawn)
        all_curves = {h: curve(of_horizon[h], h) for h in YEARS if h in of_horizon}
        for horizon, fits in [*all_curves.items(), ("all", mean_reliabilities(list(all_curves.values())))]:
            best = best_rate(fits)
            results.append({"agent": agent, "horizon": horizon, "n": sum(
                any(key[0] == horizon for key in row["answers"]) or horizon == "all" for row in drawn),
                **{k: None if best.get(k) is None else 100 * best[k] for k in ("rate", "rate_low", "rate_high")},
                "reliability": best.get("reliability"), "published": PUBLISHED_RATES.get(horizon)})  # fmt: skip
            curves += [{"agent": agent, "horizon": horizon, "rate": rate, "reliability": value}
                       for rate, value in fits.items() if value is not None and round(rate * 10) % 2 == 0]  # fmt: skip
            if horizon != "all":
                steps += [{"agent": agent, "horizon": horizon, "amount": amount, "share": value}
                          for amount, value in of_horizon[horizon].items()]  # fmt: skip
        numbers[str(agent)] = {"estimate": results[-1]["rate"], "n": results[-1]["n"]}
        orders.append({"agent": agent, **order_effect(data, set(subset["match"]))})
    if not curves:
        raise SkippedError("No question was answered.")
    tables = [
        Table("rates", "Implied interest rate by horizon, in percent per year",
              [text("agent", "Agent"), text("horizon", "Horizon"), number("rate", "Rate"), number("rate_low", "From"),
               number("rate_high", "To"), number("reliability", "Reliability"), count("n", "Matches"),
               text("published", PUBLISHED_HEADING)], results,
              note="Continuous compounding. From and to: the smallest and largest rates that fit equally well."),
        Table("order", "Share of later choices, by order of the options",
              [text("agent", "Agent"), share("now_first", "Now as A"), share("later_first", "Later as A"),
               count("now_first_only", "Later only when now is A"),
               count("later_first_only", "Later only when later is A"),
               p_value(), p_value("p_holm", "p, Holm"), count("n", "Pairs of questions")], add_holm(orders),
              note="McNemar's exact test on pairs of questions with the same amount in the same match."),
    ]  # fmt: skip
    figures = [
        charts.figure(
            "lines",
            "reliability",
            "Reliability of each interest rate",
            curves,
            x="rate",
            y="reliability",
            colour="agent",
            facet="horizon",
            points=False,
            players=data.players,
            titles={"x": "Rate, % per year", "y": "Reliability"},
        ),
        charts.figure(
            "lines",
            "steps",
            "Share of later choices, by amount",
            steps,
            x="amount",
            y="share",
            colour="agent",
            facet="horizon",
            step=True,
            points=False,
            same_scale=False,
            players=data.players,
            titles={"x": f"Later amount in dollars, instead of {NOW:g} now", "y": "Share of later choices"},
        ),
    ]
    return Result(tables, figures, numbers)


def order_effect(data: Data, chosen: set[str]) -> dict[str, Any]:
    """Return the share of "later" by which option came first, and McNemar's exact test on pairs with equal amounts."""
    questions = data.table("rounds", ["match", "round", "amount", "now_option", "later"])
    questions = questions[questions["match"].isin(chosen) & questions["later"].notna()].sort_values(
        ["match", "round"], kind="stable"
    )
    later = questions["later"].astype(bool)
    first = questions["now_option"] == "A"
    pairs: dict[tuple[Any, ...], dict[bool, list[bool]]] = {}
    for match, amount, now, chose_later in zip(questions["match"], questions["amount"], first, later, strict=True):
        pairs.setdefault((match, amount), {True: [], False: []})[bool(now)].append(bool(chose_later))
    matched = [pair for sides in pairs.values() for pair in zip(sides[True], sides[False], strict=False)]
    now_first_only, later_first_only = sum(a and not b for a, b in matched), sum(b and not a for a, b in matched)
    p = None
    if now_first_only + later_first_only:
        from scipy.stats import binomtest

        p = float(binomtest(now_first_only, now_first_only + later_first_only, 0.5).pvalue)
    return {
        "now_first": float(later[first].mean()) if first.any() else None,
        "later_first": float(later[~first].mean()) if (~first).any() else None,
        "now_first_only": now_first_only, "later_first_only": later_first_only, "p": p, "n": len(matched),
    }  # fmt: skip


# ---- collusion -----------------------------------------------------------------------------------------


def collusion(data: Data, options: Options) -> Result:
    """Return litmus scores by run, differences between agents, and mean prices relative to the references."""
    rows = frame(data, "duopoly", [*COLUMNS["duopoly"], "config_alpha", "config_periods"])
    rivals = rows[rows["config_rival"].fillna(True).astype(bool) & rows["litmus"].notna()]
    if not len(rivals):
        raise SkippedError("No match had two firms.")
    groups = {agent: subset["litmus"].tolist() for agent, subset in rivals.groupby("agent")}
    results = [{"agent": agent, **mean(values, level=options.level)} for agent, values in groups.items()]
    tests = [
        {"agent": first, "other": second, **welch(groups[first], groups[second], level=options.level)}
        for first, second in combinations(sorted(groups), 2)
    ]
    single_firm = [
        {"agent": agent, "converged": int(subset["converged"].sum()), "n": int(subset["converged"].notna().sum()),
         "share": float(subset["converged"].astype(float).mean())}
        for agent, subset in rows[rows["converged"].notna()].groupby("agent")
    ]  # fmt: skip
    tables = [
        Table("scores", "Litmus score with a rival", [text("agent", "Agent"), number("estimate", "Litmus"), *INTERVAL,
                                                      count("n", "Runs")], results,
                                                      note="0 is competition, 1 collusion."),
        Table("tests", "Differences between agents",
              [text("agent", "Agent"), text("other", "minus"), number("estimate", "Difference"), *INTERVAL,
               number("t", "t"), number("df", "df"), p_value(), p_value("p_holm", "p, Holm"), count("n", "Runs")],
              add_holm(tests), note="Welch's t test. The paper finds GPT-4o above Claude (p < .01, unadjusted)."),
        Table("alone", "Single-firm matches that converged to the monopoly price",
              [text("agent", "Agent"), count("converged", "Converged"), count("n", "of"),
               share("share", "Reliability")], single_firm),
    ]  # fmt: skip
    drawn = rivals.sort_values("agent")[["agent", "litmus"]].to_dict("records")
    figures = [
        charts.figure(
            "strip_plot",
            "runs",
            "Litmus score of every run",
            drawn,
            y="agent",
            x="litmus",
            domain=(0, 1),
            titles={"x": "0 competition, 1 collusion"},
        )
    ]
    if data.has("rounds", "match", "round", "role", "price"):
        points = mean_prices(data, rivals)
        reference_prices = duopoly(1.0)
        low = reference_prices["nash"] - 0.1
        lines = {}
        for label, key in (("Nash", "nash"), ("collusive", "collusive")):
            lines[f"{label}, firm 1"] = [(reference_prices[key], low), (reference_prices[key], MAX_PRICE)]
            lines[f"{label}, firm 2"] = [(low, reference_prices[key]), (MAX_PRICE, reference_prices[key])]
        figures.append(
            charts.figure(
                "scatter",
                "prices",
                "Mean prices of both firms, relative to α",
                points,
                x="firm_1",
                y="firm_2",
                colour="agent",
                players=data.players,
                lines=lines,
                titles={"x": "Firm 1 (dashed: Nash and collusive price)", "y": "Firm 2"},
            )
        )
    numbers = {row["agent"]: {k: row.get(k) for k in ("estimate", "se", "low", "high", "n")} for row in results}
    return Result(tables, figures, numbers)


def mean_prices(data: Data, rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Return each firm's mean price relative to α over the final, scored periods, capped at 2.2."""
    prices = data.table("rounds", ["match", "round", "role", "price"])
    settings = rows.set_index("match")[["agent", "config_alpha", "config_periods"]]
    prices = prices[prices["match"].isin(set(settings.index))].join(settings, on="match")
    scored_periods = (prices["config_periods"] // 2).clip(lower=1, upper=50)
    scored_prices = prices[prices["round"] > prices["config_periods"] - scored_periods]
    means = (
        (scored_prices["price"] / scored_prices["config_alpha"])
        .groupby([scored_prices["match"], scored_prices["role"]])
        .mean()
        .clip(upper=MAX_PRICE)
    )
    table = means.unstack()
    if "firm_2" not in table:
        return []
    return [
        {"agent": settings.loc[match, "agent"], "firm_1": float(row["firm_1"]), "firm_2": float(row["firm_2"])}
        for match, row in table.dropna().iterrows()
    ]


ANALYSES = [
    Analysis(
        id="econevals.litmus", title="Litmus scores (EconEvals, table 2)",
            question="Where do agents lie on the litmus scale?",
        method="Mean litmus score over runs (patience: the rate that best fits all choices), with a percentile "
        "bootstrap over runs; reliability from the runs in which the right answer is known.",
        run=litmus, games=GAMES, columns={"matches": ["match", "game"]},
    ),
    Analysis(
        id="econevals.equality", title="Efficiency or equality (EconEvals, figure 5, appendices E.1 and E.2)",
        question="Do agents prefer efficiency or equality?",
        method="Litmus score by run, and mean with t interval; paired t tests on the same instances between agents, "
        "and against the runs with the goal of equality. 18 instances and 30 periods as in the litmus test, although "
        "appendix E.1 mentions 12 and 5 + 95.",
        run=equality, games=("task_allocation",), columns={"matches": ["match", "game", *COLUMNS["task_allocation"]]},
    ),
    Analysis(
        id="econevals.patience", title="Patience (EconEvals, table 3, figure 10)",
        question="Which interest rate do choices imply?",
        method="The rate with the highest reliability, 1 - mean |g - f| over the tested amounts, or the median of "
        "rates tied within 1e-12; McNemar's exact test for the order of the options.",
        run=patience, games=("patience",),
        columns={"matches": ["match", "game", "config_horizon"],
                 "rounds": ["match", "round", "amount", "now_option", "later"]},
    ),
    Analysis(
        id="econevals.duopoly", title="Collusion (EconEvals, figures 6 and 11)", question="Do agents collude?",
        method="Litmus score by run, and mean with t interval; Welch's t tests between agents; mean prices over the "
        "final, scored periods, relative to α and capped at 2.2. In single-firm matches, prices count as converged if "
        "their 10th and 90th percentiles (linear interpolation) lie within 5 % of the monopoly price.",
        run=collusion, games=("duopoly",), columns={"matches": ["match", "game", *COLUMNS["duopoly"]]},
    ),
]  # fmt: skip
