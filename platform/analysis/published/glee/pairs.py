"""GLEE: effects of player pairs, other things equal (section 4; figures 1 and 21 to 23)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from analysis.toolbox.regression import ols

PAIR = "pair"


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
