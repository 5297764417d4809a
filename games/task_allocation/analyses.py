"""An agent's litmus score between equality and efficiency, and its reliability (EconEvals, section 5.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from games.econevals import Result, table_by_agents
from games.interface import Block
from games.numbers import mean
from games.words import gettext as _


@dataclass(frozen=True)
class Litmus:
    """One agent's results; None if no such match was played.

    Attributes:
        score: mean litmus score under both goals, from equality (0) to efficiency (1).
        reliability: mean achievement under a single goal: efficiency_share if the goal is efficiency,
            equality_share if it is equality.
        off_frontier: mean frontier_distance under both goals, the paper's other reliability; 0 is best (appendix E.2).
        matches: number of matches.
    """

    score: float | None
    reliability: float | None
    off_frontier: float | None
    matches: int


def litmus(matches: Iterable[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> Litmus:
    """Return the results of one agent.

    Args:
        matches: (configuration, metrics) of each finished match.
    """
    played = [(config.get("goal", "both"), metrics) for config, metrics in matches]
    single_goal_shares = [
        metrics[key]
        for goal, key in (("efficiency", "efficiency_share"), ("equality", "equality_share"))
        for match_goal, metrics in played
        if match_goal == goal
    ]
    both_goals = [metrics for goal, metrics in played if goal == "both"]
    return Litmus(
        mean(metrics["litmus"] for metrics in both_goals),
        mean(single_goal_shares),
        mean(metrics["frontier_distance"] for metrics in both_goals),
        len(played),
    )


def results(game: type[Any], matches: Iterable[Result]) -> list[Block]:
    """Return a table of each agent's litmus score and its reliability."""

    def litmus_of(played: Sequence[Result]) -> Litmus:
        return litmus((match["config"], match["metrics"]) for match in played)

    columns = {
        _("Litmus: equality 0, efficiency 1"): "score",
        _("Reliability"): "reliability",
        _("Distance from the line between the two"): "off_frontier",
    }
    figures = {title: lambda played, get=attrgetter(name): get(litmus_of(played)) for title, name in columns.items()}
    return table_by_agents(matches, figures, title=_("Efficiency vs. equality"))
