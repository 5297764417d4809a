"""The interest rate over all horizons, and the published rates compared with the published amounts."""

from __future__ import annotations

import pytest

from games.patience.analyses import over_horizons, pooled
from games.patience.rates import YEARS, implied_rate
from games.patience.state import published_amounts


def rows(amounts, later_from):
    return [{"amount": amount, "later": amount >= later_from} for amount in amounts for _twice in range(2)]


def test_consistent_choices_give_one_rate_over_all_horizons():
    # 8 percent a year, compounded annually, at every horizon.
    choices = {horizon: rows(published_amounts(horizon), 100 * 1.0801**years) for horizon, years in YEARS.items()}
    rates = over_horizons(choices, compounding="annual")
    assert rates.reliability == pytest.approx(1)
    assert rates.rate == pytest.approx(8.0, abs=0.11)


def test_horizons_weigh_the_same_whatever_their_number_of_amounts():
    choices = {"1 year": rows([104, 110, 116], 105), "5 years": rows(published_amounts("5 years"), 105)}
    rates = over_horizons(choices)
    # One year's answers imply 4 to 9.5 percent, five years' at most 2: three amounts weigh as much as 140.
    assert rates.rate == pytest.approx(4.05)
    assert 0.9 < rates.reliability < 1


def test_matches_without_answers_have_no_rate():
    assert over_horizons({"1 year": [{"amount": 105.0, "later": None}]}) is None


def test_unanswered_questions_are_left_out_of_the_shares():
    assert pooled([{"amount": 105, "later": None}, {"amount": 105, "later": True}]) == ([105], [1.0])


@pytest.mark.parametrize(
    ("horizon", "published"),
    [
        ("1 month", 13.35), ("6 months", 6.60), ("6 months", 4.55), ("6 months", 11.85), ("5 years", 13.40),
    ],
)  # fmt: skip
def test_published_rates_follow_from_published_amounts(horizon, published):
    """Compare with the paper's table 3: each rate is the median of the rates between two neighbouring amounts.

    We differ from the paper's 10.45 for a year: at each rate we leave out the amount with indifference, so 11.0 ties.
    """
    amounts, years = published_amounts(horizon), YEARS[horizon]
    rates = [
        implied_rate(amounts, [float(amount >= first) for amount in amounts], years, compounding="annual").rate
        for first in amounts
    ]
    assert any(rate == pytest.approx(published, abs=1e-9) for rate in rates)
