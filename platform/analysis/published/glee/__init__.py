"""Tables and figures of GLEE (sections 3 and 4, appendices D to F) from a dataset of one or more of its families."""

from analysis.published.glee import effects, play, prediction, together
from analysis.published.glee.together import pair_effects

ANALYSES = [
    play.counts, play.checks, effects.market, effects.effects, effects.players, effects.humans, play.anchoring,
    together.pairs, together.same_model, together.meta_game, play.rationality, prediction.prediction,
]  # fmt: skip

__all__ = ["ANALYSES", "pair_effects"]
