"""Tables and figures of AucArena (section 4, appendix B) from a dataset of multi-item auctions."""

from analysis.published.aucarena import bidding, results
from analysis.published.aucarena.measures import corrected_failure_rate, increments

ANALYSES = [
    results.skill, results.human, bidding.errors, bidding.priorities, bidding.faithful, bidding.increments,
    bidding.niches, bidding.behaviour, results.robustness,
]  # fmt: skip

__all__ = ["ANALYSES", "corrected_failure_rate", "increments"]
