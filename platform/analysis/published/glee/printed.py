"""Values printed in the paper, which are shown next to ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

REFERENCE = (0.0, 0.0)
MARKETS: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]] = {
    "bargaining": {
        "∞": [(2.8, 4.4), (2.2, 2.8), (1.6, 0.9), REFERENCE],
        "12": [(-0.2, 4.4), (-0.8, 3.0), (-1.8, 0.9), (-3.7, -0.8)],
    },
    "negotiation": {
        "∞": [(17.4, 0.2), (17.3, 0.3), (5.5, -0.5), (4.1, -1.4)],
        "10": [(16.7, 0.1), (16.3, 0.1), (9.2, -1.2), (8.3, -2.2)],
        "1": [(6.8, -0.9), (5.5, -0.3), REFERENCE, (-2.0, 0.2)],
    },
    "persuasion": {
        "": [REFERENCE, (-3.2, -13.4), (-5.7, -0.7), (-10.9, -6.6), (-12.2, -15.6), (-13.6, -12.7), (-22.4, -22.2),
             (-24.7, -22.7)],
    },
}  # fmt: skip
"""(efficiency, fairness) in percentage points by horizon, sorted by efficiency, from table 2."""

_ORDER = [(family, role) for family in ("bargaining", "negotiation", "persuasion") for role in ("alice", "bob")]
_PLAYERS: Mapping[str, Sequence[float]] = {
    "human": (6.6, -17.1, -26.6, -14.5, 20.5, 54.8),
    "llama-3.3-70b": (1.4, 0.7, 2.5, 4.2, 2.1, 11.2),
    "claude-3-5-sonnet": (1.4, 2.6, 3.0, 4.5, 3.6, 12.1),
    "claude-3-7-sonnet": (1.4, 2.1, 2.9, 4.4, 4.0, 11.3),
    "gpt-4o": (1.0, 0.2, 2.8, 4.2, 4.3, 15.1),
    "gemini-2.0-flash": (0.3, -0.1, 3.5, 3.7, -0.1, 21.2),
    "gemini-1.5-flash": (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    "grok-2-1212": (-0.3, 0.5, 3.0, 4.4, 4.6, 11.2),
    "gpt-4o-mini": (-0.4, -1.5, 2.1, 3.5, 0.1, 10.1),
    "llama-3.1-405b": (-0.9, -0.2, 4.0, 4.7, -0.1, 21.0),
    "mistral-large-2411": (-1.0, -1.3, 2.5, 5.3, 2.6, 28.3),
    "gemini-1.5-pro": (-1.0, -1.5, 2.4, 5.0, 6.3, 25.3),
    "gemini-2.0-flash-lite": (-1.4, -0.3, 2.9, 2.9, 1.1, 9.7),
    "o3-mini": (-6.9, 1.4, 2.4, 3.8, 3.4, 24.2),
}
"""Coefficients from table 3, in the order of `_ORDER`."""
_OF_HUMANS = (1.1, 1.0, 1.1, 1.1, 4.1, 8.9)
_OF_MODELS = (0.7, 0.6, 0.6, 0.6, 2.4, 4.2)

HUMANS: Mapping[tuple[str, str], str] = {
    ("bargaining", "alice"): "highest",
    ("bargaining", "bob"): "lowest",
    ("negotiation", "alice"): "lowest",
    ("negotiation", "bob"): "lowest",
    ("persuasion", "alice"): "highest",
    ("persuasion", "bob"): "highest",
}

PAIRS: Mapping[tuple[str, str], tuple[float, float]] = {
    ("bargaining", "alice_self_gain"): (-0.13, 0.09),
    ("bargaining", "bob_self_gain"): (-0.10, 0.15),
    ("bargaining", "efficiency"): (-0.21, 0.11),
    ("negotiation", "efficiency"): (-0.13, 0.10),
    ("persuasion", "efficiency"): (-0.33, 0.24),
    ("bargaining", "fairness"): (-0.24, 0.05),
    ("negotiation", "fairness"): (-0.07, 0.02),
    ("persuasion", "fairness"): (-0.44, 0.28),
}
"""Smallest and largest effect of a pair, as fractions, from figures 1 and 21 to 23."""

EQUILIBRIA: Mapping[str, str] = {
    "bargaining": "claude-3-5-sonnet, claude-3-7-sonnet",
    "negotiation": "gemini-2.0-flash, gemini-1.5-pro; llama-3.1-405b, grok-2-1212",
    "persuasion": "gemini-1.5-pro, mistral-large-2411",
}
"""Alice's choice and Bob's choice, from footnote 13."""

ANCHORING: Mapping[str, float] = {"human Bob": 0.63, "human Alice": 0.18}
ERRORS: Mapping[tuple[str, str], float] = dict(
    zip(
        [(family, metric) for family in ("bargaining", "negotiation", "persuasion")
         for metric in ("alice_self_gain", "bob_self_gain", "efficiency", "fairness")],
        (0.134, 0.129, 0.131, 0.157, 0.137, 0.139, 0.333, 0.090, 0.356, 0.834, 0.388, 0.379),
        strict=True,
    )
)  # fmt: skip
"""Root mean squared error of the linear model, from table 9."""

COUNTS: Mapping[str, tuple[float, float, float, float]] = {
    "bargaining": (33_700, 92_800, 45_800, 1_140_000),
    "negotiation": (32_900, 92_300, 44_400, 1_690_000),
    "persuasion": (13_500, 402_000, 140_000, 6_950_000),
}
"""Numbers of games, decisions, messages and words, from table 6."""
CELLS: Mapping[tuple[str, str], tuple[int, int]] = {
    ("bargaining", "main"): (2, 50), ("negotiation", "main"): (2, 50), ("persuasion", "main"): (3, 30),
    ("bargaining", "variant"): (40, 25), ("negotiation", "variant"): (22, 25), ("persuasion", "variant"): (30, 8),
    ("bargaining", "random"): (36, 15), ("negotiation", "random"): (36, 15), ("persuasion", "random"): (24, 5),
}  # fmt: skip
"""Number of configurations, and number of games with people in each, from table 7."""
CHECKS: Mapping[str, str] = {
    "code_word": "412/4,652 = 8.9 %",
    "bargaining": "499 = 22.7 %",
    "negotiation": "68 = 12.3 %",
    "persuasion": "268 = 18.0 %",
    "all": "835/4,240 = 19.7 %",
    "either": "1,247 = 26.8 %",
}
"""Participants who failed a check, from appendix E.3."""


def printed_name(name: str) -> str | None:
    """Return the paper's name of a player: the longest with which its name begins; None if it has none."""
    key = name.replace("/", ":").split(":")[-1]
    return max((known for known in _PLAYERS if key.startswith(known)), key=len, default=None)


def player(name: str, family: str, role: str) -> str | None:
    """Return the player's entry in table 3, such as "1.4 ± 0.7"; None for players that are not in it."""
    key = printed_name(name)
    if key is None:
        return None
    index = _ORDER.index((family, role))
    if key == "gemini-1.5-flash":
        return "0 ± 0"
    return f"{_PLAYERS[key][index]:g} ± {(_OF_HUMANS if key == 'human' else _OF_MODELS)[index]:g}"
