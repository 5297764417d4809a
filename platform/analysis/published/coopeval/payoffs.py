"""Scores of mechanisms, meta-games, selection and ratings (tables; figures 3 and 19 to 38)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd

from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import by_group, grouped
from analysis.options import Options
from analysis.published.coopeval import printed
from analysis.published.coopeval.tournaments import (
    AGENT,
    GAME,
    MECHANISM,
    REQUIRED_COLUMNS,
    Tournament,
    file_name,
    mean_and_se,
    normalised,
    of_dilemmas,
    over_means,
    readable,
    readable_name,
    tournaments,
)
from analysis.results import Result
from analysis.tables import Chart, Table, count, number, numbers, records, text
from analysis.toolbox import deviation_ratings, replicator
from analysis.toolbox.dependence import FEWEST_UNITS, NO_VARIATION, TOO_FEW
from games.social_dilemma.evolution import replicator_path

AVERAGE = "all agents"
MEASURES = ("mean", "fitness")
SHOWN_STEPS = 40
ROUNDING = 1e-9
ONE_RUN = "some games were played in one tournament only"
UNIT = "Normalised: 0 is the equilibrium payoff and 1 the payoff when all cooperate."


def scores(runs: Sequence[Tournament]) -> pd.DataFrame:
    """Return each agent's normalised mean in every run, and their average.

    `fitness` is that after the dynamics, weighted by the population for all agents; missing without a payoff tensor.
    Base games without reference payoffs are left out.
    """
    rows = []
    for run in runs:
        known = {label: score for label, value in run.means().items()
                 if (score := normalised(value, run.game)) is not None}  # fmt: skip
        if not known:
            continue
        means, fitness = {**known, AVERAGE: fmean(known.values())}, {}
        if (U := run.tensor()) is not None:
            end = replicator(U)
            fitness = {**dict(zip(run.types, end["fitness"], strict=True)), AVERAGE: end["average"]}
        rows += [{"mechanism": run.mechanism, "game": run.game, "run": run.run, "agent": label, "mean": mean,
                  "fitness": normalised(fitness[label], run.game) if fitness else None}
                 for label, mean in means.items()]  # fmt: skip
    return pd.DataFrame(rows, columns=["mechanism", "game", "run", "agent", "mean", "fitness"])


@of_dilemmas(
    "coopeval.payoffs", "Scores of mechanisms (CoopEval, aggregate and per-game tables)",
    "Which mechanisms work?",
    "Mean: payoff against the uniform population (under reputation: mean over seats). Fitness: payoff after "
    "replicator dynamics (η .1, at most 1,000 steps), weighted by population shares. Both are averaged over runs "
    "and normalised; mean ± SE over the base games.",
    columns=REQUIRED_COLUMNS,
)  # fmt: skip
def payoffs(data: Data, options: Options) -> Result:
    runs = tournaments(data)
    scored = scores(runs)
    if not len(scored):
        raise SkippedError("None of the base games has reference payoffs.")

    by = ["mechanism", "agent"]
    ordered = scored.iloc[scored.groupby(by, sort=False).ngroup().argsort(kind="stable")]
    overall = by_group(ordered, by, _both(lambda rows, name: over_means(rows, name, "game")), sort=False)
    of_games = by_group(
        ordered, [*by, "game"], _both(lambda rows, name: mean_and_se(rows[name].dropna().tolist())), sort=False
    )
    published = {f"published_{name}": overall["mechanism"].map(values).where(overall["agent"] == AVERAGE, None)
                 for name, values in ((name, printed.of_all(name)) for name in MEASURES)}  # fmt: skip
    mean = [number("mean", "Mean"), number("mean_se", "SE")]
    fitness = [number("fitness", "Fitness"), number("fitness_se", "SE")]
    tables = [
        Table("aggregate", "Mean score by mechanism over the base games",
              [MECHANISM, AGENT, *mean, text("published_mean", "Published mean"), *fitness,
               text("published_fitness", "Published fitness"), count("n", "Games")],
              _shown(overall.assign(**published)),
              note=f"{UNIT} Standard errors are over the base games.",
              charts=[Chart("dots", title="Mean score by mechanism ± SE over the base games", x="mean", se="mean_se",
                            y="agent", facet="mechanism", same_scale=True, titles={"x": "Normalised mean"})]),
        Table("games", "Score by mechanism and base game",
              [MECHANISM, GAME, AGENT, *mean, *fitness, count("n", "Runs")], _shown(of_games),
              note=f"{UNIT} Standard errors are over the runs."),
    ]  # fmt: skip
    found = {
        f"{row['mechanism']}.{row['agent']}.{measure}":
            {"estimate": row[measure], "se": row[f"{measure}_se"], "n": row[f"{measure}_n"]}
        for row in records(overall) for measure in MEASURES if row[f"{measure}_n"]
    }  # fmt: skip
    return Result(tables, numbers=found, warnings=_warnings(runs))


def _both(summary: Callable[[pd.DataFrame, str], dict[str, Any]]) -> Callable[[pd.DataFrame], dict[str, Any]]:
    """Return a function that summarises both measures of some runs: mean, mean_se, mean_n, fitness, …"""
    keys = {"": "estimate", "_se": "se", "_n": "n"}
    return lambda rows: {measure + suffix: found[key] for measure in MEASURES
                         for found in [summary(rows, measure)] for suffix, key in keys.items()}  # fmt: skip


def _shown(found: pd.DataFrame) -> pd.DataFrame:
    return readable(found.rename(columns={"mean_n": "n"}).drop(columns="fitness_n"))


def _warnings(runs: Sequence[Tournament]) -> list[str]:
    """Return warnings about base games without references and tournaments in which some agents never met."""
    games = {readable_name(run.game) for run in runs if normalised(0, run.game) is None}
    warnings = [f"Not included because they have no reference payoffs: {', '.join(sorted(games))}."] if games else []
    incomplete = sum(run.tensor() is None and "reputation" not in run.mechanism for run in runs)
    if incomplete:
        warnings.append(
            f"In {incomplete} tournaments, some combinations of agents were never played; there the mean is over "
            "seats, and there is no fitness."
        )
    return warnings


@of_dilemmas(
    "coopeval.ranking", "Ranking of mechanisms (CoopEval)", "Which mechanism works best?",
    "Mechanisms ranked by mean score; percentile bootstrap intervals of ranks, over games and runs within games.",
    columns=REQUIRED_COLUMNS,
)  # fmt: skip
def ranking(data: Data, options: Options) -> Result:
    scored = scores(tournaments(data))
    scored = scored[scored["agent"] == AVERAGE]
    if scored["mechanism"].nunique() < 2:
        raise SkippedError("There is only one mechanism; analyse the datasets of several mechanisms together.")
    found = by_group(scored, ["mechanism"], lambda rows: over_means(rows, "mean", "game"), sort=False)
    intervals = bootstrap_ranks(scored, options)
    found = found.assign(rank_low=intervals[0], rank_high=intervals[1], published=found["mechanism"].map(printed.RANKS))
    found = found.sort_values("estimate", ascending=False, kind="stable")
    table = Table(
        "mechanisms", "Mechanisms by mean score",
        [count("rank", "Rank"), MECHANISM, number("estimate", "Mean"), "se", number("rank_low", "Rank, low"),
         number("rank_high", "Rank, high"), count("n", "Games"), count("published", "Published rank")],
        readable(found.assign(rank=range(1, len(found) + 1))), note=UNIT,
        charts=[Chart("dots", title="Mean score of mechanisms ± SE", y="mechanism", se="se",
                      titles={"x": "Normalised mean"})],
    )  # fmt: skip
    return Result([table], numbers=table.numbers("{mechanism}"))


def bootstrap_ranks(scored: pd.DataFrame, options: Options) -> Any:
    """Return percentiles of each mechanism's rank over bootstrap draws of games, and of runs within drawn games.

    Returns:
        lower and upper percentiles, in order of the mechanisms' first rows; None with fewer than two games.
    """
    rng = np.random.default_rng(options.seed)
    games = sorted(scored["game"].unique())
    if len(games) < 2:
        return None, None
    ordered = scored.sort_values("run", kind="stable")
    values = [[ordered["mean"][(ordered["mechanism"] == mechanism) & (ordered["game"] == game)].tolist()
               for game in games] for mechanism in scored["mechanism"].unique()]  # fmt: skip
    ranks = []
    for _draw in range(options.draws):
        drawn = rng.integers(0, len(games), size=len(games))
        means = []
        for of_mechanism in values:
            played = [runs for game in drawn if (runs := of_mechanism[game])]
            game_means = [fmean(runs[run] for run in rng.integers(0, len(runs), size=len(runs))) for runs in played]
            means.append(fmean(game_means) if game_means else float("nan"))
        ranks.append([1 + sum(other > value for other in means) for value in means])
    return np.quantile(np.array(ranks), [(1 - options.level) / 2, (1 + options.level) / 2], axis=0)


def pooled_tournaments(runs: Sequence[Tournament]) -> list[Tournament]:
    """Return one tournament, as run 0, that pools all runs of each base game and mechanism in which all agents met."""
    groups: dict[tuple[str, str], list[Any]] = {}
    for run in runs:
        groups.setdefault((run.mechanism, run.game), []).extend(run.outcomes)
    results = [Tournament(mechanism, game, 0, outcomes) for (mechanism, game), outcomes in groups.items()]
    complete = [tournament for tournament in results if tournament.tensor() is not None]
    if not complete:
        raise SkippedError("There is no tournament in which all agents met (reputation has none).")
    return complete


@of_dilemmas(
    "coopeval.meta_game", "Meta-games (CoopEval, figures 19 to 38)", "Who gains from playing with whom?",
    "Mean discounted payoff of each agent against each other agent, over repetitions and seat orders; with "
    "three seats, one panel per third agent.",
    columns=REQUIRED_COLUMNS,
)  # fmt: skip
def meta_games(data: Data, options: Options) -> Result:
    found, charts = [], []
    for tournament in pooled_tournaments(tournaments(data)):
        U, types = tournament.tensor(), tournament.types
        if U is None or U.ndim > 3:
            continue
        rows = []
        for *third, i, j in product(range(len(types)), repeat=U.ndim):
            own, others = float(U[(i, j, *third)]), float(U[(j, i, *third)])
            score = normalised(own, tournament.game)
            rows.append({"mechanism": tournament.mechanism, "game": tournament.game, "agent": types[i],
                         "other": types[j], "third": f"third: {types[third[0]]}" if third else "", "own": own,
                         "others": others, "estimate": own if score is None else score})  # fmt: skip
        found += rows
        game, mechanism = readable_name(tournament.game), readable_name(tournament.mechanism)
        has_reference = normalised(0, tournament.game) is not None
        charts.append(Chart(
            "heat_map", name=f"{tournament.game}_{tournament.mechanism}", rows=rows, x="other", y="agent",
            title=f"{game.capitalize()}, {mechanism}: payoff of the row agent", facet="third" if U.ndim == 3 else "",
            titles={"x": "Column agent", "y": "Row agent", "colour": "Normalised" if has_reference else "Points"},
            order={"x": types, "y": types},
        ))  # fmt: skip
    table = Table(
        "payoffs", "Mean points of each agent and the other agent",
        [MECHANISM, GAME, AGENT, text("other", "Other"), text("third", "Third"), number("own", "Own"),
         number("others", "Other's"), number("estimate", "Normalised")],
        readable(pd.DataFrame(found)),
        note="Means are taken over repetitions, then over seat orders; self-play counts both seats.",
        charts=charts,
    )  # fmt: skip
    return Result([table])


@of_dilemmas(
    "coopeval.dynamics", "Selection (CoopEval, figure 3)", "Which agents does selection favour?",
    "Discrete replicator dynamics (η .1) from the uniform population, on payoffs averaged over runs; "
    "reputation is left out because its matches form no meta-game.",
    columns=REQUIRED_COLUMNS,
)  # fmt: skip
def dynamics(data: Data, options: Options) -> Result:
    found, ends = [], []
    for tournament in pooled_tournaments(tournaments(data)):
        game, mechanism = readable_name(tournament.game), readable_name(tournament.mechanism)
        where, types = f"{game}, {mechanism}", tournament.types
        steps = list(replicator_path(tournament.tensor()))
        for step in shown_steps(len(steps)):
            for label, share, points in zip(types, *steps[step], strict=True):
                score = normalised(float(points), tournament.game)
                found.append({"where": where, "mechanism": mechanism, "game": game, "agent": label, "step": step,
                              "at": step + 1, "population": float(share),
                              "fitness": float(points) if score is None else score})  # fmt: skip
        population, fitness = steps[-1]
        average = float(population @ fitness)
        ends.append({"where": where, "steps": len(steps) - 1, "points": average,
                     "estimate": normalised(average, tournament.game),
                     **dict(zip(types, population.tolist(), strict=True))})  # fmt: skip
    of_ends, of_steps = pd.DataFrame(ends), pd.DataFrame(found)
    measures = {"population": "Share of each agent", "fitness": "Fitness of each agent"}
    tables = [
        Table("ends", "Population and average payoff after the dynamics",
              [text("where", "Tournament"), count("steps", "Steps"), number("points", "Average points"),
               number("estimate", "Normalised"), *(number(name, f"Share of {name}") for name in of_ends.columns[4:])],
              of_ends),
        Table("steps", "Population shares and fitness by step",
              [text("where", "Tournament"), AGENT, count("step", "Step"), number("population", "Share"),
               number("fitness", "Fitness")],
              of_steps,
              charts=[Chart("lines", name=f"{measure}_{file_name(mechanism)}",
                            title=f"{title} under replicator dynamics: {mechanism}", rows=rows, x="at", y=measure,
                            colour="agent", facet="game", log_x=True, points=False, players=data.players,
                            titles={"x": "Step, from 1", "y": title})
                      for mechanism, rows in grouped(of_steps, "mechanism", sort=False)
                      for measure, title in measures.items()]),
    ]  # fmt: skip
    return Result(tables, numbers=numbers(of_ends.rename(columns={"steps": "n"}), "{where}"))


def shown_steps(length: int) -> list[int]:
    """Return steps that are roughly equally spaced on a logarithmic axis, including the first and the last."""
    last = length - 1
    steps = {round((last + 1) ** (interval / SHOWN_STEPS)) - 1 for interval in range(SHOWN_STEPS + 1)}
    return sorted({0, last, *(step for step in steps if 0 <= step <= last)})


@of_dilemmas(
    "coopeval.deviation", "Robust strength (CoopEval)", "Which agents are robustly strong?",
    "Ranks by deviation rating (lexicographic minimum of deviation gains) in every tournament; mean over "
    "runs, then mean ± SE over the base games; percentile bootstrap intervals over the runs of each game.",
    columns=REQUIRED_COLUMNS,
)  # fmt: skip
def deviation(data: Data, options: Options) -> Result:
    rated = [
        {"mechanism": run.mechanism, "game": run.game, "run": run.run, "agent": label, "rank": rank, "rating": rating}
        for run in tournaments(data) if (U := run.tensor()) is not None
        for ratings in [deviation_ratings(U)]
        for label, rank, rating in zip(run.types, rank_best_first(ratings), ratings, strict=True)
    ]  # fmt: skip
    if not rated:
        raise SkippedError("There is no tournament in which all agents met (reputation has none).")
    found = by_group(
        pd.DataFrame(rated), ["mechanism", "agent"],
        lambda rows: {
            **over_means(rows, "rank", "game"), **bootstrap_runs(rows, "rank", options),
            "rating": over_means(rows, "rating", "game")["estimate"],
            **{f"rating_{end}": value for end, value in bootstrap_runs(rows, "rating", options).items()},
        },
        sort=False,
    )  # fmt: skip
    found = pd.concat([rows.sort_values("estimate", kind="stable")
                       for _mechanism, rows in grouped(found, "mechanism", sort=False)])  # fmt: skip
    table = Table(
        "ranks", "Mean rank by deviation rating",
        [MECHANISM, AGENT, number("estimate", "Rank"), "se", "low", "high", number("rating", "Rating, points"),
         number("rating_low", "Rating, low"), number("rating_high", "Rating, high"), count("n", "Games"),
         count("runs", "Tournaments"), text("published", "Published"), "note"],
        readable(found.assign(published=found["mechanism"].map({"none": "Claude 3.0, GPT-4o 5.4"}))),
        note="Rank 1 is best; ties get their average rank. SE, as published, is over the games; intervals are over the "
        "tournaments of each game. The published ratings fix the constraints that are tight in "
        "one of the solver's solutions, and agree with the lexicographic minimum in 28 of 48 tournaments, so ranks may "
        "differ.",
        charts=[Chart("dots", title="Mean rank by deviation rating ± SE", y="agent", facet="mechanism", se="se",
                      same_scale=True, titles={"x": "Rank (1 is best)"})],
    )  # fmt: skip
    return Result([table], numbers=table.numbers("{mechanism}.{agent}"))


def bootstrap_runs(rows: pd.DataFrame, column: str, options: Options) -> dict[str, Any]:
    """Return the percentile bootstrap interval, over the runs of each game, of the mean over games of a column's means.

    Games are not drawn. Of a game's n runs, n - 1 are drawn, so that the spread is right with few runs (Rao and Wu
    1988).

    Returns:
        low, high, runs (their number over all games), and note, which says why there is no interval.
    """
    games = [values.to_numpy() for _game, values in rows.sort_values("run").groupby("game", dropna=False)[column]]
    runs = sum(map(len, games))
    note = ONE_RUN if min(map(len, games)) < 2 else TOO_FEW if runs < FEWEST_UNITS else ""
    if not note and all(np.ptp(values) < ROUNDING for values in games):
        note = NO_VARIATION
    if note:
        return {"low": None, "high": None, "runs": runs, "note": note}
    rng = np.random.default_rng(options.seed)
    drawn = [values[rng.integers(0, len(values), size=(options.draws, len(values) - 1))].mean(axis=1)
             for values in games]  # fmt: skip
    low, high = np.quantile(np.mean(drawn, axis=0), [(1 - options.level) / 2, (1 + options.level) / 2])
    return {"low": float(low), "high": float(high), "runs": runs, "note": ""}


def rank_best_first(ratings: Sequence[float]) -> list[float]:
    """Return ranks from 1 for the highest rating after rounding to 1e-9, with ties averaged."""
    return pd.Series(ratings).round(9).rank(ascending=False).tolist()
