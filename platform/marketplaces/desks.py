"""Shared parts of all marketplaces' desks: access to the study and the account, and confirmation of actions."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from marketplaces.models import Account
from rights import parts
from rights.admin import trail
from rights.roles import Role
from studies.models import Study

if TYPE_CHECKING:
    from rights.admin import PartAdmin

    Base = PartAdmin
else:
    Base = object


def current_base_pay(study: Study) -> Decimal | None:
    """Return the base pay promised to anyone who arrives now, or None if nothing has been launched.

    A task published before the last launch may offer a different reward.
    """
    version = study.latest_version()
    return version.plan.pay.base if version is not None else None


class Desk(Base):
    """Mixin with what every marketplace's own admin pages need.

    Attributes:
        desk_title: what breadcrumbs call the page with a study's tasks.
    """

    desk_title = ""

    def study_of(self, request: HttpRequest, study_id: int, *, role: Role | None = None) -> Study:
        """Return the study in the address if the user has this role in it (default: the lowest role that sees it).

        Raises:
            Http404, PermissionDenied
        """
        study: Study = self.admin_site.get_model_admin(Study).seen(request, str(study_id), role=role)
        return study

    def refuse_without_account(self, request: HttpRequest, account: Account) -> None:
        """Raise PermissionDenied for a user who may not recruit and pay with this account."""
        if not parts.may(request.user, account, role=Role.EDITOR):
            raise PermissionDenied

    def page(self, request: HttpRequest, template: str, title: str, context: dict[str, Any]) -> HttpResponse:
        """Return an admin page that browsers do not store.

        Args:
            context: with a "study", the page has breadcrumbs, where "desk" is the previous page.
        """
        full_context = {**self.admin_site.each_context(request), "opts": self.opts, "title": title, **context}
        if "study" in context:
            desk = context.get("desk", request.path)
            study_crumbs = [(self.desk_title, desk)] if desk != request.path else []
            full_context |= trail(context["study"], *study_crumbs, here=title)
        return TemplateResponse(request, template, full_context, headers={"Cache-Control": "no-store"})

    def confirmation_page(
        self,
        request: HttpRequest,
        study: Study,
        *,
        title: str,
        back: str,
        button: str,
        about: str = "",
        sentences: Sequence[str] = (),
        warnings: Sequence[str] = (),
        form: forms.Form | None = None,
        harmful: bool = False,
        problem: str = "",
    ) -> HttpResponse:
        """Return the page that asks for confirmation of an action; its button posts to the page's own address.

        Args:
            back: the desk's address, for a user who cancels.
            about: the object or person concerned, shown as the heading of `sentences`.
            warnings: to read before confirming.
            harmful: whether the action harms someone, which makes the button red.
            problem: why the action failed.
        """
        context = {
            "study": study, "desk": back, "back": back, "button": button, "about": about,
            "sentences": [text for text in sentences if text], "warnings": [text for text in warnings if text],
            "form": form, "harmful": harmful, "problem": problem,
        }  # fmt: skip
        return self.page(request, "admin/marketplaces/ask.html", title, context)


def bound_form(form: type[forms.Form], request: HttpRequest, **options: Any) -> forms.Form:
    """Return the form bound to posted data, or an unbound form if nothing was posted."""
    return form(request.POST if request.method == "POST" else None, **options)
