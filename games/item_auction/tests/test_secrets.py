"""Until an item is sold, its true value and a bidder's overestimate affect only that bidder's estimate."""

from __future__ import annotations

import pytest

from games.contract import seen
from games.item_auction.rules import ItemAuction
from games.play import configure, start, submit

TRUE = {"order": "listed", "tie_break": "first_seat", "notes": True}
ONE = configure(
    ItemAuction,
    {**TRUE, "overestimate_percent": 10, "items": [{"name": "L1", "start_price": 1000, "true_value": 3000}] * 1},
)
OTHER = configure(
    ItemAuction,
    {**TRUE, "overestimate_percent": 0, "items": [{"name": "L1", "start_price": 1000, "true_value": 3300}] * 1},
)


@pytest.mark.parametrize("role", ["p1", "p2", "p3"])
def test_equal_estimates_look_the_same_until_the_sale(role):
    one, other = start(ONE, 1)[0], start(OTHER, 1)[0]
    for mover, bid in (("p1", 1000), ("p2", 1100), ("p3", None), ("p1", None)):
        assert seen(one, role) == seen(other, role)
        one, other = submit(one, mover, {"bid": bid})[0], submit(other, mover, {"bid": bid})[0]
    assert one.over and seen(one, role) != seen(other, role)


def test_value_of_unsold_item_stays_hidden():
    one, other = start(ONE, 1)[0], start(OTHER, 1)[0]
    for mover in ("p1", "p2", "p3"):
        one, other = submit(one, mover, {"bid": None})[0], submit(other, mover, {"bid": None})[0]
    assert one.over and seen(one, "p1") == seen(other, "p1")


def test_notes_are_visible_only_to_their_writer():
    before = start(ONE, 1)[0]
    after = submit(before, "p1", {"priorities": {"L1": 3}})[0]
    assert seen(after, "p1") != seen(before, "p1")
    assert all(seen(after, role) == seen(before, role) for role in ("p2", "p3"))


@pytest.mark.parametrize("limit", [1, 9])
def test_limit_of_rule_bidder_is_not_shown(limit):
    game = configure(ItemAuction, {"rule_limit": limit})
    usual = configure(ItemAuction, {})
    assert all(seen(start(game, 1)[0], role) == seen(start(usual, 1)[0], role) for role in game.roles())
