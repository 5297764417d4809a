"""The rules against the specification's worked cases, and properties of every auction."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games.errors import BadConfig, Refused
from games.item_auction.core import Bid
from games.item_auction.measures import rank_correlation
from games.item_auction.rules import ItemAuction
from games.play import configure, replay_moves, script_move, start, submit

BASE = {"order": "listed", "tie_break": "first_seat"}


def auction(*items: dict, **config) -> ItemAuction:
    lots = [{"name": f"L{number}", **item} for number, item in enumerate(items, start=1)]
    return configure(ItemAuction, {**BASE, "items": lots, **config})


def bid_rounds(game: ItemAuction, *rounds: tuple):
    """Return the play after these rounds of bids, each with one answer per bidder in turn, in seat order."""
    play, _events = start(game, 1)
    for answers in rounds:
        bidders = play.waiting_for()
        assert len(bidders) == len(answers)
        for role, bid in zip(bidders, answers, strict=True):
            play, _events = submit(play, role, {"bid": bid})
    return play


def test_bids_rise_until_all_but_the_leader_withdraw():
    game = auction({"start_price": 2000}, budget=20_000)
    play = bid_rounds(game, (2000, 2100, None), (2300,), (2600,), (None,))
    assert play.payoffs() == {"p1": 0, "p2": 1400, "p3": 0}
    metrics = play.metrics()
    assert metrics["rounds_played"] == 4
    assert metrics["p1_bip_own"] == pytest.approx(7.5)
    assert metrics["p1_bip_standing"] == pytest.approx(4.7619, abs=1e-4)
    assert metrics["p2_bip_own"] == pytest.approx(14.4048, abs=1e-4)
    assert metrics["p2_bip_standing"] == pytest.approx(9.0217, abs=1e-4)


def test_single_first_bid_wins_at_once():
    play = bid_rounds(auction({"start_price": 500}, players=2), (None, 650))
    assert play.payoffs()["p2"] == 350
    assert play.metrics()["rounds_played"] == 1
    assert play.metrics()["revenue"] == 650


def test_listed_leaders_follow_ties_in_turn_and_are_not_known_before():
    rounds = [(200, 200, 100), (230, 230)]
    lists = ([2, 1], [2, 3], [2, 2], [2])
    plays = [auction({"start_price": 100}, {"start_price": 100}, tie_break="random", tie_leaders=x) for x in lists]
    before = [bid_rounds(game, *rounds[:1]) for game in plays]
    assert {play.waiting_for() for play in before} == {("p1", "p3")}
    assert all(play.view(role) == before[0].view(role) for play in before for role in ("p1", "p2", "p3"))
    after = [bid_rounds(game, *rounds) for game in plays]
    assert [play.waiting_for() for play in after[:2]] == [("p2", "p3"), ("p1", "p2")]
    # A seat that is not tied, and a list that has ended, leave the tie to chance.
    assert after[2].waiting_for() == after[3].waiting_for() != ("p1", "p3")


def test_paying_more_than_the_true_value_loses_money():
    play = bid_rounds(auction({"start_price": 400, "true_value": 500}, players=2), (600, 400), (None,))
    assert play.payoffs()["p1"] == -100
    assert play.metrics()["p1_overpaid"] == 1


def test_unsold_item_is_offered_again_at_half_price():
    game = auction({"start_price": 900}, players=2, budget=500, discount_unsold=True)
    play = bid_rounds(game, (None, None), (None, 450))
    assert play.payoffs()["p2"] == 1350
    assert play.metrics()["p1_withdrawals"] == 2


def test_price_of_unsold_item_is_halved_at_most_three_times():
    game = auction({"start_price": 5}, players=2, discount_unsold=True)
    play = bid_rounds(game, *[(None, None)] * 4)
    assert play.over
    assert play.metrics()["items_unsold"] == 1


def test_wrong_claim_in_belief_report_counts_as_error():
    game = auction({"start_price": 100}, {"start_price": 100}, budget=300)
    play = bid_rounds(game, (150, None, None))
    report = {
        "remaining_budget": 150,
        "total_profits": {"p1": 50, "p2": 20},
        "winning_bids": {"p1": {"L1": 150}},
    }
    play, _events = submit(play, "p1", report)
    with pytest.raises(Refused):
        submit(play, "p1", report)
    for role in ("p1", "p2", "p3"):
        play, _events = submit(play, role, {"bid": None})
    metrics = play.metrics()
    assert (metrics["p1_belief_claims"], metrics["p1_belief_errors"], metrics["p1_belief_cfr"]) == (7, 1, 0.125)
    assert metrics["p1_belief_errors_others"] == 1
    assert metrics["p2_belief_cfr"] is None
    assert metrics["p1_profit"] == 50


def test_belief_report_requires_a_finished_item():
    play, _events = start(auction({"start_price": 100}), 1)
    with pytest.raises(Refused):
        submit(play, "p1", {"remaining_budget": 1, "total_profits": {}, "winning_bids": {}})


def test_two_rule_bidders_bid_four_times_each():
    game = auction({"start_price": 600}, players=2, budget=5000)
    play, _events = start(game, 1)
    bids_made = []
    while not play.over:
        role = play.waiting_for()[0]
        move = script_move(play, role, "rule")
        bids_made.append(move["bid"])
        play, _events = submit(play, role, move)
    assert bids_made == [600, 600, 660, 720, 780, 840, 900, 960, None]
    assert play.payoffs()["p1"] == 240


def test_estimates_are_rounded_down():
    game = auction({"start_price": 100, "true_value": 7123})
    assert game.estimate(start(game, 1)[0].state, "p1", 0) == 7835


def test_drawn_estimates_are_private_and_their_mean_is_the_true_value():
    game = auction({"start_price": 100}, {"start_price": 1000}, values="drawn", budget=9000)
    play, events = start(game, 4)
    draws = [event.data for event in events if event.kind == "draw"]
    assert [(draw["name"], draw["known_to"]) for draw in draws] == [
        (f"estimates of {role}", [role]) for role in game.roles()
    ]
    estimates = [draw["value"] for draw in draws]
    assert all(50 <= one <= 350 and 500 <= other <= 3500 for one, other in estimates)
    worth = sum(one for one, _other in estimates) // 3
    for role, bid in (("p1", 100), ("p2", None), ("p3", None)):
        play, events = submit(play, role, {"bid": bid})
    assert play.game.profit(play.state, "p1") == worth - 100
    assert next(block for block in play.view("p2") if block.key == "sale").facts[2].value == worth


def test_bid_is_asked_about_only_above_what_the_item_can_be_worth():
    game = auction({"start_price": 100}, values="drawn", budget=9000)
    state = start(game, 4)[0].state
    most = (game.estimate(state, "p1", 0) + 2 * 350) // 3
    assert game.warning(state, "p1", Bid(bid=most)) is None
    assert "you lose money" in game.warning(state, "p1", Bid(bid=most + 1)).words


def test_rank_correlation_uses_average_ranks():
    assert rank_correlation((3, 1, 2, 2), (5, 0, 1, 3)) == pytest.approx(0.948683, abs=1e-6)
    assert rank_correlation((3, 1), (5, 0)) is None
    assert rank_correlation((2, 2, 2), (5, 0, 1)) is None


def plan(play, role: str, **priorities: int):
    return submit(play, role, {"priorities": priorities})[0]


def test_priorities_are_correlated_with_bids():
    game = auction(*[{"start_price": 100}] * 3, players=2)
    play, _events = start(game, 1)
    play = plan(play, "p1", L1=3, L2=2, L3=1)
    for bids in ((100, None), (None, 100), (None, 100)):
        for role, bid in zip(("p1", "p2"), bids, strict=True):
            if role == "p1" and bids == (None, 100) and len(play.state.over) == 2:
                play = plan(play, "p1", L1=1, L3=3)
            play, _events = submit(play, role, {"bid": bid})
    metrics = play.metrics()
    assert metrics["p1_rho_initial_wins"] == pytest.approx(0.866025, abs=1e-6)
    assert metrics["p1_rho_current_wins"] == pytest.approx(0.5)
    assert metrics["p1_plan_errors"] == 1
    assert metrics["p2_rho_initial_bids"] is None


def test_plan_after_the_first_answer_is_not_initial():
    game = auction(*[{"start_price": 100}] * 4, players=2)
    play = bid_rounds(game, (100, None))
    play = plan(play, "p1", L2=3, L3=2, L4=1)
    for bids in ((100, None), (None, 100), (None, 100)):
        for role, bid in zip(("p1", "p2"), bids, strict=True):
            play, _events = submit(play, role, {"bid": bid})
    assert play.metrics()["p1_rho_initial_wins"] is None
    assert play.metrics()["p1_rho_current_wins"] == pytest.approx(0.866025, abs=1e-6)


@pytest.mark.parametrize(
    ("bid", "expected_text"),
    [
        (99, "from $100 to $300"), (301, "from $100 to $300"), (-5, "from $100 to $300"),
        (150.5, "whole number.*from $100 to $300"), ("150", "whole number.*from $100 to $300"),
        (True, "whole number.*from $100 to $300"),
    ],
)  # fmt: skip
def test_bid_outside_limits_is_refused_with_the_limits(bid, expected_text):
    play, _events = start(auction({"start_price": 100}, budget=300), 1)
    with pytest.raises(Refused, match=expected_text.replace("$", r"\$")):
        submit(play, "p1", {"bid": bid})


def test_bidder_without_enough_money_can_only_withdraw():
    play = bid_rounds(auction({"start_price": 100}, budget=300), (300, 100, None))
    with pytest.raises(Refused, match="only withdraw"):
        submit(play, "p2", {"bid": 310})


@pytest.mark.parametrize("priorities", [{"L9": 1}, {"L1": 4}, {"L1": 0}])
def test_plan_with_unknown_items_or_values_is_refused(priorities):
    play, _events = start(auction({"start_price": 100}), 1)
    with pytest.raises(Refused):
        submit(play, "p1", {"priorities": priorities})


@pytest.mark.parametrize(
    ("config", "expected_text"),
    [
        ({"items": [{"name": "A", "start_price": 1}, {"name": "A", "start_price": 2}]}, "names must differ"),
        ({"budgets": [1, 2]}, "one value per bidder"),
        ({"objectives": ["profit"]}, "one value per bidder"),
        ({"overestimate_percents": [1] * 4}, "one value per bidder"),
    ],
)
def test_invalid_configurations_are_refused(config, expected_text):
    with pytest.raises(BadConfig, match=expected_text):
        configure(ItemAuction, config)


def test_bonus_shares_match_the_specification():
    game = configure(ItemAuction, {"objectives": ["profit", "profit", "items"]})
    assert game.bonus_share("p1", 0) == 0.25
    assert game.bonus_share("p1", 20_000) == 1.0  # 0.25 + 9 * 20000 / 240000 = 1
    assert game.bonus_share("p1", -10_000) == 0.0
    assert game.bonus_share("p3", 10 / 3) == pytest.approx(0.5)


CONFIGS = st.fixed_dictionaries(
    {
        "players": st.integers(2, 5),
        "budget": st.integers(1, 2000),
        "increment_percent": st.integers(1, 100),
        "discount_unsold": st.booleans(),
        "tie_break": st.sampled_from(["random", "first_seat"]),
        "order": st.sampled_from(["random", "ascending", "descending", "listed"]),
        "prices": st.lists(st.integers(1, 900), min_size=1, max_size=6),
    }
)


@given(CONFIGS, st.integers(0, 2**32))
def test_money_is_conserved_and_the_highest_legal_bid_wins(settings, seed):
    prices = settings.pop("prices")
    game = auction(*({"start_price": price} for price in prices), **settings)
    rng = Random(seed)
    play, _events = start(game, seed)
    moves = []
    while not play.over:
        role = rng.choice(play.waiting_for())
        assert role not in play.state.lot.withdrawn()
        move = script_move(play, role, rng.choice(["random", "rule", "estimate", "greedy"]))
        moves.append((role, move))
        play, _events = submit(play, role, move)
    metrics = play.metrics()
    total_budget = sum(game.budget(role) for role in game.roles())
    budget_left = sum(game.budget_left(play.state, role) for role in game.roles())
    assert budget_left + metrics["revenue"] == total_budget
    assert all(game.budget_left(play.state, role) >= 0 for role in game.roles())
    for lot in play.state.sold():
        bids = [bid for bidding_round in lot.rounds for bid in bidding_round.answers.values() if bid is not None]
        assert lot.standing == max(bids)
    assert replay_moves(game, seed, moves)[0].payoffs() == play.payoffs()


@pytest.mark.parametrize("discount_unsold", [True, False])
def test_page_asks_before_a_bidder_who_could_still_bid_withdraws(discount_unsold):
    game = auction({"start_price": 500}, players=2, budget=1000, discount_unsold=discount_unsold)
    warning = game.warning(bid_rounds(game).state, "p1", Bid(bid=None))
    assert warning.button == "Withdraw from this item"
    assert ("unless nobody buys it" in warning.words) is discount_unsold
    assert game.warning(bid_rounds(game, (1000, 600)).state, "p2", Bid(bid=None)) is None, "nothing else is possible"
