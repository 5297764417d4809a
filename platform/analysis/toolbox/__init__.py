"""Statistics under stable names, for notebooks and analyses.

Inputs are plain sequences or lists of dictionaries. None is a missing value; pairs with a missing value are dropped.
Every function returns a dictionary. An undefined result is None, with a `note` that explains why; no result is NaN,
and no data raise an exception.
"""

from analysis.toolbox.bounds import lee_bounds
from analysis.toolbox.bradley_terry import bradley_terry
from analysis.toolbox.dependence import components, share
from analysis.toolbox.effects import effects
from analysis.toolbox.estimates import (
    balance,
    correlation_difference,
    holm,
    kappa,
    mde,
    mean,
    mean_from_sums,
    paired,
    pearson,
    proportion,
    proportion_difference,
    q_values,
    smd,
    spearman,
    survival,
    welch,
)
from analysis.toolbox.evolution import pure_nash, replicator
from analysis.toolbox.ratings import plackett_luce, trueskill
from analysis.toolbox.regression import ols
from analysis.toolbox.resampling import bootstrap
from games.social_dilemma.evolution import deviation_ratings

__all__ = [
    "balance",
    "bootstrap",
    "bradley_terry",
    "components",
    "correlation_difference",
    "deviation_ratings",
    "effects",
    "holm",
    "kappa",
    "lee_bounds",
    "mde",
    "mean",
    "mean_from_sums",
    "ols",
    "paired",
    "pearson",
    "plackett_luce",
    "proportion",
    "proportion_difference",
    "pure_nash",
    "q_values",
    "replicator",
    "share",
    "smd",
    "spearman",
    "survival",
    "trueskill",
    "welch",
]  # fmt: skip
