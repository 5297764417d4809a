"""What the contract does not compare: others' notes, and the limit of the scripted bidder."""

from __future__ import annotations

import pytest

from games.contract import seen
from games.item_auction.rules import ItemAuction
from games.play import configure, start, submit


def test_notes_are_visible_only_to_their_writer():
    before = start(configure(ItemAuction, {"items": [{"name": "L1", "start_price": 1000}]}), 1)[0]
    after = submit(before, "p1", {"priorities": {"L1": 3}})[0]
    assert seen(after, "p1") != seen(before, "p1")
    assert all(seen(after, role) == seen(before, role) for role in ("p2", "p3"))


@pytest.mark.parametrize("limit", [1, 9])
def test_limit_of_rule_bidder_is_not_shown(limit):
    game = configure(ItemAuction, {"rule_limit": limit})
    default = configure(ItemAuction, {})
    assert all(seen(start(game, 1)[0], role) == seen(start(default, 1)[0], role) for role in game.roles())
