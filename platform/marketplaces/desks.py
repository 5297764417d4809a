"""What all pages of marketplaces share: access to the account, and words about their errors."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.utils.translation import gettext as _

from marketplaces.kinds import MarketplaceError, NotPossible, Unclear
from marketplaces.models import Account
from rights import parts
from rights.roles import Role
from studies.acts import Act
from studies.admin import acts


class Desk(acts.Desk):
    """Mixin of the pages about offers and submissions."""

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
