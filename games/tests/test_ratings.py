"""Ratings rank agents by their scores."""

from __future__ import annotations

import pytest

from games.ratings import rate_agents, scores_of

SCORES = [("strong", 9.0), ("middle", 5.0), ("weak", 1.0)]


def test_higher_scores_rate_higher_and_uncertainty_falls():
    after_two, after_twenty = rate_agents([SCORES] * 2), rate_agents([SCORES] * 20)
    assert [rating.label for rating in after_twenty] == ["strong", "middle", "weak"]
    assert [rating.matches for rating in after_twenty] == [20] * 3
    assert all(
        later.deviation < earlier.deviation < 25 / 3 for earlier, later in zip(after_two, after_twenty, strict=True)
    )


def test_equal_scores_are_draws():
    first, second = rate_agents([[("a", 3.0), ("b", 3.0)]] * 5)
    assert first.mean == pytest.approx(second.mean)


def test_agent_in_two_seats_counts_once_with_its_mean():
    (first, second) = rate_agents([[("a", 10.0), ("a", 0.0), ("b", 4.0)]])
    assert (first.label, first.matches, second.matches) == ("a", 1, 1)
    assert rate_agents([[("a", 1.0), ("a", 2.0)]]) == []


def test_scores_are_read_from_match_metrics():
    metrics = {"p1_profit": 5, "p2_profit": -1, "revenue": 9}
    assert scores_of(metrics, {"p1": "x", "p2": "y"}, "profit") == [("x", 5.0), ("y", -1.0)]
