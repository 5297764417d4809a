"""A study's pay page: amounts owed, what can be done with them, and a confirmation page before doing it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from functools import wraps
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from audit.actions import Action
from marketplaces.fields import text
from participants.models import Enrolment
from participants.states import State as Ending
from paydesk import finance as files
from paydesk import status, trying
from paydesk.acts import ACTS
from payouts import deciding, paying, tasks
from payouts.deciding import NotDone, Sums
from payouts.models import LedgerRow
from payouts.payers import Unreachable, method_of
from payouts.services import waiting
from recruiters.models import Identity
from rights import parts
from rights.admin import trail
from rights.roles import Role
from studies.acts import Given
from studies.admin.acts import bound_form
from studies.admin.views import View, of_study, study_admin
from studies.costs import shown_costs
from studies.models import Study

State = LedgerRow.State
MAX_ROWS = 1000
"""Maximum number of rows that one click acts on."""
URGENT = (
    State.UNCLEAR, State.FAILED, State.DUE, State.APPROVED, State.SENT,
    State.CONFIRMED, State.WRITTEN_OFF, State.ELSEWHERE,
)  # fmt: skip
"""The states, in the order in which the page shows them."""


def pay_page(*, role: Role = Role.VIEWER) -> Callable[[View], View]:
    """Decorator: `of_study`; NotDone leads back to the pay page."""

    def decorate(view: View) -> View:
        @wraps(view)
        def wrapper(request: HttpRequest, study: Study, **kwargs: Any) -> HttpResponseBase:
            try:
                return view(request, study, **kwargs)
            except NotDone as reason:
                messages.error(request, str(reason))
                return _back(request, study)

        return of_study(role=role)(wrapper)

    return decorate


# ---- reading ---------------------------------------------------------------------------------------


@require_GET
@never_cache
@pay_page()
def page(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the sums and the rows of one state, without requests to recruiters and without changes."""
    counts = status.counts_of(study)
    states = [state for state in URGENT if counts.get(state)]
    requested_state = request.GET.get("state", "")
    state = requested_state if requested_state in State.values else (states[0] if states else State.DUE)
    rows = status.rows_of(study).filter(state=state).select_related("enrolment").order_by("created_at", "pk")
    rows_page = Paginator(rows, status.ROWS_SHOWN).get_page(request.GET.get("page"))
    listed = status.shown_rows(rows_page.object_list)
    context = {
        "currencies": status.totals_of(study),
        "costs": shown_costs(study),
        "balances": status.last_balances(study),
        "methods": dict(status.methods_of(study)),
        "paid_by": {paid_by for _kind, paid_by in status.methods_of(study)},
        "lists": status.lists_of(study),
        "waiting": waiting([study.slug]).get(study.slug),
        "book_errors": status.book_errors(study),
        "tabs": [(key, State(key).label, counts[key], key == state) for key in states],
        "state": state,
        "rows_page": rows_page,
        "listed": listed,
        "acts": [(name, act) for name, act in ACTS.items() if any(act.offered(shown.row) for shown in listed)],
        "may_try": state in (State.DUE, State.APPROVED, State.FAILED),
        "may_list": parts.may(request.user, study, role=Role.EDITOR),
    }
    return _page(request, study, "page", _("Pay"), context)


@require_GET
@never_cache
@pay_page()
def row(request: HttpRequest, study: Study, uid: UUID) -> HttpResponse:
    """Show one row: how the amount was computed, and its journal."""
    ledger_row = get_object_or_404(status.rows_of(study).select_related("enrolment"), uid=uid)
    (shown_row,) = status.shown_rows([ledger_row])
    context = {
        "shown_row": shown_row,
        "row": ledger_row,
        "postings": ledger_row.postings.all(),
        "unclear": ledger_row.state == State.UNCLEAR,
    }
    return _page(request, study, "row", _("Payment"), context)


@require_POST
@pay_page(role=Role.EDITOR)
def finance(request: HttpRequest, study: Study) -> StreamingHttpResponse:
    """Return every row as a CSV file for accounting."""
    _record(request, study, Action.PAY_LISTED, "Downloaded the accounting export.")
    response = StreamingHttpResponse(files.lines(study), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-pay.csv"'
    response["Cache-Control"] = "no-store"
    return response


# ---- confirming and doing -----------------------------------------------------------------------------


@require_POST
@pay_page(role=Role.OWNER)
def ask(request: HttpRequest, study: Study) -> HttpResponse:
    """Show what an operation would do with the selected rows, without changing anything."""
    name, act = _act(request)
    rows = [row for row in _chosen(request, study) if act.offered(row)]
    if not rows:
        messages.warning(request, _("None of the selected payments allow this."))
        return _back(request, study)
    if name == "approve":
        _refuse_others_money(request, study, rows)
    try:
        sums = _sums(rows, with_fees=name == "approve")
    except Unreachable as error:
        raise NotDone(_("Fees unavailable: {why}").format(why=error)) from None
    context = {
        "act": act,
        "name": name,
        "rows": rows,
        "sums": sums,
        "limits": _limits(study, sums) if name == "approve" else [],
        "balances": status.ask_balances(study, rows) if name == "approve" else [],
        "by_hand": sum(deciding.is_by_hand(row) for row in rows),
        "back": request.POST.get("state", ""),
        "most": MAX_ROWS if len(rows) >= MAX_ROWS else None,
    }
    return _page(request, study, "ask", str(act.title), context)


@require_POST
@pay_page(role=Role.OWNER)
def do(request: HttpRequest, study: Study) -> HttpResponse:
    """Apply the operation to all rows or none; rows no longer in the right state are left unchanged and counted."""
    (name, act), keys, note = _act(request), _keys(request), _note(request)
    if name == "approve":
        _refuse_others_money(request, study, status.rows_of(study).filter(pk__in=keys))
    with transaction.atomic():
        number = act.does(Given(study, request, {"rows": keys, "note": note}))
        if not number:
            raise NotDone(_("Nothing was changed: someone else has changed these payments in the meantime."))
        rows = LedgerRow.objects.filter(pk__in=keys)
        details = {"rows": number, "note": note, "chosen": len(keys)}
        details |= {f"chosen {currency}": str(total.amount) for currency, total in _sums(rows).items()}
        _record(request, study, act.log, f"{act.log.label}: {number}", details)
    if name == "approve":
        tasks.soon()
    message = ngettext("{act}: one payment.", "{act}: {number} payments.", number).format(act=act.title, number=number)
    unchanged = len(keys) - number
    if unchanged:
        message += " " + ngettext("One was left unchanged.", "{left} were left unchanged.", unchanged).format(
            left=unchanged
        )
    messages.success(request, message)
    return _back(request, study)


@require_POST
@never_cache
@pay_page(role=Role.OWNER)
def try_out(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the result of asking the recruiter what paying the selected rows would do; move no money, change no rows."""
    rows = _chosen(request, study)
    if not rows:
        messages.warning(request, _("No payments are selected."))
        return _back(request, study)
    _refuse_others_money(request, study, rows)
    results = trying.try_out(rows[: trying.MAX_ROWS])
    verdicts = [("pays", _("would be paid")), ("waits", _("would wait")), ("fails", _("would fail"))]
    verdicts += [("by_hand", _("paid by hand")), ("not_asked", _("not asked"))]
    sums: dict[str, Sums] = {}
    for result in results:
        if result.verdict == "pays":
            sums.setdefault(result.shown_row.row.currency, Sums()).add(result.shown_row.row, result.fee)
    context = {
        "results": results,
        "not_tried": len(rows) - len(results),
        "counts": [(title, sum(result.verdict == verdict for result in results)) for verdict, title in verdicts],
        "sums": sums,
        "balances": status.ask_balances(study, rows),
        "back": request.POST.get("state", ""),
    }
    _record(request, study, Action.PAY_TRIED, "Made a dry run.", {"rows": len(results)})
    return _page(request, study, "tried", _("Dry run"), context)


@require_POST
@pay_page(role=Role.OWNER)
def limit(request: HttpRequest, study: Study) -> HttpResponse:
    """Set the limit in one currency, fees included; an empty amount removes it."""
    currency, typed = request.POST.get("currency", ""), request.POST.get("most", "").strip()
    if currency not in {totals.currency for totals in status.totals_of(study)}:
        raise Http404
    most = _amount(typed) if typed else None
    with transaction.atomic():
        deciding.set_limit(study=study.slug, currency=currency, most=most)
        _record(request, study, Action.PAY_LIMITED, f"Pay limit: {most} {currency}", {"most": str(most)})
    done = _("Limit removed.") if most is None else _("Limit set: {most} {currency}, fees included.")
    messages.success(request, done.format(most=most, currency=currency))
    return _back(request, study)


@require_POST
@pay_page(role=Role.OWNER)
def resolve(request: HttpRequest, study: Study, uid: UUID) -> HttpResponse:
    """Record whether an unclear payment was made, after a user checked with the recruiter."""
    ledger_row = get_object_or_404(status.rows_of(study), uid=uid)
    back_to_row = HttpResponseRedirect(reverse("paydesk:row", args=[study.pk, uid]))
    answer = request.POST.get("paid", "")
    if answer not in ("yes", "no") or request.POST.get("sure") != "on":
        messages.error(request, _("Nothing was changed. Choose whether it was paid, and confirm that you checked."))
        return back_to_row
    note = _note(request)
    try:
        with transaction.atomic():
            deciding.resolve(study=study.slug, row=ledger_row.pk, paid=answer == "yes", user=request.user, note=note)
            details = {"row": str(uid), "paid": answer == "yes", "note": note}
            _record(request, study, Action.PAY_RESOLVED, f"Resolved: {answer}", details)
    except NotDone as reason:
        messages.error(request, str(reason))
        return back_to_row
    messages.success(
        request,
        _("Recorded as paid.")
        if answer == "yes"
        else _("Recorded as not paid. Approve it again, or pay it yourself and mark it as paid."),
    )
    return back_to_row


class RejectForm(forms.Form):
    note = text(
        gettext_lazy("Reason"),
        250,
        gettext_lazy("The participant reads this, and it is stored in the journal. Don't include names."),
        rows=3,
        min_length=20,
        error_messages={"min_length": gettext_lazy("Give a reason of at least 20 characters.")},
    )


REJECTING = (
    gettext_lazy(
        "Reject work only if the person clearly did not do what was asked. The study promised them pay for this ending."
    ),
    gettext_lazy(
        "No recruiter is told: nothing is paid, and nothing counts against the person elsewhere. If you agreed on "
        "other rules with a panel, tell the panel yourself."
    ),
    gettext_lazy(
        "The person reads your reason on their last page. You can undo the rejection on the page “Pay”: make the "
        "payments due again."
    ),
    gettext_lazy("The ledger and the audit log keep the rejection. Data are not excluded because of it."),
)


@require_http_methods(["GET", "POST"])
@never_cache
@pay_page(role=Role.OWNER)
def reject(request: HttpRequest, study: Study, enrolment: int) -> HttpResponse:
    """Lead to where a person's work is rejected at their recruiter; if nowhere, ask for a reason and record it here."""
    ledger = status.rows_of(study).filter(enrolment=enrolment)
    person = get_object_or_404(Enrolment, pk__in=ledger.values("enrolment"))
    method = method_of(ledger.values_list("recruiter", flat=True)[0])
    if method is not None and method.rejection is not None:
        return HttpResponseRedirect(method.rejection(person))
    form, problem = bound_form(RejectForm, request), ""
    if form.is_bound and form.is_valid():
        try:
            with transaction.atomic():
                identity = Identity.objects.filter(enrolment=person).first()
                reason = paying.scrubbed(form.cleaned_data["note"], identity)
                deciding.reject(study=study.slug, person=person, user=request.user, reason=reason)
                details = {"person": person.pseudonym, "reason": reason}
                _record(request, study, Action.REJECTED, "Rejected a participant's work.", details)
            messages.success(request, _("Rejected: {person}. Nothing is paid to them.").format(person=person))
            return _back(request, study)
        except NotDone as refusal:
            problem = str(refusal)
    payments = [f"{one.reason}: {one.row.amount} {one.row.currency}" for one in status.shown_rows(ledger)]
    context = {
        "about": f"{person} ({Ending(person.state).label})", "sentences": [*payments, *REJECTING], "form": form,
        "button": _("Reject"), "harmful": True, "problem": problem, "back": reverse("paydesk:page", args=[study.pk]),
    }  # fmt: skip
    return _page(request, study, "admin/studies/ask.html", _("Reject work"), context)


# ---- the form -------------------------------------------------------------------------------


def _act(request: HttpRequest) -> tuple[str, Any]:
    """Return the posted action's name and the action."""
    if (name := request.POST.get("act", "")) not in ACTS:
        raise Http404
    return name, ACTS[name]


def _refuse_others_money(request: HttpRequest, study: Study, rows: Iterable[LedgerRow]) -> None:
    """Raise NotDone if these rows are paid from an account whose money the user may not spend."""
    for kind in {row.recruiter for row in rows}:
        method = method_of(kind)
        account = method.account(study.slug) if method is not None and method.account is not None else None
        if account is not None and not parts.may(request.user, account, role=Role.EDITOR):
            message = _(
                "These participants are paid from {account}, and you are not allowed to spend its money. Ask one of "
                "its editors to do this, or ask an owner of {account} to make you an editor."
            )
            raise NotDone(message.format(account=account))


def _note(request: HttpRequest) -> str:
    """Return the note without null characters, which databases cannot store."""
    return request.POST.get("note", "").replace("\x00", "")


def _keys(request: HttpRequest) -> list[int]:
    """Return the keys of the selected rows; invalid ones are ignored."""
    posted_keys = ",".join(request.POST.getlist("rows")).split(",")
    return sorted({int(key) for key in posted_keys if key.isascii() and key.isdigit() and len(key) < 19})[:MAX_ROWS]


def _chosen(request: HttpRequest, study: Study) -> list[LedgerRow]:
    """Return the checked rows, or all rows of the shown state if none is checked; at most MAX_ROWS."""
    rows: QuerySet[LedgerRow] = status.rows_of(study).select_related("enrolment").order_by("created_at", "pk")
    keys = _keys(request)
    selected = rows.filter(pk__in=keys) if keys else rows.filter(state=request.POST.get("state", ""))
    return list(selected[:MAX_ROWS])


def _amount(typed: str) -> Decimal:
    try:
        return round(forms.DecimalField(min_value=0, max_digits=11, decimal_places=2).clean(typed), 2)
    except forms.ValidationError:
        refusal = _("“{typed}” is not a valid amount. Enter it like 250.00.").format(typed=typed[:40])
        raise NotDone(refusal) from None


# ---- the page ---------------------------------------------------------------------------------


def _sums(rows: Any, *, with_fees: bool = False) -> dict[str, Sums]:
    row_list = list(rows)
    fees = deciding.fees_of(row_list) if with_fees else {}
    sums: dict[str, Sums] = {}
    for row in row_list:
        sums.setdefault(row.currency, Sums()).add(row, fees.get(row.pk))
    return sums


def _limits(study: Study, sums: dict[str, Sums]) -> list[dict[str, Any]]:
    """Return, for each currency with a limit, the amount committed now and the amount afterwards."""
    limits = []
    for currency, currency_sums in sums.items():
        most = deciding.limit_of(study.slug, currency)
        if most is not None:
            so_far = deciding.committed(study.slug, currency)
            after = so_far + currency_sums.total
            limits.append(
                {"currency": currency, "most": most, "so_far": so_far, "after": after, "beyond": after > most}
            )
    return limits


def _page(request: HttpRequest, study: Study, name: str, title: str, context: dict[str, Any]) -> HttpResponse:
    above = [] if name == "page" else [(_("Pay"), reverse("paydesk:page", args=[study.pk]))]
    full_context = {
        **admin.site.each_context(request),
        "title": f"{title}: {study.title}",
        **trail(study, *above, here=title),
        "study": study,
        "may_pay": parts.may(request.user, study, role=Role.OWNER),
        **context,
    }
    template = name if "/" in name else f"admin/paydesk/{name}.html"
    return TemplateResponse(request, template, full_context)


def _record(
    request: HttpRequest, study: Study, action: Action, summary: str, details: dict[str, Any] | None = None
) -> None:
    study_admin().record_action(request, study, action, summary, details)


def _back(request: HttpRequest, study: Study) -> HttpResponse:
    state = request.POST.get("state", "")
    query = f"?state={state}" if state in State.values else ""
    return HttpResponseRedirect(reverse("paydesk:page", args=[study.pk]) + query)
