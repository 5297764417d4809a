"""Shared by the games of Economics Arena: the remarks that models write with their moves.

Source: Economics Arena, section 4 and appendix B. The wording is our own.
"""

from __future__ import annotations

from games.strategies import Remark, Strategy

UNDERSTANDING = Remark("understanding", "how you understand the game, briefly, in your own words", first=True)
GOAL = Remark("goal", "what you are to achieve in this game, briefly", first=True)
REASON = Remark("reason", "why you give this answer, briefly")
CONVERSATION = Strategy("Same as plain: a conversation would show more runs than the history allows.", layout="fresh")
"""Replaces the usual conversation in games of runs, where each run has its own prompt."""
