"""Tables and figures of Economics Arena (section 4, appendix A) from datasets of contests or sealed auctions."""

from analysis.published.econarena.measures import contest, vickrey
from analysis.published.econarena.results import ANALYSES

__all__ = ["ANALYSES", "contest", "vickrey"]
