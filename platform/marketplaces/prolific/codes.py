"""The completion code that a study shows at each ending, and what Prolific does with it.

No code makes Prolific pay automatically: the ledger determines what is paid.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from urllib.parse import quote

from django.utils.translation import gettext as _

from marketplaces.prolific.client import hundredths
from marketplaces.prolific.models import KIND, Publication
from participants import returning
from participants.models import Enrolment, new_code
from participants.returning import ReturnInstructions
from participants.states import State
from plans.pay import PayRule, in_currency
from recruiters.models import Identity

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
    return COMPLETED if is_paid(enrolment) else RETURNED


def is_paid(enrolment: Enrolment) -> bool:
    """Return whether a participant has ended and is paid anything."""
    return bool((enrolment.earnings or {}).get("amounts"))


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
    give_back = [
        {"action": "REQUEST_RETURN", "return_reason": _("The study does not pay participants who end at this point.")}
    ]
    return [
        {"code": codes[COMPLETED], "code_type": "COMPLETED", "actions": review},
        _screened_out(codes, rule, screen_out, slots)
        or {
            "code": codes[SCREENED_OUT],
            "code_type": "OTHER",
            "actions": review if pays_screened_out(rule) else give_back,
        },
        {"code": codes[RETURNED], "code_type": "FAILED_ATTENTION_CHECK", "actions": give_back},
        *(
            [{"code": codes[PARTIAL_PAYMENT], "code_type": "OTHER", "actions": [{"action": "DYNAMIC_PAYMENT"}]}]
            if PARTIAL_PAYMENT in codes
            else []
        ),
    ]


def _screened_out(codes: dict[str, str], rule: PayRule, reward: Decimal | None, slots: int) -> dict[str, Any] | None:
    if reward is None:
        return None
    payment = {"action": "FIXED_SCREEN_OUT_PAYMENT", "fixed_screen_out_reward": hundredths(reward), "slots": slots}
    return {"code": codes[SCREENED_OUT], "code_type": "SCREENED_OUT", "actions": [payment]}


_AUTOMATIC_PAYMENTS = {"AUTOMATICALLY_APPROVE", "DYNAMIC_PAYMENT", "FIXED_SCREEN_OUT_PAYMENT"}
"""Actions with which Prolific pays automatically."""


def of_prolific(completion_codes: Any, rule: PayRule) -> tuple[dict[str, str], list[str]]:
    """Return the codes of a study that was created on Prolific itself, and what to change about them there.

    Args:
        completion_codes: as Prolific returns them with the study.
        rule: the pay rule of the study here.
    """
    rows = (
        [row for row in completion_codes if isinstance(row, dict) and isinstance(row.get("code"), str)]
        if completion_codes
        else []
    )
    problems = [
        _("The code {code} makes Prolific pay automatically. Set it to manual review.").format(code=row["code"])
        for row in rows
        if _actions(row) & _AUTOMATIC_PAYMENTS
    ]
    completed_code = next((row["code"] for row in rows if row.get("code_type") == "COMPLETED"), "")
    return_code = next((row["code"] for row in rows if "REQUEST_RETURN" in _actions(row)), "")
    if not completed_code:
        problems.append(
            _("There is no code for participants who finished. Add one of the type “completed” with manual review.")
        )
    if not return_code:
        problems.append(_("There is no code for endings that pay nothing. Add one that requests a return."))
    wanted_action = "MANUALLY_REVIEW" if pays_screened_out(rule) else "REQUEST_RETURN"
    fallback = completed_code if wanted_action == "MANUALLY_REVIEW" else return_code
    screen_out_code = next(
        (row["code"] for row in rows if row.get("code_type") == "OTHER" and wanted_action in _actions(row)), fallback
    )
    return {COMPLETED: completed_code, RETURNED: return_code, SCREENED_OUT: screen_out_code}, problems


def _actions(row: dict[str, Any]) -> set[str]:
    actions = row.get("actions")
    return (
        {str(action.get("action")) for action in actions if isinstance(action, dict)}
        if isinstance(actions, list)
        else set()
    )


# ---- returning -------------------------------------------------------------------------------------


@returning.register
def to_prolific(enrolment: Enrolment) -> ReturnInstructions | None:
    """Return the button that reports the ending to Prolific, and the code in case the button fails."""
    identity = Identity.objects.filter(enrolment=enrolment, recruiter=KIND).first()
    if identity is None:
        return None
    publication = Publication.objects.select_related("account").filter(study__slug=identity.study).first()
    if publication is None:
        return None
    if enrolment.state == State.RETURNED:
        return ReturnInstructions(
            _("You have returned your submission on Prolific. You do not need to do anything else.")
        )
    kind = code_of(enrolment)
    code = publication.codes[kind]
    address = f"{publication.account.pages}/submissions/complete?cc={quote(code)}"
    if enrolment.state == State.SCREENED_OUT and publication.screen_out_reward is not None:
        text = _(
            "Return to Prolific with this button. Prolific pays you {amount} for your time. If Prolific asks for a "
            "code, copy this one."
        )
        amount = in_currency(publication.screen_out_reward, publication.currency)
        return ReturnInstructions(text.format(amount=amount), address, _("Back to Prolific"), code=code)
    if is_paid(enrolment):
        text = _(
            "Return to Prolific with this button so that your work is recorded. If Prolific asks for a code, copy this "
            "one."
        )
        return ReturnInstructions(text, address, _("Back to Prolific"), code=code)
    text = _(
        "Please return to Prolific with this button. Prolific will then ask you to return your submission, which does "
        "not count against you. If Prolific asks for a code, copy this one."
    )
    return ReturnInstructions(text, address, _("Return on Prolific"), code=code)
