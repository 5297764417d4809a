"""Tournaments: the matches of one base game under one mechanism, and their runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean, stdev
from typing import Any

import numpy as np
import pandas as pd

from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import grouped
from analysis.results import analysis
from analysis.tables import text
from games.social_dilemma.base_games import PUBLISHED
from games.social_dilemma.evolution import meta_game

of_dilemmas = partial(analysis, games=("social_dilemma",))
REQUIRED_COLUMNS: Mapping[str, Sequence[str]] = {
    "matches": ["match", "game", "repetition", "config_base_game", "config_mechanism", "payoffs_*"]
}
MECHANISM, GAME, AGENT = text("mechanism", "Mechanism"), text("game", "Game"), text("agent", "Agent")
MECHANISMS: Mapping[str, str] = {
    "none": "none", "repetition": "repetition", "reputation_first_order": "first-order reputation",
    "reputation_higher_order": "higher-order reputation", "mediation": "mediation", "contract": "contract",
}  # fmt: skip
BASE_GAMES: Mapping[str, str] = {
    "prisoners_dilemma": "prisoner's dilemma", "public_goods": "public goods",
    "travelers_dilemma": "traveler's dilemma", "trust": "trust game", "stag_hunt": "stag hunt",
    "matching_pennies": "matching pennies", "custom": "custom game",
}  # fmt: skip
REFERENCES = {name: base.reference for name, base in PUBLISHED.items() if base.reference is not None}
"""Payoffs in equilibrium and under full cooperation, which are normalised to 0 and 1."""
REPUTATION = ("reputation_first_order", "reputation_higher_order")
MAX_SEATS = 4
_ALWAYS = ("custom_game", "framing", "action_names", "answer_with")
_ROUNDS = (*_ALWAYS, "rounds", "continuation", "stopping", "history_depth")
PARAMETERS: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(MECHANISMS, _ALWAYS), "contract": (*_ALWAYS, "contract_bound"), "repetition": _ROUNDS,
    **dict.fromkeys(REPUTATION, (*_ROUNDS, "population", "matching")),
}  # fmt: skip
"""The parameters that have an effect under each mechanism, beside the base game."""


@dataclass(frozen=True)
class Tournament:
    """One complete run: matches of a base game under a mechanism.

    Attributes:
        outcomes: for each match, the types in its seats and their payoffs.
    """

    mechanism: str
    game: str
    run: int
    outcomes: Sequence[tuple[Sequence[str], Sequence[float]]]

    @property
    def types(self) -> list[str]:
        """Return the names of the agents that played."""
        return sorted({label for seated, _points in self.outcomes for label in seated})

    def tensor(self) -> Any:
        """Return the payoff tensor U[own, other, …]; None under reputation or if some types never met."""
        seats = {len(seated) for seated, _points in self.outcomes}
        if self.mechanism in REPUTATION or len(seats) != 1 or max(seats) > MAX_SEATS or max(seats) < 2:
            return None
        return meta_game(self.outcomes, self.types)

    def means(self) -> dict[str, float]:
        """Return each type's mean payoff: against the uniform population if there is a tensor, or else over seats."""
        U = self.tensor()
        if U is not None:
            return {label: float(U[index].mean()) for index, label in enumerate(self.types)}
        points: dict[str, list[float]] = {}
        for seated, paid in self.outcomes:
            for label, value in zip(seated, paid, strict=True):
                points.setdefault(label, []).append(value)
        return {label: fmean(values) for label, values in sorted(points.items())}


def tournaments(data: Data) -> list[Tournament]:
    """Return every run of every base game and mechanism, in the paper's order.

    Raises:
        SkippedError: there are no matches, or matches of a base game and mechanism differ in a parameter.
    """
    _require_one_configuration(data)
    roles = [role for role in data.roles if data.has("matches", f"payoffs_{role}")]
    names = ["repetition", "config_base_game", "config_mechanism", *(f"payoffs_{role}" for role in roles)]
    rows = data.table("matches", ["match", *names])
    players = data.players_by_role[roles].to_numpy()
    points = rows[[f"payoffs_{role}" for role in roles]].astype("float64").to_numpy()
    groups: dict[tuple[str, str, int], list[tuple[list[str], list[float]]]] = {}
    settings = zip(rows["config_mechanism"], rows["config_base_game"], rows["repetition"], strict=True)
    for (mechanism, game, run), playing, paid in zip(settings, players, points, strict=True):
        seated = [(name, float(value)) for name, value in zip(playing, paid, strict=True)
                  if isinstance(name, str) and value == value]  # fmt: skip
        if isinstance(mechanism, str) and isinstance(game, str) and seated:
            number = 1 if pd.isna(run) else int(run)
            outcome = ([name for name, _value in seated], [value for _name, value in seated])
            groups.setdefault((mechanism, game, number), []).append(outcome)
    if not groups:
        raise SkippedError("The dataset has no matches.")
    runs = [Tournament(*key, outcomes) for key, outcomes in groups.items()]
    return sorted(runs, key=lambda t: (_sort_key(t.mechanism, MECHANISMS), _sort_key(t.game, BASE_GAMES), t.run))


def _require_one_configuration(data: Data) -> None:
    names = {key: f"config_{key}" for key in dict.fromkeys(key for keys in PARAMETERS.values() for key in keys)}
    known = {key: name for key, name in names.items() if data.has("matches", name)}
    rows = data.table("matches", ["config_base_game", "config_mechanism", *known.values()])
    for (mechanism, game), of_both in grouped(rows, "config_mechanism", "config_base_game"):
        keys = [key for key in PARAMETERS.get(mechanism, _ALWAYS) if key in known]
        if differing := [key for key in keys if of_both[known[key]].nunique(dropna=False) > 1]:
            raise SkippedError(
                f"Matches of {readable_name(game)} with {readable_name(mechanism)} differ in {', '.join(differing)} "
                "and so are no tournament: analyse each configuration in a dataset of its own."
            )


def _sort_key(name: str, names: Iterable[str]) -> tuple[int, str]:
    order = list(names)
    return (order.index(name) if name in order else len(order), name)


def normalised(value: float, game: str) -> float | None:
    """Return the value normalised to 0 at the equilibrium payoff and 1 at full cooperation; None without references."""
    return REFERENCES[game].normalised(value) if game in REFERENCES else None


def mean_and_se(values: Sequence[float]) -> dict[str, Any]:
    """Return the mean and its standard error (n-1)."""
    if not values:
        return {"estimate": None, "se": None, "n": 0}
    se = stdev(values) / len(values) ** 0.5 if len(values) > 1 else None
    return {"estimate": fmean(values), "se": se, "n": len(values)}


def over_means(rows: pd.DataFrame, column: str, by: str) -> dict[str, Any]:
    """Return the mean and standard error of the column's means by game or by run; rows without one stand alone."""
    known = rows[rows[column].notna()]
    alone = np.where(known[by].isna(), np.arange(len(known)), -1)
    return mean_and_se(known.groupby([known[by], alone], dropna=False)[column].agg(fmean).tolist())


def readable_name(name: str) -> str:
    """Return the readable name of a mechanism or base game."""
    return MECHANISMS.get(name) or BASE_GAMES.get(name) or name.replace("_", " ")


def file_name(name: str) -> str:
    """Return the form of a mechanism's readable name in names of files."""
    return name.replace(" ", "_").replace("-", "_")


def readable(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with readable names of mechanisms and base games."""
    return frame.assign(**{name: frame[name].map(readable_name) for name in ("mechanism", "game") if name in frame})
