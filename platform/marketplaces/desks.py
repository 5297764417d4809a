"""What all marketplaces' desks share: access to the account, and participants' submissions."""

from __future__ import annotations

import re
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _

from audit.actions import Action
from marketplaces import comparing, kinds, modules
from marketplaces.kinds import MarketplaceError, NotPossible, Unclear
from marketplaces.models import Account, Recruitment
from marketplaces.offers import account_of
from rights import parts
from rights.roles import Role
from studies.acts import Act
from studies.admin import acts
from studies.models import Study


class Desk(acts.Desk):
    """Mixin with what every marketplace's own admin pages need.

    Attributes:
        kind: the marketplace's key.
        id_field, id_pattern, id_rule: the field for the identifier of what was created on the marketplace itself,
            and what it consists of, for people.
        adopted: the message after its import.
    """

    kind = ""
    id_field = ""
    id_pattern = re.compile("")
    id_rule: acts.Text = ""
    adopted: acts.Text = ""
    refusals = (MarketplaceError, NotPossible)

    def refuse_user(self, request: HttpRequest, target: Any, act: Act) -> None:
        if act.spends:
            self.refuse_without_account(request, target.account)

    def words_of(self, refusal: Exception) -> str:
        if isinstance(refusal, Unclear):
            sentence = _("{reason} It is unknown whether this took effect. It is safe to try again.")
            return sentence.format(reason=refusal)
        return str(refusal)

    def refuse_without_account(self, request: HttpRequest, account: Account) -> None:
        """Raise PermissionDenied for a user who may not recruit and pay with this account."""
        if not parts.may(request.user, account, role=Role.EDITOR):
            raise PermissionDenied

    def context_of(self, request: HttpRequest, study: Study) -> dict[str, Any]:
        """Return what every desk shows: the recruitment, today's base pay, submissions, and where both sides differ.

        A task published before the last launch may offer another reward than the base pay.
        """
        recruitments = Recruitment.objects.filter(study=study, account__kind=self.kind)
        recruitment, version = recruitments.select_related("account").first(), study.latest_version()
        base = version.plan.pay.base if version is not None else None
        context: dict[str, Any] = {"study": study, "recruitment": recruitment, "base": base}
        if recruitment is None:
            return context
        return {
            **context,
            "account": recruitment.account,
            "there": recruitment.account.get_kind_display(),
            "counted": comparing.status_counts(study),
            "lines": comparing.lines_of(study, recruitment.account),
            "may_decide": parts.may(request.user, study, role=Role.OWNER),
        }

    def adopt(self, request: HttpRequest, study_id: int) -> HttpResponse:
        """Link what was created on the marketplace itself to the study."""
        study = self.study_of(request, study_id, role=Role.EDITOR)
        key, address = request.POST.get(self.id_field, "").strip(), request.build_absolute_uri(study.get_absolute_url())
        try:
            account = account_of(study, self.kind)
            self.refuse_without_account(request, account)
            if not self.id_pattern.fullmatch(key):
                raise NotPossible(str(self.id_rule))
            adopt = modules.recruiting(self.kind).adopt
            offer = adopt(study, account, key=key, address=address, by=request.user)
        except self.refusals as reason:
            self.message_user(request, _("Not imported: {reason}").format(reason=reason), messages.ERROR)
            return HttpResponseRedirect(self.adopting_page(study))
        summary = f"Imported what was created on {self.desk_title} itself."
        self.record_action(request, offer, Action.MADE, summary, {"account": account.title})
        self.message_user(request, self.adopted, messages.SUCCESS)
        return HttpResponseRedirect(self.back_of(offer))

    def adopting_page(self, study: Study) -> str:
        """Return the address of the page with the form for the identifier."""
        return reverse(kinds.get(self.kind).desk, args=[study.pk])
