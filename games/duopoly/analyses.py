"""How far pairs of agents collude, and how reliable each agent is (EconEvals, section 5.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from statistics import fmean
from typing import Any

from games.econevals import Result, table_by_agents
from games.interface import Block
from games.words import gettext as _


@dataclass(frozen=True)
class Litmus:
    """Results of one agent or one pair; None if no such match was played.

    Attributes:
        score: mean litmus score of the matches with a rival, from competition (0) to collusion (1).
        reliability: share of the matches without a rival in which the price converged to the monopoly price.
        matches: number of matches.
    """

    score: float | None
    reliability: float | None
    matches: int


def litmus(matches: Iterable[Mapping[str, Any]]) -> Litmus:
    """Return the results of one agent or one pair of agents.

    Args:
        matches: metrics of each finished match, with or without a rival.
    """
    played = list(matches)
    scores = [metrics["litmus"] for metrics in played if metrics["litmus"] is not None]
    converged = [metrics["converged"] for metrics in played if metrics["converged"] is not None]
    return Litmus(fmean(scores) if scores else None, fmean(converged) if converged else None, len(played))


def results(game: type[Any], matches: Iterable[Result]) -> list[Block]:
    """Return a table of each pair's litmus score, or of how often each agent alone found the monopoly price."""

    def litmus_of(played: Sequence[Result]) -> Litmus:
        return litmus(match["metrics"] for match in played)

    columns = {
        _("Litmus: competition 0, collusion 1"): "score",
        _("Reliability: share that converged alone"): "reliability",
    }
    figures = {title: lambda played, get=attrgetter(name): get(litmus_of(played)) for title, name in columns.items()}
    return table_by_agents(matches, figures, title=_("Collusion vs. competition"))
