"""What players see: every fact that they need to decide, where they need it."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import games.play
from games.interface import Block, Role, Said
from games.negotiation.amounts import dollars, earnings
from games.negotiation.rules import Negotiation
from games.tests import kit
from games.tests.kit import blocks, shown

REJECT, ACCEPT, WALK_AWAY = {"decision": "reject"}, {"decision": "accept"}, {"decision": "walk_away"}
MAIN = {"seller_factor": 0.8, "buyer_factor": 1.2}


def offer(price: float, message: str | None = None) -> dict[str, Any]:
    return {"price": price, "message": message}


def play_after(*moves: dict[str, Any], **config) -> games.play.Play:
    return kit.played(games.play.configure(Negotiation, {**MAIN, **config}), *moves)


def ladder_positions(play: games.play.Play, role: Role) -> dict[str, float]:
    return {fact.key: fact.value for fact in blocks(play, role)["ladder"].facts}


def notices_after(role: Role, *moves: dict[str, Any], **config) -> dict[str, Block]:
    """Return the notices that `role` gets after the last of `moves`, by key."""
    return kit.notices(games.play.configure(Negotiation, {**MAIN, **config}), role, *moves)


class TestSituation:
    @pytest.mark.parametrize(
        ("role", "own_value", "other_value"), [("alice", "$8,000", "$12,000"), ("bob", "$12,000", "$8,000")]
    )
    def test_other_value_is_shown_only_under_complete_information(self, role, own_value, other_value):
        with_information = shown(blocks(play_after(), role)["situation"])
        assert with_information == {"round": "1 of 10", "your_value": own_value, "other_value": other_value}
        without_information = shown(blocks(play_after(complete_information=False), role)["situation"])
        assert without_information == {"round": "1 of 10", "your_value": own_value, "other_value": "unknown to you"}

    def test_unknown_number_of_rounds_is_not_shown(self):
        assert shown(blocks(play_after(rounds=None), "alice")["situation"])["round"] == "1"


class TestOffer:
    def test_responder_sees_price_gains_answers_and_message(self):
        offer_block = blocks(play_after(offer(11_000, "Take <b>it</b>")), "bob")["offer"]
        assert {fact.key: fact.value for fact in offer_block.facts} == {
            "price": 11_000, "your_gain": 1_000, "other_gain": 3_000, "last": False, "leaving": 0,
            "message": Said("Alice", "Take <b>it</b>"),
        }  # fmt: skip
        assert shown(offer_block)["your_gain"] == "you would earn $1,000"
        assert shown(offer_block)["last"] == "you name the next price"

    def test_loss_is_shown_as_a_loss(self):
        assert shown(blocks(play_after(offer(13_000)), "bob")["offer"])["your_gain"] == "you would lose $1,000"
        offer_block = blocks(play_after(offer(13_000), REJECT, offer(7_500)), "alice")["offer"]
        assert shown(offer_block)["your_gain"] == "you would lose $500"

    def test_other_gain_is_shown_only_if_other_value_is_known(self):
        assert "other_gain" not in shown(blocks(play_after(offer(11_000), complete_information=False), "bob")["offer"])

    def test_last_round_is_announced_only_if_known(self):
        last = shown(blocks(play_after(offer(11_000), rounds=1), "bob")["offer"])
        assert "ends without a trade" in last["last"]
        unknown = shown(blocks(play_after(offer(11_000), rounds=None, cap=1), "bob")["offer"])
        assert unknown["last"] == "you name the next price"

    def test_walking_away_is_mentioned_only_if_possible(self):
        assert "leaving" not in shown(blocks(play_after(offer(11_000), outside_option=False), "bob")["offer"])

    def test_proposer_sees_own_price_on_ladder_and_in_table(self):
        view = blocks(play_after(offer(11_000, "Hello")), "alice")
        assert "offer" not in view
        assert view["history"].rows == ((1, "You", "$11,000", "$3,000", "waiting", Said("Alice", "Hello")),)
        assert shown(view["ladder"])["current"] == "$11,000"

    def test_earlier_prices_are_listed_with_own_gain(self):
        view = blocks(play_after(offer(15_000), REJECT, offer(9_000), REJECT, messages_allowed=False), "bob")
        assert view["history"].rows == (
            (1, "Alice", "$15,000", "-$3,000", "rejected"),
            (2, "You", "$9,000", "$3,000", "rejected"),
        )


class TestLadder:
    def test_ladder_lists_prices_and_gain_at_the_current_price(self):
        ladder = blocks(play_after(offer(15_000), REJECT, offer(9_000), REJECT, offer(13_000)), "bob")["ladder"]
        assert [(fact.key, fact.label, fact.shown) for fact in ladder.facts] == [
            ("theirs_1", "Alice in round 1", "$15,000"),
            ("current", "Alice's price now", "$13,000"),
            ("current_gain", "At this price", "you would lose $1,000"),
            ("your_value", "Worth to you", "$12,000"),
            ("yours_2", "You in round 2", "$9,000"),
            ("other_value", "Worth to Alice", "$8,000"),
        ]

    @given(
        prices=st.lists(st.floats(0, 30_000) | st.floats(0, 1e300), max_size=12),
        role=st.sampled_from(["alice", "bob"]),
        complete_information=st.booleans(),
    )
    def test_ladder_positions_are_ordered_and_few(self, prices, role, complete_information):
        moves = [move for price in prices for move in (offer(price), REJECT)]
        positions = ladder_positions(play_after(*moves, rounds=20, complete_information=complete_information), role)
        assert list(positions.values()) == sorted(positions.values())
        assert all(0 <= position <= 100 for position in positions.values())
        assert 0 < positions["your_value"] < 100
        assert len(positions) <= 10

    def test_ladder_positions_are_to_scale_from_zero(self):
        positions = ladder_positions(play_after(offer(9_600), REJECT, offer(0), REJECT), "bob")
        assert positions["your_value"] == pytest.approx(37.5)  # the scale ends at 1.6 times 12,000
        assert positions["theirs_1"] == pytest.approx(50)
        assert positions["yours_2"] == 100

    def test_hidden_value_does_not_stretch_the_ladder(self):
        ladders = [
            blocks(play_after(complete_information=False, seller_factor=factor), "bob")["ladder"] for factor in (0.1, 9)
        ]
        assert ladders[0] == ladders[1]


class TestNotices:
    """Notices: a model's conversation consists of nothing else."""

    def test_offer_notice_includes_gain_and_message(self):
        bobs_notices = notices_after("bob", offer(15_000), REJECT, offer(9_000), REJECT, offer(11_000, "Last word"))
        assert bobs_notices.keys() == {"offer"}
        assert bobs_notices["offer"].title == "Alice's price in round 3"
        assert shown(bobs_notices["offer"])["your_gain"] == "you would earn $1,000"

    @pytest.mark.parametrize("role", ["alice", "bob"])
    def test_rejection_notice_includes_the_next_round(self, role):
        notices = notices_after(role, offer(15_000), REJECT)
        assert ("answer" in notices) == (role == "alice")
        assert shown(notices["situation"])["round"] == "2 of 10"

    @pytest.mark.parametrize(("role", "payoff"), [("alice", "$3,000"), ("bob", "$1,000")])
    def test_trade_result(self, role, payoff):
        result = shown(notices_after(role, offer(11_000), ACCEPT)["result"])
        assert result == {"trade": "in round 1", "price": "$11,000", "payoff": payoff}

    def test_result_of_a_loss(self):
        result = notices_after("bob", offer(13_000), ACCEPT)["result"]
        assert [(fact.label, fact.shown) for fact in result.facts][-1] == ("You lost", "$1,000")

    def test_walking_away_notices(self):
        alices_notices = notices_after("alice", offer(13_000), WALK_AWAY)
        assert alices_notices["answer"].body == "Bob walked away."
        assert shown(alices_notices["result"]) == {"trade": "none: Bob walked away", "payoff": "$0"}
        bobs_notices = notices_after("bob", offer(13_000), WALK_AWAY)
        assert bobs_notices.keys() == {"result"}
        assert shown(bobs_notices["result"]) == {"trade": "none: you walked away", "payoff": "$0"}

    @pytest.mark.parametrize("role", ["alice", "bob"])
    def test_result_after_last_rejection(self, role):
        trade, payoff = shown(notices_after(role, offer(13_000), REJECT, rounds=1)["result"]).values()
        assert trade.startswith("none") and payoff == "$0"

    def test_own_offer_gives_no_notice(self):
        assert notices_after("alice", offer(13_000)) == {}


class TestInstructions:
    @pytest.mark.parametrize("role", ["alice", "bob"])
    @pytest.mark.parametrize("rounds", [1, 2, 10, None])
    def test_number_of_rounds_is_stated_only_if_known(self, role, rounds):
        text = play_after(rounds=rounds).game.instructions(role)
        assert ("at most **" in text) == (rounds is not None and rounds > 1)
        assert ("only one round" in text) == (rounds == 1)
        assert "each of you earns $0" in text

    def test_other_value_is_stated_only_under_complete_information(self):
        game = play_after().game
        assert "earn the price minus $8,000" in game.instructions("alice")
        assert "worth **$12,000**" in game.instructions("alice")
        assert "earn $12,000 minus the price" in game.instructions("bob")
        hidden = play_after(complete_information=False).game.instructions("bob")
        assert "8,000" not in hidden
        assert "only their own value" in hidden

    @pytest.mark.parametrize(
        ("role", "complete_information", "rounds", "messages", "option"),
        list(product(["alice", "bob"], [True, False], [1, 10, None], [True, False], [True, False])),
    )
    def test_every_version_is_well_formed(self, role, complete_information, rounds, messages, option):
        game = play_after(
            rounds=rounds, complete_information=complete_information, messages_allowed=messages, outside_option=option
        ).game
        text = game.instructions(role)
        assert ("Walk away" in text) == option
        assert ("may add a message" in text) == messages
        assert "\n\n\n" not in text
        assert "  " not in text
        for line, following in zip(text.splitlines(), text.splitlines()[1:], strict=False):
            starts_list = following.startswith("- ") and not line.startswith("- ")
            assert not (starts_list and line), "a list begins after an empty line"


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (12_000, "$12,000"), (12_000.5, "$12,000.50"), (-0.004, "-$0.004"), (0.1 + 0.2 - 0.3, "$0"), (-0.0, "$0"),
        (2e20, "$2e+20"),
    ],
)  # fmt: skip
def test_amounts_are_readable_for_any_size(amount, text):
    assert dollars(amount) == text


@pytest.mark.parametrize(
    ("gain", "text"),
    [
        (5, "you would earn $5"), (-5.25, "you would lose $5.25"), (0, "you would earn nothing"),
        (1e-12, "you would earn nothing"),
    ],
)  # fmt: skip
def test_earnings_and_losses_as_clauses(gain, text):
    assert earnings(gain) == text
