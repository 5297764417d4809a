"""Participants' pages for asking the researchers: a page of its own, and the list that the panel on others shows."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from helping import services
from participants.models import Enrolment
from participants.views import clock_of, page_context, participant_page


@participant_page
@require_http_methods(["GET", "POST"])
def page(request: HttpRequest, enrolment: Enrolment) -> HttpResponse:
    """Show the messages (GET), or take a question (POST), which the panel's script reads as the list alone."""
    offered, error = services.help_of(enrolment), ""
    if offered is None:
        return redirect(enrolment)
    if request.method == "POST" and offered.asking:
        try:
            services.ask(enrolment=enrolment, text=request.POST.get("text", ""))
        except services.NotSent as refusal:
            error = str(refusal)
    if request.headers.get("x-parley-panel"):
        return _list(request, enrolment, error=error)
    messages = services.messages_of(enrolment)
    if messages:
        services.mark_read(enrolment=enrolment, until=messages[-1].pk)
    context = {
        **page_context(enrolment),
        **clock_of(enrolment),
        "title": _("Ask a question"),
        "is_help": True,
        "asking": offered.asking,
        "error": error,
        "typed": request.POST.get("text", "") if error else "",
        "messages": messages,
    }
    return render(request, "helping/page.html", context)


@participant_page
@require_GET
def listed(request: HttpRequest, enrolment: Enrolment) -> HttpResponse:
    """Return the list of messages; `seen` is the newest that the panel has shown."""
    if (seen := request.GET.get("seen", "")).isdigit() and len(seen) < 19:
        services.mark_read(enrolment=enrolment, until=int(seen))
    return _list(request, enrolment)


def _list(request: HttpRequest, enrolment: Enrolment, *, error: str = "") -> HttpResponse:
    context = {"messages": services.messages_of(enrolment), "error": error}
    return render(request, "helping/list.html", context)
