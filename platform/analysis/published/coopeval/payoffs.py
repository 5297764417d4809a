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
    NEEDED,
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
    found: dict[str, dict[str, float]] = {}
    means = run.means()
    for label, value in means.items():
        if (score := normalised(value, run.game)) is not None:
            found[label] = {"mean": score, "points": value}
    if not found:
        return {}
    found[AVERAGE] = {
        "mean": fmean(one["mean"] for one in found.values()),
        "points": fmean(one["points"] for one in found.values()),
    }
    if (U := run.tensor()) is not None:
        after = replicator(U)
        values = [*zip(run.types, after["fitness"], strict=True), (AVERAGE, after["average"])]
        for label, value in values:
            found[label]["fitness"] = normalised(value, run.game) or 0.0
    return found


def scores_by_agent(runs: Sequence[Tournament], what: str) -> dict[tuple[str, str], dict[tuple[str, int], float]]:
    """Return {(mechanism, agent): {(game, run): score}}."""
    found: dict[tuple[str, str], dict[tuple[str, int], float]] = {}
    for run in runs:
        for label, score in scores(run).items():
            if what in score:
                found.setdefault((run.mechanism, label), {})[run.game, run.run] = score[what]
    return found


def payoffs(data: Data, options: Options) -> Result:
    """Return mean and fitness by mechanism, per game and over all games."""
    runs = tournaments(data)
    mean, fitness = scores_by_agent(runs, "mean"), scores_by_agent(runs, "fitness")
    if not mean:
        raise SkippedError("None of the base games has reference payoffs.")
    overall, by_game, numbers = [], [], {}
    for (mechanism, label), values in mean.items():
        subset, after = mean_over_games(values), mean_over_games(fitness.get((mechanism, label), {}))
        is_average = label == AVERAGE
        overall.append(
            {
                "mechanism": readable_name(mechanism),
                "agent": label,
                "mean": subset["estimate"],
                "mean_se": subset["se"],
                "published_mean": PUBLISHED_MEANS.get(mechanism) if is_average else None,
                "fitness": after["estimate"],
                "fitness_se": after["se"],
                "published_fitness": PUBLISHED_FITNESS.get(mechanism) if is_average else None,
                "n": subset["n"],
            }
        )
        numbers[f"{mechanism}.{label}.mean"] = subset
        if after["n"]:
            numbers[f"{mechanism}.{label}.fitness"] = after
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
    figure = charts.dots(
        "aggregate",
        "Mean score by mechanism ± SE over the base games",
        drawn,
        y="agent",
        facet="mechanism",
        x_title="Normalised mean",
        same_scale=True,
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
    found = {mechanism: mean_over_games(subset) for mechanism, subset in values.items()}
    drawn = bootstrap_ranks(values, options)
    order = sorted(found, key=lambda mechanism: -found[mechanism]["estimate"])
    results = [
        {
            "rank": place,
            "mechanism": readable_name(mechanism),
            **found[mechanism],
            "rank_low": drawn[mechanism][0],
            "rank_high": drawn[mechanism][1],
            "published": PUBLISHED_RANKS.get(mechanism),
        }
        for place, mechanism in enumerate(order, start=1)
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
    shown = with_se_bounds(results)
    figure = charts.dots("mechanisms", "Mean score of mechanisms ± SE", shown, y="mechanism", x_title="Normalised mean")
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
        chosen = rng.integers(0, len(games), size=len(games))
        means = []
        for mechanism in mechanisms:
            parts = []
            for at in chosen:
                runs = by_game[mechanism][games[at]]
                if runs:
                    parts.append(fmean(runs[place] for place in rng.integers(0, len(runs), size=len(runs))))
            means.append(fmean(parts) if parts else float("nan"))
        ranks.append([1 + sum(other > value for other in means) for value in means])
    low, high = np.quantile(np.array(ranks), [(1 - options.level) / 2, (1 + options.level) / 2], axis=0)
    return {m: (float(low[at]), float(high[at])) for at, m in enumerate(mechanisms)}


# ---- who gains from whom -------------------------------------------------------------------------------


def pooled_tournaments(runs: Sequence[Tournament]) -> list[Tournament]:
    """Return one tournament, as run 0, that pools all runs of each base game and mechanism in which all agents met."""
    groups: dict[tuple[str, str], list[Any]] = {}
    for run in runs:
        groups.setdefault((run.mechanism, run.game), []).extend(run.outcomes)
    results = [Tournament(mechanism, game, 0, outcomes) for (mechanism, game), outcomes in groups.items()]
    found = [one for one in results if one.tensor() is not None]
    if not found:
        raise SkippedError("There is no tournament in which all agents met (reputation has none).")
    return found


def meta_games(data: Data, options: Options) -> Result:
    """Return both agents' payoffs for every combination of agents."""
    results, figures = [], []
    for one in pooled_tournaments(tournaments(data)):
        U, types = one.tensor(), one.types
        rows = []
        for third in range(len(types)) if U.ndim == 3 else [None]:
            for i, agent in enumerate(types):
                for j, other in enumerate(types):
                    rest = () if third is None else (third,)
                    if U.ndim > 3:
                        continue
                    mine, theirs = float(U[(i, j, *rest)]), float(U[(j, i, *rest)])
                    rows.append(
                        {
                            "mechanism": readable_name(one.mechanism),
                            "game": readable_name(one.game),
                            "agent": agent,
                            "other": other,
                            "third": "" if third is None else f"third: {types[third]}",
                            "own": mine,
                            "others": theirs,
                            "estimate": value if (value := normalised(mine, one.game)) is not None else mine,
                        }
                    )
        results += rows
        if rows:
            title = f"{readable_name(one.game).capitalize()}, {readable_name(one.mechanism)}: payoff of the row agent"
            figures.append(
                charts.heat_map(
                    f"{one.game}_{one.mechanism}",
                    title,
                    rows,
                    x="other",
                    y="agent",
                    facet="third" if U.ndim == 3 else "",
                    x_title="Column agent",
                    y_title="Row agent",
                    value_title="Normalised" if normalised(0, one.game) is not None else "Points",
                    x_order=types,
                    y_order=types,
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
    for one in pooled_tournaments(tournaments(data)):
        where = f"{readable_name(one.game)}, {readable_name(one.mechanism)}"
        steps = list(replicator_path(one.tensor()))
        for step in shown_steps(len(steps)):
            population, fitness = steps[step]
            for at, label in enumerate(one.types):
                score = normalised(float(fitness[at]), one.game)
                results.append(
                    {
                        "where": where,
                        "mechanism": readable_name(one.mechanism),
                        "game": readable_name(one.game),
                        "agent": label,
                        "step": step,
                        "at": step + 1,
                        "population": float(population[at]),
                        "fitness": float(fitness[at]) if score is None else score,
                    }
                )
        population, fitness = steps[-1]
        average = float(population @ fitness)
        ends.append(
            {
                "where": where,
                "steps": len(steps) - 1,
                "points": average,
                "estimate": normalised(average, one.game),
                **{label: float(share) for label, share in zip(one.types, population, strict=True)},
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
        for what, title in (("population", "Share of each agent"), ("fitness", "Fitness of each agent")):
            figures.append(
                charts.lines(
                    f"{what}_{mechanism.replace(' ', '_').replace('-', '_')}",
                    f"{title} under replicator dynamics: {mechanism}",
                    subset,
                    x="at",
                    y=what,
                    colour="agent",
                    facet="game",
                    x_title="Step, from 1",
                    y_title=title,
                    log_x=True,
                    points=False,
                    players=data.players,
                )
            )
    return Result(tables, figures, {row["where"]: {"estimate": row["estimate"], "n": row["steps"]} for row in ends})


def shown_steps(length: int) -> list[int]:
    """Return steps that are roughly equally spaced on a logarithmic axis, including the first and the last."""
    last = length - 1
    places = {round((last + 1) ** (part / SHOWN_STEPS)) - 1 for part in range(SHOWN_STEPS + 1)}
    return sorted({0, last, *(place for place in places if 0 <= place <= last)})


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
    shown = with_se_bounds(results)
    figure = charts.dots(
        "ranks",
        "Mean rank by deviation rating ± SE",
        shown,
        y="agent",
        facet="mechanism",
        x_title="Rank (1 is best)",
        same_scale=True,
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
        columns=NEEDED,
    ),
    Analysis(
        id="coopeval.ranking",
        title="Ranking of mechanisms (CoopEval)",
        question="Which mechanism works best?",
        method="Mechanisms ranked by mean score; percentile bootstrap intervals of ranks, over games and runs within "
        "games.",
        run=ranking,
        games=GAMES,
        columns=NEEDED,
    ),
    Analysis(
        id="coopeval.meta_game",
        title="Meta-games (CoopEval, figures 19 to 38)",
        question="Who gains from playing with whom?",
        method="Mean discounted payoff of each agent against each other agent, over repetitions and seat orders; with "
        "three seats, one panel per third agent.",
        run=meta_games,
        games=GAMES,
        columns=NEEDED,
    ),
    Analysis(
        id="coopeval.dynamics",
        title="Selection (CoopEval, figure 3)",
        question="Which agents does selection favour?",
        method="Discrete replicator dynamics (η .1) from the uniform population, on payoffs averaged over runs; "
        "reputation is left out because its matches form no meta-game.",
        run=dynamics,
        games=GAMES,
        columns=NEEDED,
    ),
    Analysis(
        id="coopeval.deviation",
        title="Robust strength (CoopEval)",
        question="Which agents are robustly strong?",
        method="Ranks by deviation rating (lexicographic minimum of deviation gains) in every tournament; mean over "
        "runs, then mean ± SE over the base games.",
        run=deviation,
        games=GAMES,
        columns=NEEDED,
    ),
]
