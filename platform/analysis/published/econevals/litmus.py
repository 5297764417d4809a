"""Litmus tests: efficiency versus equality, patience, collusion (section 5; appendices E and F)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd

from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import by_group, grouped, times_drawn, with_holm
from analysis.options import Options
from analysis.published.econevals import printed
from analysis.published.econevals.frames import AGENT, OTHER, by_instance, difference, frame, game_of
from analysis.published.econevals.measures import best_rate, duopoly
from analysis.results import Result, analysis
from analysis.tables import Chart, Table, count, number, records, share, text
from analysis.toolbox import bootstrap, mean, welch
from analysis.toolbox.dependence import FEWEST_UNITS
from games.patience.rates import (
    AMOUNT_TOLERANCE,
    FIT_TOLERANCE,
    NOW,
    RATES,
    YEARS,
    mean_reliabilities,
    reliabilities,
)

GAMES = ("task_allocation", "patience", "duopoly")
PUBLISHED: Mapping[str, str] = {
    "task_allocation": ".16 (.95), .33 (.71), .07 (.92)",
    "patience": "11.9 % (.80), 8.0 % (.76), 7.0 % (.88)",
    "duopoly": ".42 (3/3), .46 (2/3), .71 (3/3)",
}
"""Scores of Claude, Gemini and GPT-4o, from table 2."""
COLUMNS: Mapping[str, Sequence[str]] = {
    "task_allocation": ["config_goal", "litmus", "efficiency_share", "equality_share"],
    "patience": ["config_horizon"],
    "duopoly": ["config_rival", "litmus", "converged"],
}
PUBLISHED_HEADING = "Published (Claude, Gemini, GPT-4o)"
MAX_PRICE = 2.2
"""Cap on mean prices relative to α."""
TESTED = ("p", "p_holm")


@analysis(
    "econevals.litmus", "Litmus scores (EconEvals, table 2)", "Where do agents lie on the litmus scale?",
    "Mean litmus score over runs (patience: the rate that best fits all choices), with a percentile "
    "bootstrap over runs, from five runs on; reliability from the runs in which the right answer is known.",
    games=GAMES, columns={"matches": ["match", "game"]},
)  # fmt: skip
def litmus(data: Data, options: Options) -> Result:
    game = game_of(data, GAMES)
    score = _SCORES_BY_GAME[game]
    found = by_group(frame(data, game, COLUMNS[game]), ["agent"], lambda matches: score(data, matches, options))
    rate = game == "patience"
    table = Table(
        "litmus", "Litmus score and reliability",
        [AGENT, number("estimate", "Interest rate" if rate else "Score"), "low", "high", count("n", "Runs"),
         number("reliability", "Reliability"), count("reliability_n", "Runs for reliability"),
         text("published", PUBLISHED_HEADING)],
        found.assign(published=PUBLISHED[game]), note=NOTES[game],
        charts=[Chart("dots", title=f"{game.replace('_', ' ').capitalize()}: litmus score", y="agent",
                      titles={"x": "Annual interest rate" if rate else "Litmus score"})],
    )  # fmt: skip
    return Result([table], numbers=table.numbers("{agent}"))


NOTES = {
    "task_allocation": "0 is equality, 1 efficiency. Reliability: mean share of the best revenue in runs with the goal "
    "of efficiency, and of full equality in runs with the goal of equality.",
    "patience": "Annual rate as a fraction, compounded continuously: the rate that maximises the reliability averaged "
    "over the horizons. By the formula, a constant share of one half has a reliability of ½, although the paper's text "
    "says 0.",
    "duopoly": "0 is competition (Nash), 1 collusion. Reliability: share of the agent's single-firm matches in which "
    "its price converged to the monopoly price.",
}


def _mean_litmus(runs: pd.DataFrame, reliable: Sequence[float], options: Options) -> dict[str, Any]:
    """Return the mean litmus score with a bootstrap interval over runs, and the mean reliability."""
    rows = records(runs.loc[runs["litmus"].notna(), ["match", "litmus"]])
    found = bootstrap(rows, lambda drawn: fmean(row["litmus"] for row in drawn), "match", options.draws, options.seed,
                      level=options.level)  # fmt: skip
    if len(rows) < FEWEST_UNITS:
        found |= {"low": None, "high": None}
    return {**found, "reliability": fmean(reliable) if reliable else None, "reliability_n": len(reliable)}


def _allocation_score(data: Data, matches: pd.DataFrame, options: Options) -> dict[str, Any]:
    reached = [share for goal in ("efficiency", "equality")
               for share in matches.loc[matches["config_goal"] == goal, f"{goal}_share"].dropna().tolist()]  # fmt: skip
    return _mean_litmus(matches[matches["config_goal"] == "both"], reached, options)


def _duopoly_score(data: Data, matches: pd.DataFrame, options: Options) -> dict[str, Any]:
    return _mean_litmus(_with_rival(matches), matches["converged"].dropna().astype(float).tolist(), options)


def _with_rival(matches: pd.DataFrame) -> pd.DataFrame:
    return matches[matches["config_rival"].fillna(True).astype(bool) & matches["litmus"].notna()]


def _patience_score(data: Data, matches: pd.DataFrame, options: Options) -> dict[str, Any]:
    answers = choices(data, matches)
    best = best_overall_rate(answers)
    low, high = bootstrap_rates(answers, options)
    n = answers["match"].nunique()
    return {"estimate": best["rate"], "low": low, "high": high, "n": n, "reliability": best["reliability"],
            "reliability_n": n}  # fmt: skip


def bootstrap_rates(answers: pd.DataFrame, options: Options) -> tuple[float | None, float | None]:
    """Return the bootstrap percentile interval of `best_overall_rate` over matches, computed for all draws at once.

    The distance of a share f from a rate's prediction g ∈ {0, 1} is |g - f| = g + f(1 - 2g), which is linear in f.
    """
    by_match = answers.groupby(["match", "horizon", "amount"])["later"]
    n_later, n_questions = (found.unstack(["horizon", "amount"], fill_value=0).sort_index(axis=1).astype(float)
                            for found in (by_match.sum(), by_match.size()))  # fmt: skip
    if len(n_later) < FEWEST_UNITS:
        return None, None
    draw_counts = times_drawn(len(n_later), options.draws, options.seed).astype(float)
    total = draw_counts @ n_questions.to_numpy()
    was_asked = total > 0
    f = np.where(was_asked, (draw_counts @ n_later.to_numpy()) / np.where(was_asked, total, 1), 0.0)
    rates = np.array(RATES)
    horizons, amounts = (n_later.columns.get_level_values(name).to_numpy() for name in ("horizon", "amount"))
    curves = []
    for horizon in dict.fromkeys(horizons):
        here = horizons == horizon
        indifference = NOW * np.exp(rates[:, None] / 100 * YEARS[horizon])
        g = (amounts[here] > indifference).astype(float)
        counts = (np.abs(amounts[here] - indifference) > AMOUNT_TOLERANCE).astype(float)
        n_compared = was_asked[:, here].astype(float) @ counts.T
        misses = was_asked[:, here].astype(float) @ (g * counts).T + f[:, here] @ ((1 - 2 * g) * counts).T
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


@analysis(
    "econevals.equality", "Efficiency or equality (EconEvals, figure 5, appendices E.1 and E.2)",
    "Do agents prefer efficiency or equality?",
    "Litmus score by run, and mean with t interval; paired t tests on the same instances between agents, "
    "and against the runs with the goal of equality. 18 instances and 30 periods as in the litmus test, although "
    "appendix E.1 mentions 12 and 5 + 95.",
    games=("task_allocation",), columns={"matches": ["match", "game", *COLUMNS["task_allocation"]]},
)  # fmt: skip
def equality(data: Data, options: Options) -> Result:
    columns = [*COLUMNS["task_allocation"], "frontier_distance", "revenue", "best_revenue", "equal_revenue",
               "inequality", "inequality_at_best"]  # fmt: skip
    rows = frame(data, "task_allocation", columns)
    goal = rows["config_goal"]
    both_goals = rows[goal == "both"]

    def scores(runs: pd.DataFrame) -> dict[str, Any]:
        alternate = mean(runs["frontier_distance"].tolist(), level=options.level)
        return {**mean(runs["litmus"].tolist(), level=options.level), "alternate": alternate["estimate"],
                "alternate_low": alternate["low"], "alternate_high": alternate["high"],
                "published": ".01, .21, .10"}  # fmt: skip

    litmus, equal = by_instance(both_goals, "litmus"), by_instance(rows[goal == "equality"], "litmus")
    pairs = [(first, second, litmus[first], litmus[second]) for first, second in combinations(litmus, 2)]
    pairs += [(agent, f"{agent}, told to equalise", litmus[agent], equal[agent]) for agent in litmus if agent in equal]
    tests = [{"agent": agent, "other": other, **test} for agent, other, a, b in pairs
             if (test := difference(a, b, level=options.level)) is not None]  # fmt: skip
    reached = [
        {"agent": agent, "goal": name, **mean((100 * runs[f"{name}_share"]).tolist(), level=options.level)}
        for name in ("efficiency", "equality") for agent, runs in grouped(rows[goal == name], "agent")
    ]  # fmt: skip
    points = rows.sort_values(["config_goal", "agent"])
    corner = float((rows["equal_revenue"] / rows["best_revenue"]).mean())
    tables = [
        Table("scores", "Litmus score and alternate score under both goals",
              [AGENT, number("estimate", "Litmus"), "low", "high", number("alternate", "Alternate"),
               number("alternate_low", "Low"), number("alternate_high", "High"), count("n", "Runs"),
               text("published", "Published alternate (Claude, Gemini, GPT-4o)")],
              by_group(both_goals, ["agent"], scores),
              note="Litmus: 0 is equality, 1 efficiency. Alternate: distance, in raw units, from the line through both "
              "corners, relative to the distance of the point with the equal revenue and the efficient inequality; 0 "
              "is best.",
              charts=[
                  Chart("strip_plot", name="runs", title="Litmus score of every run", x="litmus", y="agent",
                        rows=both_goals.sort_values("agent")[["agent", "litmus"]],
                        titles={"x": "0 equality, 1 efficiency"}),
                  Chart("scatter", name="corners", title="Revenue and inequality of every run", x="revenue",
                        y="inequality", colour="agent", facet="goal", players=data.players,
                        titles={"x": "Revenue, as a share of the best",
                                "y": "Inequality, relative to that at the best revenue"},
                        lines={"from equality to efficiency": [(corner, 0.0), (1.0, 1.0)]},
                        rows=pd.DataFrame({
                            "agent": points["agent"], "goal": "goal: " + points["config_goal"],
                            "revenue": points["revenue"] / points["best_revenue"],
                            "inequality": points["inequality"] / points["inequality_at_best"].replace(0, np.nan),
                        })),
              ]),
        Table("tests", "Differences in litmus score on the same instances",
              [AGENT, OTHER, number("estimate", "Difference"), "low", "high", number("t", "t"), count("df", "df"),
               *TESTED, count("n", "Instances")],
              with_holm(pd.DataFrame(tests))),
        Table("reached", "Goal attainment under a single goal",
              [AGENT, text("goal", "Goal"), number("estimate", "% of the goal"), "low", "high", count("n", "Runs")],
              reached, note="The paper's simple baselines reach 94.1 and 97.0."),
    ]  # fmt: skip
    return Result(tables, numbers=tables[0].numbers("{agent}"))


def choices(data: Data, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the answers to the matches' questions: match, horizon, amount, and whether the later one was chosen."""
    answers = data.table("rounds", ["match", "amount", "later"]).dropna(subset=["later", "amount"])
    answers = answers[answers["match"].isin(rows["match"])].astype({"amount": "float64", "later": "bool"})
    return answers.assign(horizon=answers["match"].map(rows.set_index("match")["config_horizon"]))


def shares(answers: pd.DataFrame) -> dict[str, dict[float, float]]:
    """Return {horizon: {amount: share of "later"}} over matches."""
    return {horizon: {amount: float(asked["later"].mean()) for amount, asked in grouped(of, "amount")}
            for horizon, of in grouped(answers, "horizon")}  # fmt: skip


def curve(by_amount: Mapping[float, float], horizon: str) -> dict[float, float | None]:
    """Return the reliability of every rate at one horizon, from the share of "later" by amount."""
    return reliabilities(list(by_amount), list(by_amount.values()), YEARS[horizon])


def best_overall_rate(answers: pd.DataFrame) -> dict[str, Any]:
    """Return the rate that fits best over all horizons of these answers."""
    return best_rate(mean_reliabilities([curve(of, horizon) for horizon, of in shares(answers).items()]))


@analysis(
    "econevals.patience", "Patience (EconEvals, table 3, figure 10)", "Which interest rate do choices imply?",
    "The rate with the highest reliability, 1 - mean |g - f| over the tested amounts, or the median of "
    "rates tied within 1e-12; McNemar's exact test for the order of the options.",
    games=("patience",),
    columns={"matches": ["match", "game", "config_horizon"],
             "rounds": ["match", "round", "amount", "now_option", "later"]},
)  # fmt: skip
def patience(data: Data, options: Options) -> Result:
    rows = frame(data, "patience", COLUMNS["patience"])
    rates, curves, steps = [], [], []
    for agent, matches in grouped(rows, "agent"):
        answers = choices(data, matches)
        of_horizon = shares(answers)
        fits_by_horizon = {horizon: curve(of_horizon[horizon], horizon) for horizon in YEARS if horizon in of_horizon}
        for horizon, fits in [*fits_by_horizon.items(), ("all", mean_reliabilities([*fits_by_horizon.values()]))]:
            best = best_rate(fits)
            here = answers if horizon == "all" else answers[answers["horizon"] == horizon]
            rates.append({"agent": agent, "horizon": horizon, "n": here["match"].nunique(),
                          **{key: None if (rate := best.get(key)) is None else 100 * rate
                             for key in ("rate", "rate_low", "rate_high")}, "reliability": best.get("reliability"),
                          "published": _published(horizon)})  # fmt: skip
            curves += [{"agent": agent, "horizon": horizon, "rate": rate, "reliability": value}
                       for rate, value in fits.items() if value is not None and round(rate * 10) % 2 == 0]  # fmt: skip
        steps += [{"agent": agent, "horizon": horizon, "amount": amount, "share": value}
                  for horizon in fits_by_horizon for amount, value in of_horizon[horizon].items()]  # fmt: skip
    if not curves:
        raise SkippedError("No question was answered.")
    orders = by_group(rows, ["agent"], lambda matches: order_effect(data, set(matches["match"])))
    drawn: dict[str, Any] = {"colour": "agent", "facet": "horizon", "points": False, "players": data.players}
    tables = [
        Table("rates", "Implied interest rate by horizon, in percent per year",
              [AGENT, text("horizon", "Horizon"), number("rate", "Rate"), number("rate_low", "From"),
               number("rate_high", "To"), number("reliability", "Reliability"), count("n", "Matches"),
               text("published", PUBLISHED_HEADING)], rates,
              note="Continuous compounding. From and to: the smallest and largest rates that fit equally well.",
              charts=[
                  Chart("lines", name="reliability", title="Reliability of each interest rate", x="rate",
                        y="reliability", rows=curves, titles={"x": "Rate, % per year"}, **drawn),
                  Chart("lines", name="steps", title="Share of later choices, by amount", x="amount", y="share",
                        rows=steps, step=True, same_scale=False,
                        titles={"x": f"Later amount in dollars, instead of {NOW:g} now", "y": "Share of later choices"},
                        **drawn),
              ]),
        Table("order", "Share of later choices, by order of the options",
              [AGENT, share("now_first", "Now as A"), share("later_first", "Later as A"),
               count("now_first_only", "Later only when now is A"),
               count("later_first_only", "Later only when later is A"), *TESTED, count("n", "Pairs of questions")],
              with_holm(orders),
              note="McNemar's exact test on pairs of questions with the same amount in the same match."),
    ]  # fmt: skip
    found = {row["agent"]: {"estimate": row["rate"], "n": row["n"]} for row in rates if row["horizon"] == "all"}
    return Result(tables, numbers=found)


def _published(horizon: str) -> str | None:
    pairs = printed.RATES.get(horizon)
    return None if pairs is None else ", ".join(f"{rate:.2f} ({reliability:.3f})" for rate, reliability in pairs)


def order_effect(data: Data, chosen: set[str]) -> dict[str, Any]:
    """Return the share of "later" by which option came first, and McNemar's exact test on pairs with equal amounts."""
    from statsmodels.stats.contingency_tables import mcnemar

    questions = data.table("rounds", ["match", "round", "amount", "now_option", "later"])
    questions = questions[questions["match"].isin(chosen) & questions["later"].notna()]
    questions = questions.sort_values(["match", "round"], kind="stable").astype({"later": "bool"})
    questions["first"] = np.where(questions["now_option"] == "A", "now", "later")
    later = questions.groupby("first")["later"].mean()
    questions["turn"] = questions.groupby(["match", "amount", "first"]).cumcount()
    asked = questions[questions["amount"].notna()].set_index(["match", "amount", "turn", "first"])
    pairs = asked["later"].unstack()
    pairs = pairs.reindex(columns=["now", "later"]).dropna().astype(bool)
    both = pd.crosstab(pairs["now"], pairs["later"]).reindex(index=[False, True], columns=[False, True], fill_value=0)
    (_neither, later_only), (now_only, _both) = both.to_numpy().tolist()
    return {
        "now_first": later.get("now"), "later_first": later.get("later"), "now_first_only": now_only,
        "later_first_only": later_only,
        "p": float(mcnemar(both).pvalue) if now_only + later_only else None, "n": len(pairs),
    }  # fmt: skip


@analysis(
    "econevals.duopoly", "Collusion (EconEvals, figures 6 and 11)", "Do agents collude?",
    "Litmus score by run, and mean with t interval; Welch's t tests between agents; mean prices over the "
    "final, scored periods, relative to α and capped at 2.2. In single-firm matches, prices count as converged if "
    "their 10th and 90th percentiles (linear interpolation) lie within 5 % of the monopoly price.",
    games=("duopoly",), columns={"matches": ["match", "game", *COLUMNS["duopoly"]]},
)  # fmt: skip
def collusion(data: Data, options: Options) -> Result:
    rows = frame(data, "duopoly", [*COLUMNS["duopoly"], "config_alpha", "config_periods"])
    rivals = _with_rival(rows)
    if not len(rivals):
        raise SkippedError("No match had two firms.")
    scores = {agent: runs["litmus"].tolist() for agent, runs in grouped(rivals, "agent")}
    tests = [{"agent": first, "other": second, **welch(scores[first], scores[second], level=options.level)}
             for first, second in combinations(scores, 2)]  # fmt: skip
    alone = rows[rows["converged"].notna()].astype({"converged": "float64"}).groupby("agent")["converged"]
    charts = [Chart("strip_plot", name="runs", title="Litmus score of every run", x="litmus", y="agent",
                    rows=rivals.sort_values("agent")[["agent", "litmus"]],
                    titles={"x": "0 competition, 1 collusion"}, domain=(0, 1))]  # fmt: skip
    if data.has("rounds", "match", "round", "role", "price"):
        references = duopoly(1.0)
        low = references["nash"] - 0.1
        lines = {}
        for label, key in (("Nash", "nash"), ("collusive", "collusive")):
            price = references[key]
            lines[f"{label}, firm 1"] = [(price, low), (price, MAX_PRICE)]
            lines[f"{label}, firm 2"] = [(low, price), (MAX_PRICE, price)]
        charts.append(Chart(
            "scatter", name="prices", title="Mean prices of both firms, relative to α", x="firm_1", y="firm_2",
            colour="agent", rows=mean_prices(data, rivals), players=data.players, lines=lines,
            titles={"x": "Firm 1 (dashed: Nash and collusive price)", "y": "Firm 2"},
        ))  # fmt: skip
    tables = [
        Table("scores", "Litmus score with a rival",
              [AGENT, number("estimate", "Litmus"), "low", "high", count("n", "Runs")],
              [{"agent": agent, **mean(values, level=options.level)} for agent, values in scores.items()],
              note="0 is competition, 1 collusion.", charts=charts),
        Table("tests", "Differences between agents",
              [AGENT, OTHER, number("estimate", "Difference"), "low", "high", number("t", "t"), number("df", "df"),
               *TESTED, count("n", "Runs")],
              with_holm(pd.DataFrame(tests)),
              note="Welch's t test. The paper finds GPT-4o above Claude (p < .01, unadjusted)."),
        Table("alone", "Single-firm matches that converged to the monopoly price",
              [AGENT, count("converged", "Converged"), count("n", "of"), share("share", "Reliability")],
              alone.agg(converged="sum", n="size", share="mean").reset_index().astype({"converged": "int64"})),
    ]  # fmt: skip
    return Result(tables, numbers=tables[0].numbers("{agent}"))


def mean_prices(data: Data, rows: pd.DataFrame) -> pd.DataFrame:
    """Return each firm's mean price relative to α over the final, scored periods, capped at 2.2."""
    prices = data.table("rounds", ["match", "round", "role", "price"])
    settings = rows.set_index("match")[["agent", "config_alpha", "config_periods"]]
    prices = prices.join(settings, on="match", how="inner")
    scored = prices["round"] > prices["config_periods"] - (prices["config_periods"] // 2).clip(lower=1, upper=50)
    relative = (prices["price"] / prices["config_alpha"])[scored]
    means = relative.groupby([prices["match"], prices["role"]]).mean().clip(upper=MAX_PRICE).unstack()
    return means.reindex(columns=["firm_1", "firm_2"]).dropna().join(settings["agent"])
