"""On simulated data with known effects, intervals cover the truth and tests have their nominal error rates."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.random import Generator

from analysis import toolbox

DATASETS = 1000
NULLS = 4000
"""Number of datasets without an effect: the share of small p-values then varies by less than 0.35 points."""
EFFECTS = {"arm=b": 0.3, "arm=c": -0.2, "place=y": 0.5}
pytestmark = pytest.mark.slow


def regression(rng: Generator, *, n: int, people: int = 0, heteroscedastic: bool = False):
    """Return the terms of a regression with the effects above: of people with several matches each, or HC1."""
    arm, place = rng.choice(list("abc"), n), rng.choice(list("xy"), n)
    person = np.arange(n) * people // n
    spread = np.where(arm == "b", 2.0, 0.7) if heteroscedastic else 1.0
    y = 1 + 0.3 * (arm == "b") - 0.2 * (arm == "c") + 0.5 * (place == "y") + spread * rng.normal(size=n)
    y += rng.normal(size=max(people, 1))[person] if people else 0
    rows = pd.DataFrame({"arm": arm, "place": place, "person": person, "y": y})
    options = {"covariance": "HC1"} if heteroscedastic else {"clusters": "person"} if people else {}
    fit = toolbox.ols(rows, "y", {"arm": "a", "place": "x"}, **options)
    return {term["term"]: term for term in fit["terms"]}


@pytest.mark.parametrize(
    "world",
    [{"n": 120}, {"n": 500, "heteroscedastic": True}, {"n": 240, "people": 60}],
    ids=["classical", "HC1, correct in large samples only", "clustered"],
)
def test_a_regressions_intervals_cover_the_truth(world):
    rng = np.random.default_rng(1)
    fits = [regression(rng, **world) for _dataset in range(DATASETS)]
    for name, truth in EFFECTS.items():
        assert 0.93 <= np.mean([fit[name]["low"] <= truth <= fit[name]["high"] for fit in fits]) <= 0.97


def means(rng: Generator):
    person = np.repeat(np.arange(50), 3)
    return toolbox.mean(2 + rng.normal(size=50)[person] + rng.normal(size=150), clusters=person.tolist())


def pairs(rng: Generator, effect: float = 0.4, n: int = 40):
    base = rng.normal(size=n)
    return toolbox.paired(base + effect + rng.normal(size=n), base + rng.normal(size=n))


def correlation(rng: Generator):
    x = rng.normal(size=60)
    return toolbox.pearson(x, 0.5 * x + np.sqrt(0.75) * rng.normal(size=60))


@pytest.mark.parametrize(
    ("interval", "truth"),
    [
        (lambda rng: toolbox.proportion(int(rng.binomial(80, 0.3)), 80), 0.3),
        (lambda rng: toolbox.proportion_difference(*(int(n) for n in (rng.binomial(90, 0.6), 90)),
                                                   *(int(n) for n in (rng.binomial(70, 0.4), 70))), 0.2),
        (means, 2), (pairs, 0.4), (correlation, 0.5),
        (lambda rng: toolbox.welch(rng.normal(1, 2, 40), rng.normal(0.5, 1, 60)), 0.5),
    ],
    ids=["share", "difference of shares", "mean of people", "pairs", "correlation", "groups"],
)  # fmt: skip
def test_other_intervals_cover_the_truth(interval, truth):
    rng = np.random.default_rng(2)
    found = [interval(rng) for _dataset in range(DATASETS)]
    assert 0.93 <= np.mean([result["low"] <= truth <= result["high"] for result in found]) <= 0.97


def null_regression(rng: Generator, *, n: int, matches: int = 1):
    person = np.repeat(np.arange(n), matches)
    y = rng.normal(size=n)[person] + rng.normal(size=len(person)) * (matches > 1)
    rows = pd.DataFrame({"arm": rng.choice(list("ab"), len(person)), "person": person, "y": y})
    return toolbox.ols(rows, "y", {"arm": "a"}, clusters="person" if matches > 1 else None)["terms"][1]


@pytest.mark.parametrize(
    "test",
    [
        lambda rng: null_regression(rng, n=80),
        lambda rng: null_regression(rng, n=60, matches=2),
        lambda rng: pairs(rng, 0.0, 30),
        lambda rng: toolbox.welch(rng.normal(size=30), rng.normal(scale=2, size=50)),
        lambda rng: toolbox.pearson(rng.normal(size=40), rng.normal(size=40)),
        lambda rng: toolbox.spearman(rng.normal(size=40), rng.normal(size=40)),
        lambda rng: toolbox.balance(rng.multinomial(300, [1 / 6] * 6).reshape(3, 2).tolist()),
    ],
    ids=["least squares", "clustered", "pairs", "groups", "correlation", "ranks", "table"],
)
def test_five_percent_of_tests_find_an_effect_without_one(test):
    rng = np.random.default_rng(3)
    assert 0.04 <= np.mean([test(rng)["p"] < 0.05 for _dataset in range(NULLS)]) <= 0.06
