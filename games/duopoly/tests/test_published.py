"""The published market's reference prices, compared with the analyses' own computation."""

from __future__ import annotations

import pytest

from analysis.published import econevals
from games.duopoly.market import Market
from games.duopoly.published import CURRENCIES


@pytest.mark.parametrize("alpha", CURRENCIES)
def test_reference_prices_agree_with_the_analyses_to_nine_digits(alpha):
    market, published = Market(alpha, 2.0, 0.0, 1.0, 0.25, 100.0), econevals.duopoly(alpha)
    assert market.nash_price == pytest.approx(published["nash"], abs=1e-9)
    assert market.collusive_price == pytest.approx(published["collusive"], abs=1e-9)
    assert market.monopoly_price == pytest.approx(published["monopoly"], abs=1e-9)


@pytest.mark.parametrize("alpha", [0.001, 1.0, 1e4])
@pytest.mark.parametrize("mu", [0.01, 0.25, 5.0])
def test_reference_prices_satisfy_their_first_order_conditions(alpha, mu):
    """With m the normalised markup and s a firm's share, m(1 - s) = 1 in equilibrium and m(1 - 2s) = 1 in collusion."""
    market = Market(alpha, 2.0, 0.0, 1.0, mu, 100.0)
    for price, factor in ((market.nash_price, 1), (market.collusive_price, 2)):
        markup = (price / alpha - market.cost) / mu
        share = market.quantities((price, price))[0] / market.size
        assert markup * (1 - factor * share) == pytest.approx(1, abs=1e-9)
