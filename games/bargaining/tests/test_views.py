"""What players see: every fact that they need to decide, where they need it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import games.play
from games.bargaining.rules import Bargaining
from games.interface import Block, Role, Said
from games.tests import kit
from games.tests.kit import blocks, shown

REJECT = {"decision": "reject"}


def offer(alice_gain: float, message: str | None = None) -> dict[str, Any]:
    return {"alice_gain": alice_gain, "bob_gain": 10_000 - alice_gain, "message": message}


def play_after(*moves: dict[str, Any], **config) -> games.play.Play:
    return kit.played(games.play.configure(Bargaining, config), *moves)


def notices_after(role: Role, *moves: dict[str, Any], **config) -> dict[str, Block]:
    """Return the notices that `role` gets after the last of `moves`, by key."""
    return kit.notices(games.play.configure(Bargaining, config), role, *moves)


class TestSituation:
    def test_number_of_rounds_is_shown_only_if_known(self):
        assert shown(blocks(play_after(), "alice")["situation"])["round"] == "1 of 12"
        assert shown(blocks(play_after(rounds=None), "alice")["situation"])["round"] == "1"

    def test_stakes_are_shown(self):
        situation = shown(blocks(play_after(offer(6000), REJECT, delta_bob=0.8), "bob")["situation"])
        assert situation == {
            "round": "2 of 12", "money": "$10,000", "stake_now": "$8,000", "loss": "20%", "other_loss": "10%",
            "other_stake_now": "$9,000",
        }  # fmt: skip

    @pytest.mark.parametrize(
        ("config", "is_shown"),
        [
            ({"delta_bob": 0.8}, True),
            ({"delta_bob": 0.9}, False),
            ({"delta_bob": 0.8, "complete_information": False}, False),
        ],
    )
    def test_other_worth_is_shown_only_if_known_and_different(self, config, is_shown):
        view = blocks(play_after(offer(6000), REJECT, **config), "alice")
        assert ("other_stake_now" in shown(view["situation"])) is is_shown
        assert len(view["worth"].series) == 1 + is_shown


class TestOffer:
    def test_responder_sees_both_parts_their_worth_and_the_message(self):
        offer_block = blocks(play_after(offer(5000), REJECT, offer(4000, "Take <b>it</b>")), "alice")["offer"]
        assert {fact.key: fact.value for fact in offer_block.facts} == {
            "your_gain": 4000, "other_gain": 6000, "your_gain_now": pytest.approx(3600),
            "message": Said("Bob", "Take <b>it</b>"),
        }  # fmt: skip

    def test_proposer_sees_own_offer_only_in_the_table(self):
        view = blocks(play_after(offer(6000, "Hello")), "alice")
        assert "offer" not in view
        assert view["history"].rows == ((1, "You", "$6,000", "$4,000", "$6,000", "waiting", Said("Alice", "Hello")),)

    def test_earlier_offers_are_listed_with_their_worth_at_the_time(self):
        view = blocks(play_after(offer(6000), REJECT, offer(3000), REJECT, messages_allowed=False), "bob")
        assert view["history"].rows == (
            (1, "Alice", "$4,000", "$6,000", "$4,000", "rejected"),
            (2, "You", "$7,000", "$3,000", "$6,300", "rejected"),
        )


class TestChart:
    @given(rounds=st.none() | st.integers(1, 200), number=st.integers(1, 40))
    def test_chart_shows_current_round_and_a_readable_range(self, rounds, number):
        if rounds is not None and number > rounds:
            return
        game = games.play.configure(Bargaining, {"rounds": rounds})
        chart = {block.key: block for block in game.view(start_of(game, number), "alice")}["worth"]
        (series,) = chart.series
        xs = [x for x, _y in series.points]
        assert chart.mark == number
        assert chart.mark in xs
        assert len(xs) <= 30
        assert xs == [xs[0] + step for step in range(len(xs))]
        assert xs[0] >= 1
        assert rounds is None or xs[-1] <= rounds
        assert dict(series.points)[chart.mark] == pytest.approx(10_000 * 0.9 ** (number - 1))

    def test_chart_shows_all_rounds_of_a_short_game(self):
        assert [x for x, _y in blocks(play_after(), "bob")["worth"].series[0].points] == list(range(1, 13))


def start_of(game: Bargaining, number: int):
    """Return the state at the beginning of round `number`."""
    return kit.played(game, *[offer(5000), REJECT] * (number - 1)).state


class TestNotices:
    """Notices: a model's conversation consists of nothing else."""

    def test_offer_notice_includes_worth_and_message(self):
        bobs_notices = notices_after("bob", offer(6000), REJECT, offer(3000), REJECT, offer(7000, "Last word"))
        assert bobs_notices.keys() == {"offer"}
        assert bobs_notices["offer"].title == "Alice's offer in round 3"
        assert shown(bobs_notices["offer"])["your_gain_now"] == "$2,430"

    def test_rejection_notice_includes_worth_in_next_round(self):
        alices_notices = notices_after("alice", offer(6000), REJECT)
        assert alices_notices["answer"].body == "Bob rejected your offer."
        assert shown(alices_notices["situation"])["stake_now"] == "$9,000"

    def test_rejecting_role_also_gets_the_next_round(self):
        assert shown(notices_after("bob", offer(6000), REJECT)["situation"])["round"] == "2 of 12"

    def test_agreement_notice(self):
        alices_notices = notices_after(
            "alice", offer(6000), REJECT, offer(3000), REJECT, offer(6000), {"decision": "accept"}
        )
        assert alices_notices["answer"].body == "Bob accepted your offer."
        assert shown(alices_notices["result"]) == {"agreement": "in round 3", "share": "$6,000", "payoff": "$4,860"}

    @pytest.mark.parametrize("role", ["alice", "bob"])
    def test_notice_without_agreement(self, role):
        notices = notices_after(role, offer(6000), REJECT, rounds=1)
        agreement, payoff = shown(notices["result"]).values()
        assert agreement.startswith("none") and payoff == "$0"

    def test_own_offer_gives_no_notice(self):
        assert notices_after("alice", offer(6000)) == {}


class TestInstructions:
    @pytest.mark.parametrize("role", ["alice", "bob"])
    @pytest.mark.parametrize("rounds", [1, 2, 12, None])
    def test_number_of_rounds_is_stated_only_if_known(self, role, rounds):
        text = play_after(rounds=rounds).game.instructions(role)
        assert ("at most **" in text) == (rounds is not None and rounds > 1)
        assert ("only one round" in text) == (rounds == 1)
        assert "neither of you" in text

    def test_other_loss_is_stated_only_under_complete_information(self):
        game = play_after(delta_alice=0.95, delta_bob=1.0).game
        assert "loses 5%" in game.instructions("alice")
        assert "keeps its full value" in game.instructions("bob")
        assert "For Alice, it loses 5%" in game.instructions("bob")
        hidden = play_after(delta_alice=0.95, complete_information=False).game.instructions("bob")
        assert "5%" not in hidden
        assert "do not know how fast" in hidden
