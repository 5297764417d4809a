"""A study's recruiter, if it is a marketplace: each kind's own actions, with the same rights and errors for all."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from marketplaces import kinds, modules
from marketplaces.kinds import MarketplaceError, NotPossible
from marketplaces.models import Offer, Recruitment
from marketplaces.offers import account_of
from rights import parts
from rights.roles import Role
from studies.models import Study
from studies.recruiting import NotFollowed, places_sentence


class AtMarketplace:
    """`studies.recruiting.Recruiter` of a study that recruits through an account."""

    by_hand = False

    def __init__(self, recruitment: Recruitment):
        kind = recruitment.account.kind
        self._recruitment, self._there, self.title = recruitment, modules.recruiting(kind), str(kinds.get(kind).title)

    def state(self) -> str:
        return self._there.state_of(self._offers())

    def due(self, status: str) -> str:
        number = len(self._due(status))
        one, several = self._there.CHANGES.get(status, ("", ""))
        return ngettext(one, several, number).format(number=number) if number and one else ""

    def follow(self, status: str, user: Any) -> str:
        if status == Study.Status.LAUNCHED:
            self._refuse_without_account(user)
        problems, offers = [], self._due(status)
        for offer in offers:
            try:
                self._there.change(offer, status)
            except (MarketplaceError, NotPossible) as problem:
                problems.append(str(problem))
        if problems and len(offers) > 1:
            template = _("{number} of {all} tasks were not changed. {reason}")
            raise NotFollowed(template.format(number=len(problems), all=len(offers), reason=problems[0]))
        if problems:
            raise NotFollowed(problems[0])
        return _("Now on {marketplace}: {state}.").format(marketplace=self.title, state=self.state())

    def places(self) -> int | None:
        return sum(map(self._there.places_of, self._offers())) or None

    def add_places(self, number: int, user: Any) -> str:
        self._refuse_without_account(user)
        account = self._recruitment.account
        own = [offer for offer in self._offers() if offer.account_id == account.pk]
        if not own:
            template = _("Nothing is offered on {marketplace} through the account “{account}” yet. Publish first.")
            raise NotFollowed(template.format(marketplace=self.title, account=account))
        try:
            self._there.set_places(own[0], own[0].places + number)
        except (MarketplaceError, NotPossible) as reason:
            raise NotFollowed(str(reason)) from None
        sentence = _("On {marketplace}, the study now has {places}.")
        return sentence.format(marketplace=self.title, places=places_sentence(self.places() or 0))

    def _offers(self) -> list[Offer]:
        """Return what the study offers there, the newest first."""
        there = Offer.objects.filter(study=self._recruitment.study, account__kind=self._recruitment.account.kind)
        there = there.exclude(remote_id=None).exclude(status=Offer.DELETED)
        return list(there.select_related("account", "study__recruitment"))

    def _due(self, status: str) -> list[Offer]:
        return [offer for offer in self._offers() if self._there.is_due(offer, status)]

    def _refuse_without_account(self, user: Any) -> None:
        """Raise NotFollowed for a user who may not spend the account's money."""
        account = self._recruitment.account
        if user is None or not parts.may(user, account, role=Role.EDITOR):
            raise NotFollowed(_("Only editors of the account “{account}” may spend its money.").format(account=account))


def adopt(study: Study, kind: str, *, typed: str, address: str, by: Any) -> Offer:
    """Link what was created on the marketplace itself to the study, by the identifier that was typed.

    Raise NotPossible or MarketplaceError.
    """
    account, there = account_of(study, kind), modules.recruiting(kind)
    key = there.id_of(typed)
    existing = Offer.objects.filter(remote_id=key).first()
    if existing is not None and existing.study_id == study.pk:
        return existing
    if existing is not None:
        raise NotPossible(_("It is already linked to another study here."))
    return there.adopt(study, account, key=key, address=address, by=by)


def find(study: Study) -> AtMarketplace | None:
    """Return the marketplace where the study recruits; None if it recruits elsewhere."""
    recruitment = Recruitment.objects.filter(study=study).select_related("account", "study").first()
    return None if recruitment is None or study.entry != recruitment.account.kind else AtMarketplace(recruitment)
