"""The results of a tournament of agents: its meta-game, how the types would spread, and how well each one does.

In the meta-game, players choose types of agents instead of actions. Its payoffs are the mean payoffs of the
matches, over repetitions and over the orders in which the types can be seated (CoopEval, section 4).
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.interface import Block, Chart, Fact, Facts, Series, Table
from games.play import configure
from games.social_dilemma.evolution import deviation_ratings, meta_game, replicator_path
from games.words import gettext as _
from games.words import number, percent

Array = NDArray[np.float64]
MAX_SEATS = 4
"""Maximum number of seats for which a meta-game is computed: its tensor has one dimension per seat."""
FEWEST_RUNS, DRAWS, MAX_GAMES = 5, 100, 2
"""Runs needed for intervals of ratings, draws of the bootstrap, and games for which a page computes them."""
ROUNDING = 1e-6
_ByRun = dict[str, dict[Any, list[float]]]
"""Values by type and repetition."""


@dataclass(frozen=True)
class Tournament:
    """The finished matches of one base game under one mechanism.

    Attributes:
        mean_payoff, cooperation: by type, over its seats; cooperation is None if the game has no cooperative action.
        mean_error, cooperation_error: their standard errors over repetitions; None without any that differ.
        meta: points of a type (first dimension) against its co-players' types (the others); None if some types have
            never met, in reputation games, and above `MAX_SEATS` seats.
        path: each type's share of the population at each step of the replicator dynamics; the first row is the start.
        intervals: of the ratings, by `rating_intervals`.
        score: the population-weighted payoff after the dynamics, normalised if the game has reference payoffs.
    """

    types: tuple[str, ...]
    matches: int
    mean_payoff: Mapping[str, float]
    mean_error: Mapping[str, float | None]
    cooperation: Mapping[str, float | None]
    cooperation_error: Mapping[str, float | None]
    meta: Array | None
    path: Array | None
    ratings: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]
    score: float | None

    def matrix(self) -> Array | None:
        """Return the row type's mean points if one co-player is of the column's type and the others of any type."""
        return None if self.meta is None else np.asarray(self.meta.mean(axis=tuple(range(2, self.meta.ndim))))


def tournament(game: Any, matches: Sequence[Mapping[str, Any]], *, draws: int = 0) -> Tournament:
    """Return the results of the finished matches of one configured game.

    Args:
        game: the configured `SocialDilemma`.
        matches: per match {agents: {role: label}, payoffs: {role: points}, records: rows as in `rounds.csv`,
            repetition}.
        draws: of the bootstrap; without any, ratings have no intervals.
    """
    roles = game.roles()
    points: _ByRun = defaultdict(lambda: defaultdict(list))
    cooperations: _ByRun = defaultdict(lambda: defaultdict(list))
    for match in matches:
        run = match.get("repetition")
        for role in roles:
            points[match["agents"][role]][run].append(match["payoffs"][role])
        for record in match["records"]:
            if record["cooperated"] is not None:
                cooperations[match["agents"][record["role"]]][run].append(record["cooperated"])
    types = tuple(sorted(points))
    meta = path = score = None
    if not game.in_population and len(roles) <= MAX_SEATS:
        seatings = [[match["agents"][role] for role in roles] for match in matches]
        payoffs = [[match["payoffs"][role] for role in roles] for match in matches]
        meta = meta_game(zip(seatings, payoffs, strict=True), types)
    if meta is not None:
        steps = list(replicator_path(meta))
        path = np.array([shares for shares, _fitness in steps])
        score = float(steps[-1][0] @ steps[-1][1])
        if (reference := game.base.reference) is not None:
            score = reference.normalised(score)
    return Tournament(
        types=types,
        matches=len(matches),
        mean_payoff={label: _mean(points[label]) for label in types},
        mean_error={label: _error(points[label]) for label in types},
        cooperation={label: _mean(cooperations[label]) if cooperations[label] else None for label in types},
        cooperation_error={label: _error(cooperations[label]) for label in types},
        meta=meta,
        path=path,
        ratings={} if meta is None else dict(zip(types, deviation_ratings(meta), strict=True)),
        intervals={} if meta is None or not draws else rating_intervals(roles, matches, types, draws),
        score=score,
    )


def _mean(values: Mapping[Any, Sequence[float]]) -> float:
    return fmean(value for run in values.values() for value in run)


def _error(values: Mapping[Any, Sequence[float]]) -> float | None:
    """Return the standard error of the mean over runs, as the paper's tables have it."""
    means = [fmean(run) for run in values.values()]
    error = stdev(means) / len(means) ** 0.5 if len(means) > 1 else 0.0
    return error if error > ROUNDING else None


def rating_intervals(
    roles: Sequence[str], matches: Sequence[Mapping[str, Any]], types: Sequence[str], draws: int
) -> dict[str, tuple[float, float]]:
    """Return percentile bootstrap intervals (95 %) of the deviation ratings, over runs.

    A run is a repetition in which all types met. Without five there are none; nor of ratings that never vary.
    """
    runs: dict[int | None, list[tuple[list[str], list[float]]]] = defaultdict(list)
    for match in matches:
        seated = [match["agents"][role] for role in roles], [match["payoffs"][role] for role in roles]
        runs[match.get("repetition")].append(seated)
    games = [game for run in runs.values() if (game := meta_game(run, types)) is not None]
    if len(games) < FEWEST_RUNS or all(np.array_equal(game, games[0]) for game in games):
        return {}  # the second condition saves seconds
    chosen = np.random.default_rng(1).integers(0, len(games), size=(draws, len(games)))
    drawn = [deviation_ratings(np.mean([games[run] for run in of_draw], axis=0)) for of_draw in chosen]
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    ends = zip(types, low.tolist(), high.tolist(), strict=True)
    return {label: (first, last) for label, first, last in ends if last - first > ROUNDING}


# ---- on a collection's page ---------------------------------------------------------------------------

SHOWN_STEPS = 20


def results(game_class: type[Any], matches: Iterable[Mapping[str, Any]]) -> list[Block]:
    """Return the leaderboard of a collection's finished matches and their tournaments, one per game and mechanism.

    Args:
        game_class: the game to which the configurations belong.
        matches: per match {config, agents, payoffs, records, repetition}, as `Game.stage_configurations` receives them.
    """
    groups: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for match in matches:
        groups[json.dumps(match["config"], sort_keys=True)].append(match)
    games = [configure(game_class, group[0]["config"]) for group in groups.values()]
    draws = DRAWS if len(games) <= MAX_GAMES else 0
    outcomes = [
        (game, tournament(game, group, draws=draws)) for game, group in zip(games, groups.values(), strict=True)
    ]
    blocks: list[Block] = [*_leaderboard(outcomes)]
    for number_of_game, (game, outcome) in enumerate(outcomes, start=1):
        blocks += _blocks(game, outcome, str(number_of_game))
    return blocks


def scores(outcomes: Sequence[tuple[Any, Tournament]]) -> dict[str, list[float]]:
    """Return each agent's mean points in every game: 0 as in equilibrium, 1 as if all cooperate; the best agent first.

    Games without these references, and agents that have not played all others, are left out.
    """
    rated = [(game.base.reference, outcome) for game, outcome in outcomes if game.base.reference is not None]
    agents = set.intersection(*(set(outcome.types) for _reference, outcome in rated)) if rated else set()
    by_agent = {
        agent: [reference.normalised(outcome.mean_payoff[agent]) for reference, outcome in rated] for agent in agents
    }
    return dict(sorted(by_agent.items(), key=lambda item: (-fmean(item[1]), item[0])))


def _leaderboard(outcomes: Sequence[tuple[Any, Tournament]]) -> Iterator[Block]:
    names = [_name(game) for game, _outcome in outcomes if game.base.reference is not None]
    rows = tuple(
        (f"{rank}. {agent}", *(number(round(score, 3)) for score in (fmean(by_game), *by_game)))
        for rank, (agent, by_game) in enumerate(scores(outcomes).items(), start=1)
    )
    if rows:
        title = _("Leaderboard: mean points, from 0 as in equilibrium to 1 as if all cooperate")
        yield Table("leaderboard", title, (_("Agent"), _("All games"), *names), rows)


def _name(game: Any) -> str:
    return f"{game.config.base_game} · {game.mechanism}".replace("_", " ")


def _rating(outcome: Tournament, label: str) -> str:
    if label not in outcome.ratings:
        return "–"
    shown = number(outcome.ratings[label])
    if label not in outcome.intervals:
        return shown
    low, high = map(number, outcome.intervals[label])
    return _("{value} ({low} to {high})").format(value=shown, low=low, high=high)


def _with_error(shown: Callable[[float], str], value: float, error: float | None) -> str:
    return shown(round(value, 4)) if error is None else f"{shown(round(value, 4))} ± {shown(round(error, 4))}"


def _blocks(game: Any, outcome: Tournament, key: str) -> Iterator[Block]:
    name = _name(game)
    score = "–" if outcome.score is None else number(outcome.score)
    without = _("none: they need five repetitions that differ; with more than two games, see the report")
    yield Facts(
        f"tournament_{key}",
        name,
        (
            Fact("matches", _("Finished matches"), outcome.matches, f"{outcome.matches:,}"),
            Fact("score", _("Population-weighted score after the dynamics"), outcome.score, score),
            *(
                [Fact("intervals", _("Intervals of deviation ratings"), None, without)]
                if outcome.ratings and not outcome.intervals
                else []
            ),
        ),
    )
    final = {} if outcome.path is None else dict(zip(outcome.types, outcome.path[-1].tolist(), strict=True))
    rating = _("Deviation rating (95% interval over repetitions)") if outcome.intervals else _("Deviation rating")
    errors = [error for error in (*outcome.mean_error.values(), *outcome.cooperation_error.values()) if error]
    mean = _("Mean points (± standard error over repetitions)") if errors else _("Mean points")
    columns = (_("Agent"), mean, _("Cooperation"), rating, _("Share at the end"))
    rows = tuple(
        (
            label,
            _with_error(number, outcome.mean_payoff[label], outcome.mean_error[label]),
            "–"
            if (share := outcome.cooperation[label]) is None
            else _with_error(percent, share, outcome.cooperation_error[label]),
            _rating(outcome, label),
            percent(round(final[label], 4)) if label in final else "–",
        )
        for label in outcome.types
    )
    yield Table(f"agents_{key}", _("Agents: {game}").format(game=name), columns, rows)
    matrix = outcome.matrix()
    if matrix is None or outcome.path is None:
        return
    cells = tuple((label, *map(number, row)) for label, row in zip(outcome.types, matrix.tolist(), strict=True))
    yield Table(
        f"matrix_{key}",
        _("Mean points of the row's agent with the column's: {game}").format(game=name),
        (_("Agent"), *outcome.types),
        cells,
    )
    last = len(outcome.path) - 1
    steps = sorted({round(last * index / SHOWN_STEPS) for index in range(SHOWN_STEPS + 1)})
    lines = tuple(
        Series(label, tuple((float(step), round(float(outcome.path[step][index]), 4)) for step in steps))
        for index, label in enumerate(outcome.types)
    )
    yield Chart(f"path_{key}", _("Replicator dynamics: {game}").format(game=name), _("Step"), _("Share"), lines)
