"""Pay the participants of one study through Prolific: base pay by approving the submission, and bonuses.

Prolific pays a bonus every time it receives the request. The request is therefore recorded before it is sent, and is
never sent a second time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import ROUND_UP, Decimal
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from marketplaces.kinds import NotSent, NotThere, Refused
from marketplaces.models import Account, Offer
from marketplaces.paying import reachable
from marketplaces.prolific.client import (
    MAX_BULK,
    PAGE_SIZE,
    Client,
    client_of,
    hundredths,
    normalised_status,
    participant_of,
)
from marketplaces.prolific.models import BonusOrder
from marketplaces.prolific.terms import publication_of
from marketplaces.submissions import ASSIGNMENT_STATUSES, STATUS
from payouts.payers import Answer, AssignmentStatus, Order, Outcome, Payer, Unreachable

BULK_SIZE = MAX_BULK


def approves_within(study: str) -> int:
    """Return the days after which Prolific approves what nobody has reviewed."""
    return 21


class ProlificPayer(Payer):
    """Pays through the account with which the study was published."""

    may_repeat = False

    def __init__(self, publication: Offer) -> None:
        self._publication, self._key = publication, str(publication.remote_id)
        self._listed: dict[str, dict[str, Any]] = {}

    def balance(self) -> tuple[Decimal, str] | None:
        with reachable():
            return self._client().balance(self._publication.terms.workspace)

    def fee(self, order: Order) -> Decimal:
        return (order.amount * self._publication.terms.fee_rate).quantize(Decimal("0.01"), rounding=ROUND_UP)

    def assignment_status(self, order: Order) -> AssignmentStatus:
        with reachable():
            try:
                submission = self._submission(order)
            except NotThere:
                return AssignmentStatus.UNKNOWN
        if submission.get("participant") != order.worker or submission.get("study_id") != self._key:
            return AssignmentStatus.SOMEBODY_ELSE
        status = ASSIGNMENT_STATUSES.get(normalised_status(submission["status"]))
        if status is None:
            raise Unreachable(
                _("Prolific reports an unknown status: {status}").format(status=_printable(submission["status"]))
            )
        return status

    def prepare(self, order: Order) -> str:
        """Set up a bonus once; return the same reference to every later caller.

        If Prolific was already asked to pay an order, it is prepared again only after a person has said that it was not
        paid. It is then set up again, unless Prolific shows the bonus after all.
        """
        if order.reason == "base" or self._refusal(order):
            return ""
        stored = BonusOrder.objects.filter(uid=order.uid, told_at=None, shared_by=1).first()
        if stored is not None:
            return stored.reference
        with reachable():
            return self._set_up([order])[order.uid]

    def pay(self, order: Order) -> Answer:
        self._listed = {}
        if refusal := self._refusal(order):
            return Answer(Outcome.REFUSED, refusal)
        return self._approve(order) if order.reason == "base" else self._pay_bonus(order)

    def look_up(self, order: Order) -> Answer:
        with reachable():
            try:
                submission = self._submission(order)
            except NotThere:
                return Answer(Outcome.NOT_FOUND, _("Prolific has no such submission."))
        if order.reason == "base":
            if normalised_status(submission["status"]) == STATUS.PARTLY:
                return Answer(
                    Outcome.UNCLEAR,
                    _(
                        "Prolific paid only part of the reward. Check on Prolific how much was paid, and record it "
                        "here."
                    ),
                )
            if ASSIGNMENT_STATUSES.get(normalised_status(submission["status"])) == AssignmentStatus.APPROVED:
                return Answer(Outcome.CONFIRMED)
            return Answer(Outcome.NOT_FOUND, _("Prolific has not approved the submission."))
        return self._look_up_bonus(order, submission)

    # ---- many at once --------------------------------------------------------------------------------

    def read(self, orders: Sequence[Order]) -> None:
        """Read the study's list of submissions, unless asking for each order takes fewer requests."""
        if self._publication.study.submissions.count() > PAGE_SIZE * len(orders):
            return
        with reachable():
            rows = list(self._client().rows("/submissions/", study=self._key))
        self._listed = {
            str(row.get("id")): {**row, "participant": participant_of(row), "study_id": self._key}
            for row in rows
            if isinstance(row.get("status"), str) and isinstance(row.get("bonus_payments"), list)
        }

    def prepare_all(self, orders: Sequence[Order]) -> Mapping[UUID, str]:
        """Give all bonuses one shared reference, which can only pay all of them; base pay needs no preparation.

        The result leaves out orders that Prolific was asked to pay before (`prepare` looks at each of them), a second
        order for the same submission, and all of them if Prolific refuses one.
        """
        if len(orders) == 1:
            return super().prepare_all(orders)
        payable = [order for order in orders if not self._refusal(order)]
        if not payable or payable[0].reason == "base":
            return {order.uid: "" for order in payable}
        requested = BonusOrder.objects.filter(uid__in=[order.uid for order in payable]).exclude(told_at=None)
        already_requested = set(requested.values_list("uid", flat=True))
        group = {_session(order): order for order in payable if order.uid not in already_requested}
        if len(group) < 2:
            return {}
        try:
            with reachable(refused=False):
                return self._set_up(list(group.values()))
        except Refused:
            return {}

    def pay_all(self, orders: Sequence[Order]) -> Mapping[UUID, Answer]:
        if len(orders) == 1:
            return super().pay_all(orders)
        self._listed = {}
        return self._approve_all(orders) if orders[0].reason == "base" else self._pay_bonuses(orders)

    def _approve_all(self, orders: Sequence[Order]) -> Mapping[UUID, Answer]:
        """Approve submissions. Approving twice pays once, so an unclear outcome is looked up and requested again."""
        try:
            with reachable(refused=False):
                self._client().approve_all([_session(order) for order in orders])
        except Refused:
            return {}
        return {order.uid: Answer(Outcome.QUEUED, _("Prolific will approve it within minutes.")) for order in orders}

    def _pay_bonuses(self, orders: Sequence[Order]) -> Mapping[UUID, Answer]:
        uids = [order.uid for order in orders]
        stored = BonusOrder.objects.filter(uid=uids[0]).first()
        answer = self._pay_reference(stored.reference, uids) if stored is not None else None
        return dict.fromkeys(uids, answer) if answer is not None and answer.outcome == Outcome.SENT else {}

    def _pay_reference(self, reference: str, uids: Sequence[UUID]) -> Answer | None:
        """Record the request to pay a reference, then send it; None if it was sent before or pays other orders."""
        if not _mark_requested(reference, uids):
            return None
        recorded = BonusOrder.objects.filter(reference=reference)
        try:
            with reachable(refused=False):
                try:
                    self._client().pay_bonus(reference)
                except (NotSent, Refused):
                    recorded.update(told_at=None)
                    raise
        except Refused as refusal:
            return Answer(Outcome.REFUSED, str(refusal))
        recorded.update(taken_at=timezone.now())
        return Answer(Outcome.SENT, _("Prolific will pay it within minutes."))

    # ---- base pay ------------------------------------------------------------------------------------

    def _approve(self, order: Order) -> Answer:
        """Approve a submission. Approving twice pays once: if Prolific refuses, the submission's status counts."""
        try:
            with reachable(refused=False):
                self._client().decide(_session(order), "APPROVE")
        except Refused as refusal:
            answer = self.look_up(order)
            is_certain = answer.outcome in (Outcome.CONFIRMED, Outcome.UNCLEAR)
            return answer if is_certain else Answer(Outcome.REFUSED, str(refusal))
        return Answer(Outcome.CONFIRMED)

    # ---- bonuses -------------------------------------------------------------------------------------

    def _set_up(self, orders: Sequence[Order]) -> dict[UUID, str]:
        """Set up bonuses under one reference; return each order's own, which another process may have changed.

        An order that was set up before keeps its reference if Prolific shows its bonus. It is updated only as it was
        read: another process may have set it up meanwhile and asked Prolific to pay it.
        """
        known = BonusOrder.objects.filter(uid__in=[order.uid for order in orders])
        stored = {one.uid: one for one in known}
        counts = {order.uid: self._shown(order, self._submission(order)) for order in orders}
        unpaid = [
            order for order in orders if order.uid not in stored or counts[order.uid] <= stored[order.uid].had_before
        ]
        if unpaid:
            amounts = {_session(order): order.amount for order in unpaid}
            reference = self._client().set_up_bonuses(study=self._key, bonuses=amounts)
            common = {"reference": reference, "shared_by": len(unpaid), "told_at": None, "taken_at": None}
            with transaction.atomic():
                for order in sorted(unpaid, key=lambda order: order.uid):
                    fields = {**common, "had_before": counts[order.uid]}
                    before = stored.get(order.uid)
                    if before is None:
                        BonusOrder.objects.get_or_create(uid=order.uid, defaults=fields)
                    else:
                        as_read = {"told_at": before.told_at, "reference": before.reference}
                        BonusOrder.objects.filter(pk=before.pk, **as_read).update(**fields)
        return dict(known.values_list("uid", "reference"))

    @staticmethod
    def _shown(order: Order, submission: Mapping[str, Any]) -> int:
        """Return how many bonuses of this amount a submission shows."""
        paid = submission.get("bonus_payments") or []
        amounts = [amount for amount in paid if isinstance(amount, int | float)] if isinstance(paid, list) else []
        return [round(amount) for amount in amounts].count(hundredths(order.amount))

    def _pay_bonus(self, order: Order) -> Answer:
        stored = BonusOrder.objects.filter(uid=order.uid).first()
        if stored is None:
            return Answer(Outcome.REFUSED, _("The bonus was not set up on Prolific."))
        if stored.shared_by > 1 and stored.told_at is None:  # its shared reference would pay the other bonuses too
            self.prepare(order)
            stored.refresh_from_db()
        return self._pay_reference(stored.reference, [order.uid]) or self.look_up(order)

    def _look_up_bonus(self, order: Order, submission: dict[str, Any]) -> Answer:
        stored = BonusOrder.objects.filter(uid=order.uid).first()
        if stored is None or stored.told_at is None:
            return Answer(Outcome.NOT_FOUND, _("Prolific was not asked to pay this bonus."))
        if self._shown(order, submission) > stored.had_before:
            return Answer(Outcome.CONFIRMED)
        if stored.taken_at is not None:
            return Answer(Outcome.SENT, _("Prolific accepted the order but does not show the bonus yet."))
        return Answer(
            Outcome.UNCLEAR,
            _(
                "Prolific was asked to pay, but its response was lost, and it shows no bonus. Please check on Prolific "
                "yourself."
            ),
        )

    # ---- shared by base pay and bonuses --------------------------------------------------------------

    def _refusal(self, order: Order) -> str:
        """Return the reason why this order must not be paid through Prolific; empty if it may be."""
        if order.currency != self._publication.currency:
            return _("The study was published in {currency}.").format(currency=self._publication.currency)
        if order.reason == "base" and order.amount != self._publication.reward:
            return _("Prolific pays the published reward of {reward}, not this amount.").format(
                reward=self._publication.reward
            )
        return ""

    def _submission(self, order: Order) -> dict[str, Any]:
        """Return Prolific's data on an order's submission: as `read` fetched it, otherwise fetched now."""
        return self._listed.get(_session(order)) or self._client().submission(_session(order))

    def _client(self) -> Client:
        return client_of(self._publication.account)


def _mark_requested(reference: str, uids: Sequence[UUID]) -> bool:
    """Record that Prolific is asked to pay this reference, if it pays exactly these; return whether it was recorded.

    An order that was set up alone in the meantime has another reference, so the count would be too low.
    """
    with transaction.atomic():
        requested = BonusOrder.objects.filter(reference=reference, shared_by=len(uids), uid__in=uids, told_at=None)
        if requested.update(told_at=timezone.now()) == len(uids):
            return True
        transaction.set_rollback(True)
    return False


def _session(order: Order) -> str:
    return order.details.get("SESSION_ID", "")


def _printable(status: Any) -> str:
    return "".join(letter for letter in str(status)[:30] if letter.isalnum() or letter in " _-")


def payer_of(study: str) -> ProlificPayer:
    """Return the payer of the study with this short name. Raise Unreachable if it was never published."""
    publication = _publication_of(study)
    if publication is None:
        raise Unreachable(_("The study is not on Prolific."))
    return ProlificPayer(publication)


def account_of(study: str) -> Account | None:
    """Return the account that pays the participants of the study with this short name."""
    publication = _publication_of(study)
    return publication.account if publication is not None else None


def _publication_of(study: str) -> Offer | None:
    return publication_of(study__slug=study, remote_id__isnull=False)
