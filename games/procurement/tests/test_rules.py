"""Procurement against the specification's worked cases, and properties of every instance."""

from __future__ import annotations

import json
from itertools import product
from random import Random

import pytest

from games.errors import BadConfig, Refused
from games.play import configure, start, submit, use_tool
from games.procurement.instances import Instance, draw_hidden, draw_public
from games.procurement.optimum import optimum
from games.procurement.rules import Procurement
from games.procurement.views import problem

INSTANCE = {
    "categories": [["A1", "A2"], ["B1"]],
    "effectiveness": {"A1": 1, "A2": 2, "B1": 3},
    "offers": [
        {"id": "Offer_1", "contents": {"A1": 2}, "price": 2.5},
        {"id": "Offer_2", "contents": {"A2": 1, "B1": 1}, "price": 7},
        {"id": "Offer_3", "contents": {"B1": 1}, "price": 1.25, "upfront": 5},
        {"id": "Offer_4", "contents": {"A2": 1}, "price": 1.5, "minimum": 5},
    ],
    "budget": 24,
}


def procurement(**config) -> Procurement:
    return configure(Procurement, {"instance": INSTANCE, **config})


def play_plans(*plans: tuple[int, ...], **config):
    """Return the play after these plans, each given as a quantity per offer."""
    play, _events = start(procurement(**{"periods": len(plans), **config}), 1)
    for quantities in plans:
        plan = {f"Offer_{number}": quantity for number, quantity in enumerate(quantities, start=1)}
        play, _events = submit(play, "agent", {"plan": plan})
    return play


@pytest.mark.parametrize(
    ("plan", "cost", "workers"),
    [((2, 1, 0, 0), 12, 4.242641), ((3, 0, 5, 0), 18.75, 9.486833), ((0, 0, 8, 6), 24, 16.970563)],
)
def test_workers_are_the_geometric_mean_of_effective_units(plan, cost, workers):
    play = play_plans(plan)
    purchase = play.state.purchases[0]
    assert (purchase.cost, purchase.workers) == pytest.approx((cost, workers), abs=1e-6)
    assert play.metrics()["score"] == pytest.approx(workers / 16.970563, abs=1e-6)


def test_the_best_feasible_plan_counts():
    metrics = play_plans((2, 1, 0, 0), (0, 0, 4, 2), (0, 0, 8, 6), (2, 1, 0, 0)).metrics()
    assert metrics["optimum"] == pytest.approx(16.970563, abs=1e-6)
    assert (metrics["solved"], metrics["solved_at"], metrics["infeasible_plans"]) == (True, 3, 1)
    assert (metrics["exploration_rate"], metrics["periods_played"]) == (0.75, 4)


@pytest.mark.parametrize(
    ("plan", "reason"), [((0, 0, 4, 2), "at least 5 units"), ((4, 1, 2, 0), "more than the budget")]
)
def test_infeasible_plan_uses_up_the_period_and_gives_a_reason(plan, reason):
    play = play_plans(plan)
    assert play.over
    assert reason in use_tool(play, "agent", "get_previous_purchase_data", {})["purchases"][0]["problem"]
    assert play.payoffs() == {"agent": 0}


def test_no_score_if_no_category_is_affordable():
    play = play_plans((0, 0, 0, 0), instance={**INSTANCE, "budget": 5})
    assert play.metrics()["optimum"] == 0
    assert play.metrics()["score"] is None
    assert play.payoffs() == {"agent": 0}


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ({"Offer_9": 1}, "Offer_9"), ({"Offer_1": 1.5}, "Offer_1"), ({"Offer_1": -1}, "Offer_1"),
        ({"Offer_1": True}, "Offer_1"), ({"Offer_1": "2"}, "Offer_1"), ({"Offer_1": 1_000_001}, "1,000,000"),
        ("not a plan", "could not be read"), ("__import__('os').getcwd()", "could not be read"),
        ([1], "must be an object"),
    ],
)  # fmt: skip
def test_malformed_plan_is_refused_and_keeps_the_period(plan, message):
    play, _events = start(procurement(), 1)
    with pytest.raises(Refused, match=message):
        submit(play, "agent", {"plan": plan})


@pytest.mark.parametrize("text", ['{"Offer_1": 2}', "{'Offer_1': 2}", " {'Offer_1': 2} "])
def test_plan_may_be_text(text):
    play, _events = start(procurement(), 1)
    play, events = submit(play, "agent", {"plan": text})
    assert events[0].data["move"] == {"plan": {"Offer_1": 2}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"effectiveness": {"A1": 1, "A2": 2}}, "“B1”"),
        ({"effectiveness": {"A1": 1, "A2": 2, "B1": 3, "C1": 1}}, "“C1”"),
        ({"categories": [["A1", "A1"], ["B1"]]}, "“A1”"),
        ({"extra": 1}, "extra"),
    ],
)
def test_contradictory_instance_is_refused_by_name(change, message):
    with pytest.raises(BadConfig, match=message):
        procurement(instance={**INSTANCE, **change})


def test_notes_belong_to_their_period_and_do_not_close_it():
    play, _events = start(procurement(periods=2), 1)
    play, _events = submit(play, "agent", {"note": "first"})
    play, _events = submit(play, "agent", {"note": "second"})
    play, _events = submit(play, "agent", {"plan": {}})
    assert use_tool(play, "agent", "read_notes", {"attempt_number": 0}) == {"notes": "first\nsecond"}
    assert use_tool(play, "agent", "get_attempt_number", {}) == {"number": 1}
    with pytest.raises(Refused):
        use_tool(play, "agent", "read_notes", {"attempt_number": 2})


def test_at_most_twenty_notes_per_period():
    play, _events = start(procurement(), 1)
    for _number in range(20):
        play, _events = submit(play, "agent", {"note": "x"})
    with pytest.raises(Refused, match="20 notes"):
        submit(play, "agent", {"note": "x"})


def instance(level: str, seed: int) -> Instance:
    drawn = draw_public(level, Random(f"p{seed}")) | {"effectiveness": draw_hidden(level, Random(f"h{seed}"))}
    return Instance.model_validate_json(json.dumps(drawn))


@pytest.mark.parametrize("seed", range(6))
def test_exhaustive_search_finds_no_better_plan(seed):
    drawn = instance("small", seed)
    reduced = drawn.model_copy(update={"offers": drawn.offers[:4], "budget": min(drawn.budget, 60.0)})
    limits = [range(int(reduced.budget // offer.price) + 1) for offer in reduced.offers]
    game = procurement()
    best = 0.0
    for quantities in product(*limits):
        plan = {offer.id: quantity for offer, quantity in zip(reduced.offers, quantities, strict=True) if quantity}
        if not problem(game, reduced, plan):
            best = max(best, reduced.workers(plan))
    assert optimum(reduced)[0] == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize(
    "level", ["basic", pytest.param("medium", marks=pytest.mark.slow), pytest.param("hard", marks=pytest.mark.slow)]
)
def test_ten_thousand_random_plans_do_not_beat_the_optimum(level):
    drawn = instance(level, 3)
    best, plan = optimum(drawn)
    assert drawn.workers(plan) == best
    game, rng = procurement(instance=json.loads(drawn.model_dump_json(exclude_none=True))), Random(1)
    play, _events = start(game, 1)
    for _trial in range(10_000):
        candidate = game.scripts["random"](game, play.state, "agent", rng)["plan"]
        assert not problem(game, drawn, candidate), "only feasible plans are a valid comparison"
        assert drawn.workers(candidate) <= best + 1e-9


def test_pages_list_the_plans_that_the_history_tells_of_and_pin_the_best():
    play = play_plans((2, 1, 0, 0), (0, 0, 4, 2), (3, 0, 5, 0), periods=4)
    first, failed, best = play.game.attempts(play.view("agent"))
    assert (first.period, first.entries, first.best) == ("1", "2 × Offer_1, 1 × Offer_2", ())
    assert first.facts == (("Workers supported", "4.24"), ("Cost", "$12"))
    assert failed.facts[0][1].startswith("Offer_4 needs at least 5 units") and not failed.best
    assert best.best == ("most workers so far",)
    nothing = play_plans((0, 0, 0, 0), periods=2)
    assert [attempt.best for attempt in nothing.game.attempts(nothing.view("agent"))] == [()]
