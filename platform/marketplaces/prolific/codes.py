"""The completion code that a study shows at each ending, and what Prolific does with it.

No code makes Prolific pay automatically: the ledger determines what is paid.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from marketplaces.prolific.client import hundredths
from participants.models import Enrolment, new_code
from participants.states import State
from plans.pay import PayRule

COMPLETED, SCREENED_OUT, RETURNED = "completed", "screened_out", "returned"
PARTIAL_PAYMENT = "part"
"""Entered only by Parley, to pay part of the reward (dynamic payment)."""
NONE, UNKNOWN = "none", "unknown"
"""Other entries by participants: Prolific's NOCODE, or text that is not one of the study's codes."""
_NO_CODE = "NOCODE"


def new_codes(*, parts: bool = False) -> dict[str, str]:
    """Return three codes that cannot be guessed, and a fourth if partial payments are allowed."""
    endings = (COMPLETED, SCREENED_OUT, RETURNED)
    return {ending: new_code() for ending in ((*endings, PARTIAL_PAYMENT) if parts else endings)}


def code_of(enrolment: Enrolment) -> str:
    """Return the kind of code that a participant receives at the end."""
    if enrolment.state == State.SCREENED_OUT:
        return SCREENED_OUT
    return COMPLETED if enrolment.is_paid else RETURNED


def pays_screened_out(rule: PayRule) -> bool:
    return rule.endings.get(State.SCREENED_OUT, "nothing") != "nothing"


def entered(codes: dict[str, str], text: Any) -> str:
    """Return the kind of code that a participant entered; empty if Prolific reports none."""
    if not isinstance(text, str) or not text:
        return ""
    if text == _NO_CODE:
        return NONE
    return next((kind for kind, code in codes.items() if code == text.strip()), UNKNOWN)


def for_prolific(
    codes: dict[str, str], rule: PayRule, *, screen_out: Decimal | None = None, slots: int = 0
) -> list[dict[str, Any]]:
    """Return the study's `completion_codes`.

    Args:
        screen_out: what Prolific itself pays each screened-out participant, at most `slots` of them; None if it pays
            nothing.
    """
    review = [{"action": "MANUALLY_REVIEW"}]
    reason = _("The study does not pay participants who end at this point.")
    give_back = [{"action": "REQUEST_RETURN", "return_reason": reason}]
    rows: dict[str, tuple[str, list[dict[str, Any]]]] = {
        COMPLETED: ("COMPLETED", review),
        SCREENED_OUT: ("OTHER", review if pays_screened_out(rule) else give_back),
        RETURNED: ("FAILED_ATTENTION_CHECK", give_back),
        PARTIAL_PAYMENT: ("OTHER", [{"action": "DYNAMIC_PAYMENT"}]),
    }
    if screen_out is not None:
        payment = {"fixed_screen_out_reward": hundredths(screen_out), "slots": slots}
        rows[SCREENED_OUT] = ("SCREENED_OUT", [{"action": "FIXED_SCREEN_OUT_PAYMENT", **payment}])
    return [
        {"code": codes[ending], "code_type": kind, "actions": actions}
        for ending, (kind, actions) in rows.items()
        if ending in codes
    ]


_AUTOMATIC_PAYMENTS = {"AUTOMATICALLY_APPROVE", "DYNAMIC_PAYMENT", "FIXED_SCREEN_OUT_PAYMENT"}
"""Actions with which Prolific pays automatically."""


def of_prolific(completion_codes: Any, rule: PayRule) -> tuple[dict[str, str], list[str]]:
    """Return the codes of a study that was created on Prolific itself, and what to change about them there.

    Args:
        completion_codes: as Prolific returns them with the study.
        rule: the pay rule of the study here.
    """
    rows = [
        (row["code"], row.get("code_type"), _actions(row))
        for row in completion_codes or ()
        if isinstance(row, dict) and isinstance(row.get("code"), str)
    ]
    problems = [
        _("The code {code} makes Prolific pay automatically. Set it to manual review.").format(code=code)
        for code, _type, actions in rows
        if actions & _AUTOMATIC_PAYMENTS
    ]
    completed_code = next((code for code, kind, _done in rows if kind == "COMPLETED"), "")
    return_code = next((code for code, _type, actions in rows if "REQUEST_RETURN" in actions), "")
    if not completed_code:
        problems.append(
            _("There is no code for participants who finished. Add one of the type “completed” with manual review.")
        )
    if not return_code:
        problems.append(_("There is no code for endings that pay nothing. Add one that requests a return."))
    wanted, fallback = (
        ("MANUALLY_REVIEW", completed_code) if pays_screened_out(rule) else ("REQUEST_RETURN", return_code)
    )
    screen_out_code = next((code for code, kind, actions in rows if kind == "OTHER" and wanted in actions), fallback)
    return {COMPLETED: completed_code, RETURNED: return_code, SCREENED_OUT: screen_out_code}, problems


def _actions(row: dict[str, Any]) -> set[str]:
    actions = row.get("actions")
    listed = actions if isinstance(actions, list) else []
    return {str(action.get("action")) for action in listed if isinstance(action, dict)}
