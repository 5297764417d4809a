"""Procurement: buy equipment under a budget, period after period, without knowing how effective it is.

Source: EconEvals, section 3.1. A plan supports as many workers as the geometric mean over categories of the
effective units it buys. Players learn only the outcome of whole plans; the score is the best outcome as a share
of the optimum.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Annotated, Any

from games.interface import Chance, Form, Json, MoveData, Prospect, Role, Tool
from games.periods import AGENT, NoteMove, form_for_instance, instance_of, is_count, lookup, plain, refuse_names
from games.practice import BeginMove, Benchmark, practice_names
from games.procurement import baselines, quiz, views
from games.procurement.instances import (
    CATEGORIES,
    LEVELS,
    PRACTICE_CATEGORIES,
    Instance,
    draw_hidden,
    draw_public,
)
from games.procurement.state import FORM, MOST_UNITS, PlanMove, ProcurementConfig, Purchase, Purchases
from games.results import Count, JsonText, Price, RoundRecord, Row, Share, column, in_unit
from games.words import gettext as _
from games.words import gettext_noop, quoted

Workers = Annotated[float, in_unit("workers", 0)]
OPTIMUM_TOLERANCE = 1e-6
"""Largest distance from the optimum that counts as having found it."""


class Procurement(Benchmark[ProcurementConfig, Purchases]):
    """A manager searches for the best use of a budget."""

    title = gettext_noop("Procurement")
    summary = gettext_noop("A manager buys equipment under a budget, period after period, to find out what works.")
    slow_setup = True
    scripts = baselines.SCRIPTS
    default_script = "greedy"
    starting_config = {"level": "small", "periods": 15, "practice": True}
    oracles = frozenset({"optimum"})
    reserved_words = "offer plan budget worker workers period note product units"
    screen = views.SCREEN
    questions = quiz.QUESTIONS
    asks = gettext_noop("Period {period}: choose what to buy.")
    move_types = (PlanMove, NoteMove, BeginMove)

    class Results(Row):
        score: Share | None = column("The best plan's workers divided by the optimum.", source="EconEvals, section 3.1")
        best: Workers = column("Workers supported by the best feasible plan; 0 if there is none.")
        optimum: Workers = column("Workers supported by the best possible plan.")
        solved: bool = column("Whether the optimum was found.")
        solved_at: int | None = column("Period in which the optimum was first found, from 1; empty if it was not.")
        infeasible_plans: Count = column("Plans over the budget or below an offer's minimum.")
        exploration_rate: Share = column("Number of different plans as a share of all plans.")
        periods_played: Count = column("Periods played.")

    class Record(RoundRecord):
        plan: JsonText = column("The plan, as JSON.")
        cost: Price = column("Its cost.")
        workers: Workers | None = column("Workers supported; empty if the plan is not feasible.")
        optimum: Workers = column("Workers supported by the best possible plan.")
        best_so_far: Workers = column("Workers supported by the best plan so far, including this period.")

    # ---- playing -----------------------------------------------------------------------------------

    def begin(self, chance: Chance) -> Purchases:
        config = self.config
        instance = config.instance
        if instance is None:
            kind = (self.key, config.level)
            names, letters = None, CATEGORIES
            if self.is_practice:
                names, letters = practice_names(LEVELS[config.level][0])[0], PRACTICE_CATEGORIES

            def public(rng: Random) -> dict[str, Any]:
                own_rng = config.rng_for(rng, *kind)
                return draw_public(config.level, own_rng, source=config.source, names=names, letters=letters)

            def hidden(rng: Random) -> dict[str, int]:
                return draw_hidden(config.level, config.rng_for(rng, *kind, part="hidden"), letters=letters)

            drawn = chance.draw("instance", public)
            effectiveness = chance.draw("effectiveness", hidden, known_to=())
            instance = instance_of(Instance, {**drawn, "effectiveness": effectiveness})
        frozen: Instance = instance
        # Logged like a draw, so that a replay recomputes the optimum and compares.
        optimum_data: dict[str, Any] = chance.draw("optimum", lambda _rng: _optimum_for_log(frozen), known_to=())
        return Purchases(instance=instance, optimum=optimum_data["workers"], best_plan=optimum_data["plan"])

    def period(self, state: Purchases) -> int:
        return len(state.purchases)

    def submission(self, state: Purchases, role: Role) -> Form:
        return form_for_instance(FORM, list(state.instance.by_id), every=False, last=self.last_submission(state, role))

    def refuse_submission(self, state: Purchases, role: Role, move: Any) -> str | None:
        if unknown := refuse_names(move.plan, list(state.instance.by_id), _("offer"), every=False):
            return unknown
        for name, quantity in move.plan.items():
            if not is_count(quantity, MOST_UNITS):
                return _("The quantity of {offer} must be a whole number from 0 to {most}.").format(
                    offer=quoted(str(name)), most=f"{MOST_UNITS:,}"
                )
        return None

    def harm(self, state: Purchases, role: Role, move: Any) -> str:
        plan = bought(move.plan)
        if not plan:
            return _("This plan buys nothing, so it supports nobody.")
        if problem := views.problem(self, state.instance, plan):
            return _("{problem} Such a plan supports nobody.").format(problem=problem)
        units = state.instance.units(plan)
        left_out = next((names for names in state.instance.categories if not any(units[name] for name in names)), None)
        if left_out is None:
            return ""
        words = _("This plan buys nothing of a category ({products}), so it supports nobody.")
        return words.format(products=", ".join(left_out))

    def submitted_before(self, state: Purchases, role: Role, move: Any) -> int | None:
        plan = bought(move.plan)
        return next((t for t, purchase in enumerate(state.purchases) if purchase.plan == plan), None)

    def submitted(self, state: Purchases, moves: Mapping[Role, Any], chance: Chance) -> Purchases:
        plan = bought(moves[AGENT].plan)
        cost = state.instance.cost(plan)
        workers = None if views.problem(self, state.instance, plan) else state.instance.workers(plan)
        return replace(state, purchases=(*state.purchases, Purchase(plan, cost, workers)))

    def last_submission(self, state: Purchases, role: Role) -> MoveData | None:
        return {"plan": dict(state.purchases[-1].plan)} if state.purchases else None

    def first_submission(self, state: Purchases, role: Role) -> MoveData:
        """Return the empty plan."""
        return {"plan": {}}

    # ---- the result --------------------------------------------------------------------------------

    def score(self, state: Purchases) -> float | None:
        """Return the best feasible plan as a share of the optimum; None if no workers can be supported."""
        if state.optimum == 0:
            return None
        best = state.best()
        return 0.0 if best is None else (best.workers or 0.0) / state.optimum

    def so_far(self, state: Purchases, role: Role) -> Prospect:
        """Return nothing earned before a plan supports anybody; then, the best possible plan is hidden."""
        best = state.best()
        if best is None or not best.workers:
            return self.prospect(_("If it ended now"), role, 0.0)
        words = _("It depends on how many workers you support, compared with the best possible plan.")
        return Prospect("", unknown=words)

    def metrics(self, state: Purchases) -> Results:
        best = state.best()
        solved_at = next(
            (row.round for row in self.records(state) if self._reaches_optimum(state, row.best_so_far)), None
        )
        plans = [json.dumps(purchase.plan, sort_keys=True) for purchase in state.purchases]
        return self.Results(
            score=self.score(state),
            best=0.0 if best is None else best.workers or 0.0,
            optimum=state.optimum,
            solved=solved_at is not None,
            solved_at=solved_at,
            infeasible_plans=sum(purchase.workers is None for purchase in state.purchases),
            exploration_rate=len(set(plans)) / len(plans),
            periods_played=len(plans),
        )

    @staticmethod
    def _reaches_optimum(state: Purchases, workers: float) -> bool:
        return state.optimum > 0 and workers >= state.optimum - OPTIMUM_TOLERANCE

    def records(self, state: Purchases) -> Sequence[Record]:
        """Return one row per period."""
        rows, best = [], 0.0
        for number, purchase in enumerate(state.purchases, start=1):
            best = max(best, purchase.workers or 0.0)
            rows.append(
                self.Record(
                    round=number,
                    role=AGENT,
                    plan=json.dumps(purchase.plan),
                    cost=purchase.cost,
                    workers=purchase.workers,
                    optimum=state.optimum,
                    best_so_far=best,
                )
            )
        return rows

    # ---- texts and views ---------------------------------------------------------------------------

    def secrets(self, role: Role) -> frozenset[str]:
        """Hide the number of periods, unless players are told."""
        return super().secrets(role) if self.config.told == "baseline" else frozenset()

    def text_variables(self, role: Role) -> dict[str, Any]:
        return {
            "periods": None if self.config.told == "baseline" else self.config.periods,
            "best_counts": self.config.told == "horizon_goal",
        }

    def length(self) -> str:
        """Return the number of periods if players are told; otherwise an empty text."""
        if self.config.told == "baseline":
            return ""
        return _("{periods} periods").format(periods=self.config.periods)

    def lookups(self, state: Purchases, role: Role) -> Sequence[Tool]:
        instance, published = state.instance, self.told_as_published
        data = _("Every earlier period: the plan, its cost, and the workers it supports or why it failed.")
        offers = _("All offers: contents and price of a unit, minimum quantity and upfront payment.")
        budget = _("The most that a plan can cost. The budget is the same in every period.")
        if published:
            data, offers = _("Every earlier plan and its outcome."), _("What is offered, and at what price.")
            budget = _("The budget.")

        def equipment() -> Json:
            if published:
                return {"offers": [offer.as_published() for offer in instance.offers]}
            return {
                "categories": [list(category) for category in instance.categories],
                "offers": [plain(offer.model_dump(exclude_none=True)) for offer in instance.offers],
            }

        return (
            self.history(state, role, "get_previous_purchase_data", data, "purchases"),
            lookup("get_equipment_information", offers, equipment, "offers"),
            lookup("get_budget", budget, lambda: {"budget": plain(instance.budget)}, "situation"),
        )

    def past_period(self, state: Purchases, t: int, role: Role) -> dict[str, Json]:
        purchase = state.purchases[t]
        if self.told_as_published:
            plan = {offer.id: purchase.plan.get(offer.id, 0) for offer in state.instance.offers}
            if purchase.workers is None:
                return {"period": t, "plan": plan, "problem": views.problem(self, state.instance, purchase.plan)}
            return {
                "period": t,
                "plan": plan,
                "workers_supported": plain(purchase.workers),
                "cost": plain(purchase.cost),
            }
        row: dict[str, Json] = {"period": t, "plan": dict(purchase.plan), "cost": plain(purchase.cost)}
        if purchase.workers is None:
            return {**row, "problem": views.problem(self, state.instance, purchase.plan)}
        return {**row, "workers_supported": plain(purchase.workers)}


def bought(plan: Mapping[str, int]) -> dict[str, int]:
    """Return a plan without the offers of which it buys nothing."""
    return {name: quantity for name, quantity in plan.items() if quantity}


def _optimum_for_log(instance: Instance) -> dict[str, Any]:
    from games.procurement.optimum import optimum  # loading the solver takes half a second

    workers, plan = optimum(instance)
    return {"workers": workers, "plan": plan}
