"""How participants return to their recruiter from the last page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.http import HttpResponse
from django.utils.functional import Promise

from participants.models import Enrolment
from participants.signals import answers, returning


@dataclass(frozen=True)
class ReturnInstructions:
    """How a participant returns to their recruiter at the end.

    Attributes:
        text: what to do now.
        address: the button's URL; empty for no button.
        label: the button's label.
        form_fields: fields of a form posted to `address`; None for a plain link.
        redirect_sites: where the response to the form may redirect (content security policy sources).
        code: the code to copy into the recruiter's page; empty for none.
    """

    text: str | Promise
    address: str = ""
    label: str | Promise = ""
    form_fields: Mapping[str, str] | None = None
    code: str = ""
    redirect_sites: tuple[str, ...] = ()


def return_instructions(enrolment: Enrolment) -> ReturnInstructions | None:
    """Return how this participant returns to the recruiter; None if the ending's own text is enough."""
    return next(answers(returning, enrolment), None)


def allow_form(response: HttpResponse, instructions: ReturnInstructions | None) -> HttpResponse:
    """Let the page post its form to the recruiter, by extending its content security policy; return the response."""
    if instructions is not None and instructions.form_fields is not None:
        target = urlsplit(instructions.address)
        sites = [f"{target.scheme}://{target.netloc}", *instructions.redirect_sites]
        response._csp_update = {"form-action": sites}  # type: ignore[attr-defined]
    return response
