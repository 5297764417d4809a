"""The question to a judge about players' reasons: which of fifteen kinds they are (CoopEval, section 5)."""

from __future__ import annotations

from collections.abc import Mapping

LABELS: Mapping[str, str] = {
    "individual_utility": "wants as many points as possible for itself",
    "equilibrium": "looks for equilibria, dominant actions or best replies",
    "social_welfare": "wants everybody together to do well",
    "inequity_aversion": "cares whether points are distributed fairly, or dislikes having more or less than others",
    "reciprocity": "answers kindness or unkindness of others in kind, or expects others to do so",
    "strategic_influence": "wants to change what others will do later, by example, reward, punishment or design",
    "trust": "judges whether others can be relied on",
    "competitiveness": "wants to have more than others, or compares itself with them to win",
    "uncertainty": "weighs what it does not know about others or about chance",
    "social_norms": "follows what one ought to do, or what is usual, polite or agreed",
    "misunderstanding": "gets the rules or the points of the game wrong",
    "exploration": "weighs trying something new against what is known to work",
    "risk_aversion": "prefers what is safe to what may pay more",
    "legibility": "acts so that others can easily understand or predict it",
    "multidimensional": "weighs several aims that conflict with each other",
}
"""The labels that a justification may get, with the meaning of each."""

QUESTION = (
    "A player in a game of strategy wrote down why it chose as it did. Say which of these descriptions fit the reasons "
    "that it gives. Choose every one that plainly fits, and none that you would have to guess; there may be none."
)
"""The question to the judge; the labels and the text follow it."""
