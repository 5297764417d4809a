"""Live feedback on the set-up form: the size, forecast, texts and errors of the study as filled in."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.urls import URLPattern, path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from games.errors import GameError
from llm_agents.errors import AgentError
from rights.admin import MembersPage
from studies import forecast as forecasting
from studies.admin.entry_fields import entries_html
from studies.admin.meanwhile import without_base
from studies.admin.parameters import PREFIX
from studies.admin.status import session_warning
from studies.admin.table_fields import seats_of
from studies.admin.varying import VALUES_PREFIX
from studies.costs import Costs, costs_of_document
from studies.forecast import Forecast, forecast
from studies.models import Study
from studies.text_preview import preview
from studies.texts import endings_promise, in_currency

PLAY_FIELDS = ("values_from", "design", "roles", "quota", "agents", "lineups")
"""Fields that determine what is played, in addition to the parameters."""


class LivePreview(MembersPage):
    """The views that the set-up form calls while someone fills it in; they save nothing."""

    def live_preview_urls(self) -> list[URLPattern]:
        """Return the URL patterns of these views."""
        view = self.admin_site.admin_view(require_POST(self.live_preview))
        return [
            path("add/live-preview/", view, name="studies_study_add_live_preview"),
            path("<path:object_id>/live-preview/", view, name="studies_study_live_preview"),
        ]

    def live_preview(self, request: HttpRequest, object_id: str | None = None) -> HttpResponse:
        """Return {forecast, preview, entries, errors} as JSON: HTML of the result, and errors by field."""
        study = None if object_id is None else self.seen(request, object_id)
        allowed = self.has_change_permission(request, study) if study else self.has_add_permission(request)
        if not allowed:
            raise PermissionDenied
        form = self.get_form(request, study, change=study is not None)(without_base(request.POST), instance=study)
        form.is_valid()
        posted_number = request.POST.get("preview_place", "")
        data: dict[str, Any] = {
            **rendered(form, int(posted_number[:6]) if posted_number.isascii() and posted_number.isdigit() else 1),
            "seats": seats_of(form.instance),
        }
        data["entries"] = entries_html(form)
        return JsonResponse({**data, "errors": {name: list(reasons) for name, reasons in form.errors.items()}})


def rendered(form: Any, configuration: int = 1) -> dict[str, str]:
    """Return the parts of the page that depend on the form's values, as HTML; empty if it cannot be played.

    Args:
        configuration: the number of the configuration whose texts are shown.
    """
    if any(name.startswith((PREFIX, VALUES_PREFIX)) or name in PLAY_FIELDS for name in form.errors):
        return {"forecast": render_to_string("admin/studies/study/unknown.html"), "preview": ""}
    try:
        estimate = forecast(form.instance)
        context = {
            "forecast": estimate,
            "endings": _endings(form.instance) if estimate.pay else "",
            **_amounts(estimate),
            **_assumptions(),
            "costs": _costs(form.instance, estimate),
            "warning": session_warning(form.instance),
        }
        texts = preview(form.instance, configuration)
    except (GameError, AgentError, ValueError):
        return {"forecast": render_to_string("admin/studies/study/unknown.html"), "preview": ""}
    return {
        "forecast": render_to_string("admin/studies/study/forecast.html", context),
        "preview": render_to_string("admin/studies/study/texts.html", {"preview": texts}),
    }


def _amounts(estimate: Forecast) -> dict[str, str]:
    """Return the forecast's amounts formatted as money."""

    def money(amount: Any) -> str:
        return in_currency(amount, estimate.currency)

    pay = estimate.pay
    return {
        "pay_mean": money(pay[1]) if pay else "",
        "pay_min": money(pay[0]) if pay else "",
        "pay_max": money(pay[2]) if pay else "",
        "model_cost": _dollars(estimate.model_cost),
    }


def _costs(study: Study, estimate: Forecast) -> Costs | None:
    """Return the costs of the settings as filled in; None while the pay is incomplete."""
    try:
        return costs_of_document(study, content_of(study), estimate)
    except (TypeError, ValueError):
        return None


def _endings(study: Study) -> str:
    """Return what each other ending pays, as participants will read it."""
    return endings_promise(study.pay(), endings_of(study))


def _dollars(amount: Any) -> str:
    if amount is None:
        return ""
    return f"${amount:,.2f}" if amount >= 1 or amount == 0 else f"${amount:.4f}"


def _assumptions() -> dict[str, str]:
    template = _(
        "An estimate that assumes {words} words read per minute, {decision} seconds per decision, {page} seconds "
        "per page, {model} seconds per model answer, and {letters} characters per token. Scripted players take "
        "all seats in up to {matches} matches. Run a pilot for better figures."
    )
    return {
        "assumptions": template.format(
            words=forecasting.WORDS_PER_MINUTE,
            decision=forecasting.SECONDS_PER_DECISION,
            page=forecasting.SECONDS_PER_PAGE,
            model=forecasting.SECONDS_PER_MODEL_ANSWER,
            matches=forecasting.MAX_MATCHES,
            letters=forecasting.CHARACTERS_PER_TOKEN,
        )
    }
