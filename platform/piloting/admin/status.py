"""A pilot's report as shown on its page: text, bars and dot plots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from participants.states import State
from piloting.enrolling import role_of, version_of
from piloting.models import Pilot, Walker
from piloting.report import Bonuses, Report, StepTimes, report
from plans.pay import in_currency

COLOURS = {"running": "primary", "done": "success", "stopped": "warning"}
PART_LABELS = {
    "reading": gettext_lazy("reading and filling in forms"),
    "moves": gettext_lazy("deciding and entering moves"),
    "waiting": gettext_lazy("waiting for opponents"),
}
TOLERANCE = 0.1
"""The mean bonus matches the announced average if it differs by at most this share."""
WIDTH, HEIGHT, EDGE, RADIUS, MAX_ROWS = 320, 84, 10, 4, 6


@dataclass(frozen=True)
class DotPlot:
    """A dot plot of amounts; positions refer to a box of WIDTH × HEIGHT.

    Attributes:
        dots: [(x, y)].
        marks: [(x, label, class)].
        ticks: [(x, label)].
        alt_text: a description for screen readers.
    """

    title: str
    dots: list[tuple[float, float]]
    marks: list[tuple[float, str, str]]
    ticks: list[tuple[float, str]]
    alt_text: str
    width: int = WIDTH
    height: int = HEIGHT
    floor: int = HEIGHT - 18


def page_context(pilot: Pilot) -> dict[str, Any]:
    """Return the template context for the part of the page that changes while a pilot runs."""
    figures = report(pilot)
    finished = figures.counts["arrived"] + figures.counts["stuck"]
    return {
        "pilot": pilot,
        "report": figures,
        "alive": pilot.running,
        "done": finished,
        "percent": round(100 * finished / max(1, figures.people)),
        "headline": _headline(pilot, finished),
        "facts": _facts(figures),
        "bars": _bars(figures.steps),
        "legend": [
            (label, name) for name, label in PART_LABELS.items() if any(name in step.parts for step in figures.steps)
        ],
        "bonus_dots": _bonus_dots(figures),
        "bonus_sentence": bonus_sentence(figures),
        "payoff_dots": [
            _dots(row.role, row.payoffs, low=min(0.0, *row.payoffs), high=max(row.payoffs), format_value=_plain)
            for row in figures.payoffs
        ],
        "endings": [(label, count, round(100 * count / max(1, finished))) for _name, label, count in figures.endings],
        "models": _models(figures),
        "walkers": _walkers(pilot),
    }


def _headline(pilot: Pilot, finished: int) -> str:
    if pilot.running:
        sentence = _("Pilot {number}: {done} of {people} participants finished")
    elif pilot.status == Pilot.Status.STOPPED:
        sentence = _("Pilot {number}: stopped after {done} of {people} participants")
    else:
        sentence = ngettext(
            "Pilot {number}: one participant finished", "Pilot {number}: {people} participants finished", pilot.people
        )
    return sentence.format(number=pilot.number, done=finished, people=pilot.people)


def _facts(figures: Report) -> list[tuple[str, str]]:
    facts = [(_("completed"), f"{figures.completed}"), (_("stuck"), f"{figures.counts['stuck']}")]
    if figures.minutes is not None:
        facts.append((_("minutes per participant (estimate)"), f"{figures.minutes:.1f}"))
    if figures.bonuses is not None:
        facts.append((_("mean bonus"), _money(figures.bonuses.mean, figures)))
    return facts


def bonus_sentence(figures: Report) -> str:
    """Return a sentence comparing the bonuses with the announced average."""
    if figures.bonuses is None:
        return ""
    bonuses = figures.bonuses
    sentence = _(
        "Participants who completed earned a mean bonus of {mean}; the announced average is {announced}."
    ).format(mean=_money(bonuses.mean, figures), announced=_money(bonuses.announced, figures))
    return f"{sentence} {_comparison(bonuses)}"


def _comparison(bonuses: Bonuses) -> str:
    if not bonuses.announced:
        return ""
    deviation = bonuses.mean / bonuses.announced - 1
    if abs(deviation) <= TOLERANCE:
        return _("The two match.")
    if deviation < 0:
        return _("This is {share:.0f}% less than announced. Change the announced average or the pay rule.").format(
            share=-100 * deviation
        )
    return _("This is {share:.0f}% more than announced.").format(share=100 * deviation)


def _bonus_dots(figures: Report) -> DotPlot | None:
    if figures.bonuses is None:
        return None
    bonuses = figures.bonuses
    marks = [
        (bonuses.mean, _("mean {amount}").format(amount=_money(bonuses.mean, figures)), "mean"),
        (bonuses.announced, _("announced {amount}").format(amount=_money(bonuses.announced, figures)), "announced"),
    ]
    high = max(bonuses.announced, *bonuses.amounts)
    return _dots(
        _("Bonuses"),
        bonuses.amounts,
        low=0.0,
        high=high,
        marks=marks,
        format_value=lambda amount: _money(amount, figures),
    )


def _dots(
    title: str,
    values: Sequence[float],
    *,
    low: float,
    high: float,
    format_value: Any,
    marks: Sequence[tuple[float, str, str]] = (),
) -> DotPlot:
    """Lay out values on a line, stacking those that would overlap."""
    span = high - low or 1.0

    def across(value: float) -> float:
        return round(EDGE + (value - low) / span * (WIDTH - 2 * EDGE), 1)

    stacks: dict[int, int] = {}
    dots = []
    for value in sorted(values):
        x = across(value)
        column = round(x / (2 * RADIUS))
        stacks[column] = stacks.get(column, 0) + 1
        dots.append((x, HEIGHT - 18.0 - RADIUS - 2 * RADIUS * ((stacks[column] - 1) % MAX_ROWS)))
    mean = sum(values) / len(values)
    return DotPlot(
        title=title,
        dots=dots,
        marks=[(across(value), label, kind) for value, label, kind in marks],
        ticks=[
            (across(value), format_value(value)) for value in (low, low + span / 2, high if high > low else low + span)
        ],
        alt_text=ngettext("One value: {mean}", "{number} values from {low} to {high}, mean {mean}", len(values)).format(
            number=len(values), low=format_value(min(values)), high=format_value(max(values)), mean=format_value(mean)
        ),
    )


def _bars(steps: Sequence[StepTimes]) -> list[dict[str, Any]]:
    """Return the minutes of each step as a bar whose parts are (name, percent of the longest step, class)."""
    longest = max((step.minutes for step in steps), default=0.0) or 1.0

    def parts(step: StepTimes) -> list[tuple[str, float, str]]:
        return [(str(PART_LABELS[name]), round(100 * each / longest, 2), name) for name, each in step.parts.items()]

    return [
        {"title": step.title, "label": f"{step.minutes:.1f}", "words": step.words, "parts": parts(step)}
        for step in steps
    ]


def _models(figures: Report) -> list[tuple[str, str]]:
    models = figures.models
    rows = []
    if models.calls:
        rows = [
            (_("calls"), f"{models.calls:,}"),
            (_("total cost"), _dollars(models.cost)),
            (_("cost per match"), _dollars(models.cost_per_match)),
            (_("calls with unknown price"), f"{models.unpriced:,}"),
            (_("illegal moves"), f"{models.rule_breaks:,}"),
            (_("failed calls"), f"{models.failed:,}"),
            (_("slowest call, seconds"), "–" if models.slowest is None else f"{models.slowest:.1f}"),
        ]
    rows += [
        (_("moves by the fallback {who}").format(who=name), str(count)) for name, count in models.fallbacks.items()
    ]
    if models.clock:
        rows.append((_("moves made by the clock for participants"), str(models.clock)))
    return rows


def _walkers(pilot: Pilot) -> list[dict[str, Any]]:
    version = version_of(pilot)
    cells = {cell.number: cell for cell in version.planned_cells()}
    currency = version.plan.pay.currency
    walkers = pilot.walkers.select_related("enrolment").prefetch_related("enrolment__seats").order_by("number")
    return [
        {
            "number": walker.number,
            "cell": cells[walker.cell].title,
            "role": role_of(walker, cells[walker.cell]),
            "plan": walker.get_plan_display(),
            "stuck": walker.status == Walker.Status.STUCK,
            "ending": _ending(walker),
            "payoff": "" if walker.payoff is None else _plain(walker.payoff),
            "paid": in_currency(sum(map(Decimal, walker.owed.values()), start=Decimal(0)), currency),
            "match": next((seat.match_id for seat in walker.enrolment.seats.all()), None) if walker.enrolment else None,
        }
        for walker in walkers
    ]


def _ending(walker: Walker) -> str:
    if walker.status == Walker.Status.STUCK:
        return walker.problem
    if walker.status == Walker.Status.ARRIVED and walker.enrolment is not None:
        return str(State(walker.enrolment.state).label)
    return str(walker.get_status_display())


def _money(amount: float, figures: Report) -> str:
    return in_currency(Decimal(str(round(amount, 2))), figures.currency)


def _dollars(amount: float) -> str:
    return f"${amount:,.2f}" if amount >= 1 or not amount else f"${amount:.4f}"


def _plain(value: float) -> str:
    return f"{value:,.2f}".removesuffix(".00")
