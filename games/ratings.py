"""Ratings of agents by their scores in matches, with OpenSkill's Plackett–Luce model.

AucArena rates bidders with TrueSkill (section 4.1), whose licence restricts commercial use: see
`analysis.toolbox.ratings`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

Seats = Sequence[tuple[str, float]]
"""One match: (agent's label, score) of every seat; the higher score is better, equal scores are a draw."""
Scores = Mapping[str, float]
"""One match: the score of every player."""


@dataclass(frozen=True)
class Rating:
    """An agent's strength.

    Attributes:
        mean: mean of its estimated strength; every agent starts at 25.
        deviation: standard deviation of the estimate; every agent starts at 25/3.
        matches: number of matches.
    """

    label: str
    mean: float
    deviation: float
    matches: int


def rate_agents(matches: Iterable[Seats]) -> list[Rating]:
    """Return the agents' ratings after these matches, in their order; the strongest agent first.

    An agent with several seats in a match gets their mean score. Matches of a single agent are ignored.
    """
    scored = [scores for seats in matches if len(scores := mean_scores(seats)) > 1]
    played = Counter(label for scores in scored for label in scores)
    estimates = plackett_luce(scored)
    ratings = [Rating(label, estimate["mu"], estimate["sigma"], played[label]) for label, estimate in estimates.items()]
    return sorted(ratings, key=lambda rating: (-rating.mean, rating.label))


def mean_scores(seats: Seats) -> dict[str, float]:
    """Return each agent's mean score over its seats in one match."""
    return {label: fmean(score for seat_label, score in seats if seat_label == label) for label, _score in seats}


def scores_of(metrics: Mapping[str, Any], labels: Mapping[str, str], measure: str) -> Seats:
    """Return a match's scores from its metrics, "p1_profit" and so on.

    Args:
        labels: by role.
        measure: the seat metric that is the score.
    """
    return [(label, float(metrics[f"{role}_{measure}"])) for role, label in labels.items()]


def plackett_luce(matches: Sequence[Scores]) -> dict[str, dict[str, Any]]:
    """Return ratings by openskill's Plackett–Luce model, updated match by match; equal scores are draws.

    Returns:
        mu and sigma by player.
    """
    from openskill.models import PlackettLuce

    model = PlackettLuce()
    ratings = {player: model.rating(name=player) for match in matches for player in match}
    for match in matches:
        players = list(match)
        if len(players) < 2:
            continue
        rated = model.rate([[ratings[player]] for player in players], scores=[match[player] for player in players])
        ratings |= {player: team[0] for player, team in zip(players, rated, strict=True)}
    return {player: {"mu": float(rating.mu), "sigma": float(rating.sigma)} for player, rating in ratings.items()}
