"""Pay workers as the ledger orders: approve the assignment for base pay, and send a bonus for bonus pay.

Before every payment, Parley asks mTurk whose assignment it is and which task it belongs to.
"""

from __future__ import annotations

from decimal import Decimal

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from marketplaces.kinds import NotThere, Refused
from marketplaces.models import Account, Offer, Submission
from marketplaces.mturk.client import AssignmentNow, BonusNow, Requester, requester_of
from marketplaces.mturk.deciding import report_of
from marketplaces.mturk.terms import KEY, tasks
from marketplaces.paying import reachable
from marketplaces.submissions import ASSIGNMENT_STATUSES, STATUS
from payouts.payers import Answer, AssignmentStatus, Order, Outcome, Payer, Unreachable
from recruiters.terms import mturk_fee

CURRENCY = "USD"
BULK_SIZE = 1
MOST_FEEDBACK = 1000
"""Maximum length of a message to a worker, in characters."""
_NOT_THEIRS = gettext_lazy("The assignment is not this worker's, or not from this study.")


def account_of(study: str) -> Account | None:
    """Return the account that pays the participants of the study with this short name."""
    return Account.objects.filter(kind=KEY, recruitments__study__slug=study).first()


def approves_within(study: str) -> int | None:
    """Return the days after which Mechanical Turk approves the study's assignments; None if no task says so."""
    return max((hit.terms.approval_days for hit in tasks(study__slug=study)), default=0) or None


class MturkPayer(Payer):
    """Pays the participants of the study with this short name (`payouts.payers.Payer`).

    Raises:
        Unreachable: the study has no Mechanical Turk account, or the account cannot sign in.
    """

    may_repeat = True

    def __init__(self, study: str):
        account = account_of(study)
        if account is None:
            raise Unreachable(_("First choose a Mechanical Turk account for the study (Recruitments)."))
        self._study = study
        with reachable():
            self._requester: Requester = requester_of(account)

    def balance(self) -> tuple[Decimal, str]:
        """Return the available balance in US dollars, without what is held for published tasks."""
        with reachable():
            return self._requester.balance(), CURRENCY

    def fee(self, order: Order) -> Decimal:
        """Return the fee: 20 %, or 40 % of the reward for a task with ten or more assignments."""
        task = self._task(order.details.get("hitId", "")) if order.reason == "base" else None
        return mturk_fee(order.amount, assignments=task.places if task else 1)

    def assignment_status(self, order: Order) -> AssignmentStatus:
        """Return the assignment's status, after checking that it is this worker's and belongs to this study."""
        with reachable():
            try:
                assignment = self._requester.assignment(_assignment_of(order))
            except NotThere:
                return AssignmentStatus.UNKNOWN
            if assignment is None:
                return self._unsubmitted(order)
        if self._task_of(assignment, order) is None:
            return AssignmentStatus.SOMEBODY_ELSE
        return ASSIGNMENT_STATUSES[_status_of(assignment)]

    def pay(self, order: Order) -> Answer:
        """Approve the assignment, or send the bonus."""
        if order.currency != CURRENCY:
            return Answer(Outcome.REFUSED, _("Mechanical Turk pays only in US dollars."))
        try:
            with reachable(refused=False):
                return self._pay(order)
        except Refused as refusal:
            return Answer(Outcome.REFUSED, str(refusal))

    def look_up(self, order: Order) -> Answer:
        """Look up the status of an order by the assignment's status or the bonuses paid for it."""
        with reachable():
            try:
                return self._look_up_base(order) if order.reason == "base" else self._look_up_bonus(order)
            except NotThere as error:
                return Answer(Outcome.NOT_FOUND, str(error))

    # ---- the two kinds of payment --------------------------------------------------------------------------

    def _pay(self, order: Order) -> Answer:
        assignment = self._requester.assignment(_assignment_of(order))
        if assignment is None:
            message = _("The worker has not submitted the assignment, so Mechanical Turk neither approves nor pays it.")
            return Answer(Outcome.REFUSED, message)
        task = self._task_of(assignment, order)
        if task is None:
            return Answer(Outcome.REFUSED, str(_NOT_THEIRS))
        if order.reason == "base":
            return self._approve(assignment, task, order)
        reason = f"{order.message or _('Bonus')} ({reference_of(order)})"[-MOST_FEEDBACK:]
        key = assignment.assignment_id
        bonus = {"WorkerId": order.worker, "AssignmentId": key, "BonusAmount": f"{order.amount:.2f}", "Reason": reason}
        self._requester.once("send_bonus", order.uid, **bonus)
        return Answer(Outcome.CONFIRMED)

    def _approve(self, assignment: AssignmentNow, task: Offer, order: Order) -> Answer:
        if _status_of(assignment) != STATUS.SUBMITTED:
            return self._decided(assignment, order)
        if task.reward != order.amount:
            message = _("The task's reward is {reward}, but the ledger says {amount}. Decide yourself which is right.")
            return Answer(Outcome.REFUSED, message.format(reward=task.reward, amount=order.amount))
        feedback = {"RequesterFeedback": order.message[:MOST_FEEDBACK]} if order.message else {}
        override, key = assignment.status == "Rejected", assignment.assignment_id
        try:
            self._requester.call("approve_assignment", AssignmentId=key, OverrideRejection=override, **feedback)
        except Refused as refusal:
            # Someone may have approved or rejected it since we asked for its status.
            if refusal.reason == "invalidassignmentstate":
                answer = self._look_up_base(order)
                if answer.outcome is not Outcome.NOT_FOUND:
                    return answer
            raise
        return Answer(Outcome.CONFIRMED)

    def _look_up_base(self, order: Order) -> Answer:
        assignment = self._requester.assignment(_assignment_of(order))
        if assignment is None or _status_of(assignment) == STATUS.SUBMITTED:
            return Answer(Outcome.NOT_FOUND)
        return self._decided(assignment, order)

    def _decided(self, assignment: AssignmentNow, order: Order) -> Answer:
        """Return the answer for a decided assignment: approval pays the task's reward, no matter who approved it."""
        task = self._task_of(assignment, order)
        if assignment.status != "Approved":
            return Answer(Outcome.REFUSED, _("The assignment was rejected."))
        if task is None:
            return Answer(Outcome.REFUSED, str(_NOT_THEIRS))
        if task.reward == order.amount:
            return Answer(Outcome.CONFIRMED)
        message = _(
            "The assignment is approved, so the worker received the task's reward of {reward}, but the ledger says "
            "{amount}. Settle the difference yourself, then mark the payment as paid."
        )
        return Answer(Outcome.REFUSED, message.format(reward=task.reward, amount=order.amount))

    def _look_up_bonus(self, order: Order) -> Answer:
        query, mark = {"AssignmentId": _assignment_of(order)}, f"({reference_of(order)})"
        listed = self._requester.rows("list_bonus_payments", "BonusPayments", BonusNow, **query)
        is_paid = any(bonus.reason.endswith(mark) for bonus in listed)
        return Answer(Outcome.CONFIRMED if is_paid else Outcome.NOT_FOUND)

    def _task_of(self, assignment: AssignmentNow, order: Order) -> Offer | None:
        """Return the study's task that this assignment belongs to, or None if the assignment is another worker's."""
        return self._task(assignment.hit_id) if assignment.worker == order.worker else None

    def _task(self, hit_id: str) -> Offer | None:
        task: Offer | None = tasks(study__slug=self._study, remote_id=hit_id).first()
        return task

    def _unsubmitted(self, order: Order) -> AssignmentStatus:
        """Return WORKING or RETURNED for the task as a whole: mTurk only says how many workers are doing it."""
        task = self._task(order.details.get("hitId", ""))
        if task is None or task.remote_id is None:
            return AssignmentStatus.UNKNOWN
        pending = self._requester.hit(task.remote_id).pending
        return AssignmentStatus.WORKING if pending else AssignmentStatus.RETURNED


def _status_of(assignment: AssignmentNow) -> str:
    """Return an assignment's status; if an owner has taken back its rejection, it counts as submitted."""
    status = report_of(assignment).status
    taken_back = Submission.objects.filter(key=assignment.assignment_id, taken_back_at__isnull=False)
    return STATUS.SUBMITTED if status == STATUS.REJECTED and taken_back.exists() else status


def reference_of(order: Order) -> str:
    """Return the reference that identifies a paid bonus: the ledger row's own ID, which identifies no person."""
    return f"ref. {order.uid.hex}"


def _assignment_of(order: Order) -> str:
    return order.details.get("assignmentId", "") or "-"


payer_of = MturkPayer
