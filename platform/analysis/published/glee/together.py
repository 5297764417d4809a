"""Effects of pairs of players, models playing themselves, and the choice of a model as a game."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from operator import itemgetter
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd

from analysis.data import Data
from analysis.errors import SkippedError
from analysis.options import Options
from analysis.published.glee import printed
from analysis.published.glee.families import (
    FAMILIES,
    FAMILY,
    GAINS,
    HUMAN,
    METRIC,
    METRICS,
    families,
    frame,
    of_families,
)
from analysis.results import Result
from analysis.tables import Chart, Column, Table, count, number, records, share, text
from analysis.toolbox import holm, ols, pure_nash

PAIR = "pair"
ENDS: Mapping[str, Any] = {"smallest": min, "largest": max}
OFTEN = 0.05
"""Share of bootstrap draws from which a pair is listed."""
LARGE = 5_000
"""Number of matches above which the bootstrap makes only `FEWER_DRAWS`; each draw is a regression on all pairs."""
FEWER_DRAWS = 300
Effects = Mapping[tuple[str, str], float]
PAIR_METHOD = (
    "OLS of the metric on parameters, market and the ordered pair of players, for matches between agents; the effect "
    "is the pair's coefficient minus the unweighted mean over pairs (our reading of “relative to the mean outcome”); "
)


def matches_between_agents(data: Data, family: str) -> pd.DataFrame:
    """Return the family's matches between agents."""
    rows = frame(data, family)
    rows = rows[(rows["alice"] != HUMAN) & (rows["bob"] != HUMAN)].reset_index(drop=True)
    if rows[["alice", "bob"]].drop_duplicates().shape[0] < 2:
        raise SkippedError("There are fewer than two distinct pairs of agents.")
    return rows


def pair_effects(
    rows: Sequence[Mapping[str, Any]] | pd.DataFrame, outcome: str, alice: str, bob: str, factors: Mapping[str, Any]
) -> dict[str, Any]:
    """Return effects of the ordered pair (alice, bob) on an outcome, with the configuration as factors.

    Args:
        rows: dictionaries, or a pandas frame.
        alice, bob: names of the columns with the players.
        factors: reference level of each configuration factor.

    Returns:
        effects: {(alice, bob): coefficient minus the unweighted mean of all pairs' coefficients}, where the reference
        pair's coefficient is 0, in the outcome's unit; n, dropped, warnings.
    """
    paired = pd.DataFrame(rows).dropna(subset=[alice, bob])
    names = [*zip(paired[alice], paired[bob], strict=True)]
    pairs = sorted(set(names), key=str)
    if not pairs:
        return {"effects": {}, "n": 0, "note": "no pairs"}
    labels = {pair: f"{index:06d}" for index, pair in enumerate(pairs)}
    paired[PAIR] = [labels[name] for name in names]
    fitted = ols(paired, outcome, {**factors, PAIR: labels[pairs[0]]})
    coefficients = {term["term"]: term["estimate"] for term in fitted["terms"]}
    by_pair = {pair: coefficients.get(f"{PAIR}={label}") for pair, label in labels.items()}
    by_pair[pairs[0]] = 0.0
    estimated = {pair: value for pair, value in by_pair.items() if value is not None}
    centre = sum(estimated.values()) / len(estimated)
    return {"effects": {pair: value - centre for pair, value in estimated.items()},
            **{name: fitted[name] for name in ("n", "dropped", "warnings")}}  # fmt: skip


@of_families(
    "glee.pairs", "Effects of pairs (GLEE, figures 1 and 21 to 23)", "Does the partner matter?",
    f"{PAIR_METHOD}effects are fractions of the metric.", needs="agents",
)  # fmt: skip
def pairs(data: Data, options: Options) -> Result:
    tables: list[Table] = []
    found: dict[str, Any] = {}
    warnings: list[str] = []
    for family in families(data):
        rows, title = matches_between_agents(data, family), FAMILIES[family].title
        effects, ranges, charts = [], [], []
        for metric, heading in METRICS.items():
            result = pair_effects(rows, metric, "alice", "bob", FAMILIES[family].factors)
            if result.get("dropped"):
                dropped = ", ".join(result["dropped"])
                warnings.append(f"{title}, {heading.lower()}: dropped because of collinearity: {dropped}.")
            of = pd.DataFrame([(heading, *pair, effect) for pair, effect in result["effects"].items()],
                              columns=["metric", "alice", "bob", "estimate"])  # fmt: skip
            effects.append(of)
            published = printed.PAIRS.get((family, metric), (None, None))
            row: dict[str, Any] = {"metric": heading}
            for (end, choose), in_paper in zip(ENDS.items(), published, strict=True):
                pair, effect = choose(result["effects"].items(), key=itemgetter(1))
                row |= {end: effect, f"{end}_pair": ", ".join(pair), f"published_{end}": in_paper}
                found[f"{family}.{metric}.{end}"] = {"estimate": effect, "n": result["n"]}
            ranges.append(row)
            charts.append(Chart(
                "heat_map", name=f"{family}_{metric}", rows=of, x="bob", y="alice", centre=0,
                title=f"{title}: effect of the pair on {_lower_case(heading)}", titles={"x": "Bob", "y": "Alice"},
                order={"x": sorted(set(of["bob"])), "y": sorted(set(of["alice"]))},
            ))  # fmt: skip
        games = rows.groupby(["alice", "bob"]).size().rename("n")
        tables += [
            Table(f"{family}_range", f"{title}: smallest and largest effect of a pair",
                  [METRIC, *(column for end in ENDS for column in (
                      number(end, end.capitalize()), text(f"{end}_pair", "Pair"),
                      number(f"published_{end}", "Published")))],
                  ranges),
            Table(family, f"{title}: effects of the pairs",
                  [METRIC, text("alice", "Alice"), text("bob", "Bob"), number("estimate", "Effect"),
                   count("n", "Matches")],
                  pd.concat(effects, ignore_index=True).join(games, on=["alice", "bob"]),
                  note="Effects are fractions of the metric, not percentage points, relative to the unweighted mean of "
                  "all pairs.", charts=charts),
        ]  # fmt: skip
    return Result(tables, numbers=found, warnings=warnings)


def _lower_case(title: str) -> str:
    return title if title.startswith(("Alice", "Bob")) else title.lower()


@of_families(
    "glee.same_model", "A model with itself (GLEE, section 4)", "Do models do better when they play themselves?",
    f"{PAIR_METHOD}then OLS of these effects on both sides' models and on whether they are the same, "
    "with classical standard errors and one pair per row.",
    needs="agents",
)  # fmt: skip
def same_model(data: Data, options: Options) -> Result:
    results = []
    for family in families(data):
        rows = matches_between_agents(data, family)
        for metric, heading in METRICS.items():
            effects = pair_effects(rows, metric, "alice", "bob", FAMILIES[family].factors)["effects"]
            results.append({"family": FAMILIES[family].title, "metric": heading, "key": f"{family}.{metric}",
                            **same_model_difference(effects, level=options.level)})  # fmt: skip
    found = pd.DataFrame(results)
    found["p_holm"] = holm([None if pd.isna(p) else p for p in found["classical_p"]])
    table = Table(
        "same_model", "Pairs of a model with itself compared with the other pairs",
        [FAMILY, METRIC, number("diagonal", "Same model"), number("others", "Other pairs"),
         number("estimate", "Difference"), number("classical_se", "SE, classical"),
         number("classical_low", "Low, classical"), number("classical_high", "High, classical"),
         Column("classical_p", "p, classical", "p"), "p_holm", count("n", "Pairs"), text("published", "Published")],
        found.drop(columns="key"), note="Fractions of the metric; one observation per pair.",
    )  # fmt: skip
    return Result([table], numbers={row["key"]: {name: row[name] for name in ("estimate", *CLASSICAL, "n")}
                                    for row in records(found)})  # fmt: skip


CLASSICAL = ("classical_se", "classical_low", "classical_high", "classical_p")


def same_model_difference(effects: Effects, *, level: float = 0.95) -> dict[str, Any]:
    """Regress the pairs' effects on dummies for both sides and on `same`, which marks pairs of a model with itself."""
    rows = [{"alice": a, "bob": b, "same": int(a == b), "effect": value} for (a, b), value in effects.items()]
    fit = ols(rows, "effect", {"alice": None, "bob": None, "same": 0}, level=level)
    term: dict[str, Any] = next((t for t in fit["terms"] if t["term"] == "same=1"), {})
    diagonal, others = ([value for (a, b), value in effects.items() if (a == b) == same] for same in (True, False))
    return {
        "estimate": term.get("estimate"), **{key: term.get(key.removeprefix("classical_")) for key in CLASSICAL},
        "diagonal": fmean(diagonal) if diagonal else None, "others": fmean(others) if others else None,
        "n": len(rows), "published": "no effect",
    }  # fmt: skip


@of_families(
    "glee.meta_game", "Choosing a model as a game (GLEE, footnote 13)", "Which choices of models are stable?",
    f"{PAIR_METHOD}pure-strategy equilibria of the table of effects on both self-gains (ties within 1e-9), "
    "and the share of bootstrap draws of independent units in which a pair is an equilibrium "
    f"({FEWER_DRAWS} draws for more than {LARGE:,} matches).",
    needs="agents",
)  # fmt: skip
def meta_game(data: Data, options: Options) -> Result:
    results: list[dict[str, Any]] = []
    found: dict[str, Any] = {}
    warnings: list[str] = []
    for family in families(data):
        rows, title = matches_between_agents(data, family), FAMILIES[family].title
        alice, bob = (pair_effects(rows, gain, "alice", "bob", FAMILIES[family].factors)["effects"] for gain in GAINS)
        models = [len({pair[side] for pair in alice}) for side in (0, 1)]
        if len(alice) < models[0] * models[1] or len(bob) < len(alice):
            warnings.append(f"{title}: some models never met, so there is no complete game to solve.")
            continue
        pure = equilibria(alice, bob)
        draws = options.draws if len(rows) <= LARGE else min(options.draws, FEWER_DRAWS)
        counts, n_valid = bootstrap_equilibria(rows, list(FAMILIES[family].factors), draws=draws, seed=options.seed)
        shares = {pair: counts[pair] / n_valid if n_valid else None for pair in {*pure, *counts}}
        results += [
            {"family": title, "alice": pair[0], "bob": pair[1], "found": "yes" if pair in pure else "no",
             "alice_effect": alice[pair], "bob_effect": bob[pair], "share": share, "draws": n_valid,
             "published": printed.EQUILIBRIA[family]}
            for pair, share in sorted(shares.items()) if pair in pure or (share or 0) >= OFTEN
        ]  # fmt: skip
        found[f"{family}.equilibria"] = {"estimate": len(pure), "n": len(rows)}
        if not pure:
            warnings.append(f"{title}: there is no pure-strategy equilibrium.")
        if n_valid < draws:
            warnings.append(f"{title}: {draws - n_valid} of {draws} bootstrap draws lack a pair and are not counted.")
    if not found:
        raise SkippedError(" ".join(warnings) or "There is no game to solve.")
    table = Table(
        "equilibria", "Pure-strategy equilibria of the choice of a model",
        [FAMILY, text("alice", "Alice chooses"), text("bob", "Bob chooses"), text("found", "Equilibrium"),
         number("alice_effect", "Alice's effect"), number("bob_effect", "Bob's effect"),
         share("share", "Share of draws"), count("draws", "Draws"), text("published", "Published (Alice, Bob)")],
        results, note="Effects are fractions of the self-gain. Pairs that are an equilibrium in at least 5 % of the "
        "bootstrap draws are also listed.",
    )  # fmt: skip
    return Result([table], numbers=found, warnings=warnings)


def equilibria(alice: Effects, bob: Effects) -> list[tuple[str, str]]:
    """Return the pure-strategy equilibria, given complete tables of effects on both sides' gains."""
    rows, columns = (sorted({pair[side] for pair in alice}) for side in (0, 1))
    alice_payoffs = [[alice[a, b] for b in columns] for a in rows]
    bob_payoffs = [[bob[a, b] for b in columns] for a in rows]
    return [(rows[i], columns[j]) for i, j in pure_nash(alice_payoffs, bob_payoffs)]


def bootstrap_equilibria(
    rows: pd.DataFrame, factors: Sequence[str], *, draws: int, seed: int
) -> tuple[Counter[tuple[str, str]], int]:
    """Return how often each pair is an equilibrium over bootstrap draws of units, and the number of valid draws.

    Each draw's regression is solved from weighted sums of the matches' dummies, stored as a sparse matrix.
    """
    from scipy.sparse import csr_array

    rows = rows.sort_values("match", kind="stable").dropna(subset=[*GAINS, *factors, "alice", "bob"])
    n = len(rows)
    alices, bobs = (sorted(rows[role].unique()) for role in ("alice", "bob"))
    pair_code = np.searchsorted(alices, rows["alice"]) * len(bobs) + np.searchsorted(bobs, rows["bob"])
    columns, width = [np.zeros(n, dtype=int)], 1
    for factor in factors:
        levels, codes = np.unique(rows[factor].astype("str"), return_inverse=True)
        columns.append(np.where(codes > 0, width + codes - 1, -1))
        width += len(levels) - 1
    first = width
    columns.append(np.where(pair_code > 0, width + pair_code - 1, -1))
    width += len(alices) * len(bobs) - 1
    column_index, row_index = np.concatenate(columns), np.tile(np.arange(n), len(columns))
    is_coded = column_index >= 0
    x = csr_array((np.ones(is_coded.sum()), (row_index[is_coded], column_index[is_coded])), shape=(n, width))
    y = rows[list(GAINS)].to_numpy(dtype=float)
    cluster = np.unique(rows["cluster"], return_inverse=True)[1]
    units, rng = cluster.max(initial=-1) + 1, np.random.default_rng(seed)
    counts: Counter[tuple[str, str]] = Counter()
    n_valid = 0
    for _draw in range(draws):
        draw_counts = np.bincount(rng.integers(0, units, size=units), minlength=units)[cluster].astype(float)
        if (np.bincount(pair_code, weights=draw_counts, minlength=len(alices) * len(bobs)) == 0).any():
            continue
        effects = _weighted_solution(x, y, draw_counts)[first:]
        tables = np.vstack([np.zeros((1, 2)), effects]).reshape(len(alices), len(bobs), 2)
        n_valid += 1
        for i, j in pure_nash(tables[:, :, 0].tolist(), tables[:, :, 1].tolist()):
            counts[str(alices[i]), str(bobs[j])] += 1
    return counts, n_valid


def _weighted_solution(x: Any, y: np.ndarray, weights: np.ndarray) -> Any:
    """Return the weighted least-squares coefficients; the minimum-norm solution if a level was not drawn."""
    weighted = x.multiply(weights[:, None]).tocsr()
    squares = (x.T @ weighted).toarray()
    sums = weighted.T @ y
    try:
        return np.linalg.solve(squares, sums)
    except np.linalg.LinAlgError:
        return np.linalg.lstsq(squares, sums, rcond=None)[0]
