"""Numbers printed in the paper, which are shown next to ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

SESSIONS = (20, 60, 100)
"""Numbers of sessions over which table 1 has means."""
PAYOFFS: Mapping[str, Mapping[str, Sequence[float]]] = {
    "beauty_contest": {
        "Baichuan2": (0.050, 0.033, 0.020), "Claude-I": (0.000, 0.000, 0.030), "Claude2": (0.450, 0.392, 0.370),
        "GPT3.5": (0.400, 0.392, 0.410), "GPT4": (0.100, 0.183, 0.170),
    },
    "sealed_auction": {
        "Baichuan2": (0.865, 0.473, 0.284), "Claude-I": (1.000, 1.190, 1.062), "Claude2": (1.454, 1.200, 0.991),
        "GPT3.5": (1.012, 0.870, 1.206), "GPT4": (0.734, 1.063, 1.084),
    },
}  # fmt: skip
"""Mean payoff of each model over the first `SESSIONS`, from table 1."""

_MODELS = ("ChatGLM2", "ChatGLM3", "Llama2", "Baichuan2", "PaLM2", "Claude-I", "Claude2", "GPT3.5", "GPT4")
FOULS: Mapping[tuple[str, str], Mapping[str, float]] = {
    setting: dict(zip(_MODELS, percentages, strict=True))
    for setting, percentages in {
        ("beauty_contest", "without history"): (100, 14.66, 84, 0, 30, 0, 0, 0, 0),
        ("beauty_contest", "with history"): (100, 6.11, 90, 0, 13.89, 12.22, 10.56, 3.33, 0),
        ("sealed_auction", "without history"): (6.67, 5.33, 80.67, 0, 12.67, 13.33, 12.67, 13.33, 0),
        ("sealed_auction", "with history"): (4.44, 3.33, 78.89, 0, 11.11, 6.67, 7.78, 3.33, 0),
    }.items()
}
"""Percentages of runs in which a model broke the rules, by game and history, from table 2."""


def key_of(player: str) -> str:
    """Return a key shared by a model's name and the paper's: "gpt3.5" for "gpt-3.5-turbo" and for "GPT3.5"."""
    name = player.lower().split(":")[-1].split("/")[-1]
    return name.replace("-turbo", "").replace("-instant", "-i").replace("-", "")


def payoff(player: str, sessions: int, game: str) -> float | None:
    """Return a model's entry in table 1; None if it has none."""
    of = {key_of(name): values for name, values in PAYOFFS[game].items()}.get(key_of(player))
    return of[SESSIONS.index(sessions)] if of and sessions in SESSIONS else None


def fouls(player: str, game: str, history: str) -> float | None:
    """Return a model's entry in table 2 as a share; None if it has none."""
    value = {key_of(name): value for name, value in FOULS[game, history].items()}.get(key_of(player))
    return None if value is None else value / 100
