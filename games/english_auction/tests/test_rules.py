"""The English auction against its specification: worked cases, whose turn it is, which bids are allowed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import games.play
from games.english_auction.rules import EnglishAuction
from games.english_auction.state import Bid
from games.errors import Refused
from games.play import Play
from games.tests import kit

VALUES = {"players": 3, "assets": 100, "values": [80, 65, 20]}


def auction(**config: Any) -> EnglishAuction:
    return games.play.configure(EnglishAuction, {**VALUES, **config})


def play_bids(*bids: float | None, **config: Any) -> Play:
    """Return an auction in which each bidder in turn makes the next of these bids."""
    return kit.played(auction(**config), *({"bid": bid} for bid in bids))


class TestResult:
    def test_worked_case(self):
        play = play_bids(0, 10, 20, 30, 40, None, 50, 60, 70, None)
        assert play.over
        assert list(play.payoffs().values()) == [110, 100, 100]
        metrics = play.metrics()
        assert (metrics["sold"], metrics["price"], metrics["winner"], metrics["bids"]) == (True, 70, "p1", 8)
        assert metrics["p1_payoff_ratio"] == pytest.approx(0.956522, abs=1e-6)
        assert (metrics["p1_dropped_at"], metrics["p2_dropped_at"], metrics["p3_dropped_at"]) == (None, 70, 40)
        assert (metrics["p2_overbids"], metrics["p3_overbids"], metrics["efficiency"]) == (0, 0, 1)
        assert metrics["deviation"] == pytest.approx((1 - 110 / 115) / 3)

    def test_start_price(self):
        play = play_bids(None, 50, None, start_price=50)
        assert play.payoffs()["p2"] == 115
        assert play.metrics()["p1_dropped_at"] == 50

    def test_last_seat_may_bid_if_all_others_dropped_out(self):
        play = play_bids(None, None)
        assert play.waiting_for() == ("p3",)
        assert play_bids(None, None, 0).payoffs()["p3"] == 120

    def test_item_is_not_sold_without_bids(self):
        play = play_bids(None, None, None)
        metrics = play.metrics()
        assert (metrics["sold"], metrics["price"], metrics["winner"], metrics["efficiency"]) == (False, None, None, 0)
        assert list(play.payoffs().values()) == [100, 100, 100]

    def test_bids_above_the_value_are_counted(self):
        assert play_bids(0, 10, 30, None, None).metrics()["p3_overbids"] == 1

    def test_rational_bidders_sell_near_the_second_highest_value(self):
        metrics = kit.finished(auction(increment=1), "rational").metrics()
        assert metrics["winner"] == "p1"
        assert abs(metrics["price"] - 65) <= 1
        assert metrics["deviation"] < 0.01


class TestTurns:
    def test_leader_and_dropped_out_seats_are_skipped(self):
        assert play_bids(0, None, 10).waiting_for() == ("p1",)
        assert play_bids(0, None, 10, 20).waiting_for() == ("p3",)

    @pytest.mark.parametrize(("bids", "bid"), [((), -1), ((20,), 29.9), ((20,), 100.1), ((95,), 105)])
    def test_refused_bids_state_the_limits(self, bids, bid):
        play = play_bids(*bids)
        with pytest.raises(Refused, match=r"bid must be from|only drop out"):
            games.play.submit(play, play.waiting_for()[0], {"bid": bid})

    def test_minimum_bid_tolerates_floating_point_residue(self):
        play = play_bids(0.1, 0.2, increment=0.1)
        assert play.game.lowest(play.state) == 0.3
        games.play.submit(play, "p3", {"bid": 0.3})

    @given(st.lists(st.none() | st.floats(0, 30), max_size=40))
    def test_price_only_rises_and_nobody_returns(self, steps):
        play, _events = games.play.start(auction(increment=2), 1)
        price, dropped = 0.0, set()
        for step in steps:
            if play.over:
                break
            (role,) = play.waiting_for()
            lowest = play.game.lowest(play.state)
            bid = None if step is None or lowest is None else min(lowest + step, 100)
            assert role not in dropped and role != play.state.leader
            play, _events = games.play.submit(play, role, {"bid": bid})
            dropped |= {role} if bid is None else set()
            if bid is not None:
                assert bid >= price
                price = bid
        if play.over and play.state.leader:
            paid = {role: 100 - payoff for role, payoff in play.payoffs().items() if payoff != 100}
            assert set(paid) <= {play.state.leader}


def test_number_of_bidders_may_be_reduced():
    assert auction(**auction().with_seats(2)).config.values == (80, 65)


class TestScripts:
    @pytest.mark.parametrize(
        ("script", "standing", "bid"),
        [("rational", 55, 65), ("rational", 56, None), ("overbidder", 68, 78), ("overbidder", 69, None),
         ("underbidder", 42, 52), ("underbidder", 43, None), ("drop_out", 0, None)],
    )  # fmt: skip
    def test_limits_of_scripts(self, script, standing, bid):
        play = play_bids(standing)
        assert games.play.script_move(play, "p2", script) == {"bid": bid}


def test_page_asks_before_a_bidder_who_could_still_bid_drops_out():
    def button(play: Play) -> str:
        warning = play.game.warning(play.state, play.waiting_for()[0], Bid(bid=None))
        return warning.button if warning else ""

    assert button(play_bids()) == button(play_bids(0, 10, None)) == "Drop out for good"
    assert button(play_bids(100)) == "", "nothing else is possible"
    assert auction().warning(play_bids().state, "p1", Bid(bid=10)) is None
