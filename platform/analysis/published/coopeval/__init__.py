"""Tables and figures of CoopEval from datasets of social dilemmas under cooperation mechanisms."""

from analysis.published.coopeval import payoffs, play
from analysis.published.coopeval.measures import design_quality, discounted

ANALYSES = [
    payoffs.payoffs, payoffs.ranking, payoffs.meta_games, payoffs.dynamics, payoffs.deviation, play.actions,
    play.reactions, play.votes, play.designs, play.reasons,
]  # fmt: skip

__all__ = ["ANALYSES", "design_quality", "discounted"]
