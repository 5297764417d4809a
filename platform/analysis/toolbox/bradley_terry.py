"""Strengths of players from their matches, by the Bradley–Terry model (Bradley and Terry 1952) with effects of seats.

Unlike ratings that are updated match by match, strengths do not depend on the order of the matches. Servers without
the libraries of the analyses compute them too, so only numpy is needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from analysis.toolbox.dependence import (
    FEWEST_ON_A_SIDE,
    FEWEST_UNITS,
    NO_VARIATION,
    ONE_UNIT_DOMINATES,
    TOO_FEW,
    TOO_FEW_HERE,
)
from analysis.toolbox.estimates import two_sided
from analysis.toolbox.numbers import Result, finite

Match = Mapping[str, Any] | Sequence[tuple[str, Any]]
Labels = str | Sequence[Hashable] | None
Cell = tuple[str, str, int, int, Hashable]
"""What is compared: two players in alphabetical order, their seats, and the configuration."""

SEAT_EFFECT = "seat_effect"
RIDGE = 1e-8
"""Keeps what no match determines at zero; it changes estimates by less than a millionth."""
FARTHEST = 12.0
"""Log-odds beyond which an estimate is infinite: the result of some comparison is then always the same."""
LONGEST_STEP, TOLERANCE, MOST_STEPS = 2.0, 1e-8, 60
NUMBERS_AT_ONCE = 4_000_000
MOST_UNITS = 200
"""With more units, random groups of them are left out and drawn: time and memory would grow with their number."""
MOST_CONFIGURATIONS, FEWEST_MATCHES = 20, 10
FEWEST_DRAWS = 0.9
"""The smallest share of draws whose matches connect all players, for intervals."""
NOT_CONNECTED = "no chain of matches connects them with the others"
ALONE = "nobody played against anybody else"
WON_EVERYTHING = "they won, or lost, everything against the others, so that their strength has no finite value"
NO_TWO_ALIKE = "of any two players, one won everything, so that strengths have no finite values"
PENALISED = "some results never vary, so that estimates are finite only with Firth's penalty"
SEATS_AND_PLAYERS = "players always had the same seats"
ONE_EFFECT = "in some configurations, players always had the same seats, so that one effect stands for all"
WITHOUT_SEATS = "effects of seats were not estimated"
RARELY_CONNECTED = "without some independent units, no chain of matches connects all players"


def bradley_terry(
    matches: Sequence[Match],
    seats: bool = True,
    configuration: Labels = None,
    cluster: Labels = None,
    draws: int = 2000,
    seed: int = 1,
    *,
    level: float = 0.95,
) -> dict[str, Result]:
    """Return players' strengths: a player beats another with log-odds of their difference and their seats' effects.

    A match of several players counts as a comparison of every two, and equal scores as half a win for both. Estimates
    are of maximum likelihood. Intervals are the jackknife's, which leaves out each cluster, with t for one degree of
    freedom fewer than clusters: percentiles of a bootstrap are too narrow with few. Those of ranks are percentiles of
    a bootstrap over clusters, with the draws of `bootstrap`. Over 200 clusters are first joined at random into 200.
    Firth's penalty (1993) keeps strengths finite where somebody won everything.

    Args:
        matches: {player: score} in the order of seats, or pairs (player, score) if a player may have several seats.
            The higher score is better; None is missing.
        seats: whether to estimate effects of seats.
        configuration: each match's configuration, in which seats may have effects of their own; labels in the order
            of the matches, or a key that all matches have.
        cluster: each match's independent unit, likewise; by default, every match is one.

    Returns:
        by player: strength (with mean zero), low, high, rank (1 is best), rank_low, rank_high, n (matches), clusters
            and note. If matches do not connect all players, only the largest connected group has strengths and ranks.
            Who won or lost everything has no strength, but a rank.
        `seat_effect`: the log-odds of the first seat against the mean of the others, averaged over configurations:
            estimate, low, high, note, and `configurations`, the estimate in each.
    """
    compared = _Compared.of(matches, configuration, cluster, with_seats=seats)
    result: dict[str, Result] = {
        player: {**dict.fromkeys(("strength", "low", "high", "rank", "rank_low", "rank_high")), "n": played,
                 "clusters": 0, "note": NOT_CONNECTED if compared.cells else ALONE}
        for player, played in sorted(compared.matches.items())
    }  # fmt: skip
    effect: Result = {**dict.fromkeys(("estimate", "low", "high")), "configurations": {}, "note": WITHOUT_SEATS}
    if not compared.cells:
        return {**result, SEAT_EFFECT: effect | {"note": ALONE if seats else WITHOUT_SEATS}}
    fit = _Fit(compared, seed, level)
    for player, ranked in fit.ranks(draws, seed):
        result[player] |= ranked
    core = compared.where_both_win() if fit.penalised else compared
    for player in compared.players:
        result[player]["note"] = WON_EVERYTHING if core.cells else NO_TWO_ALIKE
    if core.cells:
        fit = fit if core is compared else _Fit(core, seed, level)
        for player, strength in fit.strengths():
            result[player] |= strength
        effect |= fit.seat_effect() if seats else {}
    return {**result, SEAT_EFFECT: effect}


def enough_of_each(configurations: Sequence[Hashable]) -> Sequence[Hashable] | None:
    """Return matches' configurations if there are few enough, with enough matches each, for effects of their seats."""
    number = Counter(configurations).values()
    return configurations if len(number) <= MOST_CONFIGURATIONS and min(number, default=0) >= FEWEST_MATCHES else None


@dataclass(frozen=True)
class _Compared:
    """Comparisons of players whom a chain of matches connects.

    Attributes:
        matches: the number of matches of every player, whether compared or not.
        units: of each cluster, how often each cell's first player won, by (cell, 1 for a win, 0 or one half).
    """

    matches: Mapping[str, int]
    units: Sequence[Counter[tuple[Cell, float]]]
    with_seats: bool

    @classmethod
    def of(cls, matches: Sequence[Match], configuration: Labels, cluster: Labels, *, with_seats: bool) -> _Compared:
        keys = {label for label in (configuration, cluster) if isinstance(label, str)}
        configurations, clusters = (_labels(matches, given) for given in (configuration, cluster))
        seated = [_seated(match, keys) for match in matches]
        of_matches = [
            Counter(_pairs(match, "" if configurations is None else configurations[number], with_seats=with_seats))
            for number, match in enumerate(seated)
        ]
        # Without clusters, the order of the matches must not matter either.
        labels = [str(sorted(unit.items(), key=str)) for unit in of_matches] if clusters is None else clusters
        by_label: dict[Hashable, Counter[tuple[Cell, float]]] = {}
        for number in sorted(range(len(labels)), key=lambda number: (str(type(labels[number])), labels[number])):
            label = number if clusters is None else labels[number]
            by_label.setdefault(label, Counter()).update(of_matches[number])
        played = Counter(player for match in seated for player in {player for player, _score, _seat in match})
        everything = cls(played, [*by_label.values()], with_seats)
        return everything.among(_largest(_groups(everything.cells, both_ways=False)))

    def among(self, players: set[str]) -> _Compared:
        units = [Counter({(cell, won): times for (cell, won), times in unit.items() if {*cell[:2]} <= players})
                 for unit in self.units]  # fmt: skip
        return _Compared(self.matches, [unit for unit in units if unit], self.with_seats)

    def where_both_win(self) -> _Compared:
        """Return the comparisons within the largest group of players who, through others, both won and lost."""
        wins = [(cell if won else (cell[1], cell[0]))[:2] for unit in self.units for cell, won in unit]
        ties = [cell[1::-1] for unit in self.units for cell, won in unit if won == 0.5]
        return self.among(_largest(_groups([*wins, *ties], both_ways=True)))

    @property
    def cells(self) -> list[Cell]:
        found = {cell for unit in self.units for cell, _won in unit}
        return sorted(found, key=lambda cell: (cell[:4], str(type(cell[4])), cell[4]))

    @property
    def players(self) -> list[str]:
        return sorted({player for cell in self.cells for player in cell[:2]})


def _labels(matches: Sequence[Match], given: Labels) -> Sequence[Any] | None:
    if isinstance(given, str) and all(isinstance(match, Mapping) and given in match for match in matches):
        return [dict(match)[given] for match in matches]
    return given


def _seated(match: Match, keys: set[str]) -> list[tuple[str, float, int]]:
    """Return player, score and seat of everybody with a score."""
    pairs = [pair for pair in (match.items() if isinstance(match, Mapping) else match) if pair[0] not in keys]
    return [(player, number, seat) for seat, (player, score) in enumerate(pairs)
            if (number := finite(score)) is not None]  # fmt: skip


def _pairs(
    match: Sequence[tuple[str, float, int]], configuration: Hashable, *, with_seats: bool
) -> Iterator[tuple[Cell, float]]:
    for one, two in combinations(match, 2):
        first, second = sorted((one, two), key=lambda seat: (seat[0], seat[2]))
        if first[0] != second[0] or with_seats:
            won = 0.5 if first[1] == second[1] else float(first[1] > second[1])
            seats = (first[2], second[2], configuration) if with_seats else (0, 0, "")
            yield (first[0], second[0], *seats), won


def _groups(pairs: Sequence[Any], *, both_ways: bool) -> list[set[str]]:
    """Return the groups of players whom pairs (one, two, …) connect; both ways: in either direction."""
    ahead: dict[str, set[str]] = {}
    for one, two, *_rest in pairs:
        ahead.setdefault(one, set()).add(two)
        ahead.setdefault(two, set()).update(() if both_ways else [one])
    reached = {}
    for player in ahead:
        found, to_visit = {player}, [player]
        while to_visit:
            new = ahead[to_visit.pop()] - found
            found |= new
            to_visit += new
        reached[player] = found
    groups: list[set[str]] = []
    for player in sorted(ahead):
        if not any(player in group for group in groups):
            groups.append({other for other in reached[player] if player in reached[other]})
    return groups


def _largest(groups: Sequence[set[str]]) -> set[str]:
    """Return the largest group of at least two; of several, the one with the first name."""
    return max((group for group in groups if len(group) > 1), key=len, default=set())


class _Fit:
    """The model's estimates from all clusters, without each, and from those of each draw.

    Attributes:
        players: in alphabetical order; their strengths are the first estimates, and those of seats follow.
        penalised: whether the estimates from all clusters are finite only with a penalty.
        kind: of each cluster; clusters of one kind have the same results, and leaving out either is the same.
        left_out: the estimates without one cluster of each kind.
        why_not: why nothing has an interval; "" if estimates may have one.
    """

    def __init__(self, compared: _Compared, seed: int, level: float) -> None:
        self.compared, self.level, self.players, cells = compared, level, compared.players, compared.cells
        self.configurations, self.design, self.seats_note = _design(cells, self.players, compared.with_seats)
        self.has_seats = self.design.shape[1] > len(self.players)
        column = {cell: index for index, cell in enumerate(cells)}
        kinds: dict[Any, int] = {}
        units = _joined(compared.units, seed)
        self.kind = np.array([kinds.setdefault(frozenset(unit.items()), len(kinds)) for unit in units])
        results = np.zeros((len(kinds), 2, len(cells)))
        for row, unit in enumerate(kinds):
            for (cell, won), times in unit:
                results[row, :, column[cell]] += times * won, times * (1 - won)
        self.results = results.reshape(len(kinds), -1)
        everything, sizes = np.bincount(self.kind) @ self.results, self.results.sum(axis=1)[self.kind]
        estimate, infinite = _maximum(self.design, everything[None], penalised=False)
        self.penalised = bool(infinite[0])
        if self.penalised:
            estimate, _infinite = _maximum(self.design, everything[None], penalised=True)
        self.estimate, self.left_out = estimate[0], np.zeros((0, len(estimate[0])))
        self.why_not = TOO_FEW if len(self.kind) < FEWEST_UNITS else ""
        if not self.why_not and 2 * sizes.max() >= sizes.sum():
            self.why_not = ONE_UNIT_DOMINATES
        if not self.why_not:
            size = self._at_once(1)
            parts = [self._estimates(everything - self.results[at : at + size]) for at in range(0, len(kinds), size)]
            self.left_out = np.concatenate(parts)
            if len(self.left_out) < len(kinds):
                self.why_not = RARELY_CONNECTED

    def _at_once(self, clusters: int) -> int:
        """Return how many draws of so many clusters are estimated at once."""
        return max(1, NUMBERS_AT_ONCE // max(clusters, 2 * len(self.design), self.design.shape[1] ** 2))

    def _estimates(self, results: np.ndarray) -> np.ndarray:
        """Return the estimates from each row of results that connects all players."""
        players = len(self.players)
        of_players = self.design[:, :players]
        products = (of_players[:, :, None] * of_players[:, None, :]).reshape(len(self.design), -1)
        laplacian = results.reshape(len(results), 2, -1).sum(axis=1) @ products
        connected = np.linalg.eigvalsh(laplacian.reshape(-1, players, players))[:, 1] > RIDGE
        results = results[connected]
        estimates, infinite = _maximum(self.design, results, penalised=self.penalised, start=self.estimate)
        if infinite.any() and not self.penalised:
            estimates[infinite] = _maximum(self.design, results[infinite], penalised=True)[0]
        return estimates

    def drawn(self, draws: int, seed: int) -> np.ndarray:
        """Return the estimates of the draws whose matches connect all players."""
        rng, clusters, kinds = np.random.default_rng(seed), len(self.kind), len(self.results)
        size = self._at_once(clusters)
        found = [np.zeros((0, len(self.estimate)))]
        for first in range(0, draws, size):
            number = min(size, draws - first)
            chosen = self.kind[rng.integers(0, clusters, size=(number, clusters))]
            chosen += kinds * np.arange(number)[:, None]
            times = np.bincount(chosen.ravel(), minlength=number * kinds).reshape(number, kinds)
            found.append(self._estimates(times @ self.results))
        return np.concatenate(found)

    def _interval(self, estimate: float, left_out: np.ndarray, why_not: str) -> Result:
        """Return the jackknife's interval of an estimate."""
        clusters, times = len(self.kind), np.bincount(self.kind)
        if not why_not:
            error = float(np.sqrt((clusters - 1) / clusters * times @ (left_out - estimate) ** 2))
            why_not = "" if error > TOLERANCE else NO_VARIATION
        if why_not:
            return {"low": None, "high": None, "note": why_not}
        half = two_sided(self.level, clusters - 1) * error
        return {"low": estimate - half, "high": estimate + half, "note": ""}

    def _of_each(self) -> Iterator[tuple[int, str, int, str]]:
        """Yield each player's position, name, number of clusters, and why nothing of theirs has an interval."""
        for index, player in enumerate(self.players):
            clusters = sum(any(player in cell[:2] for cell, _won in unit) for unit in self.compared.units)
            yield index, player, clusters, self.why_not or (TOO_FEW_HERE if clusters < FEWEST_ON_A_SIDE else "")

    def strengths(self) -> Iterator[tuple[str, Result]]:
        """Yield each player's strength with its interval."""
        for index, player, _clusters, why_not in self._of_each():
            found = self._interval(float(self.estimate[index]), self.left_out[:, index], why_not)
            found["note"] = found["note"] or (PENALISED if self.penalised else "")
            yield player, {"strength": float(self.estimate[index]), **found}

    def ranks(self, draws: int, seed: int) -> Iterator[tuple[str, Result]]:
        """Yield each player's rank with its interval, whose ends are rounded outwards; who are equal share ranks."""
        players = len(self.players)
        drawn = self.left_out if self.why_not else self.drawn(draws, seed)
        strengths = drawn[:, :players, None] - drawn[:, None, :players]
        best = 1 + (strengths < -TOLERANCE).sum(axis=2)
        worst = players - (strengths > TOLERANCE).sum(axis=2)
        for index, player, clusters, why_not in self._of_each():
            rank = 1 + int((self.estimate[:players] > self.estimate[index] + TOLERANCE).sum())
            found: Result = {"rank": rank, "clusters": clusters}
            if not why_not and len(drawn) >= FEWEST_DRAWS * draws:
                found["rank_low"] = int(np.quantile(best[:, index], (1 - self.level) / 2, method="lower"))
                found["rank_high"] = int(np.quantile(worst[:, index], (1 + self.level) / 2, method="higher"))
            yield player, found

    def seat_effect(self) -> Result:
        """Return the effect of the first seat, averaged over configurations and in each."""
        if not self.has_seats:
            return {"note": self.seats_note}
        configurations = len(self.configurations)
        seats = (len(self.estimate) - len(self.players)) // configurations
        contrast = np.array([1.0, *[-1 / (seats - 1)] * (seats - 1)])

        def effects(estimates: np.ndarray) -> np.ndarray:
            return estimates[..., len(self.players) :].reshape(*estimates.shape[:-1], configurations, seats) @ contrast

        found = effects(self.estimate)
        why_not = self.why_not or (PENALISED if self.penalised else "")
        interval = self._interval(float(found.mean()), effects(self.left_out).mean(axis=-1), why_not)
        note = interval.pop("note") or self.seats_note
        by_configuration = dict(zip(self.configurations, map(float, found), strict=True))
        return {"estimate": float(found.mean()), **interval, "configurations": by_configuration, "note": note}


def _joined(units: Sequence[Counter[Any]], seed: int) -> Sequence[Counter[Any]]:
    """Return the units, joined at random into as many as are estimated without."""
    if len(units) <= MOST_UNITS:
        return units
    groups: list[Counter[Any]] = [Counter() for _group in range(MOST_UNITS)]
    for place, index in enumerate(np.random.default_rng(seed).permutation(len(units))):
        groups[place % MOST_UNITS].update(units[index])
    return groups


def _design(cells: Sequence[Cell], players: Sequence[str], with_seats: bool) -> tuple[list[Any], np.ndarray, str]:
    """Return the configurations, a row per cell with a column per player and seat in a configuration, and a note."""
    seats = 1 + max(max(cell[2:4]) for cell in cells)
    of_players = _contrasts([(players.index(one), players.index(two)) for one, two, *_rest in cells], len(players))
    configurations: list[Any] = list(dict.fromkeys(cell[4] for cell in sorted(cells, key=lambda cell: str(cell[4]))))
    together: list[Any] = [""]
    for labels, note in ((configurations, ""), (together, ONE_EFFECT if len(configurations) > 1 else "")):
        at = [seats * (labels.index(cell[4]) if cell[4] in labels else 0) for cell in cells]
        ends = [(first + cell[2], first + cell[3]) for first, cell in zip(at, cells, strict=True)]
        of_seats = _contrasts(ends, seats * len(labels))
        both, rank = np.hstack([of_players, of_seats]), np.linalg.matrix_rank
        if with_seats and rank(both) == rank(of_players) + rank(of_seats) > rank(of_players):
            return labels, both, note
    return [], of_players, SEATS_AND_PLAYERS


def _contrasts(ends: Sequence[tuple[int, int]], columns: int) -> np.ndarray:
    """Return a row for each pair of columns: 1 in the first and -1 in the second, 0 if they are the same."""
    found = np.zeros((len(ends), columns))
    for row, (one, two) in enumerate(ends):
        found[row, one] += 1
        found[row, two] -= 1
    return found


def _maximum(
    design: np.ndarray, results: np.ndarray, *, penalised: bool, start: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the estimates that maximise the likelihood, and in which draws some log-odds are infinite.

    Args:
        results: a row per draw, with the wins in each cell and then the losses.
        penalised: whether the likelihood is multiplied by the root of the information's determinant (Firth).
    """
    # What no match determines is left out, as rounding would move it at every step.
    _left, sizes, right = np.linalg.svd(design, full_matrices=False)
    basis = right[sizes > TOLERANCE * sizes.max()].T
    of_cells = design @ basis
    draws, parameters = len(results), basis.shape[1]
    products = (of_cells[:, :, None] * of_cells[:, None, :]).reshape(len(design), -1)
    wins, losses = results[:, : len(design)], results[:, len(design) :]
    estimates = np.zeros((draws, parameters)) if start is None else np.tile(start @ basis, (draws, 1))
    ridge = RIDGE * np.eye(parameters)
    moving = np.arange(draws)
    for _step in range(MOST_STEPS):
        if not len(moving):
            break
        now = estimates[moving]
        p = 1 / (1 + np.exp(-np.clip(now @ of_cells.T, -500, 500)))
        total = wins[moving] + losses[moving]
        weights = total * p * (1 - p)
        information = (weights @ products).reshape(-1, parameters, parameters) + ridge
        surplus = wins[moving] - total * p
        if penalised:
            leverage = weights * (np.linalg.inv(information).reshape(len(moving), -1) @ products.T)
            surplus = surplus + leverage * (0.5 - p)
        score = surplus @ of_cells - RIDGE * now
        step = np.linalg.solve(information, score[:, :, None])[:, :, 0]
        longest = np.abs(step).max(axis=1)
        estimates[moving] = now + step * np.minimum(1, LONGEST_STEP / np.maximum(longest, LONGEST_STEP))[:, None]
        moving = moving[longest > TOLERANCE]
    return estimates @ basis.T, (np.abs(estimates @ of_cells.T) > FARTHEST).any(axis=1)
