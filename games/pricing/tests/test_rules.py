"""Pricing against the specification's worked cases; the closed form is the optimum."""

from __future__ import annotations

import json
from random import Random

import pytest

from games.errors import BadConfig, Refused
from games.play import configure, script_move, start, submit
from games.pricing.market import Instance, draw_hidden, draw_public, numbered
from games.pricing.rules import Pricing


def product(number: int, quality: float, cost: float, alpha: float, group: int = 1, **drift) -> dict:
    return {
        "id": f"Product_{number}",
        "quality": quality,
        "cost": cost,
        "group": group,
        "alpha": {"start": alpha, **drift},
    }


def play_one_period(products: list[dict], prices: list[float]):
    """Return the play after one period."""
    game = configure(Pricing, {"periods": 1, "instance": {"products": products}})
    play, _events = start(game, 1)
    price_by_id = {entry["id"]: price for entry, price in zip(products, prices, strict=True)}
    return submit(play, "agent", {"prices": price_by_id})[0]


def test_optimum_of_one_product():
    play = play_one_period([product(1, 2.7, 1.2, 5)], [12])
    instance = play.state.instance
    assert instance.markup == pytest.approx(1.766249, abs=1e-6)
    assert instance.best_prices(0)["Product_1"] == pytest.approx(14.831243, abs=1e-6)
    assert play.metrics()["optimal_profit"] == pytest.approx(76.624861, abs=1e-6)
    assert play.state.sales[0].sold["Product_1"] == pytest.approx(57.444252, abs=1e-6)
    assert play.metrics()["score"] == pytest.approx(0.899617, abs=1e-6)


@pytest.mark.parametrize(
    ("groups", "quantities", "score"),
    [((1, 1), (32.585960, 15.651209), 0.988390), ((1, 2), (33.348387, 23.111787), 0.971928)],
)
def test_products_in_one_group_compete_more_closely(groups, quantities, score):
    play = play_one_period([product(1, 2.4, 1.1, 3, groups[0]), product(2, 2.7, 1.6, 6, groups[1])], [8, 20])
    assert tuple(play.state.sales[0].sold.values()) == pytest.approx(quantities, abs=1e-6)
    assert play.metrics()["score"] == pytest.approx(score, abs=1e-6)


def test_exchange_rate_drifts_and_oscillates():
    instance = Instance.model_validate_json(
        json.dumps({"products": [product(1, 2.5, 1.5, 6, slope=-0.02, amplitude=2)], "season": 16})
    )
    rates = [instance.rate(instance.products[0], t) for t in (0, 4, 8, 12)]
    assert rates == pytest.approx([6, 7.92, 5.84, 3.76])


@pytest.mark.parametrize("seed", range(5))
def test_no_other_prices_earn_more_than_the_optimum(seed):
    drawn = draw_hidden("medium", "periodic", 50, Random(f"h{seed}"))
    costs = draw_public(numbered("medium"), 2, Random(f"p{seed}"))
    products_drawn = zip(costs.items(), drawn.pop("products"), strict=True)
    products = [{"id": name, "cost": cost, **demand} for (name, cost), demand in products_drawn]
    instance = Instance.model_validate_json(json.dumps({"products": products, **drawn}))
    rng = Random(seed)
    for t in (0, 7):
        best = instance.best_prices(t)
        assert sum(instance.profits(best, t).values()) == pytest.approx(instance.best_profit, rel=1e-9)
        for _trial in range(1_000):
            candidate = {name: price * rng.uniform(0.5, 1.5) for name, price in best.items()}
            assert sum(instance.profits(candidate, t).values()) <= instance.best_profit + 1e-9


def test_no_price_on_a_fine_grid_earns_more_than_the_optimum():
    instance = Instance.model_validate_json(json.dumps({"products": [product(1, 2.7, 1.2, 5)]}))
    best = max(sum(instance.profits({"Product_1": cents / 100}, 0).values()) for cents in range(10_000))
    assert instance.best_profit - 1e-4 < best <= instance.best_profit


def test_prices_scale_with_the_exchange_rate_but_profits_do_not():
    """With an exchange rate three times as high, three times the price sells and earns the same."""
    low, high = play_one_period([product(1, 2.7, 1.2, 5)], [12]), play_one_period([product(1, 2.7, 1.2, 15)], [36])
    assert high.state.sales[0].sold == pytest.approx(low.state.sales[0].sold)
    assert high.state.sales[0].profits == pytest.approx(low.state.sales[0].profits)
    quantity = low.state.sales[0].sold["Product_1"]
    assert low.state.sales[0].profits["Product_1"] == pytest.approx((12 / 5 - 1.2) * quantity)


def test_extreme_prices_stay_finite():
    play = play_one_period([product(1, 2.4, 1.1, 3)], [1_000_000])
    assert play.state.sales[0].sold["Product_1"] == 0
    assert play.metrics()["score"] == 0


@pytest.mark.parametrize(
    ("prices", "message"),
    [
        ({}, "Product_1"), ({"Product_1": -1}, "Product_1"), ({"Product_1": True}, "Product_1"),
        ({"Product_1": "8"}, "Product_1"), ({"Product_1": 1, "Product_2": 1}, "Product_2"),
    ],
)  # fmt: skip
def test_malformed_prices_are_refused_by_name(prices, message):
    play, _events = start(configure(Pricing, {}), 1)
    with pytest.raises(Refused, match=message):
        submit(play, "agent", {"prices": prices})


@pytest.mark.parametrize(
    ("instance", "message"),
    [
        ({"products": [product(1, 2, 1, 1), product(1, 2, 1, 1)]}, "Product_1"),
        ({"products": [product(1, 2, 1, 1, slope=-0.1)]}, "period 10"),
        ({"products": [{"id": "A", "quality": 2, "cost": 1}]}, "alpha"),
    ],
)
def test_contradictory_market_is_refused_by_name(instance, message):
    with pytest.raises(BadConfig, match=message):
        configure(Pricing, {"instance": instance, "periods": 20})


def test_scores_of_scripts():
    scores = {}
    for script in ("optimum", "climb"):
        play, _events = start(configure(Pricing, {"instance_seed": 1}), 1)
        while not play.over:
            play, _events = submit(play, "agent", script_move(play, "agent", script))
        scores[script] = play.metrics()["score"]
    assert scores["optimum"] == pytest.approx(1)
    assert 0.5 < scores["climb"] < 1


def test_pages_list_the_prices_that_the_history_tells_of_and_pin_the_best():
    products = [product(1, 2.4, 1.1, 3), product(2, 2.7, 1.6, 6)]
    play, _events = start(configure(Pricing, {"periods": 3, "instance": {"products": products}}), 1)
    for one, other in ((8, 20), (9, 99_999)):
        play, _events = submit(play, "agent", {"prices": {"Product_1": one, "Product_2": other}})
    best, last = play.game.attempts(play.view("agent"))
    assert (best.period, best.entries, last.entries) == (
        "1",
        "Product_1: 8, Product_2: 20",
        "Product_1: 9, Product_2: 99,999",
    )
    profit = sum(round(value, 2) for value in play.state.sales[0].profits.values())
    assert best.facts == (("Profit", f"{profit:g}"),)
    assert (best.best, last.best) == (("highest profit so far",), ())
    alone = play_one_period(products[:1], [8])
    assert [label for label, _shown in alone.game.attempts(alone.view("agent"))[0].facts] == ["Sold", "Profit"]
