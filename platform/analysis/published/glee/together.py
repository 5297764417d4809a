"""Effects of pairs of players, models playing themselves, and the choice of a model as a game."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from analysis import charts
from analysis.errors import SkippedError
from analysis.frames import add_holm
from analysis.published.glee import printed
from analysis.published.glee.families import FAMILIES, GAINS, HUMAN, METRICS, REQUIRED_COLUMNS, families, frame
from analysis.published.glee.pairs import pair_effects
from analysis.results import Analysis, Options, Result, Table, count, number, p_value, share, text
from analysis.toolbox import ols, pure_nash

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from analysis.data import Data

LARGE = 5_000
"""Number of matches above which the bootstrap makes only `FEWER_DRAWS`; each draw is a regression on all pairs."""
FEWER_DRAWS = 300
Effects = Mapping[tuple[str, str], float]


def matches_between_agents(data: Data, family: str) -> pd.DataFrame:
    """Return the family's matches between agents."""
    rows = frame(data, family)
    rows = rows[(rows["alice"] != HUMAN) & (rows["bob"] != HUMAN)].reset_index(drop=True)
    if rows[["alice", "bob"]].drop_duplicates().shape[0] < 2:
        raise SkippedError("There are fewer than two distinct pairs of agents.")
    return rows


def pairs(data: Data, options: Options) -> Result:
    """Return the effect of each pair on each metric, relative to the mean over pairs."""
    tables, figures, numbers, warnings = [], [], {}, []
    for family in families(data):
        rows = matches_between_agents(data, family)
        title = FAMILIES[family].title
        games = Counter(zip(rows["alice"], rows["bob"], strict=True))
        results, ranges = [], []
        for metric, metric_title in METRICS.items():
            result = pair_effects(rows, metric, "alice", "bob", FAMILIES[family].factors)
            if result.get("dropped"):
                warnings.append(
                    f"{title}, {metric_title.lower()}: dropped because of collinearity: {', '.join(result['dropped'])}."
                )
            pair_rows = [
                {"metric": metric_title, "alice": a, "bob": b, "estimate": effect, "n": games[a, b]}
                for (a, b), effect in result["effects"].items()
            ]
            results += pair_rows
            low, high = min(pair_rows, key=lambda r: r["estimate"]), max(pair_rows, key=lambda r: r["estimate"])
            published = printed.PAIRS.get((family, metric), (None, None))
            ranges.append({"metric": metric_title, "smallest": low["estimate"], "smallest_pair": _pair_name(low),
                           "published_smallest": published[0], "largest": high["estimate"],
                           "largest_pair": _pair_name(high), "published_largest": published[1]})  # fmt: skip
            numbers[f"{family}.{metric}.smallest"] = {"estimate": low["estimate"], "n": result["n"]}
            numbers[f"{family}.{metric}.largest"] = {"estimate": high["estimate"], "n": result["n"]}
            figures.append(
                charts.figure(
                    "heat_map",
                    f"{family}_{metric}",
                    f"{title}: effect of the pair on {_lower_case(metric_title)}",
                    pair_rows,
                    x="bob",
                    y="alice",
                    centre=0,
                    titles={"x": "Bob", "y": "Alice", "colour": "Effect"},
                    order={"x": sorted({r["bob"] for r in pair_rows}), "y": sorted({r["alice"] for r in pair_rows})},
                )
            )
        tables.append(Table(
            f"{family}_range", f"{title}: smallest and largest effect of a pair",
            [text("metric", "Metric"), number("smallest", "Smallest"), text("smallest_pair", "Pair"),
             number("published_smallest", "Published"), number("largest", "Largest"), text("largest_pair", "Pair"),
             number("published_largest", "Published")], ranges,
        ))  # fmt: skip
        tables.append(Table(
            family, f"{title}: effects of the pairs",
            [text("metric", "Metric"), text("alice", "Alice"), text("bob", "Bob"), number("estimate", "Effect"),
             count("n", "Matches")], results,
            note="Effects are fractions of the metric, not percentage points, relative to the unweighted mean of all "
            "pairs.",
        ))  # fmt: skip
    return Result(tables, figures, numbers, warnings=warnings)


def _lower_case(title: str) -> str:
    return title if title.startswith(("Alice", "Bob")) else title.lower()


def _pair_name(row: Mapping[str, Any]) -> str:
    return f"{row['alice']}, {row['bob']}"


# ---- the same model on both sides --------------------------------------------------------------------------------


def same_model(data: Data, options: Options) -> Result:
    """Return how pairs of a model with itself differ from the other pairs."""
    results, numbers = [], {}
    for family in families(data):
        rows = matches_between_agents(data, family)
        for metric, metric_title in METRICS.items():
            effects = pair_effects(rows, metric, "alice", "bob", FAMILIES[family].factors)["effects"]
            difference = same_model_difference(effects, level=options.level)
            results.append({"family": FAMILIES[family].title, "metric": metric_title, **difference})
            numbers[f"{family}.{metric}"] = {k: difference[k] for k in ("estimate", *CLASSICAL, "n")}
    table = Table(
        "same_model", "Pairs of a model with itself compared with the other pairs",
        [text("family", "Family"), text("metric", "Metric"), number("diagonal", "Same model"),
         number("others", "Other pairs"), number("estimate", "Difference"), number("classical_se", "SE, classical"),
         number("classical_low", "Low, classical"), number("classical_high", "High, classical"),
         p_value("classical_p", "p, classical"), p_value("p_holm", "p, Holm"), count("n", "Pairs"),
         text("published", "Published")],
        add_holm(results, "classical_p"), note="Fractions of the metric; one observation per pair.",
    )  # fmt: skip
    return Result([table], [], numbers)


CLASSICAL = ("classical_se", "classical_low", "classical_high", "classical_p")


def same_model_difference(effects: Effects, *, level: float = 0.95) -> dict[str, Any]:
    """Regress the pairs' effects on dummies for both sides and on `same`, which marks pairs of a model with itself."""
    rows = [{"alice": a, "bob": b, "same": int(a == b), "effect": value} for (a, b), value in effects.items()]
    fit = ols(rows, "effect", {"alice": None, "bob": None, "same": 0}, level=level)
    term = next((t for t in fit["terms"] if t["term"] == "same=1"), {})
    diagonal, others = ([row["effect"] for row in rows if row["same"] == same] for same in (1, 0))
    return {
        "estimate": term.get("estimate"), **{key: term.get(key.removeprefix("classical_")) for key in CLASSICAL},
        "diagonal": fmean(diagonal) if diagonal else None, "others": fmean(others) if others else None,
        "n": len(rows), "published": "no effect",
    }  # fmt: skip


# ---- choosing a model as a game ------------------------------------------------------------------------------------


def meta_game(data: Data, options: Options) -> Result:
    """Return the pure-strategy equilibria of the game in which both sides choose a model."""
    results, numbers, warnings = [], {}, []
    for family in families(data):
        rows = matches_between_agents(data, family)
        title = FAMILIES[family].title
        gains = [pair_effects(rows, gain, "alice", "bob", FAMILIES[family].factors)["effects"] for gain in GAINS]
        players = [sorted({pair[side] for pair in gains[0]}) for side in (0, 1)]
        if len(gains[0]) < len(players[0]) * len(players[1]) or len(gains[1]) < len(gains[0]):
            warnings.append(f"{title}: some models never met, so there is no complete game to solve.")
            continue
        pure_equilibria = equilibria(*gains)
        draws = options.draws if len(rows) <= LARGE else min(options.draws, FEWER_DRAWS)
        counts, n_valid = bootstrap_equilibria(rows, list(FAMILIES[family].factors), draws=draws, seed=options.seed)
        for pair in sorted({*pure_equilibria, *(p for p, k in counts.items() if n_valid and k / n_valid >= 0.05)}):
            results.append({
                "family": title, "alice": pair[0], "bob": pair[1], "found": "yes" if pair in pure_equilibria else "no",
                "alice_effect": gains[0][pair], "bob_effect": gains[1][pair],
                "share": counts[pair] / n_valid if n_valid else None, "draws": n_valid,
                "published": printed.EQUILIBRIA[family],
            })  # fmt: skip
        numbers[f"{family}.equilibria"] = {"estimate": len(pure_equilibria), "n": len(rows)}
        if not pure_equilibria:
            warnings.append(f"{title}: there is no pure-strategy equilibrium.")
        if n_valid < draws:
            warnings.append(f"{title}: {draws - n_valid} of {draws} bootstrap draws lack a pair and are not counted.")
    if not results and not numbers:
        raise SkippedError(" ".join(warnings) or "There is no game to solve.")
    table = Table(
        "equilibria", "Pure-strategy equilibria of the choice of a model",
        [text("family", "Family"), text("alice", "Alice chooses"), text("bob", "Bob chooses"),
         text("found", "Equilibrium"), number("alice_effect", "Alice's effect"), number("bob_effect", "Bob's effect"),
         share("share", "Share of draws"), count("draws", "Draws"), text("published", "Published (Alice, Bob)")],
        results, note="Effects are fractions of the self-gain. Pairs that are an equilibrium in at least 5 % of the "
        "bootstrap draws are also listed.",
    )  # fmt: skip
    return Result([table], [], numbers, warnings=warnings)


def equilibria(alice: Effects, bob: Effects) -> list[tuple[str, str]]:
    """Return the pure-strategy equilibria, given complete tables of effects on both sides' gains."""
    rows, columns = (sorted({pair[side] for pair in alice}) for side in (0, 1))
    alice_payoffs = [[alice[a, b] for b in columns] for a in rows]
    bob_payoffs = [[bob[a, b] for b in columns] for a in rows]
    return [(rows[i], columns[j]) for i, j in pure_nash(alice_payoffs, bob_payoffs)]


def bootstrap_equilibria(
    rows: pd.DataFrame, factors: Sequence[str], *, draws: int, seed: int
) -> tuple[Counter[tuple[str, str]], int]:
    """Return how often each pair is an equilibrium over bootstrap draws of matches, and the number of valid draws.

    Each draw's regression is solved from weighted sums of the matches' dummies, stored as a sparse matrix.
    """
    import numpy as np
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
    rng = np.random.default_rng(seed)
    counts: Counter[tuple[str, str]] = Counter()
    n_valid = 0
    for _draw in range(draws):
        draw_counts = np.bincount(rng.integers(0, n, size=n), minlength=n).astype(float)
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
    import numpy as np

    weighted = x.multiply(weights[:, None]).tocsr()
    squares = (x.T @ weighted).toarray()
    sums = weighted.T @ y
    try:
        return np.linalg.solve(squares, sums)
    except np.linalg.LinAlgError:
        return np.linalg.lstsq(squares, sums, rcond=None)[0]


PAIR_METHOD = (
    "OLS of the metric on parameters, market and the ordered pair of players, for matches between agents; the effect "
    "is the pair's coefficient minus the unweighted mean over pairs (our reading of “relative to the mean outcome”); "
)

ANALYSES = [
    Analysis(
        id="glee.pairs",
        title="Effects of pairs (GLEE, figures 1 and 21 to 23)",
        question="Does the partner matter?",
        method=f"{PAIR_METHOD}effects are fractions of the metric.",
        run=pairs, needs="agents", games=tuple(FAMILIES), columns=REQUIRED_COLUMNS,
    ),
    Analysis(
        id="glee.same_model",
        title="A model with itself (GLEE, section 4)",
        question="Do models do better when they play themselves?",
        method=f"{PAIR_METHOD}then OLS of these effects on both sides' models and on whether they are the same, "
        "with classical standard errors and one pair per row.",
        run=same_model, needs="agents", games=tuple(FAMILIES), columns=REQUIRED_COLUMNS,
    ),
    Analysis(
        id="glee.meta_game",
        title="Choosing a model as a game (GLEE, footnote 13)",
        question="Which choices of models are stable?",
        method=f"{PAIR_METHOD}pure-strategy equilibria of the table of effects on both self-gains (ties within 1e-9), "
        "and the share of bootstrap draws of matches in which a pair is an equilibrium "
        f"({FEWER_DRAWS} draws for more than {LARGE:,} matches).",
        run=meta_game, needs="agents", games=tuple(FAMILIES), columns=REQUIRED_COLUMNS,
    ),
]  # fmt: skip
