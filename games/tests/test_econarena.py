"""Economics Arena's remarks, as in the specification's tables."""

from __future__ import annotations

import pytest

import games.play
from games import registry, strategies


@pytest.mark.parametrize(
    ("key", "first", "later"),
    [
        ("beauty_contest", ["understanding", "popular_answer", "reason"], ["goal", "previous_answer", "reason"]),
        ("sealed_auction", ["understanding", "reason"], ["goal", "previous_bid", "previous_payoff", "reason"]),
    ],
)
def test_remarks_change_once_the_history_is_shown(key, first, later):
    for depth, second in ((0, first), (1, later)):
        game = games.play.configure(registry.get(key), {"players": 2, "runs": 3, "history_depth": depth})
        play, _events = games.play.start(game, 1)
        remarks = strategies.of(game)["published"].remarks
        assert [remark.key for remark in remarks(game, play.state, "p1")] == first
        for role in ("p1", "p2"):
            play, _events = games.play.submit(play, role, games.play.script_move(play, role, "random"))
        assert [remark.key for remark in remarks(game, play.state, "p1")] == second
