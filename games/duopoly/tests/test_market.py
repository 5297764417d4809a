"""The market's reference prices."""

from __future__ import annotations

import pytest

from games.duopoly.market import Market


@pytest.mark.parametrize("alpha", [0.001, 1.0, 1e4])
@pytest.mark.parametrize("mu", [0.01, 0.25, 5.0])
def test_reference_prices_satisfy_their_first_order_conditions(alpha, mu):
    """With m the normalised markup and s a firm's share, m(1 - s) = 1 in equilibrium and m(1 - 2s) = 1 in collusion."""
    market = Market(alpha, 2.0, 0.0, 1.0, mu, 100.0)
    for price, factor in ((market.nash_price, 1), (market.collusive_price, 2)):
        markup = (price / alpha - market.cost) / mu
        share = market.quantities((price, price))[0] / market.size
        assert markup * (1 - factor * share) == pytest.approx(1, abs=1e-9)
