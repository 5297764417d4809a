"""Tables and figures of Economics Arena (section 4, appendix A) from datasets of contests or sealed auctions."""

from analysis.published.econarena import results
from analysis.published.econarena.measures import contest, vickrey

ANALYSES = [
    results.payoffs, results.deviation, results.ratio, results.configurations, results.senior, results.paths,
    results.history, results.fouls, results.level,
]  # fmt: skip

__all__ = ["ANALYSES", "contest", "vickrey"]
