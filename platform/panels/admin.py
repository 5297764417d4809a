"""Admin pages for panels: setting one up from a preset, and the payment lists for its participants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables

from audit.actions import Action
from panels import lists, presets
from panels.endings import Outcome
from panels.forms import PanelForm, PaymentReportForm, WithdrawListForm
from panels.models import KIND, Panel, PaymentList
from payouts.deciding import NotDone
from recruiters.uploads import LARGEST, BadFile
from rights import parts
from rights.admin import PartAdmin, at
from rights.roles import Role
from studies.acts import Act, Given
from studies.admin.acts import Desk
from studies.models import Study

_SHOWN = 100
"""Maximum number of remarks shown about an uploaded list."""


@admin.register(Panel)
@method_decorator(sensitive_post_parameters("new_secret"), name="changeform_view")
class PanelAdmin(Desk, PartAdmin):
    """Pages for a study's panel. Editors set it up; owners pay."""

    desk_title = gettext_lazy("Payment lists")
    refusals = (NotDone,)
    sees, changes, deletes = Role.VIEWER, Role.EDITOR, Role.OWNER
    form = PanelForm
    list_display = ["study", "title", "check_by", "pays"]
    list_select_related = ["study"]
    actions = None
    view_on_site = False
    change_form_outer_before_template = "admin/panels/panel/before.html"
    fieldsets = [
        (
            gettext_lazy("Identifying participants"),
            {
                "fields": ["title", "person", "task", "session", "lasting"],
                "description": gettext_lazy(
                    "The fields of the panel's links. A field named here must appear exactly once in every link. "
                    "Otherwise the participant is refused, and the page explains why."
                ),
            },
        ),
        (
            gettext_lazy("Checking arrivals"),
            {
                "fields": ["check_by", "signature", "new_secret", "public_keys"],
                "description": gettext_lazy(
                    "A signed link ends with its signature: the hexadecimal HMAC-SHA256 of everything between “?” and "
                    "“&signature=”. If the link has the field “expires” (seconds since 1970), it is valid until then. "
                    "A token has the fields above and “exp” as claims. For a list of invited IDs, upload the IDs as "
                    "the study's codes."
                ),
            },
        ),
        (
            gettext_lazy("Returning to the panel"),
            {
                "fields": ["sites", *(f"to_{outcome}" for outcome in Outcome)],
                "description": gettext_lazy(
                    "Addresses can contain the link's values {person}, {task} and {session}, and the participant's "
                    "completion code {code}."
                ),
            },
        ),
        (
            gettext_lazy("Payment"),
            {
                "fields": ["pays", "columns"],
                "description": gettext_lazy(
                    "Variables for columns: person, task, session, amount (base pay plus bonus), base, bonus, "
                    "currency, participant (the pseudonym), ending, reference."
                ),
            },
        ),
    ]

    # ---- setup ---------------------------------------------------------------------------------------

    @at("of/<int:study_id>/", "GET", name="of")
    def of_study(self, request: HttpRequest, study_id: int) -> HttpResponse:
        """Redirect to the study's panel, or to the page that adds one."""
        study = self.study_of(request, study_id)
        panel = Panel.objects.filter(study=study).first()
        if panel is not None:
            return HttpResponseRedirect(self.url_of("change", panel.pk))
        return HttpResponseRedirect(f"{self.url_of('add')}?study={study.pk}")

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """Ask for the study and the preset first, then show the form filled in from them."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        if self._new_study(request) is None or self._new_preset(request) is None:
            return self._choose(request)
        return super().add_view(request, form_url, extra_context)

    def _choose(self, request: HttpRequest) -> HttpResponse:
        study = self._new_study(request)
        without_panel = Study.objects.filter(panel=None).order_by("draft__title")
        open_to = parts.visible(request.user, without_panel, role=Role.EDITOR)
        context = {"study": study, "studies": [] if study else open_to, "presets": presets.every()}
        title = _("Where do participants come from?")
        return PartAdmin.page(self, request, "admin/panels/panel/choose.html", title, context)

    def _new_study(self, request: HttpRequest) -> Study | None:
        key = request.GET.get("study", "")
        editable = parts.visible(request.user, Study.objects.filter(panel=None), role=Role.EDITOR)
        return editable.filter(pk=int(key)).first() if key.isascii() and key.isdigit() and len(key) < 19 else None

    def _new_preset(self, request: HttpRequest) -> presets.Preset | None:
        return next((preset for preset in presets.every() if preset.key == request.GET.get("preset")), None)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        preset = self._new_preset(request) or presets.every()[-1]
        copied_names = {"title", "person", "task", "session", "sites", "pays", "columns", "lasting"}
        destinations = {f"to_{outcome}": preset.destinations.get(outcome, "") for outcome in Outcome}
        return {
            **preset.model_dump(include=copied_names),
            **destinations,
            "check_by": preset.check,
            "preset": preset.key,
        }

    def get_readonly_fields(self, request: HttpRequest, obj: Panel | None = None) -> list[str]:
        """Make the fields that identify a participant read-only once someone has arrived."""
        return ["person", "task", "session", "lasting"] if obj is not None and obj.has_arrivals else []

    def form_context(self, request: HttpRequest, obj: Panel | None) -> dict[str, Any]:
        preset = presets.get(obj.preset) if obj else self._new_preset(request)
        study = obj.study if obj else self._new_study(request)
        context = {"panel": obj, "preset": preset, "panel_study": study}
        if study is None:
            return context
        link = request.build_absolute_uri(study.get_absolute_url()) + (preset.link if preset else "")
        return {**context, "link": link, "enters": study.entry == KIND}

    @sensitive_variables()
    def save_model(self, request: HttpRequest, obj: Panel, form: Any, change: bool) -> None:
        if not change:
            study, preset = self._new_study(request), self._new_preset(request)
            if study is None or preset is None:
                raise Http404
            obj.study, obj.preset = study, preset.key
        if secret := form.cleaned_data.get("new_secret"):
            obj.keep_secret(secret)
        super().save_model(request, obj, form, change)

    def response_add(self, request: HttpRequest, obj: Panel, post_url_continue: str | None = None) -> HttpResponse:
        message = _("Saved. Give the panel the address below, and try the link yourself.")
        return self.leave_to(request, self.url_of("change", obj.pk), message)

    # ---- payment lists -------------------------------------------------------------------------------

    @at("of/<int:study_id>/lists/", "GET")
    def lists(self, request: HttpRequest, study_id: int) -> HttpResponse:
        """Show the study's payment lists, and the payments waiting for one."""
        study, panel = self._panel_of(request, study_id)
        payment_lists = [
            (payment_list, lists.status_of(payment_list)) for payment_list in PaymentList.objects.filter(study=study)
        ]
        context = {
            "waiting": lists.waiting(study).count(),
            "payment_lists": payment_lists,
            "panel": panel,
            "may_pay": parts.may(request.user, study, role=Role.OWNER),
            "pay": reverse("paydesk:page", args=[study.pk]),
        }
        return self._page(request, study, "lists", _("Payment lists"), context)

    @at("of/<int:study_id>/lists/make/", "POST", name="make")
    def create(self, request: HttpRequest, study_id: int) -> HttpResponse:
        """Create a list of all approved payments."""
        study, _panel = self._panel_of(request, study_id, role=Role.OWNER)
        try:
            payment_list = lists.create(study, user=request.user)
        except NotDone as reason:
            return self.leave_to(request, _address_of_lists(study), reason, messages.ERROR)
        self._note(request, study, _("Created payment list {number}.").format(number=payment_list.number), payment_list)
        message = _("List {number} is ready for download.").format(number=payment_list.number)
        return self.leave_to(request, _address_of_lists(study), message)

    @at("of/<int:study_id>/lists/<int:number>.csv", "POST")
    def download(self, request: HttpRequest, study_id: int, number: int) -> StreamingHttpResponse:
        """Download a list's open payments in the panel's format, with the panel's participant IDs."""
        study, panel = self._panel_of(request, study_id, role=Role.OWNER)
        payment_list = get_object_or_404(PaymentList, study=study, number=number)
        self._note(request, study, _("Downloaded payment list {number}.").format(number=number), payment_list)
        response = StreamingHttpResponse(lists.as_csv(payment_list, panel), content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="{study.slug}-list-{number}.csv"'
        response["Cache-Control"] = "no-store"
        return response

    @at("of/<int:study_id>/lists/<int:number>/paid/", "GET", "POST")
    def paid(self, request: HttpRequest, study_id: int, number: int) -> HttpResponse:
        """Compare a list with the panel's record of payments."""
        study, panel = self._panel_of(request, study_id, role=Role.OWNER)
        payment_list = get_object_or_404(PaymentList, study=study, number=number)
        form = PaymentReportForm(request.POST or None, request.FILES or None)
        findings, problems = None, []
        if request.method == "POST" and form.is_valid():
            try:
                lines = lists.read(form.cleaned_data["paid"].read(LARGEST + 1), panel)
                rest_failed = form.cleaned_data["rest_failed"]
                findings = lists.reconcile(payment_list, panel, lines, user=request.user, rest_failed=rest_failed)
            except BadFile as error:
                problems = error.problems
            else:
                message = ngettext("One payment is confirmed.", "{number} payments are confirmed.", findings.confirmed)
                self._note(request, study, f"Compared payment list {number} with what was paid.", payment_list)
                self.message_user(request, message.format(number=findings.confirmed), messages.SUCCESS)
        context = {
            "form": form, "findings": findings, "panel": panel, "problems": problems[:_SHOWN],
            "remarks": findings.remarks[:_SHOWN] if findings else [], "status": lists.status_of(payment_list),
            "columns": (panel.column_of("person"), panel.column_of("amount")), "more": len(problems) > _SHOWN,
        }  # fmt: skip
        title = _("Payments made for list {number}").format(number=number)
        return self._page(request, study, "paid", title, context, status=422 if problems else 200)

    @at("of/<int:study_id>/lists/<int:number>/take-back/", "GET", "POST")
    def take_back(self, request: HttpRequest, study_id: int, number: int) -> HttpResponse:
        """Record that the open payments of a list were never made."""
        study, _panel = self._panel_of(request, study_id, role=Role.OWNER)
        return self.carry_out(request, get_object_or_404(PaymentList, study=study, number=number), _TAKE_BACK)

    # ---- shared helpers ------------------------------------------------------------------------------

    def back_of(self, target: PaymentList) -> str:
        return _address_of_lists(target.study)

    def facts_of(self, target: PaymentList) -> Sequence[str]:
        number = lists.status_of(target)["open"]
        sentence = ngettext(
            "{number} payment on this list is open.", "{number} payments on this list are open.", number
        )
        return [sentence.format(number=number)]

    def _panel_of(self, request: HttpRequest, study_id: int, *, role: Role | None = None) -> tuple[Study, Panel]:
        study = self.study_of(request, study_id, role=role)
        return study, get_object_or_404(Panel, study=study)

    def _note(self, request: HttpRequest, study: Study, summary: str, payment_list: PaymentList) -> None:
        details = {"list": payment_list.number, "payments": payment_list.rows.count()}
        self.record_action(request, study, Action.PAY_LISTED, summary, details)

    def _page(
        self, request: HttpRequest, study: Study, name: str, title: str, context: dict[str, Any], *, status: int = 200
    ) -> HttpResponse:
        desk = request.path if name == "lists" else _address_of_lists(study)
        context = {"study": study, "desk": desk, **context}
        return self.page(request, f"admin/panels/panel/{name}.html", title, context, status=status)


def _take_back(given: Given) -> str:
    count = lists.take_back(given.target, user=given.request.user, why=given.values["why"])
    message = ngettext("One payment can be approved again.", "{taken} payments can be approved again.", count)
    return message.format(taken=count)


_TAKE_BACK = Act(
    gettext_lazy("Withdraw a list"),
    _take_back,
    explains=gettext_lazy(
        "After withdrawal, its open payments can be approved again, so make sure that the panel has not paid them."
    ),
    button=gettext_lazy("Withdraw list"),
    log=Action.PAY_LISTED,
    details=lambda given: {"list": given.target.number, "payments": given.target.rows.count()},
    form=WithdrawListForm,
    role=Role.OWNER,
    harmful=True,
)


def _address_of_lists(study: Study) -> str:
    return reverse("admin:panels_panel_lists", args=[study.pk])
