"""What a study will cost: the one forecast that every page shows, from the editor to the pay page.

Expected: every place is completed, and bonuses are on average what participants are promised. At most: every
participant earns the highest bonus.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from django.db.models import Count, Q, Sum
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from games.errors import GameError
from llm_agents.errors import AgentError
from matches.models import Match
from opponents.agents import Agent
from opponents.endpoints import current_prices
from opponents.models import Call
from opponents.spending import cap_per_day
from plans.pay import cents, in_currency
from plans.plan import Document
from plans.reading import BadPlan, Reader, reader_of
from recruiters.terms import AS_OF, Terms, terms_of
from studies import forecast as forecasting
from studies import simulating
from studies.forecast import CellPlan, Forecast, cells_of, forecast, minutes_of
from studies.models import Study


@dataclass(frozen=True)
class Costs:
    """The cost of a study's places, in its currency; of model calls, in US dollars.

    Attributes:
        places: participants who complete.
        minutes: that participants are told the study takes; None if unknown.
        base, bonus, highest_bonus: per participant, as means over all places; the announced average, and the most
            that the pay rule allows.
        least: base pay and announced average where least is paid.
        pays: False for a trial, in which nobody is paid.
        models: expected cost of all model calls; None if a price is unknown.
        models_limit: the limit on them; None: none. Without models, both are 0.
        measured: whether `models` follows from earlier calls of this study or its pilots.
        too_expensive: (model, most that an answer can cost, limit) where a limit does not allow a single call.
    """

    currency: str
    places: int
    minutes: int | None
    base: Decimal
    bonus: Decimal
    highest_bonus: Decimal
    least: tuple[Decimal, Decimal]
    terms: Terms
    pays: bool = True
    models: Decimal | None = Decimal(0)
    models_limit: Decimal | None = Decimal(0)
    measured: bool = False
    too_expensive: tuple[tuple[str, Decimal, Decimal], ...] = ()

    def fee(self, bonus: Decimal) -> Decimal | None:
        """Return the recruiter's fee for all places with this bonus; None if unknown."""
        fee = self.terms.fee(base=self.base, bonus=bonus)
        return None if fee is None else self.places * fee

    def total(self, bonus: Decimal) -> Decimal:
        """Return pay and fee for all places with this bonus."""
        return self.places * (self.base + bonus) + (self.fee(bonus) or 0)

    @property
    def expected(self) -> Decimal:
        return self.total(self.bonus)

    @property
    def at_most(self) -> Decimal:
        return self.total(self.highest_bonus)

    def hourly(self, bonus: Decimal = Decimal(0)) -> Decimal | None:
        """Return a participant's hourly pay with this bonus; None if the minutes are unknown."""
        return self._per_hour(self.base + bonus)

    def _per_hour(self, amount: Decimal) -> Decimal | None:
        return cents(amount * 60 / self.minutes) if self.minutes else None

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as plain data for other programs."""
        amounts = {
            "expected": self.expected,
            "at_most": self.at_most,
            "hourly_without_bonus": self.hourly(),
            "hourly": self.hourly(self.bonus),
            "models": self.models,
            "models_at_most": self.models_limit,
        }
        shown = {name: None if amount is None else float(amount) for name, amount in amounts.items()}
        return {"currency": self.currency, "places": self.places, "minutes": self.minutes, **shown}

    @property
    def rows(self) -> list[tuple[str, str, str]]:
        """The table (title, expected, at most); amounts are formatted, unknown ones say so."""

        def money(amount: Decimal | None) -> str:
            return _("not known") if amount is None else _separated(amount, self.currency)

        places = ngettext("Base pay for {places} place", "Base pay for {places} places", self.places)
        base = money(self.places * self.base)
        rows = [
            (places.format(places=f"{self.places:,}"), base, base),
            (_("Bonuses"), money(self.places * self.bonus), money(self.places * self.highest_bonus)),
        ]
        if self.terms.title:
            fee = _("Fee of {recruiter}").format(recruiter=self.terms.title)
            rows.append((fee, money(self.fee(self.bonus)), money(self.fee(self.highest_bonus))))
        rows.append((_("Participants in total"), money(self.expected), money(self.at_most)))
        if self.models != 0:
            limit = _("no limit") if self.models_limit is None else _separated(self.models_limit, "USD")
            expected = _("price unknown") if self.models is None else _separated(self.models, "USD")
            rows.append((_("Model calls"), expected, limit))
        return rows

    @property
    def total_sentence(self) -> str:
        """What participants will cost, in one sentence, for the question before launching."""
        template = _("Pay and fees: {expected} expected, {at_most} at most.")
        return template.format(
            expected=_separated(self.expected, self.currency), at_most=_separated(self.at_most, self.currency)
        )

    @property
    def hourly_sentence(self) -> str:
        """What participants earn per hour, without and with the expected bonus; empty if the minutes are unknown."""
        without, with_bonus = self.hourly(), self.hourly(self.bonus)
        if without is None or with_bonus is None:
            return ""
        sentence = ngettext(
            "Pay per hour, at {minutes} minute: {without} without bonus, {with_bonus} with the announced average.",
            "Pay per hour, at {minutes} minutes: {without} without bonus, {with_bonus} with the announced average.",
            self.minutes or 0,
        )
        return sentence.format(
            minutes=self.minutes,
            without=in_currency(without, self.currency),
            with_bonus=in_currency(with_bonus, self.currency),
        )

    @property
    def notes(self) -> list[str]:
        """What the figures assume and leave out."""
        notes = [] if self.pays else [_("This is a trial, so nobody is paid.")]
        notes.append(_("Participants who end early but are paid come on top."))
        if self.terms.title and self.terms.base_share is None:
            notes.append(_("The panel's own fee is not included."))
        elif self.terms.title and self.terms.bonus_share is not None:
            about = _("stated by {recruiter}") if self.terms.known else _("assumed, without taxes, as of {date}")
            share = _("Fee: {base} of base pay and {bonus} of bonuses ({about}).")
            notes.append(
                share.format(
                    base=_percent(self.terms.base_share or Decimal(0)),
                    bonus=_percent(self.terms.bonus_share),
                    about=about.format(recruiter=self.terms.title, date=AS_OF),
                )
            )
        if self.models:
            notes.append(
                _("Model calls cost what earlier matches of this study cost.")
                if self.measured
                else _("The cost of model calls is estimated from prompts and list prices; a pilot measures it.")
            )
        if self.models_limit is None and (daily := cap_per_day()) is not None:
            notes.append(
                _("All studies together: at most {cap} a day for model calls.").format(cap=_separated(daily, "USD"))
            )
        return notes

    @property
    def warnings(self) -> list[str]:
        """Where the hourly pay falls below the recruiter's minimum, and where a limit allows no call."""
        too_expensive = _(
            "One call of {model} can cost up to {price}, more than the spending limit of {limit}, so it would never be "
            "made. Raise the limit, or set a maximum answer length."
        )
        return self._pay_warnings() + [
            too_expensive.format(model=spec, price=f"${price:,.4f}", limit=f"${limit:,.2f}")
            for spec, price, limit in self.too_expensive
        ]

    def _pay_warnings(self) -> list[str]:
        minimum = self.terms.minimum.get(self.currency)
        base, bonus = self.least
        without, with_bonus = self._per_hour(base), self._per_hour(base + bonus)
        if not self.pays or minimum is None or without is None or with_bonus is None or without >= minimum:
            return []
        template = (
            _(
                "{recruiter} demands at least {minimum} per hour. This study pays {without} without bonus and "
                "{with_bonus} with the announced average. Raise the pay or shorten the study."
            )
            if with_bonus < minimum
            else _(
                "{recruiter} demands at least {minimum} per hour, not counting bonuses. Without them, this study pays "
                "{without}. Raise the base pay."
            )
        )
        shown = {"minimum": minimum, "without": without, "with_bonus": with_bonus}
        amounts = {name: in_currency(amount, self.currency) for name, amount in shown.items()}
        return [template.format(recruiter=self.terms.title, **amounts)]

    @property
    def minimum_note(self) -> str:
        """What the recruiter states about minimum pay; empty without a recruiter."""
        if not self.terms.title:
            return ""
        minimum = self.terms.minimum.get(self.currency)
        if minimum is None:
            return _("{recruiter} states no minimum pay in this currency.").format(recruiter=self.terms.title)
        template = _("{recruiter} states a minimum of {minimum} per hour (as of {date}).")
        return template.format(recruiter=self.terms.title, minimum=in_currency(minimum, self.currency), date=AS_OF)

    def of(self, *, places: int, terms: Terms) -> Costs:
        """Return the costs of this number of places on these terms."""
        return replace(self, places=places, terms=terms)


def costs_of(study: Study) -> Costs:
    """Return the costs of the launched version, or of the draft before the first launch.

    Raises:
        BadPlan, GameError, AgentError: there is no version, and the draft cannot be played.
    """
    version = study.latest_version()
    return costs_of_document(study.draft if version is None else version.reader, slug=study.slug)


def shown_costs(study: Study) -> Costs | None:
    """Return the costs for a page; None if the draft cannot be played yet."""
    try:
        return costs_of(study)
    except (BadPlan, GameError, AgentError, ValueError, LookupError):
        return None


def costs_of_document(document: Document | Reader, *, slug: str, estimate: Forecast | None = None) -> Costs:
    """Return the costs of a plan.

    Args:
        slug: of the study, whose recruiter may have stated its terms, and whose calls are measured.
        estimate: the plan's forecast, if it is known already.

    Raises:
        BadPlan, GameError, AgentError: the plan cannot be read or played.
    """
    reader = reader_of(document)
    cells = cells_of(reader)
    plan = cells[0].plan
    terms = terms_of(plan.entry.via, slug)
    places = [cell.cell.quota * cell.people for cell in cells]

    def mean(amounts: Iterable[Decimal]) -> Decimal:
        return sum((n * amount for n, amount in zip(places, amounts, strict=True)), Decimal(0)) / sum(places)

    least_paid = min(cells, key=lambda cell: (cell.plan.pay.base, cell.average))
    return Costs(
        currency=plan.pay.currency,
        places=sum(places),
        minutes=terms.minutes or minutes_of(reader),
        base=mean(cell.plan.pay.base for cell in cells),
        bonus=mean(cell.average for cell in cells),
        highest_bonus=mean(cell.highest for cell in cells),
        least=(least_paid.plan.pay.base, least_paid.average),
        terms=terms,
        pays=Match.Purpose(plan.purpose).has_ledger,
        **_models(reader, slug, cells, estimate),
    )


def shown_forecast(document: Document | Reader, *, slug: str) -> dict[str, Any]:
    """Return a plan's forecast and costs as an editor shows them: plain data, amounts formatted.

    Raises:
        BadPlan, GameError, AgentError: the plan cannot be read or played.
    """
    reader = reader_of(document)
    estimate = forecast(reader)
    costs = costs_of_document(reader, slug=slug, estimate=estimate)

    def money(amount: Decimal) -> str:
        return _separated(amount, costs.currency)

    return {
        "cells": [
            {
                "number": cell.number,
                "factors": dict(cell.factors),
                "quota": cell.quota,
                "minutes": f"{cell.minutes:.1f}",
                "pay": money(cell.pay),
                "hourly": money(cell.hourly),
            }
            for cell in estimate.cells
        ],
        "number": estimate.number,
        "places": estimate.places,
        "rows": costs.rows,
        "warnings": costs.warnings,
        "notes": [*costs.notes, assumptions()],
    }


def assumptions() -> str:
    """Return what the forecast assumes."""
    template = _(
        "An estimate that assumes {words} words read per minute, {decision} seconds per decision, {page} seconds "
        "per page, {model} seconds per model answer, and {letters} characters per token. Scripted players take "
        "all seats in up to {matches} matches. Run a pilot for better figures."
    )
    return template.format(
        words=forecasting.WORDS_PER_MINUTE,
        decision=simulating.SECONDS_PER_DECISION,
        page=forecasting.SECONDS_PER_PAGE,
        model=simulating.SECONDS_PER_MODEL_ANSWER,
        letters=simulating.CHARACTERS_PER_TOKEN,
        matches=forecasting.MAX_MATCHES,
    )


def _models(reader: Reader, slug: str, cells: Sequence[CellPlan], estimate: Forecast | None) -> dict[str, Any]:
    """Return the figures of `Costs` that concern model calls."""
    settings = {game.setting for cell in cells for game in cell.games if game.setting.models}
    agents = {agent.hash: agent for setting in settings for agent in setting.agents.values() if agent.is_model}
    if not agents:
        return {}
    matches = Decimal(repr(sum(cell.cell.quota * cell.matches for cell in cells)))
    caps = [agent.settings.caps() for agent in agents.values()]
    too_expensive = dict.fromkeys(entry for agent in agents.values() for entry in _never_asked(agent))
    limits = [cap.per_study for cap in caps]
    per_match = [cap.per_match for cap in caps]
    limit = None
    if None not in limits:
        limit = max(cap for cap in limits if cap is not None)
    elif None not in per_match:
        limit = matches * sum((cap for cap in per_match if cap is not None), Decimal(0))
    per_match_cost = _measured(slug)
    expected = (estimate or forecast(reader)).models.expected if per_match_cost is None else per_match_cost * matches
    return {
        "models": None if expected is None else cents(expected),
        "models_limit": limit,
        "measured": per_match_cost is not None,
        "too_expensive": tuple(too_expensive),
    }


def _never_asked(agent: Agent) -> Iterator[tuple[str, Decimal, Decimal]]:
    """Yield (model, most that an answer can cost, limit) for the agent's models that its limits never allow to ask."""
    caps = agent.settings.caps()
    limits = [cap for cap in (caps.per_match, caps.per_study) if cap is not None]
    for spec in agent.specs if limits else ():
        price = current_prices().largest_of(spec, size=0, max_tokens=agent.settings.max_tokens)
        if price is not None and price > min(limits):
            yield spec, price, min(limits)


def _measured(slug: str) -> Decimal | None:
    """Return the mean cost of a match in which models were called, in this study or its pilots; None if unknown."""
    own = Call.objects.filter(Q(budget_of=f"study:{slug}") | Q(budget_of__startswith=f"pilot:{slug}/"))
    sums = (
        own.filter(cost__isnull=False).order_by().aggregate(cost=Sum("cost"), matches=Count("match_uid", distinct=True))
    )
    return sums["cost"] / sums["matches"] if sums["matches"] else None


def _separated(amount: Decimal, currency: str) -> str:
    return in_currency(cents(amount), currency)


def _percent(share: Decimal) -> str:
    return f"{float(100 * share):.4g}%"
