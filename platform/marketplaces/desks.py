"""What all marketplaces' desks share: access to the account, and participants' submissions."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.utils.translation import gettext as _

from marketplaces import comparing
from marketplaces.kinds import MarketplaceError, NotPossible, Unclear
from marketplaces.models import Account, Recruitment
from rights import parts
from rights.roles import Role
from studies.admin import acts
from studies.admin.acts import Act
from studies.models import Study


def current_base_pay(study: Study) -> Decimal | None:
    """Return the base pay promised to anyone who arrives now, or None if nothing has been launched.

    A task published before the last launch may offer a different reward.
    """
    version = study.latest_version()
    return version.plan.pay.base if version is not None else None


class Desk(acts.Desk):
    """Mixin with what every marketplace's own admin pages need."""

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

    def people_of(self, request: HttpRequest, study: Study, account: Account) -> dict[str, Any]:
        """Return the context of `admin/marketplaces/people.html`: submissions, and where both sides differ."""
        return {
            "there": account.get_kind_display(),
            "counted": comparing.status_counts(study),
            "lines": comparing.lines_of(study, account),
            "may_decide": parts.may(request.user, study, role=Role.OWNER),
        }

    def account_for(self, request: HttpRequest, study: Study, *, kind: str) -> Account:
        """Return the study's account on this marketplace, if the user may recruit with it.

        Raises:
            NotPossible
        """
        recruitment = Recruitment.objects.select_related("account").filter(study=study, account__kind=kind).first()
        if recruitment is None:
            message = _("First choose a {marketplace} account for the study (Recruitments).")
            raise NotPossible(message.format(marketplace=self.desk_title))
        if not parts.may(request.user, recruitment.account, role=Role.EDITOR):
            raise NotPossible(_("Only editors and owners of the study's account may recruit with it. Ask one of them."))
        return recruitment.account
