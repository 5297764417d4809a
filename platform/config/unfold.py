"""How the admin looks and what its side bar offers, in the order in which a study is run."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.urls import reverse_lazy
from django.utils.translation import gettext_lazy as _


def _item(title: Any, icon: str, model: str, permission: str) -> dict[str, Any]:
    """One entry of the side bar, for those who may see what it leads to."""

    def allowed(request: HttpRequest) -> bool:
        return request.user.has_perm(permission)

    return {"title": title, "icon": icon, "link": reverse_lazy(f"admin:{model}_changelist"), "permission": allowed}


def _is_superuser(request: HttpRequest) -> bool:
    return bool(request.user.is_superuser)


UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "Parley",
    "SITE_HEADER": "Parley",
    "SITE_SUBHEADER": _("People and models at the table"),
    "SITE_SYMBOL": "forum",
    "SHOW_VIEW_ON_SITE": False,
    "SHOW_HISTORY": True,
    "COLORS": {
        "primary": {
            "50": "oklch(97.1% .013 195)",
            "100": "oklch(93.6% .032 195)",
            "200": "oklch(88.5% .062 195)",
            "300": "oklch(80.8% .09 195)",
            "400": "oklch(70.4% .1 195)",
            "500": "oklch(58% .095 197)",
            "600": "oklch(48% .083 199)",
            "700": "oklch(41% .07 201)",
            "800": "oklch(35% .058 203)",
            "900": "oklch(30% .047 205)",
            "950": "oklch(21% .035 208)",
        },
    },
    "SIDEBAR": {
        "show_search": False,
        "show_all_applications": False,
        "navigation": [
            {
                "title": _("Run"),
                "items": [
                    _item(_("Studies"), "science", "studies_study", "studies.view_study"),
                    _item(_("Collections"), "stacks", "collecting_collection", "collecting.view_collection"),
                    _item(_("Endpoints"), "hub", "opponents_endpoint", "opponents.view_endpoint"),
                    _item(_("Matches"), "forum", "matches_match", "matches.view_match"),
                    _item(_("Participants"), "group", "participants_enrolment", "participants.view_enrolment"),
                    _item(
                        _("Problem reports"), "report", "participants_problemreport", "participants.view_problemreport"
                    ),
                    _item(_("Ledger"), "payments", "payouts_ledgerrow", "payouts.view_ledgerrow"),
                ],
            },
            {
                "title": _("Records"),
                "separator": True,
                "items": [
                    _item(_("Versions"), "history", "studies_version", "studies.view_version"),
                    _item(_("Placements"), "event_seat", "studies_placement", "studies.view_placement"),
                    _item(_("Verdicts"), "fact_check", "checks_verdict", "checks.view_verdict"),
                    _item(_("Model calls"), "smart_toy", "opponents_call", "opponents.view_call"),
                ],
            },
            {
                "title": _("Access"),
                "separator": True,
                "items": [
                    {
                        "title": _("Identities"),
                        "icon": "badge",
                        "link": reverse_lazy("admin:recruiters_identity_changelist"),
                        "permission": _is_superuser,
                    },
                    _item(_("oTree servers"), "account_tree", "recruiters_otreeserver", "recruiters.view_otreeserver"),
                    _item(_("Deliveries to oTree"), "outgoing_mail", "recruiters_delivery", "recruiters.view_delivery"),
                    _item(_("API tokens"), "key", "api_token", "api.view_token"),
                    _item(_("Users"), "person", "auth_user", "auth.view_user"),
                    _item(_("Groups"), "shield_person", "auth_group", "auth.view_group"),
                ],
            },
        ],
    },
}
