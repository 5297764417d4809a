"""The tables that GLEE's paper prints, beside ours."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from analysis.published.glee import printed
from analysis.published.glee.families import FAMILIES, GAINS, METRICS, ROLES
from exports.published import Analysed, Comparison

FORMULAS = "the published code computes this metric by another formula than the paper"
CELLS = "the layout does not say which cell a game belongs to"
FAILED = "people who failed a check, and their games, are not published"
COUNTED = ("games", "decisions", "messages", "words")


def compared(root: Path, analysed: Analysed) -> Iterator[Comparison]:
    """Yield the values of the paper's tables beside ours."""
    for family in FAMILIES:
        yield from map(partial(_with_cause, _fewer(analysed, family)), _of_family(family, analysed))
    for who, value in printed.ANCHORING.items():
        here = analysed.number("glee.anchoring", "bargaining", who.replace(" ", "_"))
        comparison = Comparison("Question 3: first offers and gains", who, value, here, 2)
        yield _with_cause(_fewer(analysed, "bargaining"), comparison)
    for check, text in printed.CHECKS.items():
        yield Comparison("Appendix E.3: failed checks", check, text, None, cause=FAILED)


def _fewer(analysed: Analysed, family: str) -> str:
    """Return how many games of a family are missing, if more than one in a hundred are."""
    data, published = analysed.data(family), printed.COUNTS[family][0]
    games = 0 if data is None else data.size
    return f"the data have {games:,} of about {published:,} games" if games < 0.99 * published else ""


def _with_cause(cause: str, comparison: Comparison) -> Comparison:
    """Return the comparison with this cause, unless it has one that holds for any data."""
    return replace(comparison, cause=cause) if cause and comparison.cause in ("", FORMULAS) else comparison


def _of_family(family: str, analysed: Analysed) -> Iterator[Comparison]:
    for part in (_market, _players, _metrics, _equilibria, _humans, _counts):
        yield from part(family, analysed)


def _cause(family: str, metric: str) -> str:
    return FORMULAS if metric in FAMILIES[family].other_formulas else ""


def _market(family: str, analysed: Analysed) -> Iterator[Comparison]:
    for row in analysed.rows("glee.market", family, family):
        level = " · ".join(str(row[name]) for name in row if name.startswith("market_"))
        for metric in ("efficiency", "fairness"):
            if (value := row[f"published_{metric}"]) is not None:
                cause = _cause(family, metric)
                yield Comparison("Table 2: markets", f"{family}, {level}, {metric}", value, row[metric], 1, cause)


def _players(family: str, analysed: Analysed) -> Iterator[Comparison]:
    for row in analysed.rows("glee.players", family, family):
        for role, gain in zip(ROLES, GAINS, strict=True):
            if text := row[f"published_{role}"]:
                what, (value, half) = f"{family}, {role}, {row['player']}", text.split(" ± ")
                table, cause = "Table 3: players", _cause(family, gain)
                yield Comparison(table, what, float(value), row[role], 1, cause)
                if half != "0":
                    yield Comparison(table, f"{what}, ±", float(half), row[f"{role}_classical_half"], 1, cause)


def _metrics(family: str, analysed: Analysed) -> Iterator[Comparison]:
    for metric in METRICS:
        what, cause = f"{family}, {metric}", _cause(family, metric)
        for end, value in zip(("smallest", "largest"), printed.PAIRS.get((family, metric), ()), strict=False):
            here = analysed.number("glee.pairs", family, f"{family}.{metric}.{end}")
            yield Comparison("Figures 1 and 21 to 23: effects of pairs", f"{what}, {end}", value, here, 2, cause)
        here = analysed.number("glee.prediction", family, f"{family}.{metric}")
        yield Comparison("Table 9: errors of the linear model", what, printed.ERRORS[family, metric], here, 3, cause)


def _equilibria(family: str, analysed: Analysed) -> Iterator[Comparison]:
    here = None
    if analysed.number("glee.meta_game", family, f"{family}.equilibria") is not None:
        pairs = [
            ", ".join(printed.printed_name(row[side]) or str(row[side]) for side in ROLES)
            for row in analysed.rows("glee.meta_game", family, "equilibria")
            if row["found"] == "yes"
        ]
        here = "; ".join(sorted(pairs))
    yield Comparison("Footnote 13: equilibria of the choice of a model", family, printed.EQUILIBRIA[family], here)


def _humans(family: str, analysed: Analysed) -> Iterator[Comparison]:
    ranks = {row["role"]: (row["rank"], row["of"]) for row in analysed.rows("glee.humans", family, "ranks")}
    for role in ROLES:
        rank, of = ranks.get(role.capitalize(), (None, None))
        here = rank and {1: "highest", of: "lowest"}.get(rank, f"{rank:g} of {of:g}")
        table = "Question 3: people among the players"
        yield Comparison(table, f"{family}, {role}", printed.HUMANS[family, role], here)


def _counts(family: str, analysed: Analysed) -> Iterator[Comparison]:
    row = next(iter(analysed.rows("glee.counts", family, "families")), {})
    for name, value in zip(COUNTED, printed.COUNTS[family], strict=True):
        # Printed with three digits.
        decimals = 3 - len(f"{value:.0f}")
        yield Comparison("Table 6: amount of data", f"{family}, {name}", value, row.get(name), decimals)
    for (of, kind), (configurations, games) in printed.CELLS.items():
        for name, value in (("configurations", configurations), ("games in each", games)):
            if of == family:
                yield Comparison("Table 7: games with people", f"{family}, {kind}, {name}", value, None, cause=CELLS)
