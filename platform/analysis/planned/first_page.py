"""The report's first page: one sentence for each primary hypothesis, one figure, and deviations from the plan."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp
from pathlib import Path
from typing import Any

from analysis.charts import Figure
from analysis.data import Data
from analysis.planned.confirmatory import ID, LOG, ORDERED, UNTESTED
from analysis.planned.hypotheses import ASSIGNED, COMPLETED, PRIMARY, AnalysisPlan, Hypothesis, plan_of
from analysis.results import Outcome
from analysis.tables import formatted

TEMPLATE = Path(__file__).with_suffix(".html")
OF_ESTIMAND = {ASSIGNED: "Of everybody as assigned", COMPLETED: "Of those who completed"}
NOTHING_PLANNED = "No analysis was planned; everything below is exploratory."
WITHDRAWN = "Every planned hypothesis was removed after the launch; everything below is exploratory."
DIFFERENT, MANY_POINTS = 0.05, 0.05
"""The p-value below which an effect is called one, and the difference of losses from which Lee bounds are shown."""


@dataclass(frozen=True)
class Finding:
    """The answer to a primary hypothesis.

    Attributes:
        claim: the researcher's sentence; may be empty.
    """

    name: str
    claim: str
    sentence: str
    warnings: list[str]


@dataclass(frozen=True)
class FirstPage:
    """What a reader should know first.

    Attributes:
        statement: whether, when and how the analysis was planned.
        deviations: from the plan; one sentence each.
    """

    planned: bool
    statement: str
    findings: list[Finding] = field(default_factory=list)
    figure: Figure | None = None
    deviations: list[str] = field(default_factory=list)

    def html(self) -> Any:
        """Return the page as part of an HTML document."""
        from jinja2 import Environment
        from markupsafe import Markup

        page = Environment(autoescape=True).from_string(TEMPLATE.read_text(encoding="utf-8"))
        return Markup(page.render(page=self, svg=Markup(self.figure.svg()) if self.figure else ""))


def first_page(data: Data, outcomes: Sequence[Outcome]) -> FirstPage:
    """Return the first page of a report with these outcomes."""
    plan, outcome = plan_of(data), next((one for one in outcomes if one.analysis.id == ID), None)
    if plan is None:
        return FirstPage(False, NOTHING_PLANNED)
    if not plan.hypotheses:
        return FirstPage(True, WITHDRAWN, deviations=[*plan.warnings, *_changes(plan)])
    if outcome is None or outcome.status != "done":
        why = f": {outcome.reason}" if outcome and outcome.reason else "."
        return FirstPage(True, f"{_statement(plan)} They were not tested here{why}", deviations=[*_changes(plan)])
    tables = {name: table.records for name, table in outcome.tables.items()}
    rows = tables.get("hypotheses", [])
    findings = [_finding(plan, hypothesis, rows, tables, outcome.result.warnings)
                for hypothesis in plan.hypotheses if hypothesis.role == PRIMARY
                and any(row["hypothesis"] == hypothesis.name for row in rows)]  # fmt: skip
    untested = [warning for warning in outcome.result.warnings if UNTESTED in warning]
    deviations = [*plan.warnings, *_changes(plan), *untested, *_sizes(plan, tables.get("people", []))]
    return FirstPage(True, _statement(plan), findings, outcome.figures.get("hypotheses"), deviations)


def _statement(plan: AnalysisPlan) -> str:
    number = len(plan.hypotheses)
    primary = sum(hypothesis.role == PRIMARY for hypothesis in plan.hypotheses)
    text = f"{number} hypothes{'is' if number == 1 else 'es'} ({primary} primary), frozen on {when(plan.frozen_at)}"
    text += ", when the study was launched"
    text += f" with version {plan.version_number}" if plan.version_number else ""
    later = {change.hypothesis for change in plan.changes if change.what != "removed"}
    later &= {hypothesis.name for hypothesis in plan.hypotheses}
    text += f"; {len(later)} of them added or changed afterwards." if later else "."
    if plan.per_arm:
        text += f" Planned sample: {plan.per_arm:,} complete matches per level compared."
    return text + (f" Rule for stopping: {plan.stop.rstrip('.')}." if plan.stop else "")


def when(at: str) -> str:
    """Return a point in time as date and minute."""
    return f"{at[:10]}, {at[11:16]} UTC" if len(at) > 16 else at or "an unknown date"


# ---- one sentence --------------------------------------------------------------------------------------------


def _finding(
    plan: AnalysisPlan,
    hypothesis: Hypothesis,
    rows: Sequence[Mapping[str, Any]],
    tables: Mapping[str, Sequence[Mapping[str, Any]]],
    warnings: Sequence[str],
) -> Finding:
    own = [row for row in rows if row["hypothesis"] == hypothesis.name]
    headline, *others = own
    by_estimand = {row["estimand"]: [arm for arm in tables["people"] if arm["hypothesis"] == hypothesis.name
                                     and arm["estimand"] == row["estimand"]] for row in own}  # fmt: skip
    arms = by_estimand[headline["estimand"]]
    text = f"{_effect(hypothesis, headline)}{_beside(headline)}"
    text += f"; {_counts(hypothesis, arms)}."
    for other in others:
        arms = by_estimand[other["estimand"]]
        text += f" {OF_ESTIMAND[other['estimand']]} ({_counts(hypothesis, arms)}): "
        text += f"{_size(other, other['estimate'])}{_interval(other)}."
    if verdict := _verdict(headline, arms, tables.get("robustness", [])):
        text += f" {verdict}"
    about = f"{hypothesis.name}, "
    noted = [warning.removeprefix(about) for warning in warnings
             if warning.startswith(about) and "lost people differently" not in warning]  # fmt: skip
    if len(own) > 1 and own[0]["estimate"] is not None and own[1]["estimate"] is not None and (
        own[0]["estimate"] * own[1]["estimate"] < 0):  # fmt: skip
        noted.append("The effect has the other sign among those who completed.")
    if _detected(headline["p_holm"]) != _detected(headline["p_randomisation_holm"]) and (
        headline["p_randomisation_holm"] is not None):  # fmt: skip
        noted.append("After Holm's adjustment, only one of the two p-values is below .05.")
    noted += [f"{change.what.capitalize()} after the launch: see the deviations from the plan."
              for change in plan.changes if change.hypothesis == hypothesis.name]  # fmt: skip
    return Finding(hypothesis.name, hypothesis.claim, text, noted)


def _detected(p: float | None) -> bool:
    return p is not None and p < DIFFERENT


def _effect(hypothesis: Hypothesis, row: Mapping[str, Any]) -> str:
    """Return what was found about the comparison, in words and with its size."""
    first, second = hypothesis.levels[0]
    what, estimate = row["outcome"], row["estimate"]
    if hypothesis.of_players:
        compared = f"{_players(first)} instead of {_players(second)}"
        compared += f" as {hypothesis.seat}" if hypothesis.seat else ""
    else:
        compared = f"{first} instead of {second} ({hypothesis.factors[0]})"
    if len(hypothesis.factors) == 2:
        one, other = hypothesis.levels[1]
        compared += f" at {one} rather than {other} ({hypothesis.factors[1]})"
    if estimate is None:
        return f"The effect of {compared} on {what} could not be estimated"
    if not _detected(row["p_holm"]):
        nothing = "No effect" if row["p"] is not None else "The effect"
        end = "was detected: " if row["p"] is not None else "is "
        return f"{nothing} of {compared} on {what} {end}{_size(row, estimate)}"
    if row["model"] == LOG:
        return f"{compared[:1].upper()}{compared[1:]} multiplied {what} by {_size(row, estimate)}"
    if row["model"] == ORDERED:
        return f"{compared[:1].upper()}{compared[1:]} changed {what}, with an {_size(row, estimate)}"
    verb = "raised" if estimate > 0 else "lowered"
    if len(hypothesis.factors) == 2:
        return f"{compared[:1].upper()}{compared[1:]} {verb} {what} by {_size(row, abs(estimate))} more"
    return f"{compared[:1].upper()}{compared[1:]} {verb} {what} by {_size(row, abs(estimate))}"


def _players(level: str) -> str:
    return {"human": "people", "agent": "agents"}.get(level, level)


def _size(row: Mapping[str, Any], value: float | None) -> str:
    """Return an estimate with its unit: points of a share, a ratio, an odds ratio, or a number."""
    if value is None:
        return "not estimated"
    if row["model"] == LOG:
        return formatted(exp(value), "number")
    if row["model"] == ORDERED:
        return f"odds ratio of a higher answer of {formatted(exp(value), 'number')}"
    return f"{100 * value:.1f} points".replace("-", "−") if row["yes_no"] else formatted(value, "number")


def _interval(row: Mapping[str, Any]) -> str:
    if row["low"] is None or row["high"] is None:
        return ""
    low, high = (exp(end) if row["model"] in (LOG, ORDERED) else end for end in (row["low"], row["high"]))
    if row["yes_no"] and row["model"] not in (LOG, ORDERED):
        ends = f"{100 * low:.1f} to {100 * high:.1f}".replace("-", "−")
    else:
        ends = f"{formatted(low, 'number')} to {formatted(high, 'number')}"
    return f" ({100 * row['level']:g} % CI {ends})"


def _beside(row: Mapping[str, Any]) -> str:
    """Return the interval and the p-values by either method, unadjusted and adjusted."""
    parts = []
    if interval := _interval(row):
        parts.append(interval[2:-1])
    found = [(row["p"], f"by {row['method']}", row["p_holm"]),
             (row["p_randomisation"], "by randomisation", row["p_randomisation_holm"])]  # fmt: skip
    known = [(p, by, holm) for p, by, holm in found if p is not None]
    if known:
        parts.append(", ".join(f"{p_text(p)} {by}" for p, by, _holm in known))
        parts.append("after Holm " + " and ".join(p_text(holm) for _own, _by, holm in known))
    return f" ({'; '.join(parts)})" if parts else ""


def p_text(p: float) -> str:
    """Return a p-value as "p = .034" or "p < .001"."""
    text = formatted(p, "p")
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def _counts(hypothesis: Hypothesis, arms: Sequence[Mapping[str, Any]]) -> str:
    if hypothesis.of_players:
        return " and ".join(f"{row['analysed']:,} seats of {_players(row['level'])}" for row in arms)
    parts = [f"{row['level']}: {row['randomised']:,} → {row['analysed']:,}" for row in arms]
    return f"people randomised → analysed {', '.join(parts)}"


def _verdict(
    row: Mapping[str, Any], arms: Sequence[Mapping[str, Any]], checks: Sequence[Mapping[str, Any]]
) -> str:  # fmt: skip
    """Return whether the arms lost people differently, with Lee bounds if they did or differ by many points."""
    if not row["verdict"]:
        return ""
    first, second = (arm["analysed"] / max(1, arm["randomised"]) for arm in arms)
    words = {"nobody was lost": "Nobody was lost.", "no difference found": "No difference in attrition was found"}
    text = words.get(row["verdict"], "The arms lost people differently")
    matters = row["verdict"] not in words or abs(first - second) > MANY_POINTS
    if not text.endswith("."):
        text += f" ({p_text(row['p_attrition'])})" if row["p_attrition"] is not None else ""
        lee = next((check["lee"] for check in checks
                    if matters and check["hypothesis"] == row["hypothesis"] and check["lee"]), None)  # fmt: skip
        text += f"; Lee bounds {lee}." if lee else "."
    return text


# ---- deviations ----------------------------------------------------------------------------------------------


def _changes(plan: AnalysisPlan) -> Iterator[str]:
    for change in plan.changes:
        name = change.hypothesis or "The planned sample"
        ended = f"{change.participants:,} participants and {change.matches:,} matches had ended"
        text = f"{name} was {change.what} after the launch, on {when(change.at)}, when {ended}"
        if change.what == "changed":
            fields = [f"{field} from {_value(values[0])} to {_value(values[1])}"
                      for field, values in change.fields.items() if len(values) == 2]  # fmt: skip
            text += f": {', '.join(fields)}" if fields else ""
        yield text + "."


def _value(value: Any) -> str:
    return f"“{value}”" if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _sizes(plan: AnalysisPlan, arms: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield where a primary hypothesis has fewer or more complete matches than planned."""
    if not plan.per_arm:
        return
    primary = {hypothesis.name for hypothesis in plan.hypotheses if hypothesis.role == PRIMARY}
    last = {(row["hypothesis"], row["level"]): row for row in arms if row["hypothesis"] in primary}
    for (name, level), row in last.items():
        if row["matches"] != plan.per_arm:
            side = "fewer" if row["matches"] < plan.per_arm else "more"
            yield (f"{name}, {level}: {row['matches']:,} complete matches, {abs(row['matches'] - plan.per_arm):,} "
                   f"{side} than planned.")  # fmt: skip
