"""What players see: every fact that they need to decide, where they need it."""

from __future__ import annotations

from typing import Any

import pytest

import games.play
from games.interface import Facts, Said, Table
from games.persuasion.rules import Persuasion
from games.play import Play


def new_play(**config: Any) -> Play:
    return games.play.start(games.play.configure(Persuasion, {"rounds": 3, **config}), 1)[0]


def after_moves(play: Play, *moves: tuple[str, dict[str, Any]]) -> Play:
    for role, move in moves:
        play, _events = games.play.submit(play, role, move)
    return play


def shown(play: Play, role: str, key: str) -> dict[str, str]:
    """Return the facts of a block as shown; empty if there is no such block."""
    for block in play.view(role):
        if block.key == key and isinstance(block, Facts):
            return {fact.key: fact.shown for fact in block.facts}
    return {}


def table(play: Play, role: str) -> Table:
    (only_table,) = [block for block in play.view(role) if isinstance(block, Table)]
    return only_table


PITCH = ("alice", {"message": "Take it."})


def test_seller_sees_the_product_and_the_stakes():
    play = new_play(qualities=["low", "high", "low"])
    assert shown(play, "alice", "product") == {"quality": "low", "buyer_gain": "$10,000", "your_gain": "$10,000"}
    assert shown(play, "alice", "situation")["earned"] == "$0"


def test_uninformed_seller_does_not_see_the_values():
    play = new_play(complete_information=False)
    assert "buyer_gain" not in shown(play, "alice", "product")
    assert "12,500" not in play.game.instructions("alice")
    assert "12,500" in play.game.instructions("bob")


def test_buyer_sees_the_message_but_not_the_quality():
    play = after_moves(new_play(), PITCH)
    (pitch,) = [block for block in play.view("bob") if block.key == "pitch"]
    assert pitch.facts[0].value == Said("Alice", "Take it.")
    assert not shown(play, "bob", "product")
    assert shown(play, "bob", "situation")["low_gain"] == "$10,000"


def test_history_shows_message_purchase_and_quality():
    play = after_moves(new_play(qualities=["low", "high", "low"]), PITCH, ("bob", {"decision": "yes"}))
    assert table(play, "bob").rows == ((1, Said("Alice", "Take it."), "yes", "low", "-$10,000"),)
    assert table(play, "alice").rows == ((1, Said("Alice", "Take it."), "yes", "low", "$10,000"),)


@pytest.mark.parametrize(("reveal", "decision", "shown_quality"), [
    ("always", "no", "low"), ("if_bought", "no", "unknown"), ("if_bought", "yes", "low"),
])  # fmt: skip
def test_buyer_learns_the_quality_as_configured(reveal, decision, shown_quality):
    play = new_play(qualities=["low"] * 3, reveal_quality=reveal)
    before = after_moves(play, PITCH)
    after = after_moves(before, ("bob", {"decision": decision}))
    assert table(after, "bob").rows[0][3] == shown_quality
    (outcome,) = [
        b.body for b in games.play.learnt(before, "bob", {"decision": decision}, after, "bob") if b.key == "outcome"
    ]
    assert ("low" in outcome) == (shown_quality == "low")
    assert table(after, "alice").rows[0][3] == "low"


def test_myopic_buyer_sees_only_statistics_of_earlier_rounds():
    play = new_play(qualities=["low", "high", "low"], buyer_type="myopic")
    play = after_moves(
        play, PITCH, ("bob", {"decision": "yes"}), ("alice", {"message": "Secret words"}), ("bob", {"decision": "no"})
    )
    assert shown(play, "bob", "statistics") == {
        "rounds_before": "2", "share_bought": "50%", "share_low_bought": "50%",
    }  # fmt: skip
    everything = repr(play.view("bob"))
    assert "Take it" not in everything
    assert "Secret words" not in everything
    assert "earned" not in shown(play, "bob", "situation")
    assert shown(new_play(buyer_type="myopic"), "bob", "statistics") == {"rounds_before": "none: this is the first"}


def body(play: Play, role: str, key: str) -> str:
    return next((block.body for block in play.view(role) if block.key == key), "")


def test_last_outcome_and_tally_are_shown():
    play = after_moves(new_play(qualities=["low"] * 3), PITCH, ("bob", {"decision": "yes"}))
    for words in ("Round 1", "Bob bought", "you earned $10,000"):
        assert words in body(play, "alice", "outcome")
    for words in ("Round 1", "you bought", "quality was low", "you lost $10,000"):
        assert words in body(play, "bob", "outcome")
    for role, buyer in (("alice", "Bob has"), ("bob", "You have")):
        assert body(play, role, "tally").startswith(f"{buyer} bought 1 of 1")
        assert "1 of them of low" in body(play, role, "tally")


def test_myopic_buyer_sees_neither_outcome_nor_tally():
    play = after_moves(new_play(buyer_type="myopic"), PITCH, ("bob", {"decision": "yes"}))
    assert (body(play, "bob", "outcome"), body(play, "bob", "tally")) == ("", "")
    assert body(play, "alice", "outcome")


@pytest.mark.parametrize(
    ("message_type", "move", "statement"),
    [("text", {"message": "Take it."}, Said("Alice", "Take it.")), ("binary", {"recommendation": "no"}, "no")],
)
def test_seller_sees_own_message_while_the_buyer_decides(message_type, move, statement):
    play = after_moves(new_play(message_type=message_type), ("alice", move))
    (own_words,) = [block for block in play.view("alice") if block.key == "own_words"]
    assert own_words.facts[0].value == statement
    assert not [block for block in play.view("bob") if block.key == "own_words"]


def test_myopic_buyer_gets_no_notice_of_its_purchase():
    before = after_moves(new_play(buyer_type="myopic"), PITCH)
    after = after_moves(before, ("bob", {"decision": "yes"}))
    assert games.play.learnt(before, "bob", {"decision": "yes"}, after, "bob") == ()


def test_each_role_sees_its_own_result():
    play = new_play(qualities=["high", "low", "low"])
    for decision in ("yes", "yes", "no"):
        play = after_moves(play, PITCH, ("bob", {"decision": decision}))
    assert shown(play, "alice", "result") == {"sold": "2 of 3", "sold_low": "1", "payoff": "$20,000"}
    assert shown(play, "bob", "result") == {"sold": "2 of 3", "bought_low": "1", "payoff": "-$7,500"}


@pytest.mark.parametrize("price", [0.01, 1, 100, 10_000, 1_000_000])
def test_quiz_depends_only_on_the_price(price):
    (question,) = new_play(price=price).game.quiz("bob")
    assert len(question.options) == 4
    assert question.answer in question.options
    assert question == new_play(price=price, high_value=4, prior=0.1).game.quiz("alice")[0]


@pytest.mark.parametrize("role", ["alice", "bob"])
@pytest.mark.parametrize("config", [
    {}, {"message_type": "binary"}, {"buyer_type": "myopic"}, {"reveal_quality": "if_bought"}, {"rounds": None},
    {"rounds": 1},
])  # fmt: skip
def test_instructions_are_complete_in_every_setting(role, config):
    text = games.play.configure(Persuasion, config).instructions(role)
    assert "None" not in text
    assert "{{" not in text
    assert ("yes or no" in text) == (config.get("message_type") == "binary")
    assert ("how many rounds" in text) == (config.get("rounds", 20) is None)


def test_myopic_buyer_is_addressed_as_buyer_of_one_round():
    text = games.play.configure(Persuasion, {"buyer_type": "myopic"}).instructions("bob")
    assert "in one of these rounds" in text
    assert text.rstrip().endswith("in your round.")


@pytest.mark.parametrize("role", ["alice", "bob"])
def test_one_round_instructions_mention_no_other_rounds(role):
    text = games.play.configure(Persuasion, {"buyer_type": "myopic", "rounds": 1}).instructions(role)
    assert "only **one round**" in text
    assert not [phrase for phrase in ("next buyer", "earlier rounds", "new buyer;", "all rounds") if phrase in text]
