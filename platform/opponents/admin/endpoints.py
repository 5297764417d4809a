"""Endpoints: add from presets, test and monitor. A key can be replaced but never read."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST
from unfold.admin import ModelAdmin
from unfold.decorators import display

from audit.actions import Action
from audit.admin import AuditedAdmin
from llm_agents.endpoints import PRESETS
from opponents import spending
from opponents.admin.status import EndpointStatus, endpoint_statuses
from opponents.endpoints import stored_endpoint
from opponents.forms import TYPED_KEY, EndpointForm, TryForm, preset_values
from opponents.health import health
from opponents.models import Endpoint
from opponents.trying import Trial, try_out
from opponents.uses import shown_to, uses_of
from rights.admin import DeclaredLookups

STATE_COLOURS = {"closed": "success", "open": "danger", "off": "warning"}
WRITE_ONLY = ("new_key", "forget_key")


@admin.register(Endpoint)
class EndpointAdmin(DeclaredLookups, AuditedAdmin, ModelAdmin):
    form = EndpointForm
    list_display = ["name", "title", "protocol", "address", "key_status", "state", "calls", "errors", "p95", "spend"]
    list_filter = ["enabled", "retired", "protocol"]
    search_fields = ["name", "title"]
    readonly_fields = ["key_status"]
    list_before_template = "admin/opponents/endpoint/presets.html"
    list_after_template = "admin/opponents/endpoint/health.html"
    delete_confirmation_template = "admin/opponents/endpoint/delete.html"
    change_form_outer_before_template = "admin/opponents/endpoint/form_before.html"
    list_fullwidth = True
    warn_unsaved_form = True
    actions = None
    view_on_site = False

    # ---- the list ------------------------------------------------------------------------------------

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """List the endpoints, with presets to add above and statistics of each model's last hour below."""
        context = {
            "presets": PRESETS.values(),
            "may_add": self.has_add_permission(request),
            "health": health(),
            **(extra_context or {}),
        }
        return super().changelist_view(request, context)

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        changelist = super().get_changelist_instance(request)
        statuses = endpoint_statuses()
        for endpoint in changelist.result_list:
            endpoint.recent = statuses.get(endpoint.name, EndpointStatus())
        return changelist

    @display(description=gettext_lazy("address"), ordering="base_url")
    def address(self, endpoint: Endpoint) -> str:
        return endpoint.base_url or _("the provider's default")

    @display(description=gettext_lazy("key"))
    def key_status(self, endpoint: Endpoint) -> str:
        state = Endpoint.KeyState(endpoint.key_state)
        if state == Endpoint.KeyState.VARIABLE:
            return _("from environment variable {variable} (set)").format(variable=endpoint.key_variable)
        if state == Endpoint.KeyState.UNSET:
            return _("from environment variable {variable} (not set)").format(variable=endpoint.key_variable)
        return str(state.label)

    @display(description=gettext_lazy("status"), label=STATE_COLOURS)
    def state(self, endpoint: Any) -> tuple[str, str]:
        if not endpoint.enabled:
            return "off", _("disabled")
        if endpoint.retired:
            return "off", _("retired")
        if endpoint.recent.open_until is not None:
            return "open", _("failing, paused")
        return "closed", _("enabled")

    @display(description=gettext_lazy("calls, last hour"))
    def calls(self, endpoint: Any) -> str:
        return f"{endpoint.recent.calls:,}"

    @display(description=gettext_lazy("failed"))
    def errors(self, endpoint: Any) -> str:
        return f"{endpoint.recent.errors:,}"

    @display(description=gettext_lazy("p95, s"))
    def p95(self, endpoint: Any) -> str:
        return "–" if endpoint.recent.p95 is None else f"{endpoint.recent.p95:.1f}"

    @display(description=gettext_lazy("spent, last hour"))
    def spend(self, endpoint: Any) -> str:
        return f"${endpoint.recent.spend:,.2f}"

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Refuse filters on the encrypted key, which would reveal it piece by piece."""
        return not lookup.startswith("sealed_key") and super().lookup_allowed(lookup, value, request)

    # ---- the form ------------------------------------------------------------------------------------

    @method_decorator(sensitive_post_parameters("new_key"))
    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        endpoint = self.get_object(request, object_id) if object_id else None
        context = {"presets": PRESETS.values(), "may_add": self.has_add_permission(request), **(extra_context or {})}
        if endpoint is not None and self.has_view_permission(request, endpoint):
            context |= {
                "endpoint": endpoint,
                "may_try": self.has_change_permission(request, endpoint),
                "try_form": TryForm(initial={"model": next(iter(endpoint.prices), "")}),
                "health": [row for row in health() if row.endpoint == endpoint.name],
            }
        return super().changeform_view(request, object_id, form_url, context)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return preset_values(request.GET.get("preset", ""))

    def get_fieldsets(self, request: HttpRequest, obj: Endpoint | None = None) -> Any:
        may_write = self.has_change_permission(request, obj) if obj else self.has_add_permission(request)
        key_fields = ["key_status", *WRITE_ONLY] if obj else ["new_key"]
        key_fields = key_fields if may_write else ["key_status"]
        return [
            (None, {"fields": ["name", "title", "enabled", "retired"]}),
            (_("Where"), {"fields": ["protocol", "base_url", "structured", "tools"]}),
            (_("Key"), {"fields": [*key_fields, "key_variable"]}),
            (_("Limits"), {"fields": ["concurrency", "per_minute"]}),
            (_("Prices"), {"fields": ["prices", "prices_as_of"]}),
        ]

    def get_form(self, request: HttpRequest, obj: Endpoint | None = None, change: bool = False, **kwargs: Any) -> Any:
        """Don't look up the form's own fields on the model."""
        field_names = [name for _title, section in self.get_fieldsets(request, obj) for name in section["fields"]]
        readonly = self.get_readonly_fields(request, obj)
        kwargs["fields"] = [name for name in field_names if name not in readonly and name not in WRITE_ONLY]
        form = super().get_form(request, obj, change=change, **kwargs)
        if request.method == "GET":
            request.session.pop(TYPED_KEY, None)
        form.session = request.session
        return form

    # ---- deleting and retiring -----------------------------------------------------------------------

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Protect endpoints that studies or collections use, and name those that the user may see."""
        to_delete, counts, missing_permissions, protected = super().get_deleted_objects(objs, request)
        named, others = shown_to(request.user, [use for endpoint in objs for use in uses_of(endpoint.name)])
        links: list[str] = [format_html('<a href="{}">{}</a>: {}', use.url, use.parent, use.title) for use in named]
        if others:
            links.append(
                ngettext("one use that you may not see", "{number} uses that you may not see", others).format(
                    number=others
                )
            )
        return to_delete, counts, missing_permissions, [*protected, *links]

    def retire(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Keep the endpoint for what uses it, but let nothing new choose it."""
        endpoint = self.get_object(request, object_id)
        if not self.has_change_permission(request, endpoint):
            raise PermissionDenied
        if endpoint is None:
            raise Http404
        endpoint.retired = True
        endpoint.save(update_fields=["retired"])
        message = _("Retired: no new study or collection can choose it. What has been launched goes on.")
        self.record_action(request, endpoint, Action.CHANGED, message, {"retired": True})
        self.message_user(request, message, messages.SUCCESS)
        return HttpResponseRedirect(reverse("admin:opponents_endpoint_change", args=[endpoint.pk]))

    # ---- testing -------------------------------------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        actions = {"try": self.try_it, "retire": self.retire}
        action_urls = [
            path(
                f"<path:object_id>/{name}/",
                self.admin_site.admin_view(require_POST(action)),
                name=f"opponents_endpoint_{name}",
            )
            for name, action in actions.items()
        ]
        return [*action_urls, *super().get_urls()]

    def try_it(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Send a short test question to the endpoint and show the result."""
        endpoint = self.get_object(request, object_id)
        if not self.has_change_permission(request, endpoint):
            raise PermissionDenied
        if endpoint is None:
            raise Http404
        redirect = HttpResponseRedirect(reverse("admin:opponents_endpoint_change", args=[endpoint.pk]))
        form = TryForm(request.POST)
        if not form.is_valid():
            self.message_user(request, _("Enter the name of the model to test, such as gpt-4o-mini."), messages.ERROR)
            return redirect
        if reached := spending.cap_of_today():
            self.message_user(request, str(reached), messages.ERROR)
            return redirect
        trial = try_out(stored_endpoint(endpoint, even_disabled=True), form.cleaned_data["model"])
        message = _result_message(trial)
        self.record_action(
            request, endpoint, Action.TRIED, message, {"model": trial.model, "answered": not trial.problem}
        )
        self.message_user(request, message, messages.ERROR if trial.problem else messages.SUCCESS)
        return redirect


def _result_message(trial: Trial) -> str:
    if trial.problem:
        return _("{model} did not answer within {seconds:.1f} s: {problem}").format(
            model=trial.model, seconds=trial.seconds, problem=trial.problem
        )
    message = _("{model} answered in {seconds:.2f} s with {sent} → {received} tokens: “{text}”").format(
        model=trial.answered_by or trial.model,
        seconds=trial.seconds,
        sent="–" if trial.input_tokens is None else trial.input_tokens,
        received="–" if trial.output_tokens is None else trial.output_tokens,
        text=trial.text,
    )
    if trial.tools is None:
        return message
    if trial.tools:
        return f"{message} {_('It supports tools.')}"
    advice = _("It doesn't support tools. Turn off “supports tools”, so that models call tools in plain JSON.")
    return f"{message} {advice}"
