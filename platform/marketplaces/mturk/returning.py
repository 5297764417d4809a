"""Return workers to Mechanical Turk: their browser posts the assignment to its externalSubmit page."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.utils.translation import gettext_lazy as _

from marketplaces.models import Account, Recruitment
from marketplaces.mturk.models import KEY
from participants import returning
from participants.models import Enrolment
from participants.returning import ReturnInstructions
from participants.states import State
from recruiters.models import Identity

SITES = {
    Account.Place.PRODUCTION.value: "https://www.mturk.com",
    Account.Place.SANDBOX.value: "https://workersandbox.mturk.com",
}
SUBMIT = "/mturk/externalSubmit"
REDIRECT_SITES = ("https://*.mturk.com",)
"""Sites to which externalSubmit may redirect the browser."""


@returning.register
def to_mturk(enrolment: Enrolment) -> ReturnInstructions | None:
    """Return the button that submits the assignment, or None if the worker has to return it or copy a code."""
    identity = Identity.objects.filter(enrolment=enrolment, recruiter=KEY).first()
    may_submit = enrolment.state == State.COMPLETED or bool((enrolment.earnings or {}).get("amounts"))
    if identity is None or not may_submit:
        return None
    site = submit_site(identity)
    if not site:
        return None
    form_fields = {"assignmentId": identity.details["assignmentId"], "completionCode": enrolment.completion_code}
    return ReturnInstructions(
        _("One last step: submit the task with this button so that your work is recorded and paid."),
        address=f"{site}{SUBMIT}",
        label=_("Submit the task"),
        form_fields=form_fields,
        redirect_sites=REDIRECT_SITES if site in SITES.values() else (),
    )


def submit_site(identity: Identity) -> str:
    """Return the site where this worker's assignment is submitted, or "" if the link names no valid site.

    Anyone can type a link, so only mTurk's own two sites are accepted, or the stand-in's site in a rehearsal. If the
    study's account is known, only the site that belongs to it is accepted.
    """
    try:
        submit_to = urlsplit(str(identity.details.get("turkSubmitTo", "")))
    except ValueError:  # such as a bracket that is not closed
        return ""
    origin = f"{submit_to.scheme}://{submit_to.netloc}"
    recruitment = Recruitment.objects.select_related("account").filter(study__slug=identity.study).first()
    if recruitment is None or recruitment.account.kind != KEY:
        return origin if origin in SITES.values() else ""
    return origin if origin == site_of(recruitment.account) else ""


def site_of(account: Account) -> str:
    """Return the site on which an account's workers submit."""
    if account.place == Account.Place.REHEARSAL:
        stand_in = urlsplit(account.address)
        return f"{stand_in.scheme}://{stand_in.netloc}"
    return SITES[account.place]
