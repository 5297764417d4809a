"""Payoffs, deviations, adaptation, learning, fouls (section 4; figures 1 to 6; tables 1 and 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isclose, log
from typing import TYPE_CHECKING, Any

from analysis import charts
from analysis.errors import SkippedError
from analysis.frames import add_holm, fixed_effects
from analysis.published.econarena.play import (
    CONTEST,
    GAMES,
    REQUIRED_COLUMNS,
    WITH_HISTORY,
    WITHOUT_HISTORY,
    actions,
    game_of,
    grouped,
    groups,
)
from analysis.results import Analysis, Options, Result, Table, count, estimate_columns, number, p_value, share, text
from analysis.toolbox import mean, proportion, proportion_difference, welch
from analysis.toolbox.resampling import bootstrap_ratio

if TYPE_CHECKING:
    import pandas as pd

    from analysis.data import Data

PUBLISHED_PAYOFFS: Mapping[str, Mapping[str, float]] = {
    CONTEST: {"baichuan2": 0.020, "claude-i": 0.030, "claude2": 0.370, "gpt3.5": 0.410, "gpt4": 0.170},
    "sealed_auction": {"baichuan2": 0.284, "claude-i": 1.062, "claude2": 0.991, "gpt3.5": 1.206, "gpt4": 1.084},
}
"""Mean payoff after 100 sessions, from table 1."""
PUBLISHED_FOULS: Mapping[tuple[str, str, str], float] = {
    ("sealed_auction", WITHOUT_HISTORY, "gpt3.5"): 13.33,
    ("sealed_auction", WITHOUT_HISTORY, "gpt4"): 0.0,
    (CONTEST, WITH_HISTORY, "claude2"): 10.56,
}
"""Percentages of runs, from the legible part of table 2."""
SESSION_COUNTS = (20, 60, 100)
CLOSE_DEVIATION = 0.05
MAX_DEPTH = 4
INTERVAL = (number("low", "Low"), number("high", "High"))


def published(player: str, table: Mapping[str, float]) -> float | None:
    """Return the paper's value for this model, whose name is matched to the paper's spelling."""
    model_name = player.lower().split(":")[-1].split("/")[-1].replace("-turbo", "").replace("gpt-", "gpt")
    return next((value for name, value in table.items() if model_name == name), None)


def mean_with_interval(subset: pd.DataFrame, column: str, options: Options) -> dict[str, Any]:
    """Return the mean over runs with a percentile bootstrap interval over sessions."""
    valid = subset[subset[column].notna()]
    if not len(valid):
        return {"estimate": None, "low": None, "high": None, "n": 0}
    estimate = bootstrap_ratio(
        valid[column], [1.0] * len(valid), valid["match"], options.draws, options.seed, level=options.level
    )
    return {**estimate, "sessions": valid["match"].nunique()}


def _numbers(rows: Sequence[Mapping[str, Any]], *keys: str) -> dict[str, dict[str, Any]]:
    return {
        ".".join(str(row[key]) for key in keys): {k: row.get(k) for k in ("estimate", "low", "high", "n", "clusters")}
        for row in rows
    }


KEY_COLUMNS = (text("environment", "Environment"), text("history", "History"), text("player", "Player"))


# ---- who earns -----------------------------------------------------------------------------------------


def payoffs(data: Data, options: Options) -> Result:
    """Return the mean payoff by player and environment."""
    rows = actions(data)
    results = [
        {
            "environment": environment,
            "history": history,
            "player": player,
            **mean_with_interval(subset, "payoff", options),
        }
        for (environment, history, player), subset in grouped(rows, "environment", "history", "player")
    ]
    table = Table(
        "payoffs",
        "Mean payoff per run",
        [*KEY_COLUMNS, number("estimate", "Payoff"), *INTERVAL, count("n", "Runs"), count("sessions", "Sessions")],
        results,
        note="The paper reports no numbers. In its contest, over 150 sessions, GPT-3.5 ranks first, Claude 2 second "
        "and GPT-4 third.",
    )
    figure = charts.figure(
        "bars",
        "payoffs",
        "Mean payoff per run",
        [{**r, "where": r["environment"]} for r in results],
        y="player",
        facet="where",
        titles={"x": "Mean payoff"},
    )
    return Result([table], [figure], _numbers(results, "environment", "player"), warnings=_prize_warnings(data, rows))


def _prize_warnings(data: Data, rows: pd.DataFrame) -> list[str]:
    """Return a warning about contest runs in which the winners' shares do not add up to the prize."""
    if game_of(data) != CONTEST:
        return []
    sums = rows.groupby(["match", "run"]).agg(won=("payoff", "sum"), prize=("config_prize", "first"))
    mismatched = [pair for pair in sums.itertuples() if pair.won and not isclose(pair.won, pair.prize, rel_tol=1e-9)]
    runs = "one run" if len(mismatched) == 1 else f"{len(mismatched):,} runs"
    return [f"In {runs}, the winners' shares do not add up to the prize."] if mismatched else []


def ratio(data: Data, options: Options) -> Result:
    """Return results relative to the optimum."""
    rows = actions(data)
    results = []
    for (environment, history, player), subset in grouped(rows, "environment", "history", "player"):
        valid = subset[subset["result"].notna() & subset["optimum"].notna()]
        estimate = bootstrap_ratio(
            valid["result"], valid["optimum"], valid["match"], options.draws, options.seed, level=options.level
        )
        results.append({"environment": environment, "history": history, "player": player, **estimate})
    table = Table(
        "ratios",
        "Result relative to the optimum",
        [*KEY_COLUMNS, number("estimate", "r"), *INTERVAL, count("n", "Runs")],
        results,
    )
    return Result([table], [], _numbers(results, "environment", "player"))


# ---- how far from equilibrium --------------------------------------------------------------------------


def deviation(data: Data, options: Options) -> Result:
    """Return the deviation of actions from equilibrium."""
    rows = actions(data)
    rows = rows[rows["d"].notna()]
    if not len(rows):
        raise SkippedError("No action was valid.")
    results = [
        {
            "environment": environment,
            "history": history,
            "player": player,
            **mean_with_interval(subset, "d", options),
            "sd": float(subset["d"].std()) if len(subset) > 1 else None,
        }
        for (environment, history, player), subset in grouped(rows, "environment", "history", "player")
    ]
    table = Table(
        "deviations",
        "Mean deviation from equilibrium",
        [
            *KEY_COLUMNS,
            number("estimate", "d"),
            *INTERVAL,
            number("sd", "SD"),
            count("n", "Actions"),
            count("sessions", "Sessions"),
        ],
        results,
        note="Fouls are left out. The paper finds GPT-4 and Claude 2 closest in the contest.",
    )
    drawn = rows.sort_values(["environment", "player"])[["environment", "player", "d"]].to_dict("records")
    figure = charts.figure(
        "violins",
        "deviations",
        "Deviation of each action from equilibrium",
        drawn,
        y="player",
        x="d",
        facet="environment",
        titles={"x": "d"},
    )
    return Result([table], [figure], _numbers(results, "environment", "player"))


# ---- stakes --------------------------------------------------------------------------------------------


def configurations(data: Data, options: Options) -> Result:
    """Return payoffs by stakes, and whether players adapt differently."""
    rows = actions(data)
    if rows["group"].nunique() < 2:
        raise SkippedError("All sessions have the same stakes.")
    order = groups(rows)
    results, tests = [], []
    for (environment,), environment_rows in grouped(rows, "environment"):
        for (player,), subset in grouped(environment_rows, "player"):
            for group in order:
                group_rows = subset[subset["group"] == group]
                if len(group_rows):
                    results.append(
                        {
                            "environment": environment,
                            "player": player,
                            "group": group,
                            **mean_with_interval(group_rows, "payoff", options),
                        }
                    )
        tests.append({"environment": environment, **interaction(environment_rows)})
    tables = [
        Table(
            "groups",
            "Mean payoff by stakes",
            [
                text("environment", "Environment"),
                text("player", "Player"),
                text("group", "Stakes"),
                number("estimate", "Payoff"),
                *INTERVAL,
                count("n", "Runs"),
            ],
            results,
            note="In the paper, Claude 2's payoff rises with the limit and GPT-3.5's falls.",
        ),
        Table(
            "interaction",
            "Test of whether stakes affect players' payoffs differently",
            [
                text("environment", "Environment"),
                number("estimate", "F"),
                count("df", "df"),
                count("df_error", "df, error"),
                p_value(),
                p_value("p_holm", "p, Holm"),
                text("note", "Note"),
            ],
            add_holm(tests),
        ),
    ]
    figure = charts.figure(
        "bars",
        "groups",
        "Mean payoff by stakes",
        results,
        y="player",
        colour="group",
        facet="environment",
        titles={"x": "Mean payoff"},
        order={"colour": order},
    )
    return Result(tables, [figure], _numbers(results, "environment", "player", "group"))


def interaction(rows: pd.DataFrame) -> dict[str, Any]:
    """Return a Wald F test of player × stakes in OLS of the payoff, with errors clustered by session (CR1)."""
    import numpy as np
    from scipy.stats import f as f_distribution

    players, of_player = np.unique(rows["player"].astype(str), return_inverse=True)
    levels, of_group = np.unique(rows["group"].astype(str), return_inverse=True)
    sessions, session_index = np.unique(rows["match"].astype(str), return_inverse=True)
    undefined = {"estimate": None, "df": None, "df_error": None, "p": None}
    if len(players) < 2 or len(levels) < 2 or len(sessions) < 3:
        return {**undefined, "note": "one player, one group, or fewer than three sessions"}
    n = len(rows)
    main_effects = [np.ones(n), *(of_player == index for index in range(1, len(players)))]
    main_effects += [of_group == index for index in range(1, len(levels))]
    products = [(of_player == i) & (of_group == j) for i in range(1, len(players)) for j in range(1, len(levels))]
    x = np.column_stack([*main_effects, *products]).astype(float)
    if np.linalg.matrix_rank(x) < x.shape[1]:
        return {**undefined, "note": "not every player has every group"}
    y = rows["payoff"].to_numpy(dtype=float)
    inverse = np.linalg.inv(x.T @ x)
    beta = inverse @ x.T @ y
    scores = np.zeros((len(sessions), x.shape[1]))
    np.add.at(scores, session_index, x * (y - x @ beta)[:, None])
    g, k, q = len(sessions), x.shape[1], len(products)
    spread = g / (g - 1) * (n - 1) / (n - k) * inverse @ scores.T @ scores @ inverse
    tested_covariance = spread[-q:, -q:]
    if np.linalg.matrix_rank(tested_covariance, tol=1e-12 * max(1.0, float(np.abs(tested_covariance).max()))) < q:
        return {**undefined, "note": "too few sessions for the test"}
    statistic = float(beta[-q:] @ np.linalg.solve(tested_covariance, beta[-q:]) / q)
    return {
        "estimate": statistic,
        "df": q,
        "df_error": g - 1,
        "p": float(f_distribution.sf(statistic, q, g - 1)),
        "note": "",
    }


# ---- table 1 -------------------------------------------------------------------------------------------


def senior(data: Data, options: Options) -> Result:
    """Return the mean payoff over the first sessions against the same opponents."""
    rows = actions(data)
    environment = "senior" if "senior" in set(rows["environment"]) else "melee"
    rows = rows[rows["environment"] == environment]
    if not len(rows):
        raise SkippedError("There is no environment called senior or melee.")
    sessions = rows["at"].drop_duplicates().tolist()
    table = PUBLISHED_PAYOFFS[game_of(data)]
    results = []
    for first in SESSION_COUNTS:
        chosen_sessions = set(sessions[:first])
        if len(chosen_sessions) < first and first != SESSION_COUNTS[0]:
            continue
        for (player,), subset in grouped(rows[rows["at"].isin(chosen_sessions)], "player"):
            results.append(
                {
                    "first": first,
                    "player": player,
                    **mean_with_interval(subset, "payoff", options),
                    "published": published(player, table) if first == SESSION_COUNTS[-1] else None,
                }
            )
    tables = [
        Table(
            "sessions",
            f"Mean payoff over the first sessions of the environment {environment}",
            [
                count("first", "First sessions"),
                text("player", "Player"),
                number("estimate", "Payoff"),
                *INTERVAL,
                count("n", "Runs"),
                number("published", "Published"),
            ],
            results,
        )
    ]
    return Result(tables, [], _numbers(results, "first", "player"))


# ---- learning ------------------------------------------------------------------------------------------


def paths(data: Data, options: Options) -> Result:
    """Return actions by run, the slope of the deviation, and the run from which the deviation stays small."""
    rows = actions(data)
    rows = rows[rows["config_runs"] > 1]
    if not len(rows):
        raise SkippedError("Every session has only one run.")
    results, slopes = [], []
    for (environment, player), subset in grouped(rows, "environment", "player"):
        means = []
        for (run,), run_rows in grouped(subset, "run"):
            valid = run_rows[run_rows["share"].notna()]
            if len(valid):
                estimate = mean(valid["share"].tolist(), valid["match"].tolist(), level=options.level)
                results.append({"environment": environment, "player": player, "run": int(run), **estimate})
            deviations = run_rows["d"].dropna()
            means.append(float(deviations.mean()) if len(deviations) else None)
        slopes.append(
            {
                "environment": environment,
                "player": player,
                **slope(subset, options.level),
                "close": first_close_run(means),
            }
        )
    quantity = "Answer relative to the limit" if game_of(data) == CONTEST else "Bid relative to the value"
    tables = [
        Table(
            "paths",
            f"{quantity}, run by run",
            [
                text("environment", "Environment"),
                text("player", "Player"),
                count("run", "Run"),
                number("estimate", "Mean"),
                *INTERVAL,
                count("n", "Sessions"),
            ],
            results,
        ),
        Table(
            "slopes",
            "Change in the deviation per run",
            [
                text("environment", "Environment"),
                text("player", "Player"),
                number("estimate", "Slope"),
                number("se", "SE"),
                *INTERVAL,
                p_value(),
                p_value("p_holm", "p, Holm"),
                count("n", "Actions"),
                count("close", f"Run from which d stays below {CLOSE_DEVIATION:g}"),
            ],
            add_holm(slopes),
        ),
    ]
    figure = charts.figure(
        "lines",
        "paths",
        f"{quantity}, run by run",
        results,
        x="run",
        colour="player",
        facet="environment",
        players=data.players,
        titles={"x": "Run", "y": quantity},
    )
    return Result(tables, [figure], _numbers(slopes, "environment", "player"))


def slope(rows: pd.DataFrame, level: float) -> dict[str, Any]:
    """Return OLS of d on the run, with session dummies and errors clustered by session (CR1)."""
    valid = rows[rows["d"].notna()]
    return fixed_effects(valid["run"].astype(float), valid["d"], valid["match"], valid["match"], level=level)


def first_close_run(means: Sequence[float | None]) -> int | None:
    """Return the first run, counted from 1, from which the mean deviation stays below .05; None if there is none."""
    first_run = None
    for run, value in enumerate(means, start=1):
        if value is None or value >= CLOSE_DEVIATION:
            first_run = None
        elif first_run is None:
            first_run = run
    return first_run


def history(data: Data, options: Options) -> Result:
    """Return whether seeing earlier runs changes deviations."""
    rows = actions(data)
    rows = rows[rows["d"].notna()]
    results = []
    for (base, player), subset in grouped(rows, "base", "player"):
        means = {
            condition: condition_rows.groupby("match")["d"].mean().tolist()
            for (condition,), condition_rows in grouped(subset, "history")
        }
        if set(means) == {WITH_HISTORY, WITHOUT_HISTORY}:
            difference = welch(means[WITH_HISTORY], means[WITHOUT_HISTORY], level=options.level)
            results.append({"environment": base, "player": player, **difference})
    if not results:
        raise SkippedError("No player has sessions both with and without history: analyse both datasets together.")
    published_finding = "falls except for ChatGLM3 and Claude-I" if game_of(data) == CONTEST else "rises for all"
    table = Table(
        "differences",
        "Mean deviation with history minus without history, over sessions",
        [
            text("environment", "Environment"),
            text("player", "Player"),
            number("estimate", "Difference"),
            *INTERVAL,
            number("t", "t"),
            number("df", "df"),
            p_value(),
            p_value("p_holm", "p, Holm"),
            count("n", "Sessions"),
        ],
        add_holm(results),
        note=f"In the paper, the deviation {published_finding}.",
    )
    figure = charts.figure(
        "dots",
        "differences",
        "Deviation with history minus without history",
        results,
        y="player",
        facet="environment",
        line=0,
        titles={"x": "Difference in d"},
    )
    return Result([table], [figure], _numbers(results, "environment", "player"))


# ---- fouls ---------------------------------------------------------------------------------------------


def fouls(data: Data, options: Options) -> Result:
    """Return the share of runs in which a player broke the rules."""
    rows = actions(data)
    game = game_of(data)
    results, differences = [], []
    for (player,), subset in grouped(rows, "player"):
        counts = {}
        for (condition,), runs in grouped(subset, "history"):
            k = int(runs["foul"].sum())
            counts[condition] = (k, len(runs))
            table = {name: percent for (*key, name), percent in PUBLISHED_FOULS.items() if key == [game, condition]}
            published_percent = published(player, table)
            results.append(
                {
                    "player": player,
                    "history": condition,
                    "fouls": k,
                    **proportion(k, len(runs), level=options.level),
                    "published": None if published_percent is None else published_percent / 100,
                }
            )
        if set(counts) == {WITH_HISTORY, WITHOUT_HISTORY}:
            differences.append(
                {
                    "player": player,
                    **proportion_difference(*counts[WITH_HISTORY], *counts[WITHOUT_HISTORY], level=options.level),
                }
            )
    tables = [
        Table(
            "fouls",
            "Runs with a foul",
            [
                text("player", "Player"),
                text("history", "History"),
                count("fouls", "Fouls"),
                *estimate_columns("Share", share),
                count("n", "Runs"),
                share("published", "Published"),
            ],
            results,
        )
    ]
    if differences:
        tables.append(
            Table(
                "differences",
                "Share of fouls with history minus without history",
                [
                    text("player", "Player"),
                    *estimate_columns("Difference", share),
                    p_value(),
                    p_value("p_holm", "p, Holm"),
                    count("n", "Runs"),
                ],
                add_holm(differences),
            )
        )
    return Result(tables, [], _numbers(results, "player", "history"))


# ---- depth of reasoning --------------------------------------------------------------------------------


def level(data: Data, options: Options) -> Result:
    """Return the distribution of answers over levels of reasoning."""
    rows = actions(data)
    rows = rows[~rows["foul"] & rows["action"].notna()]
    if not len(rows):
        raise SkippedError("No answer was valid.")
    rows["level"] = [
        depth(a, u, f) for a, u, f in zip(rows["action"], rows["limit"], rows["config_fraction"], strict=True)
    ]
    results = []
    order = [*(str(k) for k in range(MAX_DEPTH + 1)), "∞"]
    for (environment, player), subset in grouped(rows, "environment", "player"):
        for name in order:
            k = int((subset["level"] == name).sum())
            results.append(
                {
                    "environment": environment,
                    "player": player,
                    "level": name,
                    "k": k,
                    **proportion(k, len(subset), level=options.level),
                }
            )
    table = Table(
        "levels",
        "Answers by level of reasoning",
        [
            text("environment", "Environment"),
            text("player", "Player"),
            text("level", "Level"),
            count("k", "Answers"),
            *estimate_columns("Share", share),
            count("n", "of"),
        ],
        results,
    )
    figure = charts.figure(
        "bars",
        "levels",
        "Answers by level of reasoning",
        results,
        y="player",
        colour="level",
        facet="environment",
        stacked=True,
        titles={"x": "Share of answers"},
        formats={"x": "%"},
        order={"colour": order},
    )
    return Result([table], [figure], _numbers(results, "environment", "player", "level"))


def depth(answer: float, upper: float, fraction: float) -> str:
    """Return k = log(answer / (upper/2)) / log(fraction), rounded and limited to 0 to 4; "∞" for an answer of 0."""
    if answer <= 0:
        return "∞"
    return str(min(MAX_DEPTH, max(0, round(log(answer / (upper / 2)) / log(fraction)))))


SESSIONS = "percentile bootstrap over sessions (the paper has no intervals)."
PAYOFF = "Payoff: the share of the prize, or value minus price for the winner of an auction; 0 for others and for fouls"

ANALYSES = [
    Analysis(
        id="econarena.payoffs",
        title="Payoffs (Economics Arena, figures 1a, 2a and 6)",
        question="How much do players earn?",
        method=f"{PAYOFF}. Mean per run; {SESSIONS}",
        run=payoffs,
        games=GAMES,
        columns=REQUIRED_COLUMNS,
    ),
    Analysis(
        id="econarena.deviation",
        title="Deviation from equilibrium (Economics Arena, figures 1b, 2b and 4)",
        question="How far is play from equilibrium?",
        method="Contest: answer/limit, because the paper's formula would divide by 0; auction: |final assets / "
        f"equilibrium assets - 1|. Fouls are left out. Mean over seats and runs; {SESSIONS}",
        run=deviation,
        games=GAMES,
        columns=REQUIRED_COLUMNS,
    ),
    Analysis(
        id="econarena.ratio",
        title="Share of the optimum (Economics Arena, equations 1 and 4)",
        question="What share of the optimum do players reach?",
        method=f"Contest: mean payoff / (prize/n); auction: mean final assets / mean equilibrium assets; {SESSIONS}",
        run=ratio,
        games=GAMES,
        columns=REQUIRED_COLUMNS,
    ),
    Analysis(
        id="econarena.configurations",
        title="Stakes (Economics Arena, figure 3)",
        question="Do players adapt to stakes?",
        method=f"Mean payoff by stakes; {SESSIONS} Interaction: Wald F test of player × stakes in OLS of the payoff, "
        "with standard errors clustered by session.",
        run=configurations,
        games=GAMES,
        columns=REQUIRED_COLUMNS,
    ),
    Analysis(
        id="econarena.senior",
        title="Opponents (Economics Arena, table 1)",
        question="Do opponents matter?",
        method=f"{PAYOFF}. Mean over the first 20, 60 and 100 sessions; {SESSIONS}",
        run=senior,
        games=GAMES,
        columns=REQUIRED_COLUMNS,
    ),
    Analysis(
        id="econarena.paths",
        title="Learning (Economics Arena, figure 5)",
        question="Do players learn?",
        method="Mean action relative to the limit or the value, by run, with t intervals; slope of the deviation on "
        "the run, with session dummies and standard errors clustered by session.",
        run=paths,
        games=GAMES,
        columns=REQUIRED_COLUMNS,
    ),
    Analysis(
        id="econarena.history",
        title="History (Economics Arena, figure 4 compared with 1b)",
        question="Does history help?",
        method="Mean deviation of sessions with history minus that of sessions without; Welch's t test on session "
        "means.",
        run=history,
        games=GAMES,
        columns=REQUIRED_COLUMNS,
    ),
    Analysis(
        id="econarena.fouls",
        title="Rule breaking (Economics Arena, table 2)",
        question="Who breaks the rules?",
        method="Share of runs with a foul, with Wilson intervals; difference between runs with and without history, "
        "with Newcombe's interval.",
        run=fouls,
        games=GAMES,
        columns=REQUIRED_COLUMNS,
    ),
    Analysis(
        id="econarena.level",
        title="Depth of reasoning (Economics Arena, appendix A.1)",
        question="How deeply do players reason?",
        method="k = log(answer/(limit/2)) / log(fraction), rounded to the nearest whole number from 0 to 4; answers of "
        "0 count as “∞”; Wilson intervals.",
        run=level,
        games=(CONTEST,),
        columns=REQUIRED_COLUMNS,
    ),
]
