"""Users, recruiters and crashes in any order: the ledger always agrees with the recruiter's own books."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import examples
from payouts import books, deciding, payers, paying
from payouts.models import LedgerRow
from payouts.payers import Answer, AssignmentStatus, Order, Outcome, Payer, Unreachable
from payouts.tests.conftest import KIND
from payouts.tests.people import STUDY, finished
from payouts.tests.test_paying import later

pytestmark = pytest.mark.django_db

PEOPLE = 2
RECRUITER_BEHAVIOURS = ("well", "refuses", "takes", "silent", "silent after paying", "down")
"""How the recruiter treats the next orders."""


class Crash(BaseException):
    """The process has died."""


class Recruiter(Payer):
    """A payer and its books; raises Crash at a chosen step."""

    def __init__(self, *, may_repeat: bool) -> None:
        self.may_repeat = may_repeat
        self.mood = "well"
        self.status_of: dict[str, AssignmentStatus] = {}
        self.paid: Counter[str] = Counter()
        self.steps_left = 0

    def tick(self) -> None:
        self.steps_left -= 1
        if self.steps_left == 0:
            raise Crash

    def before_statement(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if not sql.lstrip().upper().startswith("SELECT"):
            self.tick()
        return execute(sql, params, many, context)

    def balance(self) -> None:
        return None

    def fee(self, order: Order) -> Decimal:
        return Decimal("0.10")

    def assignment_status(self, order: Order) -> AssignmentStatus:
        self._answers()
        return self.status_of.get(order.worker, AssignmentStatus.SUBMITTED)

    def prepare(self, order: Order) -> str:
        self._answers()
        return f"prepared-{order.uid}"

    def pay(self, order: Order) -> Answer:
        self.tick()
        self._answers()
        if self.mood == "silent":
            raise Unreachable("silence")
        if self.mood == "refuses":
            return Answer(Outcome.REFUSED, "not today")
        if not (self.may_repeat and self.paid[str(order.uid)]):
            self.paid[str(order.uid)] += 1
        self.tick()
        if self.mood == "silent after paying":
            raise Unreachable("silence")
        return Answer(Outcome.SENT if self.mood == "takes" else Outcome.CONFIRMED)

    def look_up(self, order: Order) -> Answer:
        self._answers()
        return Answer(Outcome.CONFIRMED if self.paid[str(order.uid)] else Outcome.NOT_FOUND)

    def _answers(self) -> None:
        self.tick()
        if self.mood == "down":
            raise Unreachable("down")


ROW = st.integers(0, 2 * PEOPLE - 1)
STEP = st.one_of(
    st.tuples(st.sampled_from(["approve", "withdraw", "write_off", "put_back", "resolve"]), ROW),
    st.tuples(st.just("mood"), st.sampled_from(RECRUITER_BEHAVIOURS)),
    st.tuples(st.just("assignment_status"), st.sampled_from(list(AssignmentStatus))),
    st.tuples(st.just("hours"), st.sampled_from([1, 30, 200])),
    st.tuples(st.just("pay"), st.integers(0, 25)),
)


@settings(max_examples=examples(40), deadline=None, suppress_health_check=list(HealthCheck))
@given(may_repeat=st.booleans(), steps=st.lists(STEP, min_size=4, max_size=25))
def test_each_approved_payment_is_made_once_and_no_other(may_repeat: bool, steps: list[tuple[str, Any]]):
    recruiter = Recruiter(may_repeat=may_repeat)
    methods_before = dict(payers._methods)
    payers.register(KIND, payers.PaymentMethod("In memory", lambda study: recruiter))
    try:
        with transaction.atomic(), connection.execute_wrapper(recruiter.before_statement):
            _live(recruiter, steps)
            transaction.set_rollback(True)
    finally:
        payers._methods.clear()
        payers._methods.update(methods_before)


def _live(recruiter: Recruiter, steps: list[tuple[str, Any]]) -> None:
    boss = User.objects.create_user("boss")
    uids = [str(row.uid) for number in range(PEOPLE) for row in finished(f"A{number}")]
    approved: set[str] = set()
    for action, argument in steps:
        if action == "pay":
            _pay(recruiter, argument)
        elif action == "mood":
            recruiter.mood = argument
        elif action == "assignment_status":
            recruiter.status_of["A0"] = argument
        elif action == "hours":
            later(argument)
        else:
            if action == "approve":
                approved.add(uids[argument])
            _decide(recruiter, action, uids[argument], boss)
        _agree(recruiter, approved)

    recruiter.mood, recruiter.status_of = "well", {}
    for _round in range(6):
        for row in LedgerRow.objects.filter(state="unclear"):
            _decide(recruiter, "resolve", str(row.uid), boss)
        later()
        _pay(recruiter, 0)
        _agree(recruiter, approved)
    assert not LedgerRow.objects.filter(state__in=("approved", "sent", "unclear")).exists(), "nobody is forgotten"


def _pay(recruiter: Recruiter, die_at: int) -> None:
    recruiter.steps_left = die_at
    with suppress(Crash):
        paying.pay_due()
    recruiter.steps_left = 0


def _decide(recruiter: Recruiter, action: str, uid: str, boss: User) -> None:
    row = LedgerRow.objects.get(uid=uid)
    actions: dict[str, Callable[[], Any]] = {
        "approve": lambda: deciding.approve(study=STUDY, rows=[row.pk], user=boss),
        "withdraw": lambda: deciding.withdraw(study=STUDY, rows=[row.pk], user=boss),
        "write_off": lambda: deciding.write_off(study=STUDY, rows=[row.pk], user=boss, reason="because"),
        "put_back": lambda: (
            deciding.put_back(study=STUDY, rows=[row.pk], user=boss, reason="because") if not row.by_hand else None
        ),
        "resolve": lambda: deciding.resolve(
            study=STUDY, row=row.pk, paid=bool(recruiter.paid[uid]), user=boss, note="looked it up"
        ),
    }
    with suppress(deciding.NotDone):
        actions[action]()


def _agree(recruiter: Recruiter, approved: set[str]) -> None:
    assert books.check() == []
    state_of = {str(uid): state for uid, state in LedgerRow.objects.values_list("uid", "state")}
    for uid, state in state_of.items():
        times = recruiter.paid[uid]
        assert times <= 1, "nobody is paid twice"
        assert times == 0 or uid in approved, "nobody is paid without approval"
        assert state != "confirmed" or times == 1, "nothing unpaid is called paid"
        assert not times or state in ("sent", "unclear", "confirmed"), "no paid row can be paid again"
