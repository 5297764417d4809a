"""On simulated data with known effects, intervals cover the truth and tests have their nominal error rates."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.random import Generator

from analysis import toolbox

DATASETS = 1000
NULLS = 4000
"""Number of datasets without an effect: the share of small p-values then varies by less than 0.35 points."""
EFFECTS = {"arm=b": 0.3, "arm=c": -0.2, "place=y": 0.5}
pytestmark = pytest.mark.slow


def design(rng: Generator, n: int = 120) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return two factors and the expected outcome."""
    arm, place = rng.choice(list("abc"), n), rng.choice(list("xy"), n)
    expected = 1 + 0.3 * (arm == "b") - 0.2 * (arm == "c") + 0.5 * (place == "y")
    return arm, place, expected


def rows(**columns) -> list[dict]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def classical(rng: Generator):
    arm, place, expected = design(rng)
    data = rows(arm=arm, place=place, y=expected + rng.normal(size=len(arm)))
    return toolbox.ols(data, "y", {"arm": "a", "place": "x"})


def heteroscedastic(rng: Generator):
    """Return a regression on 500 rows, because HC1 is correct in large samples only."""
    arm, place, expected = design(rng, 500)
    spread = np.where(arm == "b", 2.0, 0.7)
    data = rows(arm=arm, place=place, y=expected + spread * rng.normal(size=len(arm)))
    return toolbox.ols(data, "y", {"arm": "a", "place": "x"}, covariance="HC1")


def clustered(rng: Generator):
    """Return a regression on sixty people with four matches each; each match's arm is random."""
    arm, place, expected = design(rng, 240)
    person = np.repeat(np.arange(60), 4)
    data = rows(
        arm=arm, place=place, person=person, y=expected + rng.normal(size=60)[person] + rng.normal(size=len(arm))
    )
    return toolbox.ols(data, "y", {"arm": "a", "place": "x"}, clusters="person")


@pytest.mark.parametrize("regression", [classical, heteroscedastic, clustered])
def test_a_regressions_intervals_cover_the_truth(regression: Callable[[Generator], dict]):
    rng = np.random.default_rng(1)
    covered = dict.fromkeys(EFFECTS, 0)
    for _dataset in range(DATASETS):
        terms = {term["term"]: term for term in regression(rng)["terms"]}
        for name, truth in EFFECTS.items():
            covered[name] += terms[name]["low"] <= truth <= terms[name]["high"]
    assert all(0.93 <= count / DATASETS <= 0.97 for count in covered.values()), covered


def share(rng: Generator):
    return toolbox.proportion(int(rng.binomial(80, 0.3)), 80), 0.3


def difference_of_shares(rng: Generator):
    first, second = int(rng.binomial(90, 0.6)), int(rng.binomial(70, 0.4))
    return toolbox.proportion_difference(first, 90, second, 70), 0.2


def mean_of_people(rng: Generator):
    person = np.repeat(np.arange(50), 3)
    return toolbox.mean(2 + rng.normal(size=50)[person] + rng.normal(size=150), clusters=person.tolist()), 2


def difference_in_pairs(rng: Generator):
    base = rng.normal(size=40)
    return toolbox.paired(base + 0.4 + rng.normal(size=40), base + rng.normal(size=40)), 0.4


def difference_of_groups(rng: Generator):
    return toolbox.welch(rng.normal(1, 2, 40), rng.normal(0.5, 1, 60)), 0.5


def correlation(rng: Generator):
    x = rng.normal(size=60)
    return toolbox.pearson(x, 0.5 * x + np.sqrt(0.75) * rng.normal(size=60)), 0.5


@pytest.mark.parametrize(
    "interval",
    [share, difference_of_shares, mean_of_people, difference_in_pairs, difference_of_groups, correlation],
)
def test_other_intervals_cover_the_truth(interval):
    rng = np.random.default_rng(2)
    covered = 0
    for _dataset in range(DATASETS):
        result, truth = interval(rng)
        covered += result["low"] <= truth <= result["high"]
    assert 0.93 <= covered / DATASETS <= 0.97


def p_value_of(regression: Callable[[Generator], dict]):
    def p(rng: Generator) -> float:
        return next(term["p"] for term in regression(rng)["terms"] if term["term"] == "arm=b")

    return p


def null_ols(rng: Generator) -> dict:
    arm = rng.choice(list("ab"), 80)
    return toolbox.ols(rows(arm=arm, y=rng.normal(size=80)), "y", {"arm": "a"})


def null_clustered(rng: Generator) -> dict:
    person = np.repeat(np.arange(60), 2)
    arm = rng.choice(list("ab"), 120)
    y = rng.normal(size=60)[person] + rng.normal(size=120)
    return toolbox.ols(rows(arm=arm, person=person, y=y), "y", {"arm": "a"}, clusters="person")


def null_balance(rng: Generator) -> float:
    return toolbox.balance(rng.multinomial(300, [1 / 6] * 6).reshape(3, 2).tolist())["p"]


@pytest.mark.parametrize(
    "p_of",
    [
        p_value_of(null_ols),
        p_value_of(null_clustered),
        lambda rng: toolbox.paired(rng.normal(size=30), rng.normal(size=30))["p"],
        lambda rng: toolbox.welch(rng.normal(size=30), rng.normal(scale=2, size=50))["p"],
        lambda rng: toolbox.pearson(rng.normal(size=40), rng.normal(size=40))["p"],
        lambda rng: toolbox.spearman(rng.normal(size=40), rng.normal(size=40))["p"],
        null_balance,
    ],
    ids=["least squares", "clustered", "pairs", "groups", "correlation", "ranks", "table"],
)
def test_five_percent_of_tests_find_an_effect_without_one(p_of):
    rng = np.random.default_rng(3)
    rate = sum(p_of(rng) < 0.05 for _dataset in range(NULLS)) / NULLS
    assert 0.04 <= rate <= 0.06
