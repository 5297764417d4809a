"""Tables and figures of GLEE (sections 3 and 4, appendices D to F) from a dataset of one or more of its families."""

from analysis.published.glee import effects, play, prediction, together
from analysis.published.glee.together import pair_effects

_ORDER = ("counts", "checks", "market", "effects", "players", "humans", "anchoring", "pairs", "same_model",
             "meta_game", "rationality", "prediction")  # fmt: skip
_BY_ID = {a.id: a for module in (effects, play, prediction, together) for a in module.ANALYSES}
ANALYSES = [_BY_ID[f"glee.{name}"] for name in _ORDER]

__all__ = ["ANALYSES", "pair_effects"]
