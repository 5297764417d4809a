"""Descriptions of ledger amounts and states for researchers."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from pydantic import ValidationError

from participants.states import State as Ending
from payouts.deciding import is_by_hand
from payouts.models import LedgerRow
from payouts.payers import method_of
from plans.pay import PayRule, bonus

State = LedgerRow.State
COLOURS = {
    State.DUE: "warning",
    State.APPROVED: "info",
    State.SENT: "info",
    State.CONFIRMED: "success",
    State.FAILED: "danger",
    State.UNCLEAR: "danger",
    State.WRITTEN_OFF: "default",
    State.ELSEWHERE: "default",
}


def reason_in_words(reason: str) -> str:
    """Return the name of a reason for payment."""
    return {
        "base": _("base pay"),
        "bonus": _("bonus"),
        "screen_out": _("for being screened out"),
        "part": _("part of the base pay"),
    }.get(reason, reason)


def workings_in_words(row: LedgerRow) -> str:
    """Return the rule and the numbers behind a row's amount."""
    stored: dict[str, Any] = row.workings
    ending = _ending(str(stored.get("ending", "")))
    try:
        rule = PayRule.model_validate(stored.get("rule"))
    except ValidationError:
        return ending
    if row.reason != "bonus" and "played" in stored:
        return _("{amount} {currency} for “{ending}”, after {percent} % was played").format(
            amount=rule.base, currency=rule.currency, ending=ending, percent=round(100 * float(stored["played"]))
        )
    if row.reason != "bonus":
        return _("{amount} {currency} for “{ending}”").format(amount=rule.base, currency=rule.currency, ending=ending)
    average = rule.announced_average
    if rule.endings.get(str(stored.get("ending"))) == "base_and_average" or stored.get("payoff") is None:
        return _("the announced average of {average} for “{ending}”").format(average=average, ending=ending)
    payoff, share = float(stored["payoff"]), float(stored.get("share") or 0)
    formula = {
        "share": _("2 × {average} (announced average) × {share} (success, from 0 to 1)"),
        "linear": _("{rate} × {payoff} (payoff)"),
        "fixed": _("{average}, the same for everyone"),
    }[rule.rule].format(average=average, share=f"{share:.4g}", rate=rule.rate.normalize(), payoff=f"{payoff:,.10g}")
    at_most = bonus(rule, payoff=payoff, share=share) == rule.cap
    return _("{says}, capped at {cap}").format(says=formula, cap=rule.cap) if at_most else formula


def _ending(state: str) -> str:
    return str(Ending(state).label) if state in Ending.values else state


def what_next(row: LedgerRow, *, base_in_progress: bool) -> str:
    """Return what a row is waiting for or what the researcher should do about it; empty if nothing."""
    method = method_of(row.recruiter)
    if method is not None and method.lists and row.state in (State.APPROVED, State.SENT):
        if row.state == State.APPROVED:
            return _("Goes on the next payment list.")
        return _("On a payment list. Upload there which payments were made.")
    if row.state == State.APPROVED and is_by_hand(row):
        return _("Pay it yourself, then mark it as paid.")
    if row.state == State.APPROVED and row.reason == "bonus" and base_in_progress:
        return _("Waiting for the base pay to be confirmed.")
    if row.problem:
        return row.problem
    if row.state == State.APPROVED:
        return _("Being paid.")
    if row.state == State.SENT:
        return _("The recruiter has been asked to pay and has not confirmed yet.")
    return ""
