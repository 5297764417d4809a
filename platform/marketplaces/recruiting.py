"""A study's recruiter, if it is a marketplace: each kind's own actions, with the same rights and errors for all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.utils.translation import gettext as _

from marketplaces import kinds
from marketplaces.kinds import MarketplaceError, NotPossible
from marketplaces.models import Recruitment
from rights import parts
from rights.roles import Role
from studies.models import Study
from studies.recruiting import NotFollowed


class AtMarketplace:
    """`studies.recruiting.Recruiter` of a study that recruits through an account."""

    by_hand = False

    def __init__(self, recruitment: Recruitment):
        self._recruitment, self._kind = recruitment, kinds.get(recruitment.account.kind)
        self.title = str(self._kind.title)

    def state(self) -> str:
        return self._kind.recruiting.state(self._recruitment)

    def due(self, status: str) -> str:
        return self._kind.recruiting.due(self._recruitment, status)

    def follow(self, status: str, user: Any) -> str:
        if status == Study.Status.LAUNCHED:
            self._refuse_without_account(user)
        return self._attempt(lambda: self._kind.recruiting.follow(self._recruitment, status))

    def places(self) -> int | None:
        return self._kind.recruiting.places(self._recruitment)

    def add_places(self, number: int, user: Any) -> str:
        self._refuse_without_account(user)
        return self._attempt(lambda: self._kind.recruiting.add_places(self._recruitment, number))

    def _refuse_without_account(self, user: Any) -> None:
        """Raise NotFollowed for a user who may not spend the account's money."""
        account = self._recruitment.account
        if user is None or not parts.may(user, account, role=Role.EDITOR):
            raise NotFollowed(_("Only editors of the account “{account}” may spend its money.").format(account=account))

    def _attempt(self, act: Callable[[], str]) -> str:
        try:
            return act()
        except (MarketplaceError, NotPossible) as reason:
            raise NotFollowed(str(reason)) from None


def find(study: Study) -> AtMarketplace | None:
    """Return the marketplace where the study recruits; None if it recruits elsewhere."""
    recruitment = Recruitment.objects.filter(study=study).select_related("account", "study").first()
    return None if recruitment is None or study.entry != recruitment.account.kind else AtMarketplace(recruitment)
