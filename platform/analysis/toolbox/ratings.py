"""Ratings from scores that are updated match by match: Plackett–Luce, and TrueSkill if it is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.toolbox.numbers import Result

Scores = Mapping[str, float]
"""One match: the score of every player; the higher score is better."""
MU, SIGMA = 25.0, 25 / 3
BETA, TAU, DRAW = 25 / 6, 25 / 300, 0.10


def trueskill(matches: Sequence[Scores]) -> dict[str, Result]:
    """Return ratings by TrueSkill (μ 25, σ 25/3, β 25/6, τ 25/300, draw 10 %), updated match by match.

    TrueSkill is an optional extra because its licence restricts commercial use. If it is not installed, the ratings
    are those of `plackett_luce`, each with a note.
    """
    try:
        from trueskill import TrueSkill
    except ImportError:
        note = "trueskill is not installed: Plackett–Luce ratings instead"
        return {player: {**rating, "note": note} for player, rating in plackett_luce(matches).items()}
    environment = TrueSkill(mu=MU, sigma=SIGMA, beta=BETA, tau=TAU, draw_probability=DRAW)
    ratings = {player: environment.create_rating() for match in matches for player in match}
    for match in matches:
        players = sorted(match, key=lambda player: -match[player])
        if len(players) < 2:
            continue
        levels = sorted(set(match.values()), reverse=True)
        ranks = [levels.index(match[player]) for player in players]
        rated = environment.rate([(ratings[player],) for player in players], ranks=ranks)
        ratings |= {player: team[0] for player, team in zip(players, rated, strict=True)}
    return {player: {"mu": float(rating.mu), "sigma": float(rating.sigma)} for player, rating in ratings.items()}


def plackett_luce(matches: Sequence[Scores]) -> dict[str, Result]:
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
