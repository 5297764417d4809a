"""An agent's score and reliability from its matches."""

from __future__ import annotations

import pytest

from games.task_allocation.analyses import litmus

ROW = {"litmus": 0.2, "efficiency_share": 0.8, "equality_share": 0.6, "frontier_distance": 0.1}


def test_score_uses_both_goals_and_reliability_single_ones():
    results = litmus(
        [
            ({"goal": "both"}, ROW),
            ({}, {**ROW, "litmus": 0.4}),
            ({"goal": "efficiency"}, {**ROW, "efficiency_share": 0.9}),
            ({"goal": "equality"}, {**ROW, "equality_share": 0.5}),
            ({"goal": "equality"}, {**ROW, "equality_share": None}),
        ]
    )
    assert results.score == pytest.approx(0.3)
    assert results.reliability == pytest.approx(0.7)
    assert (results.off_frontier, results.matches) == (pytest.approx(0.1), 5)


def test_figures_without_matches_are_empty():
    assert litmus([({"goal": "both"}, {**ROW, "litmus": None})]).score is None
    assert litmus([({"goal": "both"}, ROW)]).reliability is None
