"""Tables and figures of AucArena (section 4, appendix B) from a dataset of multi-item auctions."""

from analysis.published.aucarena import bidding, results
from analysis.published.aucarena.measures import corrected_failure_rate, increments

_BY_ID = {analysis.id: analysis for module in (results, bidding) for analysis in module.ANALYSES}
_ORDER = ("skill", "human", "errors", "priorities", "faithful", "increments", "niches", "behaviour", "robustness")
ANALYSES = [_BY_ID[f"aucarena.{name}"] for name in _ORDER]

__all__ = ["ANALYSES", "corrected_failure_rate", "increments"]
