"""The variable columns are those that the games declare."""

from __future__ import annotations

import pytest

import games.play
from exports.shape import of_configurations
from games import registry


@pytest.mark.parametrize("game", registry.keys())
def test_no_match_is_played_to_learn_columns(game, monkeypatch):
    monkeypatch.setattr(games.play, "start", None)
    shape = of_configurations([(game, {})])
    kind = registry.get(game)
    declared = {*kind.Results.model_fields}, {*kind.SeatResults.model_fields}, {*kind.Record.model_fields}
    assert ({*shape.metrics}, {*shape.seat_metrics}, {*shape.records}) == declared
    assert shape.moves and shape.roles


def test_moves_depend_on_the_configuration():
    with_messages, without = (of_configurations([("bargaining", {"messages_allowed": on})]) for on in (True, False))
    assert {*with_messages.moves} - {*without.moves} == {"message"}


def test_a_column_of_several_games_can_hold_the_results_of_each():
    shape = of_configurations(
        [("negotiation", {}), ("bargaining", {}), ("social_dilemma", {}), ("english_auction", {})]
    )
    assert shape.metrics["efficiency"].kind == "number"  # whole in negotiation
    assert (shape.metrics["efficiency"].minimum, shape.metrics["efficiency"].maximum) == (0, 1)
    assert shape.metrics["winner"].kind == "text"  # a number or the name of a seat
    assert shape.moves["decision"].choices == ("accept", "reject", "walk_away")
    assert "message" not in shape.choices and "decision" in shape.choices
