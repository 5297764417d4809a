"""The market of the duopoly: logit demand, and its Nash and collusive prices (EconEvals, section 4.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, log

from games.numbers import log_sum

PRECISION = 1e-12


@dataclass(frozen=True)
class Market:
    """Demand and costs. Prices are in the displayed currency, α times the fixed one.

    q_i = β·exp((a - p_i/α)/μ) / (Σ_j exp((a - p_j/α)/μ) + exp(a_0/μ)); profit (p_i - α·c)·q_i.
    """

    alpha: float
    quality: float
    outside: float
    cost: float
    mu: float
    size: float

    def quantities(self, prices: Sequence[float]) -> list[float]:
        """Return the quantity of each firm; logarithms keep extreme prices finite."""
        logs = [(self.quality - price / self.alpha) / self.mu for price in prices]
        highest = max(*logs, self.outside / self.mu)
        total = sum(exp(value - highest) for value in (*logs, self.outside / self.mu))
        return [self.size * exp(value - highest) / total for value in logs]

    def profits(self, prices: Sequence[float]) -> list[float]:
        """Return the profit of each firm."""
        sold = self.quantities(prices)
        return [(price - self.unit_cost) * quantity for price, quantity in zip(prices, sold, strict=True)]

    @property
    def unit_cost(self) -> float:
        """The cost of one unit, in the displayed currency: α·c."""
        return self.alpha * self.cost

    def best_reply(self, rivals: Sequence[float]) -> float:
        """Return the price that maximises a firm's profit given its rivals' prices.

        First-order condition with normalised markup m = (p/α - c)/μ: m·(1 - s) = 1, where s is the firm's market share.
        """
        rival_logs = [(self.quality - price / self.alpha) / self.mu for price in rivals]
        log_others = log_sum([*rival_logs, self.outside / self.mu])
        return self._solve_price(lambda m: m * (1 - _market_share(self._log_attraction(m) - log_others)) - 1)

    @property
    def nash_price(self) -> float:
        """The Nash equilibrium price, which is the best reply to itself."""

        def condition(m: float) -> float:
            log_own = self._log_attraction(m)
            return m * (1 - _market_share(log_own - log_sum([log_own, self.outside / self.mu]))) - 1

        return self._solve_price(condition)

    @property
    def collusive_price(self) -> float:
        """The common price that maximises joint profit: m·(1 - 2s) = 1."""

        def condition(m: float) -> float:
            return m * (1 - _market_share(self._log_attraction(m) + log(2) - self.outside / self.mu)) - 1

        return self._solve_price(condition)

    @property
    def monopoly_price(self) -> float:
        """The price that maximises the profit of a single firm."""
        return self.best_reply(())

    def _log_attraction(self, m: float) -> float:
        """Return the logarithm of the attraction of a firm with normalised markup m."""
        return (self.quality - self.cost) / self.mu - m

    def _solve_price(self, condition: Callable[[float], float]) -> float:
        """Return the price where `condition` is zero, by bisection; it rises in the normalised markup from below 0."""
        low, high = 1.0, 2.0
        while condition(high) < 0:
            high *= 2
        while high - low > PRECISION * high:
            middle = (low + high) / 2
            if middle in (low, high):
                break
            low, high = (middle, high) if condition(middle) < 0 else (low, middle)
        return self.alpha * (self.cost + self.mu * (low + high) / 2)


def _market_share(log_odds: float) -> float:
    """Return a firm's share of total attraction, given the logarithm of its attraction / the others' attraction."""
    return 1 / (1 + exp(-log_odds)) if log_odds > -700 else 0.0


@dataclass(frozen=True)
class References:
    """Reference prices and profits. Without a rival there is only the monopoly price."""

    nash_price: float | None
    collusive_price: float | None
    monopoly_price: float | None
    best_profit: float
    """Profit of a firm in one period at the collusive price; without a rival, at the monopoly price."""

    @property
    def highest(self) -> float:
        """The price on which the advice is based."""
        price = self.collusive_price if self.monopoly_price is None else self.monopoly_price
        assert price is not None
        return price


@lru_cache(maxsize=1024)
def references(market: Market, rival: bool) -> References:
    """Return the market's prices in equilibrium and under collusion; without a rival, the monopoly price."""
    if rival:
        price = market.collusive_price
        return References(market.nash_price, price, None, market.profits((price, price))[0])
    price = market.monopoly_price
    return References(None, None, price, market.profits((price,))[0])
