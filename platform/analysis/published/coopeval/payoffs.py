"""Scores of mechanisms, meta-games, selection and ratings (tables; figures 3 and 19 to 38)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from analysis import charts
from analysis.errors import SkippedError
from analysis.frames import with_se_bounds
from analysis.published.coopeval.tournaments import (
    GAMES,
    REQUIRED_COLUMNS,
    Tournament,
    mean_and_se,
    mean_over_games,
    normalised,
    readable_name,
    tournaments,
)
from analysis.results import Analysis, Options, Result, Table, count, number, text
from analysis.toolbox import deviation_ratings, replicator
from analysis.toolbox.evolution import replicator_path

if TYPE_CHECKING:
    from analysis.data import Data

AVERAGE = "all agents"
PUBLISHED_MEANS: Mapping[str, str] = {
    "none": ".072 ± .015",
    "repetition": ".587 ± .141",
    "reputation_first_order": ".321 ± .138",
    "reputation_higher_order": ".227 ± .097",
    "mediation": ".695 ± .082",
    "contract": ".801 ± .037",
}
PUBLISHED_FITNESS: Mapping[str, str] = {
    "none": ".021 ± .021",
    "repetition": ".992 ± .005",
    "mediation": "1.000",
    "contract": ".999 ± .001",
}
SHOWN_STEPS = 40
UNIT = "Normalised: 0 is the equilibrium payoff and 1 the payoff when all cooperate."


# ---- tables --------------------------------------------------------------------------------------------


def scores(run: Tournament) -> dict[str, dict[str, float]]:
    """Return normalised means by agent and overall, and fitness after the dynamics if there is a payoff tensor."""
    by_agent: dict[str, dict[str, float]] = {}
    means = run.means()
    for label, value in means.items():
        if (score := normalised(value, run.game)) is not None:
            by_agent[label] = {"mean": score, "points": value}
    if not by_agent:
        return {}
    by_agent[AVERAGE] = {
        "mean": fmean(agent_scores["mean"] for agent_scores in by_agent.values()),
        "points": fmean(agent_scores["points"] for agent_scores in by_agent.values()),
    }
    if (U := run.tensor()) is not None:
        end_state = replicator(U)
        values = [*zip(run.types, end_state["fitness"], strict=True), (AVERAGE, end_state["average"])]
        for label, value in values:
            by_agent[label]["fitness"] = normalised(value, run.game) or 0.0
    return by_agent


def scores_by_agent(runs: Sequence[Tournament], measure: str) -> dict[tuple[str, str], dict[tuple[str, int], float]]:
    """Return {(mechanism, agent): {(game, run): score}}."""
    by_agent: dict[tuple[str, str], dict[tuple[str, int], float]] = {}
    for run in runs:
        for label, score in scores(run).items():
            if measure in score:
                by_agent.setdefault((run.mechanism, label), {})[run.game, run.run] = score[measure]
    return by_agent


def payoffs(data: Data, options: Options) -> Result:
    """Return mean and fitness by mechanism, per game and over all games."""
    runs = tournaments(data)
    mean, fitness = scores_by_agent(runs, "mean"), scores_by_agent(runs, "fitness")
    if not mean:
        raise SkippedError("None of the base games has reference payoffs.")
    overall, by_game, numbers = [], [], {}
    for (mechanism, label), values in mean.items():
        mean_score, fitness_score = mean_over_games(values), mean_over_games(fitness.get((mechanism, label), {}))
        is_average = label == AVERAGE
        overall.append(
            {
                "mechanism": readable_name(mechanism),
                "agent": label,
                "mean": mean_score["estimate"],
                "mean_se": mean_score["se"],
                "published_mean": PUBLISHED_MEANS.get(mechanism) if is_average else None,
                "fitness": fitness_score["estimate"],
                "fitness_se": fitness_score["se"],
                "published_fitness": PUBLISHED_FITNESS.get(mechanism) if is_average else None,
                "n": mean_score["n"],
            }
        )
        numbers[f"{mechanism}.{label}.mean"] = mean_score
        if fitness_score["n"]:
            numbers[f"{mechanism}.{label}.fitness"] = fitness_score
        for game in dict.fromkeys(game for game, _run in values):
            game_mean = mean_and_se([value for (name, _run), value in values.items() if name == game])
            game_fitness = mean_and_se(
                [v for (name, _run), v in fitness.get((mechanism, label), {}).items() if name == game]
            )
            by_game.append(
                {
                    "mechanism": readable_name(mechanism),
                    "game": readable_name(game),
                    "agent": label,
                    "mean": game_mean["estimate"],
                    "mean_se": game_mean["se"],
                    "fitness": game_fitness["estimate"],
                    "fitness_se": game_fitness["se"],
                    "n": game_mean["n"],
                }
            )
    score_columns = (
        number("mean", "Mean"),
        number("mean_se", "SE"),
        number("fitness", "Fitness"),
        number("fitness_se", "SE"),
    )
    tables = [
        Table(
            "aggregate",
            "Mean score by mechanism over the base games",
            [
                text("mechanism", "Mechanism"),
                text("agent", "Agent"),
                *score_columns[:2],
                text("published_mean", "Published mean"),
                *score_columns[2:],
                text("published_fitness", "Published fitness"),
                count("n", "Games"),
            ],
            overall,
            note=f"{UNIT} Standard errors are over the base games.",
        ),
        Table(
            "games",
            "Score by mechanism and base game",
            [
                text("mechanism", "Mechanism"),
                text("game", "Game"),
                text("agent", "Agent"),
                *score_columns,
                count("n", "Runs"),
            ],
            by_game,
            note=f"{UNIT} Standard errors are over the runs.",
        ),
    ]
    drawn = with_se_bounds(
        {"mechanism": row["mechanism"], "agent": row["agent"], "estimate": row["mean"], "se": row["mean_se"]}
        for row in overall
    )
    figure = charts.figure(
        "dots",
        "aggregate",
        "Mean score by mechanism ± SE over the base games",
        drawn,
        y="agent",
        facet="mechanism",
        same_scale=True,
        titles={"x": "Normalised mean"},
    )
    return Result(tables, [figure], numbers, warnings=_warnings(runs))


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


def ranking(data: Data, options: Options) -> Result:
    """Return mechanisms ranked by their mean, with bootstrap intervals of the ranks."""
    values = {
        m: subset for (m, label), subset in scores_by_agent(tournaments(data), "mean").items() if label == AVERAGE
    }
    if len(values) < 2:
        raise SkippedError("There is only one mechanism; analyse the datasets of several mechanisms together.")
    means = {mechanism: mean_over_games(subset) for mechanism, subset in values.items()}
    rank_intervals = bootstrap_ranks(values, options)
    order = sorted(means, key=lambda mechanism: -means[mechanism]["estimate"])
    results = [
        {
            "rank": rank,
            "mechanism": readable_name(mechanism),
            **means[mechanism],
            "rank_low": rank_intervals[mechanism][0],
            "rank_high": rank_intervals[mechanism][1],
            "published": PUBLISHED_RANKS.get(mechanism),
        }
        for rank, mechanism in enumerate(order, start=1)
    ]
    table = Table(
        "mechanisms",
        "Mechanisms by mean score",
        [
            count("rank", "Rank"),
            text("mechanism", "Mechanism"),
            number("estimate", "Mean"),
            number("se", "SE"),
            number("rank_low", "Rank, low"),
            number("rank_high", "Rank, high"),
            count("n", "Games"),
            count("published", "Published rank"),
        ],
        results,
        note=UNIT,
    )
    rows_with_bounds = with_se_bounds(results)
    figure = charts.figure(
        "dots",
        "mechanisms",
        "Mean score of mechanisms ± SE",
        rows_with_bounds,
        y="mechanism",
        titles={"x": "Normalised mean"},
    )
    return Result(
        [table],
        [figure],
        {row["mechanism"]: {"estimate": row["estimate"], "se": row["se"], "n": row["n"]} for row in results},
    )


PUBLISHED_RANKS: Mapping[str, int] = {
    "contract": 1,
    "mediation": 2,
    "repetition": 3,
    "reputation_first_order": 4,
    "reputation_higher_order": 5,
    "none": 6,
}


def bootstrap_ranks(values: Mapping[str, Mapping[tuple[str, int], float]], options: Options) -> dict[str, Any]:
    """Return percentiles of each mechanism's rank over bootstrap draws of games, and of runs within drawn games."""
    import numpy as np

    rng = np.random.default_rng(options.seed)
    games = sorted({game for subset in values.values() for game, _run in subset})
    mechanisms = list(values)
    if len(games) < 2:
        return dict.fromkeys(mechanisms, (None, None))
    by_game = {
        mechanism: {game: [v for (name, _run), v in sorted(subset.items()) if name == game] for game in games}
        for mechanism, subset in values.items()
    }
    ranks = []
    for _draw in range(options.draws):
        drawn_games = rng.integers(0, len(games), size=len(games))
        means = []
        for mechanism in mechanisms:
            game_means = []
            for game_index in drawn_games:
                runs = by_game[mechanism][games[game_index]]
                if runs:
                    game_means.append(
                        fmean(runs[run_index] for run_index in rng.integers(0, len(runs), size=len(runs)))
                    )
            means.append(fmean(game_means) if game_means else float("nan"))
        ranks.append([1 + sum(other > value for other in means) for value in means])
    low, high = np.quantile(np.array(ranks), [(1 - options.level) / 2, (1 + options.level) / 2], axis=0)
    return {m: (float(low[index]), float(high[index])) for index, m in enumerate(mechanisms)}


# ---- who gains from whom -------------------------------------------------------------------------------


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


def meta_games(data: Data, options: Options) -> Result:
    """Return both agents' payoffs for every combination of agents."""
    results, figures = [], []
    for tournament in pooled_tournaments(tournaments(data)):
        U, types = tournament.tensor(), tournament.types
        rows = []
        for third in range(len(types)) if U.ndim == 3 else [None]:
            for i, agent in enumerate(types):
                for j, other in enumerate(types):
                    third_seat = () if third is None else (third,)
                    if U.ndim > 3:
                        continue
                    own_payoff, other_payoff = float(U[(i, j, *third_seat)]), float(U[(j, i, *third_seat)])
                    own_score = normalised(own_payoff, tournament.game)
                    rows.append(
                        {
                            "mechanism": readable_name(tournament.mechanism),
                            "game": readable_name(tournament.game),
                            "agent": agent,
                            "other": other,
                            "third": "" if third is None else f"third: {types[third]}",
                            "own": own_payoff,
                            "others": other_payoff,
                            "estimate": own_payoff if own_score is None else own_score,
                        }
                    )
        results += rows
        if rows:
            game, mechanism = readable_name(tournament.game), readable_name(tournament.mechanism)
            title = f"{game.capitalize()}, {mechanism}: payoff of the row agent"
            figures.append(
                charts.figure(
                    "heat_map",
                    f"{tournament.game}_{tournament.mechanism}",
                    title,
                    rows,
                    x="other",
                    y="agent",
                    facet="third" if U.ndim == 3 else "",
                    titles={
                        "x": "Column agent",
                        "y": "Row agent",
                        "colour": "Normalised" if normalised(0, tournament.game) is not None else "Points",
                    },
                    order={"x": types, "y": types},
                )
            )
    table = Table(
        "payoffs",
        "Mean points of each agent and the other agent",
        [
            text("mechanism", "Mechanism"),
            text("game", "Game"),
            text("agent", "Agent"),
            text("other", "Other"),
            text("third", "Third"),
            number("own", "Own"),
            number("others", "Other's"),
            number("estimate", "Normalised"),
        ],
        results,
        note="Means are taken over repetitions, then over seat orders; self-play counts both seats.",
    )
    return Result([table], figures)


def dynamics(data: Data, options: Options) -> Result:
    """Return population shares and fitness at each step of the dynamics."""
    results, ends = [], []
    for tournament in pooled_tournaments(tournaments(data)):
        name = f"{readable_name(tournament.game)}, {readable_name(tournament.mechanism)}"
        steps = list(replicator_path(tournament.tensor()))
        for step in shown_steps(len(steps)):
            population, fitness = steps[step]
            for index, label in enumerate(tournament.types):
                score = normalised(float(fitness[index]), tournament.game)
                results.append(
                    {
                        "where": name,
                        "mechanism": readable_name(tournament.mechanism),
                        "game": readable_name(tournament.game),
                        "agent": label,
                        "step": step,
                        "at": step + 1,
                        "population": float(population[index]),
                        "fitness": float(fitness[index]) if score is None else score,
                    }
                )
        population, fitness = steps[-1]
        average = float(population @ fitness)
        ends.append(
            {
                "where": name,
                "steps": len(steps) - 1,
                "points": average,
                "estimate": normalised(average, tournament.game),
                **{label: float(share) for label, share in zip(tournament.types, population, strict=True)},
            }
        )
    labels = [
        key
        for key in dict.fromkeys(k for row in ends for k in row)
        if key not in ("where", "steps", "points", "estimate")
    ]
    tables = [
        Table(
            "ends",
            "Population and average payoff after the dynamics",
            [
                text("where", "Tournament"),
                count("steps", "Steps"),
                number("points", "Average points"),
                number("estimate", "Normalised"),
                *(number(label, f"Share of {label}") for label in labels),
            ],
            ends,
        ),
        Table(
            "steps",
            "Population shares and fitness by step",
            [
                text("where", "Tournament"),
                text("agent", "Agent"),
                count("step", "Step"),
                number("population", "Share"),
                number("fitness", "Fitness"),
            ],
            results,
        ),
    ]
    figures = []
    for mechanism in dict.fromkeys(row["mechanism"] for row in results):
        subset = [row for row in results if row["mechanism"] == mechanism]
        for measure, title in (("population", "Share of each agent"), ("fitness", "Fitness of each agent")):
            figures.append(
                charts.figure(
                    "lines",
                    f"{measure}_{mechanism.replace(' ', '_').replace('-', '_')}",
                    f"{title} under replicator dynamics: {mechanism}",
                    subset,
                    x="at",
                    y=measure,
                    colour="agent",
                    facet="game",
                    log_x=True,
                    points=False,
                    players=data.players,
                    titles={"x": "Step, from 1", "y": title},
                )
            )
    return Result(tables, figures, {row["where"]: {"estimate": row["estimate"], "n": row["steps"]} for row in ends})


def shown_steps(length: int) -> list[int]:
    """Return steps that are roughly equally spaced on a logarithmic axis, including the first and the last."""
    last = length - 1
    steps = {round((last + 1) ** (interval / SHOWN_STEPS)) - 1 for interval in range(SHOWN_STEPS + 1)}
    return sorted({0, last, *(step for step in steps if 0 <= step <= last)})


# ---- ratings -------------------------------------------------------------------------------------------


def deviation(data: Data, options: Options) -> Result:
    """Return ranks by deviation rating."""
    ranks: dict[tuple[str, str], dict[tuple[str, int], float]] = {}
    ratings: dict[tuple[str, str], dict[tuple[str, int], float]] = {}
    for run in tournaments(data):
        if (U := run.tensor()) is None:
            continue
        rated = deviation_ratings(U)
        for label, rank, rating in zip(run.types, rank_best_first(rated), rated, strict=True):
            ranks.setdefault((run.mechanism, label), {})[run.game, run.run] = rank
            ratings.setdefault((run.mechanism, label), {})[run.game, run.run] = rating
    if not ranks:
        raise SkippedError("There is no tournament in which all agents met (reputation has none).")
    results = []
    for (mechanism, label), subset in ranks.items():
        results.append(
            {
                "mechanism": readable_name(mechanism),
                "agent": label,
                **mean_over_games(subset),
                "rating": mean_over_games(ratings[mechanism, label])["estimate"],
                "published": "Claude 3.0, GPT-4o 5.4" if mechanism == "none" else None,
            }
        )
    order = list(dict.fromkeys(row["mechanism"] for row in results))
    results.sort(key=lambda row: (order.index(row["mechanism"]), row["estimate"]))
    table = Table(
        "ranks",
        "Mean rank by deviation rating",
        [
            text("mechanism", "Mechanism"),
            text("agent", "Agent"),
            number("estimate", "Rank"),
            number("se", "SE"),
            number("rating", "Rating, points"),
            count("n", "Games"),
            text("published", "Published"),
        ],
        results,
        note="Rank 1 is best; ties get their average rank. The published ratings fix the constraints that are tight in "
        "one of the solver's solutions, and agree with the lexicographic minimum in 28 of 48 tournaments, so ranks may "
        "differ.",
    )
    rows_with_bounds = with_se_bounds(results)
    figure = charts.figure(
        "dots",
        "ranks",
        "Mean rank by deviation rating ± SE",
        rows_with_bounds,
        y="agent",
        facet="mechanism",
        same_scale=True,
        titles={"x": "Rank (1 is best)"},
    )
    return Result(
        [table],
        [figure],
        {f"{r['mechanism']}.{r['agent']}": {k: r[k] for k in ("estimate", "se", "n")} for r in results},
    )


def rank_best_first(ratings: Sequence[float]) -> list[float]:
    """Return ranks from 1 for the highest rating after rounding to 1e-9, with ties averaged."""
    rounded = [round(rating, 9) for rating in ratings]
    return [
        1 + sum(other > value for other in rounded) + (sum(other == value for other in rounded) - 1) / 2
        for value in rounded
    ]


ANALYSES = [
    Analysis(
        id="coopeval.payoffs",
        title="Scores of mechanisms (CoopEval, aggregate and per-game tables)",
        question="Which mechanisms work?",
        method="Mean: payoff against the uniform population (under reputation: mean over seats). Fitness: payoff after "
        "replicator dynamics (η .1, at most 1,000 steps), weighted by population shares. Both are averaged over runs "
        "and normalised; mean ± SE over the base games.",
        run=payoffs,
        games=GAMES,
        columns=REQUIRED_COLUMNS,
    ),
    Analysis(
        id="coopeval.ranking",
        title="Ranking of mechanisms (CoopEval)",
        question="Which mechanism works best?",
        method="Mechanisms ranked by mean score; percentile bootstrap intervals of ranks, over games and runs within "
        "games.",
        run=ranking,
        games=GAMES,
        columns=REQUIRED_COLUMNS,
    ),
    Analysis(
        id="coopeval.meta_game",
        title="Meta-games (CoopEval, figures 19 to 38)",
        question="Who gains from playing with whom?",
        method="Mean discounted payoff of each agent against each other agent, over repetitions and seat orders; with "
        "three seats, one panel per third agent.",
        run=meta_games,
        games=GAMES,
        columns=REQUIRED_COLUMNS,
    ),
    Analysis(
        id="coopeval.dynamics",
        title="Selection (CoopEval, figure 3)",
        question="Which agents does selection favour?",
        method="Discrete replicator dynamics (η .1) from the uniform population, on payoffs averaged over runs; "
        "reputation is left out because its matches form no meta-game.",
        run=dynamics,
        games=GAMES,
        columns=REQUIRED_COLUMNS,
    ),
    Analysis(
        id="coopeval.deviation",
        title="Robust strength (CoopEval)",
        question="Which agents are robustly strong?",
        method="Ranks by deviation rating (lexicographic minimum of deviation gains) in every tournament; mean over "
        "runs, then mean ± SE over the base games.",
        run=deviation,
        games=GAMES,
        columns=REQUIRED_COLUMNS,
    ),
]
