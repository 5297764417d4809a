"""The admin's look, and its side bar in the order in which a study is run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.utils.functional import lazy
from django.utils.translation import gettext_lazy as _

from games.tokens import colour

if TYPE_CHECKING:
    from django.http import HttpRequest


def _reversed(view: str) -> str:
    from django.urls import reverse  # loads Django's models, which commands without a database do without

    return reverse(view)


def _static(path: str) -> Callable[[HttpRequest], str]:
    """Return what gives the address of a static file."""

    def address(request: HttpRequest) -> str:
        from django.templatetags.static import static

        return static(path)

    return address


_address = lazy(_reversed, str)
"""Returns the address of a view, found when it is needed."""


def _item(title: Any, icon: str, model: str) -> dict[str, Any]:
    """Return one side-bar entry, shown to users who may open it."""

    def allowed(request: HttpRequest) -> bool:
        from django.apps import apps  # the settings import this file before the apps are loaded
        from django.contrib import admin

        page = admin.site.get_model_admin(apps.get_model(model.replace("_", ".")))
        return page.has_view_permission(request)

    return {"title": title, "icon": icon, "link": _address(f"admin:{model}_changelist"), "permission": allowed}


def _mixed(one: str, share: int, other: str) -> str:
    """Return `share` percent of one colour in another."""
    return f"color-mix(in oklab, {one} {share}%, {other})"


def _accent_shades() -> dict[str, str]:
    """Return the theme's main colour from light to dark: 600 is the accent of light pages, 400 that of dark ones."""
    light, dark = colour("accent"), colour("accent", dark=True)
    tints = {"50": 8, "100": 16, "200": 32, "300": 62}
    return {
        **{shade: _mixed(dark, share, "white") for shade, share in tints.items()},
        "400": dark,
        "500": _mixed(light, 30, dark),
        "600": light,
        **{
            shade: _mixed(light, share, "black")
            for shade, share in {"700": 86, "800": 72, "900": 58, "950": 40}.items()
        },
    }


def _base_shades() -> dict[str, str]:
    """Return the theme's neutral colours from light to dark, through the papers, lines and inks of both schemes."""
    return {
        "50": _mixed(colour("card"), 55, colour("paper")),
        "100": colour("paper"),
        "200": colour("line"),
        "300": _mixed(colour("line"), 70, colour("muted")),
        "400": colour("muted", dark=True),
        "500": colour("muted"),
        "600": _mixed(colour("muted"), 65, colour("ink")),
        "700": _mixed(colour("line", dark=True), 80, colour("muted")),
        "800": _mixed(colour("line", dark=True), 60, colour("card", dark=True)),
        "900": colour("card", dark=True),
        "950": colour("paper", dark=True),
    }


UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "Parley",
    "SITE_HEADER": "Parley",
    "SITE_SUBHEADER": _("People and models at the table"),
    "SITE_SYMBOL": "forum",
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": _static("parley/logo.svg")},
    ],
    "SHOW_VIEW_ON_SITE": False,
    "SHOW_HISTORY": True,
    "DASHBOARD_CALLBACK": "studies.admin.first_page.first_page",
    "COLORS": {"base": _base_shades(), "primary": _accent_shades()},
    "STYLES": [_static("parley/tokens.css"), _static("parley/admin.css")],
    "SCRIPTS": [_static("parley/admin.js")],
    "ACCOUNT": {"navigation": [{"title": _("Second factor"), "link": _address("signin:second_factor")}]},
    "SIDEBAR": {
        "show_search": False,
        "show_all_applications": False,
        "navigation": [
            {
                "title": _("Run"),
                "items": [
                    _item(_("Studies"), "science", "studies_study"),
                    _item(_("Pilots"), "labs", "piloting_pilot"),
                    _item(_("Collections"), "stacks", "collecting_collection"),
                    _item(_("Endpoints"), "hub", "opponents_endpoint"),
                    _item(_("Matches"), "forum", "matches_match"),
                    _item(_("Participants"), "group", "participants_enrolment"),
                    _item(_("Questions and answers"), "support_agent", "helping_message"),
                    _item(_("Problem reports"), "report", "participants_problemreport"),
                    _item(_("Ledger"), "payments", "payouts_ledgerrow"),
                    _item(_("Offers on marketplaces"), "campaign", "marketplaces_offer"),
                ],
            },
            {
                "title": _("Records"),
                "separator": True,
                "items": [
                    _item(_("Versions"), "history", "studies_version"),
                    _item(_("Placements"), "event_seat", "studies_placement"),
                    _item(_("Verdicts"), "fact_check", "checks_verdict"),
                    _item(_("Survey responses"), "ballot", "surveys_response"),
                    _item(_("Model calls"), "smart_toy", "opponents_call"),
                ],
            },
            {
                "title": _("Access"),
                "separator": True,
                "items": [
                    _item(_("Audit log"), "policy", "audit_record"),
                    _item(_("Identities"), "badge", "recruiters_identity"),
                    _item(_("Marketplaces"), "storefront", "marketplaces_account"),
                    _item(_("Recruitments"), "diversity_3", "marketplaces_recruitment"),
                    _item(_("Panels"), "groups", "panels_panel"),
                    _item(_("oTree servers"), "account_tree", "recruiters_otreeserver"),
                    _item(_("Deliveries to oTree"), "outgoing_mail", "recruiters_delivery"),
                    _item(_("API tokens"), "key", "api_token"),
                    _item(_("Addresses for notices"), "notifications", "notifying_recipient"),
                    _item(_("Programs"), "terminal", "programs_program"),
                    _item(_("Users"), "person", "auth_user"),
                ],
            },
        ],
    },
}
