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
    """Show the messages (GET), or take a question (POST); the panel gets its content, or the list alone."""
    error = ""
    if request.method == "POST" and enrolment.may_ask:
        try:
            services.ask(enrolment=enrolment, text=request.POST.get("text", ""))
        except services.NotSent as refusal:
            error = str(refusal)
    messages, is_panel = services.messages_of(enrolment), bool(request.headers.get("x-parley-panel"))
    if not (enrolment.may_ask or messages):
        return redirect(enrolment)
    if messages and not is_panel:
        services.mark_read(enrolment=enrolment, until=messages[-1].pk)
    context = {
        "enrolment": enrolment,
        "asking": enrolment.may_ask,
        "error": error,
        "typed": request.POST.get("text", "") if error else "",
        "messages": messages,
    }
    if is_panel:
        return render(request, f"helping/{'list' if request.method == 'POST' else 'inside'}.html", context)
    frame = {**page_context(enrolment), **clock_of(enrolment), "title": _("Ask a question"), "is_help": True}
    return render(request, "helping/page.html", {**frame, **context})


@participant_page
@require_GET
def listed(request: HttpRequest, enrolment: Enrolment) -> HttpResponse:
    """Return the list of messages; `seen` is the newest that the panel has shown."""
    if (seen := request.GET.get("seen", "")).isdigit() and len(seen) < 19:
        services.mark_read(enrolment=enrolment, until=int(seen))
    return render(request, "helping/list.html", {"messages": services.messages_of(enrolment)})
