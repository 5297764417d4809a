"""Until an item is sold, its true value and a bidder's overestimate affect only that bidder's estimate."""

from __future__ import annotations

import pytest

from games.contract import seen
from games.item_auction.rules import ItemAuction
from games.play import configure, start, submit

BASE = {"order": "listed", "tie_break": "first_seat", "notes": True}
OVERESTIMATED = configure(
    ItemAuction,
    {**BASE, "overestimate_percent": 10, "items": [{"name": "L1", "start_price": 1000, "true_value": 3000}] * 1},
)
EXACT = configure(
    ItemAuction,
    {**BASE, "overestimate_percent": 0, "items": [{"name": "L1", "start_price": 1000, "true_value": 3300}] * 1},
)


@pytest.mark.parametrize("role", ["p1", "p2", "p3"])
def test_equal_estimates_look_the_same_until_the_sale(role):
    overestimated, exact = start(OVERESTIMATED, 1)[0], start(EXACT, 1)[0]
    for mover, bid in (("p1", 1000), ("p2", 1100), ("p3", None), ("p1", None)):
        assert seen(overestimated, role) == seen(exact, role)
        overestimated, exact = submit(overestimated, mover, {"bid": bid})[0], submit(exact, mover, {"bid": bid})[0]
    assert overestimated.over and seen(overestimated, role) != seen(exact, role)


def test_value_of_unsold_item_stays_hidden():
    overestimated, exact = start(OVERESTIMATED, 1)[0], start(EXACT, 1)[0]
    for mover in ("p1", "p2", "p3"):
        overestimated, exact = submit(overestimated, mover, {"bid": None})[0], submit(exact, mover, {"bid": None})[0]
    assert overestimated.over and seen(overestimated, "p1") == seen(exact, "p1")


def test_notes_are_visible_only_to_their_writer():
    before = start(OVERESTIMATED, 1)[0]
    after = submit(before, "p1", {"priorities": {"L1": 3}})[0]
    assert seen(after, "p1") != seen(before, "p1")
    assert all(seen(after, role) == seen(before, role) for role in ("p2", "p3"))


@pytest.mark.parametrize("limit", [1, 9])
def test_limit_of_rule_bidder_is_not_shown(limit):
    game = configure(ItemAuction, {"rule_limit": limit})
    default = configure(ItemAuction, {})
    assert all(seen(start(game, 1)[0], role) == seen(start(default, 1)[0], role) for role in game.roles())
