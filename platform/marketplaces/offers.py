"""What a marketplace offers of a study: its announcement, and one reward for everybody."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, Q
from django.utils.translation import gettext as _

from marketplaces import kinds
from marketplaces.kinds import NotPossible
from marketplaces.models import Account, Recruitment
from plans.pay import PayRule
from plans.plan import Listing
from studies.costs import Costs
from studies.models import Cell, Placement, Study, Version


def listing_of(study: Study, version: Version) -> Listing:
    """Return the announcement; without one, nothing that names the question."""
    listing = study.entry_rules().listing
    return Listing(
        title=listing.title or version.shown_title,
        description=listing.description
        or _("In this study you make decisions in a game. Its first page says what you can earn."),
    )


@dataclass(frozen=True)
class Price:
    """What an offer would cost now.

    Attributes:
        total: what the account must be able to pay, including the marketplace's fees.
        costs: of the offer's places; None if the study has none yet.
        note: what else the marketplace charges for.
    """

    total: Decimal
    costs: Costs | None
    balance: Decimal
    currency: str
    note: str = ""

    @property
    def missing(self) -> Decimal:
        return max(Decimal(0), self.total - self.balance)


def account_of(study: Study, kind: str) -> Account:
    """Return the account through which the study recruits on this marketplace. Raise NotPossible if there is none."""
    title = kinds.get(kind).title
    if study.entry != kind:
        message = _("Participants enter this study in another way. First set “who may enter” to {marketplace}.")
        raise NotPossible(message.format(marketplace=title))
    recruitment = Recruitment.objects.select_related("account").filter(study=study, account__kind=kind).first()
    if recruitment is None:
        raise NotPossible(
            _("First choose the {marketplace} account through which the study recruits.").format(marketplace=title)
        )
    return recruitment.account


def ready(study: Study, kind: str, *, statuses: Collection[str]) -> tuple[Version, PayRule, Account]:
    """Return what can be offered: the launched version, which participants see, its pay rule, and the account.

    The base pay is the reward.

    Args:
        statuses: the study's statuses in which it can be offered.

    Raises:
        NotPossible
    """
    account, version = account_of(study, kind), study.latest_version()
    if version is None or study.status not in statuses:
        raise NotPossible(_("First launch the study, so that participants can enter it."))
    if {study.purpose, version.purpose} != {"study"}:
        raise NotPossible(_("This study is a trial, so nobody would be paid. Change its purpose and launch it again."))
    rule = pay_of(version)
    if rule.base <= 0:
        raise NotPossible(_("The reward is the base pay, and this study has none. Set one and launch it again."))
    return version, rule, account


def open_places(version: Version) -> int:
    """Return the number of free places in a launched version."""
    held = Count("placements", filter=Q(placements__released_at=None))
    cells = Cell.objects.filter(version=version).annotate(held=held)
    before_draw = Placement.objects.filter(version=version, cell=None, released_at=None).count()
    return max(0, sum(max(0, cell.places - cell.held) for cell in cells) - before_draw)


def pay_of(version: Version) -> PayRule:
    """Return the study's pay rule; its base pay and currency hold in every cell.

    Raises:
        NotPossible: they depend on a factor.
    """
    reader = version.reader
    node = reader.document.get("pay", {})
    offered = {(pay["base"], pay["currency"]) for pay in (reader.resolved(node, cell.factors) for cell in reader.cells)}
    if len(offered) > 1:
        raise NotPossible(
            _(
                "The base pay depends on a factor, but the reward must be the same for everybody. Vary the bonus "
                "instead."
            )
        )
    return version.plan.pay.rule_for()
