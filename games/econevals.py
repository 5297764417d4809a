"""Shared by the environments of EconEvals: their levels and results.

Source: EconEvals, sections 3 to 5. Each agent plays the same twelve instances of a level, one agent per match.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from games.interface import Block, Cell, Table
from games.numbers import mean
from games.words import gettext as _
from games.words import number

LEVELS = ("basic", "medium", "hard")


# ---- results on a collection's page -------------------------------------------------------------

Result = Mapping[str, Any]
"""A finished match: {config, agents, payoffs, metrics, records}, as `Game.stage_configurations` has them."""


def table_by_agents(
    matches: Iterable[Result], columns: Mapping[str, Callable[[Sequence[Result]], float | None]], *, title: str
) -> list[Block]:
    """Return a table with one row per combination of agents, in seat order, and figures computed from their matches.

    Args:
        columns: for each figure, its title and a function of the row's matches; None if it has no value.
    """
    groups: defaultdict[str, list[Result]] = defaultdict(list)
    for match in matches:
        groups[" – ".join(match["agents"].values())].append(match)
    if not groups:
        return []
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (agents, len(group), *(_shown(figure(group)) for figure in columns.values()))
        for agents, group in groups.items()
    )
    return [Table("agents", title, (_("Agents"), _("Matches"), *columns), rows)]


def score_tables(game: type[Any], matches: Iterable[Result]) -> list[Block]:
    """Return a benchmark's scores, level by level."""
    by_level: defaultdict[str, list[Result]] = defaultdict(list)
    for match in matches:
        by_level[match["config"]["level"]].append(match)
    figures: dict[str, Callable[[Sequence[Result]], float | None]] = {_("Mean score"): mean_of("score")}
    if "solved" in game.Results.model_fields:
        figures[_("Share solved")] = mean_of("solved")
    if "exploration_rate" in game.Results.model_fields:
        figures[_("Exploration rate")] = mean_of("exploration_rate")
    return [
        block
        for level, level_matches in by_level.items()
        for block in table_by_agents(level_matches, figures, title=_("Level {level}").format(level=level))
    ]


def mean_of(metric: str) -> Callable[[Sequence[Result]], float | None]:
    """Return a function for the mean of a metric over the matches that have it."""
    return lambda matches: mean(match["metrics"][metric] for match in matches)


def _shown(value: float | None) -> str:
    return "–" if value is None else number(round(value, 3))
