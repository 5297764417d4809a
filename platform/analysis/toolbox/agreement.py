"""Agreement between two judges beyond chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

from analysis.toolbox.numbers import Result, undefined


def kappa(a: Sequence[Hashable | None], b: Sequence[Hashable | None]) -> Result:
    """Return Cohen's κ for two judges' labels of the same cases, (p_o - p_e) / (1 - p_e) (Cohen 1960).

    Returns:
        estimate (None if both judges gave every case the same label), agreement (p_o), expected (p_e), n.
    """
    pairs = [(x, y) for x, y in zip(a, b, strict=False) if x is not None and y is not None]
    if not pairs:
        return undefined("estimate agreement expected", "no cases labelled by both judges", n=0)
    n = len(pairs)
    first, second = Counter(x for x, _y in pairs), Counter(y for _x, y in pairs)
    agreement = sum(x == y for x, y in pairs) / n
    expected = sum(first[label] * second[label] for label in first) / n**2
    if expected == 1:
        note = "both judges gave every case the same label"
        return {"estimate": None, "agreement": agreement, "expected": expected, "n": n, "note": note}
    estimate = (agreement - expected) / (1 - expected)
    return {"estimate": estimate, "agreement": agreement, "expected": expected, "n": n}
