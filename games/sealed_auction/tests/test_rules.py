"""The sealed auction against its specification: worked cases, prices, dominance, and hidden information."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import games.play
from games.contract import seen
from games.errors import BadConfig, Refused
from games.play import Play
from games.sealed_auction.rules import SealedAuction
from games.tests import kit

VALUES = (80, 65, 20)
BIDS = st.none() | st.floats(0, 100) | st.floats(-10, 200) | st.sampled_from([0, 50, 100])


def auction(**config: Any) -> SealedAuction:
    return games.play.configure(SealedAuction, config)


def play_runs(*runs: tuple[float | None, ...], values: tuple[float, ...] = VALUES, **config: Any) -> Play:
    """Return an auction with assets of 100 in which the seats make these bids, run after run."""
    game = auction(players=len(values), assets=100, values=list(values), runs=len(runs), **config)
    return kit.played(game, *({"bid": bid} for run in runs for bid in run))


class TestResult:
    def test_bids_at_value_reach_equilibrium(self):
        play = play_runs((70, 65, 20))
        assert list(play.payoffs().values()) == [115, 100, 100]
        metrics = play.metrics()
        assert [metrics[f"{role}_deviation"] for role in ("p1", "p2", "p3")] == [0, 0, 0]
        assert (metrics["deviation"], metrics["overbids"], metrics["underbids"]) == (0, 0, 1)
        assert (metrics["p1_nash_assets"], metrics["p1_wins"], metrics["p1_bid_to_value"]) == (115, 1, 0.875)

    def test_winning_above_the_value_costs_assets(self):
        play = play_runs((80, 90, 20))
        assert list(play.payoffs().values()) == [100, 85, 100]
        metrics = play.metrics()
        deviations = [metrics[f"{role}_deviation"] for role in ("p1", "p2", "p3")]
        assert deviations == pytest.approx([0.130435, 0.15, 0], abs=1e-6)
        assert metrics["efficiency"] == pytest.approx(0.8125)
        assert metrics["overbids"] == 1

    def test_payoff_is_the_mean_over_runs(self):
        play = play_runs((70, 65, 20), (80, 90, 20))
        assert list(play.payoffs().values()) == [107.5, 92.5, 100]
        assert (play.metrics()["price_mean"], play.metrics()["sold"]) == (72.5, 2)

    def test_lowest_seat_wins_ties_and_a_foul_costs_its_fee(self):
        assert list(play_runs((64, 64, 120), foul_fee=5).payoffs().values()) == [116, 100, 95]

    def test_single_valid_bid_pays_nothing(self):
        play = play_runs((None, 12, 101))
        assert play.payoffs()["p2"] == 165
        assert (play.metrics()["fouls"], play.metrics()["price_mean"]) == (2, 0)

    def test_nothing_is_sold_without_a_valid_bid(self):
        metrics = play_runs((None, -1, 101)).metrics()
        assert (metrics["sold"], metrics["price_mean"], metrics["efficiency"]) == (0, None, 0)
        assert metrics["p1_bid_to_value"] is None

    def test_winner_pays_its_own_bid_under_the_first_price_rule(self):
        play = play_runs((70, 65, 20), price_rule="first")
        assert list(play.payoffs().values()) == [110, 100, 100]
        metrics = play.metrics()
        assert metrics["deviation"] is None
        assert [metrics[f"p1_{key}"] for key in ("nash_assets", "payoff_ratio", "deviation")] == [None] * 3

    @given(st.lists(st.tuples(BIDS, BIDS, BIDS), min_size=1, max_size=4))
    def test_price_never_exceeds_the_winning_bid_and_one_seat_pays(self, runs):
        play = play_runs(*runs)
        game = play.game
        for index, run in enumerate(runs):
            sale = game.sale(play.state, index)
            if sale.winner is None:
                assert not any(game.valid(bid) for bid in run)
                continue
            bid = run[game.roles().index(sale.winner)]
            assert 0 <= sale.price <= bid
            assert bid == max(number for number in run if game.valid(number))
            other_assets = {role: assets for role, assets in sale.assets.items() if role != sale.winner}
            assert set(other_assets.values()) <= {100}
            assert sale.assets[sale.winner] == 100 - sale.price + game.value(play.state, sale.winner)

    @given(st.floats(1, 100), st.lists(BIDS, min_size=2, max_size=2), BIDS)
    def test_no_bid_beats_bidding_the_value(self, value, other_bids, bid):
        """Truthful bidding is weakly dominant under the second-price rule."""
        truthful = play_runs((value, *other_bids), values=(value, 50, 50)).payoffs()["p1"]
        assert play_runs((bid, *other_bids), values=(value, 50, 50)).payoffs()["p1"] <= truthful + 1e-9

    def test_bonus_spans_two_standard_deviations(self):
        game = auction(assets=1000, value_sd=100)
        assert [game.bonus_share("p1", payoff) for payoff in (700, 800, 1000, 1200, 1300)] == [0, 0, 0.5, 1, 1]


class TestSetup:
    @pytest.mark.parametrize(
        ("config", "reason"),
        [
            ({"values": [1, 2]}, "there are 2 for 3"), ({"values": [1, 2, 101]}, "at most the assets"),
            ({"values": [1, 2, 0]}, "more than 0"), ({"value_mean": 5000}, "hardly any drawn value"),
            ({"assets": 0.001}, "hardly any drawn value"), ({"players": 21}, "players"),
            ({"foul_fee": -1}, "foul_fee"),
        ],
    )  # fmt: skip
    def test_invalid_configurations_are_refused(self, config, reason):
        with pytest.raises(BadConfig, match=reason):
            auction(**{"players": 3, "assets": 100, "value_mean": 50, **config})

    @given(st.integers(0, 10_000))
    def test_values_are_drawn_within_the_assets_to_two_decimals(self, seed):
        play, _events = games.play.start(auction(players=20, assets=520), seed)
        assert all(0 < value <= 520 and round(value, 2) == value for value in play.state.values)
        assert len(set(play.state.values)) > 1


class TestMoves:
    @pytest.mark.parametrize("bid", ["10", True, {}])
    def test_invalid_bids_are_refused(self, bid):
        with pytest.raises(Refused):
            games.play.submit(games.play.start(auction(), 1)[0], "p1", {"bid": bid})

    def test_bids_beyond_the_assets_are_refused_if_fouls_are(self):
        play, _events = games.play.start(auction(fouls="refuse"), 1)
        with pytest.raises(Refused, match="from 0 to 1000"):
            games.play.submit(play, "p1", {"bid": 1001})


class TestVisibility:
    @given(st.integers(0, 6), st.integers(0, 5))
    def test_no_more_is_shown_than_the_depth_allows(self, depth, runs):
        game = auction(players=3, assets=100, values=list(VALUES), runs=6, history_depth=depth)
        plays = [games.play.start(game, 1)[0] for _copy in range(2)]
        for run in range(runs):
            hidden = run < runs - depth
            for role in game.roles():
                bid = 10.0 + run
                plays = [
                    games.play.submit(play, role, {"bid": 77 if hidden and copy else bid})[0]
                    for copy, play in enumerate(plays)
                ]
        assert seen(plays[0], "p2") == seen(plays[1], "p2")

    def test_history_can_reveal_values(self):
        play = play_runs((70, 65, 20), (70, 65, 20), history_reveals="bids_and_values")
        assert "20 units" in seen(play, "p1")
        assert "20 units" not in seen(games.play.start(play.game, 1)[0], "p1")


class TestScripts:
    @pytest.mark.parametrize(
        ("script", "bid"),
        [
            ("truthful", 90), ("rational", 90), ("shade", 60), ("overbidder", 100), ("underbidder", 72),
            ("no_answer", None),
        ],
    )  # fmt: skip
    def test_bids_of_scripts(self, script, bid):
        game = auction(players=3, assets=100, values=[90, 65, 20])
        assert games.play.script_move(games.play.start(game, 1)[0], "p1", script) == {"bid": bid}

    def test_rational_shades_under_the_first_price_rule(self):
        game = auction(players=3, assets=100, values=[90, 65, 20], price_rule="first")
        assert games.play.script_move(games.play.start(game, 1)[0], "p1", "rational") == {"bid": 60}
