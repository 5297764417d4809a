"""The minimum detectable effect of a study of a given size."""

from __future__ import annotations

from math import sqrt

from analysis.toolbox.numbers import Result, undefined


def mde(
    sd: float, n1: float, n2: float, alpha: float = 0.05, power: float = 0.8, icc: float = 0, cluster_size: float = 1
) -> Result:
    """Return the minimum effect that a two-sided t test detects with this power, in units of the outcome.

    Both groups' sizes are divided by the design effect 1 + (cluster_size - 1)·icc.
    """
    effect = 1 + (cluster_size - 1) * icc
    a, b = n1 / effect, n2 / effect
    if sd <= 0 or a + b <= 2 or min(a, b) <= 0:
        return undefined("estimate", "no variation, or too few observations", n=n1 + n2)
    from numpy import nan_to_num
    from scipy.optimize import brentq
    from scipy.stats import nct, t

    df, scale = a + b - 2, sqrt(a * b / (a + b))
    critical = t.ppf(1 - alpha / 2, df)

    def shortfall(d: float) -> float:
        shift = d * scale
        # Where the noncentral t cannot be computed, its upper tail is taken to be 1 and its lower tail 0.
        return float(
            nan_to_num(nct.sf(critical, df, shift), nan=1.0) + nan_to_num(nct.cdf(-critical, df, shift)) - power
        )

    highest = 4 / scale
    while shortfall(highest) < 0:
        highest *= 2
    return {"estimate": sd * float(brentq(shortfall, 1e-9, highest, xtol=1e-12)), "n": n1 + n2}
