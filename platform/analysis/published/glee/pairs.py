"""GLEE: effects of player pairs, other things equal (section 4; figures 1 and 21 to 23)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.toolbox.regression import ols

PAIR = "pair"


def pair_effects(
    rows: Sequence[Mapping[str, Any]] | Any, outcome: str, alice: str, bob: str, factors: Mapping[str, Any]
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
    if hasattr(rows, "columns"):
        paired = rows[rows[alice].notna() & rows[bob].notna()].copy()
        names = list(zip(paired[alice].tolist(), paired[bob].tolist(), strict=True))
    else:
        paired = [dict(row) for row in rows if row.get(alice) is not None and row.get(bob) is not None]
        names = [(row[alice], row[bob]) for row in paired]
    pairs = sorted(set(names), key=str)
    if not pairs:
        return {"effects": {}, "n": 0, "note": "no pairs"}
    labels = {pair: f"{index:06d}" for index, pair in enumerate(pairs)}
    if hasattr(paired, "columns"):
        paired[PAIR] = [labels[name] for name in names]
    else:
        for row, name in zip(paired, names, strict=True):
            row[PAIR] = labels[name]
    fitted = ols(paired, outcome, {**factors, PAIR: labels[pairs[0]]})
    coefficients = {term["term"]: term["estimate"] for term in fitted["terms"]}
    by_pair = {pair: coefficients.get(f"{PAIR}={label}") for pair, label in labels.items()}
    by_pair[pairs[0]] = 0.0
    estimated = {pair: value for pair, value in by_pair.items() if value is not None}
    centre = sum(estimated.values()) / len(estimated)
    return {
        "effects": {pair: value - centre for pair, value in estimated.items()},
        "n": fitted["n"],
        "dropped": fitted["dropped"],
        "warnings": fitted["warnings"],
    }
