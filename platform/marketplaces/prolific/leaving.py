"""How participants return to Prolific."""

from __future__ import annotations

from urllib.parse import quote

from django.utils.translation import gettext as _

from marketplaces.prolific import codes
from marketplaces.prolific.models import KIND, Publication
from participants import returning
from participants.models import Enrolment
from participants.returning import ReturnInstructions
from participants.states import State
from plans.pay import in_currency
from recruiters.models import Identity


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
    kind = codes.code_of(enrolment)
    code = publication.codes[kind]
    address = f"{publication.pages}/submissions/complete?cc={quote(code)}"
    if enrolment.state == State.SCREENED_OUT and publication.screen_out_reward is not None:
        text = _(
            "Return to Prolific with this button. Prolific pays you {amount} for your time. If Prolific asks for a "
            "code, copy this one."
        )
        amount = in_currency(publication.screen_out_reward, publication.currency)
        return ReturnInstructions(text.format(amount=amount), address, _("Back to Prolific"), code=code)
    if codes.is_paid(enrolment):
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
