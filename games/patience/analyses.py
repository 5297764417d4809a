"""The interest rate that best fits an agent's choices over all matches and horizons (EconEvals, appendix F)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from games.econevals import Result, table_by_agents
from games.interface import Block
from games.patience.rates import YEARS, Compounding, ImpliedRates, best_fit, mean_reliabilities, reliabilities
from games.words import gettext as _
from games.words import gettext_noop


def pooled(choices: Iterable[Mapping[str, Any]]) -> tuple[list[float], list[float]]:
    """Return the answered amounts, ascending, and the share of "later" at each, over any number of matches.

    Args:
        choices: rows of `Patience.records`: {amount, later, …}; unanswered ones are ignored.
    """
    later: defaultdict[float, list[bool]] = defaultdict(list)
    for row in choices:
        if row["later"] is not None:
            later[row["amount"]].append(row["later"])
    amounts = sorted(later)
    return amounts, [fmean(later[amount]) for amount in amounts]


def over_horizons(
    choices: Mapping[str, Sequence[Mapping[str, Any]]], *, compounding: Compounding = "continuous"
) -> ImpliedRates | None:
    """Return the rates with the highest mean reliability over the horizons; None if there are no answers.

    Args:
        choices: by horizon, the rows of all its matches.
    """
    curves = []
    for horizon, rows in choices.items():
        amounts, later = pooled(rows)
        curves.append(reliabilities(amounts, later, YEARS[horizon], annually=compounding == "annual"))
    return best_fit(mean_reliabilities(curves))


def results(game: type[Any], matches: Iterable[Result]) -> list[Block]:
    """Return tables of each agent's rate and its reliability, over all horizons and by horizon."""
    played = list(matches)
    horizons = [horizon for horizon in YEARS if any(_horizon(match) == horizon for match in played)]
    overall = [(_("All horizons"), played)] if len(horizons) > 1 else []
    by_horizon = [(horizon, [match for match in played if _horizon(match) == horizon]) for horizon in horizons]
    return [block for title, rows in (*overall, *by_horizon) for block in table_by_agents(rows, _FIGURES, title=title)]


def _horizon(match: Result) -> str:
    return str(match["config"]["horizon"])


def _implied_rates(played: Sequence[Result], compounding: Compounding) -> ImpliedRates | None:
    rows: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for match in played:
        rows[_horizon(match)] += match["records"]
    return over_horizons(rows, compounding=compounding)


def _figure(name: str, compounding: Compounding = "continuous") -> Callable[[Sequence[Result]], float | None]:
    def figure(played: Sequence[Result]) -> float | None:
        rates = _implied_rates(played, compounding)
        return None if rates is None else float(getattr(rates, name))

    return figure


_FIGURES: Mapping[str, Callable[[Sequence[Result]], float | None]] = {
    gettext_noop("Rate, % per year"): _figure("rate"),
    gettext_noop("Reliability"): _figure("reliability"),
    gettext_noop("Rate, compounded annually"): _figure("rate", "annual"),
}
