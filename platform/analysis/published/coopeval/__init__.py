"""Tables and figures of CoopEval from datasets of social dilemmas under cooperation mechanisms."""

from analysis.published.coopeval import payoffs, play
from analysis.published.coopeval.measures import design_quality, discounted

ANALYSES = [*payoffs.ANALYSES, *play.ANALYSES]

__all__ = ["ANALYSES", "design_quality", "discounted"]
