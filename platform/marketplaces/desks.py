"""What the desks of all marketplaces share: whose study it is, who may use the account, and asking before an action."""

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


def base_promised(study: Study) -> Decimal | None:
    """The base pay that anyone who comes now is promised; None where nothing was launched.

    What a marketplace was told before the last launch may be another reward.
    """
    version = study.latest_version()
    return version.pay().base if version is not None else None


class Desk(Base):
    """Beside an admin page of a marketplace's own: what every such page needs.

    Attributes:
        desk_title: what the page of a study's tasks is called in breadcrumbs.
    """

    desk_title = ""

    def study_of(self, request: HttpRequest, study_id: int, *, role: Role | None = None) -> Study:
        """The study that an address names, for anyone who has this part in it (default: the least that sees it).

        Raises:
            Http404, PermissionDenied
        """
        found: Study = self.admin_site.get_model_admin(Study).seen(request, str(study_id), role=role)
        return found

    def refuse_without_account(self, request: HttpRequest, account: Account) -> None:
        """Raises PermissionDenied for anyone who may not recruit and pay with this account."""
        if not parts.may(request.user, account, role=Role.EDITOR):
            raise PermissionDenied

    def page(self, request: HttpRequest, template: str, title: str, context: dict[str, Any]) -> HttpResponse:
        """A page of the admin; no browser keeps it.

        Args:
            context: with a "study" the page has breadcrumbs, in which its "desk" is the page before.
        """
        whole = {**self.admin_site.each_context(request), "opts": self.opts, "title": title, **context}
        if "study" in context:
            desk = context.get("desk", request.path)
            between = [(self.desk_title, desk)] if desk != request.path else []
            whole |= trail(context["study"], *between, here=title)
        return TemplateResponse(request, template, whole, headers={"Cache-Control": "no-store"})

    def ask(
        self,
        request: HttpRequest,
        study: Study,
        *,
        title: str,
        back: str,
        button: str,
        about: str = "",
        says: Sequence[str] = (),
        warns: Sequence[str] = (),
        form: forms.Form | None = None,
        grave: bool = False,
        problem: str = "",
    ) -> HttpResponse:
        """The page that asks before an action: its button posts to the address it was opened by.

        Args:
            back: the desk's address, for anyone who leaves it as it is.
            about: what or whom it is about, above what it `says`.
            warns: what one should know before.
            grave: somebody loses something by it.
            problem: why it was not done.
        """
        context = {
            "study": study, "desk": back, "back": back, "button": button, "about": about,
            "says": [one for one in says if one], "warns": [one for one in warns if one],
            "form": form, "grave": grave, "problem": problem,
        }  # fmt: skip
        return self.page(request, "admin/marketplaces/ask.html", title, context)


def typed(form: type[forms.Form], request: HttpRequest, **options: Any) -> forms.Form:
    """A form with what was posted, or as it is first shown."""
    return form(request.POST if request.method == "POST" else None, **options)
