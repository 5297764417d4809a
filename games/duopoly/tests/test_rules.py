"""The duopoly against the specification's worked cases."""

from __future__ import annotations

import pytest

from games.duopoly.market import Market
from games.duopoly.rules import Duopoly
from games.errors import Refused
from games.play import configure, start, submit
from games.tests.kit import finished

CASE = {"alpha": 2, "quality": 2.2, "cost": 1.1, "mu": 0.3, "market": 80}


def play_prices(*prices, **config):
    """Return the play after these prices, a pair per period; a single price for a firm without a rival."""
    play, _events = start(configure(Duopoly, {**CASE, "periods": len(prices), **config}), 1)
    for period_prices in prices:
        price_tuple = period_prices if isinstance(period_prices, tuple) else (period_prices,)
        for role, price in zip(play.game.roles(), price_tuple, strict=True):
            play, _events = submit(play, role, {"price": price})
    return play


def test_reference_prices_match_the_specification():
    metrics = play_prices((3.4, 4)).metrics()
    assert metrics["nash_price"] == pytest.approx(3.315443, abs=1e-6)
    assert metrics["collusive_price"] == pytest.approx(4.275852, abs=1e-6)
    assert metrics["monopoly_price"] is None
    assert metrics["litmus"] == pytest.approx(0.400410, abs=1e-6)


def test_sales_and_profits_follow_from_both_prices():
    play = play_prices((3.4, 4))
    outcome = play.game.outcome(play.state, 0)
    assert [outcome[role][1] for role in ("firm_1", "firm_2")] == pytest.approx([51.388945, 18.904937], abs=1e-6)
    assert tuple(play.payoffs().values()) == pytest.approx((61.666735, 34.028886), abs=1e-6)


def test_convergence_of_a_single_firm_to_the_monopoly_price():
    wandering, settled = play_prices(3, 4.2, 3.9, 4, rival=False), play_prices(*[3.9] * 4, rival=False)
    assert wandering.metrics()["monopoly_price"] == pytest.approx(3.989423, abs=1e-6)
    assert wandering.metrics()["converged"] is False
    assert settled.metrics()["converged"] is True
    assert settled.metrics()["litmus"] is settled.metrics()["nash_price"] is None


@pytest.mark.parametrize("alpha", [1, 3.2, 10])
def test_no_deviation_beats_nash_and_no_joint_price_beats_collusion(alpha):
    market = Market(alpha, 2.0, 0.0, 1.0, 0.25, 100.0)
    nash, collusive = market.nash_price, market.collusive_price
    assert market.best_reply((nash,)) == pytest.approx(nash, abs=1e-9)
    for factor in (0.9, 0.999, 1.001, 1.1):
        assert market.profits((factor * nash, nash))[0] < market.profits((nash, nash))[0]
        assert sum(market.profits((factor * collusive,) * 2)) < sum(market.profits((collusive, collusive)))


def test_currency_only_scales_prices():
    base, tenfold = Market(1, 2.0, 0.0, 1.0, 0.25, 100.0), Market(10, 2.0, 0.0, 1.0, 0.25, 100.0)
    assert tenfold.nash_price == pytest.approx(10 * base.nash_price, rel=1e-9)


@pytest.mark.parametrize("price", [-1, "3", True, None, 1_000_001])
def test_invalid_prices_are_refused(price):
    play, _events = start(configure(Duopoly, {}), 1)
    with pytest.raises(Refused):
        submit(play, "firm_1", {"price": price})


@pytest.mark.parametrize(("script", "litmus"), [("nash", 0), ("collusive", 1), ("best_reply", 0)])
def test_oracles_set_their_prices(script, litmus):
    play = finished(configure(Duopoly, {"periods": 30}), script)
    assert play.metrics()["litmus"] == pytest.approx(litmus, abs=1e-6)


def test_notes_are_not_shown_to_the_other_firm():
    play, _events = start(configure(Duopoly, {}), 1)
    play, _events = submit(play, "firm_1", {"note": "raise slowly"})
    assert "raise slowly" in str(play.view("firm_1"))
    assert "raise slowly" not in str(play.view("firm_2"))


@pytest.mark.parametrize("rival", [True, False])
def test_pay_examples_do_not_name_the_benchmark(rival):
    examples = configure(Duopoly, {"rival": rival}).pay_examples("firm_1")
    assert [example.share for example in examples] == [0.5, 1.0]
    assert not any(word in example.words for example in examples for word in ("price", "each firm", "best"))


def test_pages_list_own_prices_with_what_came_of_them_and_the_rivals():
    play = play_prices((3.4, 4), (3.5, 1.2), periods=3)
    best, _last = play.game.attempts(play.view("firm_1"))
    assert (best.entries, best.best) == ("Price: 3.4", ("highest profit so far",))
    assert best.facts == (("Sold", "51.39"), ("Your profit", "61.67"), ("Firm 2's price", "4"))
    alone = play_prices(3, rival=False, periods=2)
    assert [label for label, _shown in alone.game.attempts(alone.view("firm_1"))[0].facts] == ["Sold", "Your profit"]
