"""Scores of pairs, and the reliability of single agents."""

from __future__ import annotations

from games.duopoly.analyses import litmus


def test_matches_with_a_rival_score_and_matches_alone_test_reliability():
    results = litmus(
        [
            {"litmus": 0.25, "converged": None}, {"litmus": 0.75, "converged": None},
            {"litmus": None, "converged": True}, {"litmus": None, "converged": False},
            {"litmus": None, "converged": False}, {"litmus": None, "converged": False},
        ]
    )  # fmt: skip
    assert (results.score, results.reliability, results.matches) == (0.5, 0.25, 6)


def test_figures_without_matches_are_empty():
    assert litmus([]) == litmus([{"litmus": None, "converged": None}][:0])
    assert litmus([{"litmus": None, "converged": True}]).score is None
