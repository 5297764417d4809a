"""Payoffs, deviations, adaptation, learning, fouls (section 4; figures 1 to 6; tables 1 and 2)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import isclose, log
from typing import Any

import numpy as np
import pandas as pd

from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import by_group, distribution, grouped, shares, with_dependence, with_holm
from analysis.options import Options
from analysis.published.econarena import printed
from analysis.published.econarena.play import (
    CONTEST,
    GAMES,
    REQUIRED_COLUMNS,
    WITH_HISTORY,
    WITHOUT_HISTORY,
    actions,
    game_of,
    groups,
)
from analysis.results import Result, analysis
from analysis.tables import Chart, Table, count, number, share, text
from analysis.toolbox import mean, proportion_difference, welch
from analysis.toolbox.resampling import bootstrap_ratio

CLOSE_DEVIATION = 0.05
MAX_DEPTH = 4
DEPTHS = [*(str(k) for k in range(MAX_DEPTH + 1)), "∞"]
KEYS = ["environment", "history", "player"]
ENVIRONMENT, HISTORY = text("environment", "Environment"), text("history", "History")
TESTED = ("p", "p_holm")
SESSIONS = "percentile bootstrap over sessions, from five sessions on (the paper has no intervals)."
PAYOFF = "Payoff: the share of the prize, or value minus price for the winner of an auction; 0 for others and for fouls"
of_sessions = partial(analysis, games=GAMES, columns=REQUIRED_COLUMNS)


def mean_with_interval(rows: pd.DataFrame, column: str, options: Options) -> dict[str, Any]:
    """Return the mean over runs with a percentile bootstrap interval over sessions."""
    valid = rows[rows[column].notna()]
    if not len(valid):
        return {"estimate": None, "low": None, "high": None, "n": 0}
    return {**_ratio(valid[column], pd.Series(1.0, valid.index), valid["match"], options),
            "sessions": valid["match"].nunique()}  # fmt: skip


def _ratio(above: pd.Series, below: pd.Series, sessions: pd.Series, options: Options) -> dict[str, Any]:
    return bootstrap_ratio(above, below, sessions, options.draws, options.seed, level=options.level)


@of_sessions(
    "econarena.payoffs", "Payoffs (Economics Arena, figures 1a, 2a and 6)", "How much do players earn?",
    f"{PAYOFF}. Mean per run; {SESSIONS}",
)  # fmt: skip
def payoffs(data: Data, options: Options) -> Result:
    rows = actions(data)
    table = Table(
        "payoffs", "Mean payoff per run",
        [ENVIRONMENT, HISTORY, "player", number("estimate", "Payoff"), "low", "high", count("n", "Runs"),
         count("sessions", "Sessions")],
        by_group(rows, KEYS, lambda runs: mean_with_interval(runs, "payoff", options)),
        note="The paper reports no numbers. In its contest, over 150 sessions, GPT-3.5 ranks first, Claude 2 second "
        "and GPT-4 third.",
        charts=[Chart("bars", y="player", facet="environment", titles={"x": "Mean payoff"})],
    )  # fmt: skip
    return Result([table], numbers=table.numbers("{environment}.{player}"), warnings=_prize_warnings(data, rows))


def _prize_warnings(data: Data, rows: pd.DataFrame) -> list[str]:
    """Return a warning about contest runs in which the winners' shares do not add up to the prize."""
    if game_of(data) != CONTEST:
        return []
    sums = rows.groupby(["match", "run"]).agg(won=("payoff", "sum"), prize=("config_prize", "first"))
    mismatched = sum(bool(won) and not isclose(won, prize, rel_tol=1e-9)
                     for won, prize in zip(sums["won"], sums["prize"], strict=True))  # fmt: skip
    runs = "one run" if mismatched == 1 else f"{mismatched:,} runs"
    return [f"In {runs}, the winners' shares do not add up to the prize."] if mismatched else []


@of_sessions(
    "econarena.ratio", "Share of the optimum (Economics Arena, equations 1 and 4)",
    "What share of the optimum do players reach?",
    f"Contest: mean payoff / (prize/n); auction: mean final assets / mean equilibrium assets; {SESSIONS}",
)  # fmt: skip
def ratio(data: Data, options: Options) -> Result:
    def share_of_optimum(runs: pd.DataFrame) -> dict[str, Any]:
        valid = runs[runs["result"].notna() & runs["optimum"].notna()]
        return _ratio(valid["result"], valid["optimum"], valid["match"], options)

    table = Table(
        "ratios", "Result relative to the optimum",
        [ENVIRONMENT, HISTORY, "player", number("estimate", "r"), "low", "high", count("n", "Runs")],
        by_group(actions(data), KEYS, share_of_optimum),
    )  # fmt: skip
    return Result([table], numbers=table.numbers("{environment}.{player}"))


@of_sessions(
    "econarena.deviation", "Deviation from equilibrium (Economics Arena, figures 1b, 2b and 4)",
    "How far is play from equilibrium?",
    "Contest: answer/limit, because the paper's formula would divide by 0; auction: |final assets / "
    f"equilibrium assets - 1|. Fouls are left out. Mean over seats and runs; {SESSIONS}",
)  # fmt: skip
def deviation(data: Data, options: Options) -> Result:
    rows = actions(data)
    rows = rows[rows["d"].notna()]
    if not len(rows):
        raise SkippedError("No action was valid.")
    table = Table(
        "deviations", "Mean deviation from equilibrium",
        [ENVIRONMENT, HISTORY, "player", number("estimate", "d"), "low", "high", "sd", count("n", "Actions"),
         count("sessions", "Sessions")],
        by_group(rows, KEYS, lambda runs: {**mean_with_interval(runs, "d", options), "sd": runs["d"].std()}),
        note="Fouls are left out. The paper finds GPT-4 and Claude 2 closest in the contest.",
        charts=[Chart("violins", title="Deviation of each action from equilibrium", x="d", y="player",
                      facet="environment", titles={"x": "d"},
                      rows=rows.sort_values(["environment", "player"])[["environment", "player", "d"]])],
    )  # fmt: skip
    return Result([table], numbers=table.numbers("{environment}.{player}"))


@of_sessions(
    "econarena.configurations", "Stakes (Economics Arena, figure 3)", "Do players adapt to stakes?",
    f"Mean payoff by stakes; {SESSIONS} Interaction: Wald F test of player × stakes in OLS of the payoff, "
    "with standard errors clustered by session.",
)  # fmt: skip
def configurations(data: Data, options: Options) -> Result:
    rows = actions(data)
    if rows["group"].nunique() < 2:
        raise SkippedError("All sessions have the same stakes.")
    order = groups(rows)
    stakes = by_group(rows.assign(group=pd.Categorical(rows["group"], order)), ["environment", "player", "group"],
                      lambda runs: mean_with_interval(runs, "payoff", options) if len(runs) else None)  # fmt: skip
    tables = [
        Table("groups", "Mean payoff by stakes",
              [ENVIRONMENT, "player", text("group", "Stakes"), number("estimate", "Payoff"), "low", "high",
               count("n", "Runs")],
              stakes,
              note="In the paper, Claude 2's payoff rises with the limit and GPT-3.5's falls.",
              charts=[Chart("bars", y="player", colour="group", facet="environment", titles={"x": "Mean payoff"},
                            order={"colour": order})]),
        Table("interaction", "Test of whether stakes affect players' payoffs differently",
              [ENVIRONMENT, number("estimate", "F"), count("df", "df"), count("df_error", "df, error"), *TESTED,
               text("note", "Note")],
              with_holm(by_group(rows, ["environment"], interaction))),
    ]  # fmt: skip
    return Result(tables, numbers=tables[0].numbers("{environment}.{player}.{group}"))


def interaction(rows: pd.DataFrame) -> dict[str, Any]:
    """Return a Wald F test of player × stakes in OLS of the payoff, with errors clustered by session (CR1)."""
    from statsmodels.formula.api import ols

    undefined: dict[str, Any] = dict.fromkeys(("estimate", "df", "df_error", "p"))
    sessions = rows["match"].nunique()
    if rows["player"].nunique() < 2 or rows["group"].nunique() < 2 or sessions < 3:
        return {**undefined, "note": "one player, one group, or fewer than three sessions"}
    model = ols("payoff ~ C(player) * C(group)", rows)
    if np.linalg.matrix_rank(model.exog) < model.exog.shape[1]:
        return {**undefined, "note": "not every player has every group"}
    fit = model.fit(cov_type="cluster", cov_kwds={"groups": pd.factorize(rows["match"])[0]}, use_t=True)
    products = [name for name in fit.params.index if name.count("C(") == 2]
    covariance = fit.cov_params().loc[products, products].to_numpy()
    tolerance = 1e-12 * max(1.0, float(np.abs(covariance).max()))
    if np.linalg.matrix_rank(covariance, tol=tolerance) < len(products):
        return {**undefined, "note": "too few sessions for the test"}
    test = fit.f_test(np.eye(len(fit.params))[[name in products for name in fit.params.index]])
    return {"estimate": float(test.fvalue), "df": len(products), "df_error": sessions - 1, "p": float(test.pvalue),
            "note": ""}  # fmt: skip


@of_sessions(
    "econarena.senior", "Opponents (Economics Arena, table 1)", "Do opponents matter?",
    f"{PAYOFF}. Mean over the first 20, 60 and 100 sessions; {SESSIONS}",
)  # fmt: skip
def senior(data: Data, options: Options) -> Result:
    rows = actions(data)
    environment = "senior" if "senior" in set(rows["environment"]) else "melee"
    rows = rows[rows["environment"] == environment]
    if not len(rows):
        raise SkippedError("There is no environment called senior or melee.")
    sessions = rows["at"].drop_duplicates()
    counts = [first for first in printed.SESSIONS if first <= len(sessions)] or printed.SESSIONS[:1]
    found = pd.concat([
        by_group(rows[rows["at"].isin(sessions[:first])].assign(first=first), ["first", "player"],
                 lambda runs: mean_with_interval(runs, "payoff", options))
        for first in counts
    ], ignore_index=True)  # fmt: skip
    game = game_of(data)
    in_paper = [printed.payoff(player, first, game) if first <= len(sessions) else None
                for player, first in zip(found["player"], found["first"], strict=True)]  # fmt: skip
    table = Table(
        "sessions", f"Mean payoff over the first sessions of the environment {environment}",
        [count("first", "First sessions"), "player", number("estimate", "Payoff"), "low", "high", count("n", "Runs"),
         number("published", "Published")],
        found.assign(published=pd.Series(in_paper, found.index, dtype="object")),
    )  # fmt: skip
    return Result([table], numbers=table.numbers("{first}.{player}"))


@of_sessions(
    "econarena.paths", "Learning (Economics Arena, figure 5)", "Do players learn?",
    "Mean action relative to the limit or the value, by run, with t intervals over sessions; slope of the "
    "deviation on the run, with session dummies and standard errors clustered by session.",
)  # fmt: skip
def paths(data: Data, options: Options) -> Result:
    rows = actions(data)
    rows = rows[rows["config_runs"] > 1].astype({"run": "int64"})
    if not len(rows):
        raise SkippedError("Every session has only one run.")

    def mean_share(runs: pd.DataFrame) -> dict[str, Any] | None:
        valid = runs[runs["share"].notna()]
        return mean(valid["share"].tolist(), valid["match"].tolist(), level=options.level) if len(valid) else None

    def learning(runs: pd.DataFrame) -> dict[str, Any]:
        means = [None if value != value else value for value in runs.groupby("run")["d"].mean()]
        return {**slope(runs, options.level), "close": first_close_run(means)}

    quantity = "Answer relative to the limit" if game_of(data) == CONTEST else "Bid relative to the value"
    tables = [
        Table("paths", f"{quantity}, run by run",
              [ENVIRONMENT, "player", count("run", "Run"), number("estimate", "Mean"), "low", "high",
               count("n", "Sessions")],
              by_group(rows, ["environment", "player", "run"], mean_share),
              charts=[Chart("lines", x="run", colour="player", facet="environment", titles={"y": quantity},
                            players=data.players)]),
        Table("slopes", "Change in the deviation per run",
              [ENVIRONMENT, "player", number("estimate", "Slope"), "se", "low", "high", *TESTED, count("n", "Actions"),
               count("close", f"Run from which d stays below {CLOSE_DEVIATION:g}")],
              with_holm(by_group(rows, ["environment", "player"], learning))),
    ]  # fmt: skip
    return Result(tables, numbers=tables[1].numbers("{environment}.{player}"))


def slope(rows: pd.DataFrame, level: float) -> dict[str, Any]:
    """Return OLS of d on the run, with session dummies and errors clustered by session (CR1).

    Returns:
        estimate (None if no session has several runs), se, low, high, p, n, clusters.
    """
    from scipy.stats import t

    valid = rows[rows["d"].notna()]
    session = valid["match"]
    n, sessions = len(valid), session.nunique()
    result = {**dict.fromkeys(("estimate", "se", "low", "high", "p")), "n": n, "clusters": sessions}
    # Means are taken out exactly, so that a deviation that never changes has slope 0 without error.
    x, y = (values - values.groupby(session).transform("mean") for values in (valid["run"].astype(float), valid["d"]))
    weight, k = float((x**2).sum()), 1 + sessions
    if weight <= 0:
        return result
    result["estimate"] = estimate = float((x * y).sum()) / weight
    if sessions >= 2 and n > k:
        scores = (x * (y - estimate * x)).groupby(session).sum()
        factor = sessions / (sessions - 1) * (n - 1) / (n - k)
        result["se"] = se = float(np.sqrt(factor * (scores**2).sum())) / weight
        half = float(t.ppf((1 + level) / 2, sessions - 1)) * se
        result |= {"low": estimate - half, "high": estimate + half}
        result["p"] = float(2 * t.sf(abs(estimate / se), sessions - 1)) if se > 0 else None
    return result


def first_close_run(means: Sequence[float | None]) -> int | None:
    """Return the first run, counted from 1, from which the mean deviation stays below .05; None if there is none."""
    first_run = None
    for run, value in enumerate(means, start=1):
        if value is None or value >= CLOSE_DEVIATION:
            first_run = None
        elif first_run is None:
            first_run = run
    return first_run


@of_sessions(
    "econarena.history", "History (Economics Arena, figure 4 compared with 1b)", "Does history help?",
    "Mean deviation of sessions with history minus that of sessions without; Welch's t test on session means.",
)  # fmt: skip
def history(data: Data, options: Options) -> Result:
    def difference(runs: pd.DataFrame) -> dict[str, Any] | None:
        means = {condition: of.groupby("match")["d"].mean().tolist() for condition, of in grouped(runs, "history")}
        with_history, without = means.get(WITH_HISTORY), means.get(WITHOUT_HISTORY)
        return welch(with_history, without, level=options.level) if with_history and without else None

    rows = actions(data)
    found = by_group(rows[rows["d"].notna()], ["base", "player"], difference)
    if not len(found):
        raise SkippedError("No player has sessions both with and without history: analyse both datasets together.")
    finding = "falls except for ChatGLM3 and Claude-I" if game_of(data) == CONTEST else "rises for all"
    table = Table(
        "differences", "Mean deviation with history minus without history, over sessions",
        [ENVIRONMENT, "player", number("estimate", "Difference"), "low", "high", number("t", "t"), number("df", "df"),
         *TESTED, count("n", "Sessions")],
        with_holm(found.rename(columns={"base": "environment"})),
        note=f"In the paper, the deviation {finding}.",
        charts=[Chart("dots", title="Deviation with history minus without history", y="player", facet="environment",
                      titles={"x": "Difference in d"}, line=0)],
    )  # fmt: skip
    return Result([table], numbers=table.numbers("{environment}.{player}"))


@of_sessions(
    "econarena.fouls", "Rule breaking (Economics Arena, table 2)", "Who breaks the rules?",
    "Share of runs with a foul, with Wilson's interval over sessions (n divided by the design effect); difference "
    "between runs with and without history, with Newcombe's interval over runs.",
)  # fmt: skip
def fouls(data: Data, options: Options) -> Result:
    rows, game = with_dependence(data, actions(data)), game_of(data)
    found = shares(rows, ["player", "history"], "foul", level=options.level).rename(columns={"number": "fouls"})
    found["published"] = [printed.fouls(player, game, condition)
                          for player, condition in zip(found["player"], found["history"], strict=True)]  # fmt: skip

    def difference(runs: pd.DataFrame) -> dict[str, Any] | None:
        fouls = {condition: (int(of["foul"].sum()), len(of)) for condition, of in grouped(runs, "history")}
        if len(fouls) < 2:
            return None
        return proportion_difference(*fouls[WITH_HISTORY], *fouls[WITHOUT_HISTORY], level=options.level)

    tables = [Table(
        "fouls", "Runs with a foul",
        ["player", HISTORY, count("fouls", "Fouls"), share("estimate", "Share"), "low", "high", count("n", "Runs"),
         "clusters", share("published", "Published"), "note"],
        found,
    )]  # fmt: skip
    differences = by_group(rows, ["player"], difference)
    if len(differences):
        tables.append(Table(
            "differences", "Share of fouls with history minus without history",
            ["player", share("estimate", "Difference"), "low", "high", *TESTED, count("n", "Runs")],
            with_holm(differences), note="Newcombe's interval and Fisher's test treat runs as independent.",
        ))  # fmt: skip
    return Result(tables, numbers=tables[0].numbers("{player}.{history}"))


@of_sessions(
    "econarena.level", "Depth of reasoning (Economics Arena, appendix A.1)", "How deeply do players reason?",
    "k = log(answer/(limit/2)) / log(fraction), rounded to the nearest whole number from 0 to 4; answers of "
    "0 count as “∞”; Wilson's intervals over sessions (n divided by the design effect).",
    games=(CONTEST,),
)  # fmt: skip
def level(data: Data, options: Options) -> Result:
    rows = actions(data)
    rows = rows[~rows["foul"] & rows["action"].notna()]
    if not len(rows):
        raise SkippedError("No answer was valid.")
    depths = map(depth, rows["action"], rows["limit"], rows["config_fraction"])
    rows = with_dependence(data, rows.assign(level=[*depths]))
    found = distribution(rows, ["environment", "player"], "level", level=options.level, order=DEPTHS)
    table = Table(
        "levels", "Answers by level of reasoning",
        [ENVIRONMENT, "player", "level", count("k", "Answers"), share("estimate", "Share"), "low", "high",
         count("n", "of"), "clusters", "note"],
        found,
        charts=[Chart("bars", y="player", colour="level", facet="environment", stacked=True,
                      titles={"x": "Share of answers"}, order={"colour": DEPTHS})],
    )  # fmt: skip
    return Result([table], numbers=table.numbers("{environment}.{player}.{level}"))


def depth(answer: float, upper: float, fraction: float) -> str:
    """Return k = log(answer / (upper/2)) / log(fraction), rounded and limited to 0 to 4; "∞" for an answer of 0."""
    if answer <= 0:
        return "∞"
    return str(min(MAX_DEPTH, max(0, round(log(answer / (upper / 2)) / log(fraction)))))
