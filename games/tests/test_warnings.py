"""What people's pages ask about before a move is sent: it harms its maker, is final, or was made before."""

from __future__ import annotations

import pytest

from games import registry
from games.play import check, configure, script_move, start, submit

PLAN = {
    "periods": 3,
    "instance": {
        "categories": [["A"], ["B"]],
        "effectiveness": {"A": 1, "B": 1},
        "offers": [
            {"id": "both", "contents": {"A": 1, "B": 1}, "price": 10},
            {"id": "some", "contents": {"A": 1}, "price": 5, "minimum": 3},
        ],
        "budget": 30,
    },
}
VALUES = {"players": 2, "values": [500, 400]}
LOT = {"players": 2, "items": [{"name": "Lot", "start_price": 100}], "order": "listed"}


def asked(key: str, config: dict, move: dict, before: tuple[dict, ...] = ()) -> str:
    """Return the warning about a move of the first role in turn after these moves; empty if there is none."""
    play, _events = start(configure(registry.get(key), config), 3)
    for earlier in before:
        play, _events = submit(play, play.waiting_for()[0], earlier)
    role = play.waiting_for()[0]
    warning = play.game.warning(play.state, role, check(play, role, move)[1])
    return "" if warning is None else warning.words


@pytest.mark.parametrize(
    ("key", "config", "move", "words"),
    [
        ("procurement", PLAN, {"plan": {"both": 4}}, "costs $40, $10 more"),
        ("procurement", PLAN, {"plan": {"both": 1, "some": 1}}, "needs at least 3 units"),
        ("procurement", PLAN, {"plan": {}}, "buys nothing, so"),
        ("procurement", PLAN, {"plan": {"both": 0}}, "buys nothing, so"),
        ("procurement", PLAN, {"plan": {"some": 3}}, "of a category (B)"),
        ("procurement", PLAN, {"plan": {"both": 3}}, ""),
        ("duopoly", {"alpha": 1}, {"price": 0.99}, "Each unit costs you 1:"),
        ("duopoly", {"alpha": 1}, {"price": 1.0}, ""),
        ("sealed_auction", VALUES, {"bid": 501}, "and the price is higher"),
        ("sealed_auction", VALUES | {"price_rule": "first"}, {"bid": 510}, "you lose 10 units"),
        ("sealed_auction", VALUES, {"bid": 500}, ""),
        ("english_auction", VALUES, {"bid": 501}, "you lose 1 unit"),
        ("english_auction", VALUES, {"bid": None}, "can't bid again"),
        ("english_auction", VALUES, {"bid": 500}, ""),
        ("item_auction", LOT, {"bid": 230}, "expect to lose money"),
        ("negotiation", {}, {"price": 9_000}, "you would lose $1,000"),
        ("negotiation", {}, {"price": 10_000}, ""),
        ("bargaining", {"money": 100}, {"alice_gain": 0, "bob_gain": 100}, "$0 of $100 for you"),
        ("bargaining", {"money": 100}, {"alice_gain": 5, "bob_gain": 95}, ""),
        ("social_dilemma", {"mechanism": "repetition", "rounds": 2}, {"action": "A1"}, ""),
    ],
)
def test_moves_that_harm_their_maker_whatever_the_others_do_are_asked_about(key, config, move, words):
    assert words in (text := asked(key, config, move))
    assert bool(text) == bool(words)


@pytest.mark.parametrize(("answer", "words"), [("accept", "you would lose $2,000"), ("reject", "")])
def test_accepting_a_loss_is_asked_about(answer, words):
    text = asked("negotiation", {}, {"decision": answer}, before=({"price": 12_000},))
    assert words in text and bool(text) == bool(words)


def test_the_same_submission_is_asked_about_while_its_result_can_only_be_the_same():
    plan = {"plan": {"both": 2}}
    assert "exactly this in period 1" in asked("procurement", PLAN, {"plan": {"both": 2, "some": 0}}, (plan,))
    play, _events = start(configure(registry.get("scheduling"), {"periods": 3}), 3)
    schedule = script_move(play, "agent", "random")
    assert "exactly this in period 1" in asked("scheduling", {"periods": 3}, schedule, (schedule,))
    assert not asked("scheduling", {"periods": 2}, schedule, (schedule,)), "the best known schedule counts at the end"


def test_prices_are_compared_with_the_last_ones_or_with_the_recommended_one():
    play, _events = start(configure(registry.get("pricing"), {}), 3)
    (name, first), *_others = play.game.usual(play.state, "agent").items()
    assert first.contains(0.01) and not first.contains(10 * first.value)
    prices = dict.fromkeys(play.state.instance.names, 4.0)
    play, _events = submit(play, "agent", {"prices": prices})
    last = play.game.usual(play.state, "agent")[name]
    assert [last.contains(price) for price in (0.4, 0.5, 39, 40)] == [False, True, True, False]
