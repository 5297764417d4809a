"""Approved pay is paid exactly once, even if the recruiter's API fails, and nobody is forgotten."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from payouts import books, deciding, paying
from payouts.models import Account, LedgerRow, Limit, Posting, Transfer, Unchangeable
from payouts.telling import pay_status
from payouts.tests.people import STUDY, finished
from payouts.tests.standin import FAULTS, StandIn
from recruiters.models import Identity

pytestmark = pytest.mark.django_db

OPEN = ("approved", "sent")


@pytest.fixture
def boss() -> User:
    return User.objects.create_user("boss")


def keys(*rows: LedgerRow) -> list[int]:
    return [row.pk for row in rows]


def approve(boss: User, *rows: LedgerRow) -> None:
    deciding.approve(study=STUDY, rows=keys(*rows), user=boss)


def later(hours: float = 2) -> None:
    """Let time pass: leases expire, delays end, and orders age."""
    ago = timedelta(hours=hours)
    Transfer.objects.update(until=F("until") - ago, next_at=F("next_at") - ago)
    Transfer.objects.exclude(asked_at=None).update(asked_at=F("asked_at") - ago)
    LedgerRow.objects.exclude(sent_at=None).update(sent_at=F("sent_at") - ago)


def settle(rounds: int = 12) -> None:
    """Run the sweep until no payment is in progress."""
    for _round in range(rounds):
        paying.pay_due()
        if not LedgerRow.objects.filter(state__in=OPEN).exists():
            return
        later()


def states(*rows: LedgerRow) -> list[str]:
    return [LedgerRow.objects.get(pk=row.pk).state for row in rows]


def test_nothing_is_paid_without_approval(standin: StandIn):
    rows = finished("A1")
    settle()
    assert states(*rows) == ["due", "due"]
    assert not standin.asked


def test_approved_rows_are_paid_once_base_before_bonus(standin: StandIn, boss: User):
    base, bonus = finished("A1")
    approve(boss, base, bonus)
    settle()
    assert states(base, bonus) == ["confirmed", "confirmed"]
    assert standin.paid == [(str(base.uid), "1.00"), (str(bonus.uid), "2.00")]


def test_every_step_is_in_the_journal_with_user_and_reason_and_balances_follow(standin: StandIn, boss: User):
    base, _bonus = finished("A1")
    approve(boss, base)
    settle()
    journal = [(posting.debit, posting.credit, posting.amount, posting.by) for posting in base.postings.all()]
    assert journal == [
        ("cost", "owed", Decimal("1.00"), ""), ("owed", "approved", Decimal("1.00"), "boss"),
        ("approved", "in_transit", Decimal("1.00"), ""), ("in_transit", "paid", Decimal("1.00"), ""),
    ]  # fmt: skip
    row = LedgerRow.objects.get(pk=base.pk)
    assert row.approved_by == "boss" and row.approved_at <= row.sent_at <= row.settled_at
    assert row.fee == Decimal("0.20")
    balances = books.balances(STUDY)[STUDY, "USD"]
    assert {name: amount for name, amount in balances.items() if amount} == {
        Account.COST: Decimal("-3.00"), Account.OWED: Decimal("2.00"), Account.PAID: Decimal("1.00"),
    }  # fmt: skip


def test_an_accepted_order_is_looked_up_until_it_is_confirmed(standin: StandIn, boss: User):
    standin.later = True
    base, bonus = finished("A1")
    approve(boss, base, bonus)
    paying.pay_due()
    assert states(base, bonus) == ["sent", "approved"]
    settle()
    assert states(base, bonus) == ["confirmed", "confirmed"]
    assert set(standin.times.values()) == {1}


def test_an_order_never_confirmed_is_unclear_after_a_week(standin: StandIn, boss: User):
    standin.later = True
    base, _bonus = finished("A1")
    approve(boss, base)
    paying.pay_due()
    later(24 * 8)
    paying.pay_due()
    assert states(base) == ["unclear"] and standin.times[str(base.uid)] == 1


def test_an_accepted_order_without_further_answers_is_unclear_after_a_week(standin: StandIn, boss: User):
    standin.later = True
    base, _bonus = finished("A1")
    approve(boss, base)
    paying.pay_due()
    standin.misbehave("refused", "look_up", times=5)
    for _time in range(2):
        later(48)
        paying.pay_due()
        assert states(base) == ["sent"]
    later(24 * 4)
    paying.pay_due()
    assert states(base) == ["unclear"] and standin.times[str(base.uid)] == 1
    assert "the order a week ago" in LedgerRow.objects.get(pk=base.pk).problem


def test_an_order_found_accepted_after_a_day_does_not_count_as_unanswered(standin: StandIn, boss: User):
    standin.later = True
    base, _bonus = finished("A1")
    approve(boss, base)
    standin.misbehave("lost", "pay")
    paying.pay_due()
    later(30)
    paying.pay_due()
    assert states(base) == ["sent"], "it was accepted, and is looked up until it is confirmed"
    later()
    paying.pay_due()
    assert states(base) == ["confirmed"] and standin.times[str(base.uid)] == 1


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("method", ["assignment_status", "prepare", "pay", "look_up"])
def test_everybody_is_paid_once_after_any_failure(standin: StandIn, boss: User, method: str, fault: str):
    base, bonus = finished("A1")
    other_base, _ = finished("A2")
    approve(boss, base, bonus, other_base)
    if method == "look_up":
        standin.misbehave("lost", "pay")
    standin.misbehave(fault, method)
    paying.pay_due(max_groups=1)
    assert "confirmed" not in states(base), "the failed payment is seen"
    assert LedgerRow.objects.get(pk=base.pk).problem
    settle()
    assert states(base, bonus, other_base) == ["confirmed"] * 3
    assert standin.times == {str(row.uid): 1 for row in (base, bonus, other_base)}
    assert not any(LedgerRow.objects.values_list("problem", flat=True))


@pytest.mark.parametrize("fault", ["cut", "refused-late"])
def test_an_order_without_an_answer_is_looked_up_after_a_delay_and_before_anything_else(
    standin: StandIn, boss: User, fault: str
):
    base, _bonus = finished("A1")
    approve(boss, base)
    standin.misbehave(fault, "pay")
    paying.pay_due()
    assert states(base) == ["sent"]
    Transfer.objects.update(next_at=timezone.now())
    paying.pay_due()
    assert not standin.asked["look_up"], "it may still arrive"
    settle()
    assert standin.asked["pay"] == standin.times[str(base.uid)] == 1 and states(base) == ["confirmed"]


def test_delays_grow_and_are_shown(standin: StandIn, boss: User):
    base, _bonus = finished("A1")
    approve(boss, base)
    standin.misbehave("refused", "assignment_status", times=3)
    waits = []
    for _try in range(3):
        paying.pay_due()
        transfer = Transfer.objects.get(row=base)
        waits.append((transfer.next_at - timezone.now()).total_seconds())
        Transfer.objects.update(next_at=timezone.now())
    assert 20 < waits[0] < waits[1] < waits[2]
    assert "did not answer" in LedgerRow.objects.get(pk=base.pk).problem


def test_one_payment_that_fails_delays_no_other(standin: StandIn, boss: User):
    people = [finished(f"A{number}")[0] for number in range(4)]
    approve(boss, *people)
    standin.misbehave("garbage", "assignment_status")
    paying.pay_due()
    assert sorted(states(*people)) == ["approved", "confirmed", "confirmed", "confirmed"]


@pytest.mark.parametrize(
    ("status", "expected_text"),
    [
        ("rejected", "rejected"), ("returned", "returned the assignment"), ("timed_out", "timed out"),
        ("unknown", "no such assignment"), ("somebody_else", "someone else"),
    ],
)  # fmt: skip
def test_a_wrong_assignment_is_not_paid_and_the_researcher_reads_why(
    standin: StandIn, boss: User, status: str, expected_text: str
):
    standin.statuses["A1"] = status
    base, bonus = finished("A1")
    approve(boss, base, bonus)
    settle()
    assert states(base, bonus) == ["failed", "failed"]
    assert expected_text in LedgerRow.objects.get(pk=base.pk).problem
    assert not standin.asked["prepare"] and not standin.paid

    del standin.statuses["A1"]
    approve(boss, base, bonus)
    settle()
    assert states(base, bonus) == ["confirmed", "confirmed"], "approving again recovers it"


def test_a_participant_is_paid_once_they_submit(standin: StandIn, boss: User):
    standin.statuses["A1"] = "working"
    base, _bonus = finished("A1")
    approve(boss, base)
    paying.pay_due()
    assert states(base) == ["approved"]
    assert "not submitted" in LedgerRow.objects.get(pk=base.pk).problem
    del standin.statuses["A1"]
    settle()
    assert states(base) == ["confirmed"]


def test_a_refusal_is_stored_without_naming_the_worker(standin: StandIn, boss: User):
    standin.refuses = "no money left for worker A1WORKER and assignment-of-A1WORKER"
    base, _bonus = finished("A1WORKER")
    approve(boss, base)
    settle()
    assert states(base) == ["failed"]
    texts = LedgerRow.objects.get(pk=base.pk).problem + "".join(Posting.objects.values_list("why", flat=True))
    assert "no money left" in texts and "A1WORKER" not in texts


def test_an_erased_participant_can_no_longer_be_paid_and_is_not_forgotten(standin: StandIn, boss: User):
    base, bonus = finished("A1")
    approve(boss, base, bonus)
    standin.misbehave("lost", "pay")
    paying.pay_due()
    Identity.objects.all().delete()
    settle()
    assert states(base) == ["unclear"]
    deciding.resolve(study=STUDY, row=base.pk, paid=True, user=boss, note="seen in the recruiter's list")
    settle()
    assert states(base, bonus) == ["confirmed", "failed"]


def test_an_approval_can_be_withdrawn_until_it_is_sent(standin: StandIn, boss: User):
    base, bonus = finished("A1")
    approve(boss, base, bonus)
    assert deciding.withdraw(study=STUDY, rows=keys(base, bonus), user=boss) == 2
    settle()
    assert states(base, bonus) == ["due", "due"] and not standin.paid
    approve(boss, base)
    settle()
    assert deciding.withdraw(study=STUDY, rows=keys(base), user=boss) == 0
    assert states(base) == ["confirmed"]


def test_a_restored_backup_pays_nothing_without_a_new_decision(standin: StandIn, boss: User):
    base, bonus = finished("A1")
    approve(boss, base, bonus)
    call_command("withdraw_approvals")
    settle()
    assert states(base, bonus) == ["due", "due"] and not standin.paid


def test_the_limit_counts_fees_and_what_was_approved_before(standin: StandIn, boss: User):
    first, second = finished("A1"), finished("A2")
    deciding.set_limit(study=STUDY, currency="USD", most=Decimal("4.79"))
    approve(boss, *first)
    with pytest.raises(deciding.NotDone, match=r"4\.80 USD with fees \(1\.20 on top of 3\.60.*limit is 4\.79"):
        approve(boss, second[0])
    assert states(*second) == ["due", "due"]
    deciding.set_limit(study=STUDY, currency="USD", most=Decimal("4.80"))
    approve(boss, second[0])
    settle()
    assert states(*first, second[0]) == ["confirmed"] * 3
    with pytest.raises(deciding.NotDone, match="cannot be lower"):
        deciding.set_limit(study=STUDY, currency="USD", most=Decimal("1.00"))
    assert Limit.objects.get().most == Decimal("4.80")


def test_failed_and_withdrawn_rows_free_their_share_of_the_limit(standin: StandIn, boss: User):
    (base, bonus), other_rows = finished("A1"), finished("A2")
    standin.statuses["A1"] = "returned"
    deciding.set_limit(study=STUDY, currency="USD", most=Decimal("3.60"))
    approve(boss, base, bonus)
    settle()
    approve(boss, *other_rows)
    settle()
    assert states(base, bonus, *other_rows) == ["failed", "failed", "confirmed", "confirmed"]


@pytest.mark.parametrize("paid", [True, False])
def test_rows_without_answers_for_a_day_are_unclear_never_sent_again_and_resolved_by_a_person(
    standin: StandIn, boss: User, paid: bool
):
    base, _bonus = finished("A1")
    approve(boss, base)
    standin.misbehave("lost" if paid else "cut", "pay")
    standin.misbehave("refused", "look_up", times=40)
    paying.pay_due()
    for _hour in range(14):
        later(2)
        paying.pay_due()
    assert states(base) == ["unclear"] and "not answered for a day" in LedgerRow.objects.get(pk=base.pk).problem
    calls_before = standin.asked["pay"]
    standin.behave()
    settle()
    assert states(base) == ["unclear"] and standin.asked["pay"] == calls_before

    with pytest.raises(deciding.NotDone):
        deciding.resolve(study=STUDY, row=base.pk, paid=paid, user=boss, note="  ")
    deciding.resolve(study=STUDY, row=base.pk, paid=paid, user=boss, note="asked them")
    with pytest.raises(deciding.NotDone, match="no longer unclear"):
        deciding.resolve(study=STUDY, row=base.pk, paid=not paid, user=boss, note="asked them")
    if not paid:
        assert states(base) == ["failed"]
        approve(boss, base)
        settle()
    assert states(base) == ["confirmed"] and standin.times[str(base.uid)] == 1


def test_participants_without_a_marketplace_are_paid_by_hand(boss: User):
    base, bonus = finished("code", recruiter="codes")
    assert deciding.mark_paid(study=STUDY, rows=keys(base), user=boss, note="cash") == 0, "approved first"
    approve(boss, base, bonus)
    settle()
    assert states(base, bonus) == ["approved", "approved"], "Parley does not pay them"
    with pytest.raises(deciding.NotDone):
        deciding.mark_paid(study=STUDY, rows=keys(base), user=boss, note="")
    assert deciding.mark_paid(study=STUDY, rows=keys(base, bonus), user=boss, note="cash, list 3") == 2
    assert states(base, bonus) == ["confirmed", "confirmed"]
    assert base.postings.last().why == "cash, list 3"
    assert deciding.put_back(study=STUDY, rows=keys(bonus), user=boss, reason="wrong line") == 1
    assert states(base, bonus) == ["confirmed", "due"]


def test_a_row_the_recruiter_may_be_paying_cannot_be_marked_as_paid(standin: StandIn, boss: User):
    base, bonus = finished("A1")
    approve(boss, base)
    assert deciding.mark_paid(study=STUDY, rows=keys(base, bonus), user=boss, note="cash") == 0
    settle()
    assert deciding.put_back(study=STUDY, rows=keys(base), user=boss, reason="oops") == 0, "the recruiter paid it"
    assert states(base, bonus) == ["confirmed", "due"]


def test_written_off_rows_are_not_paid_and_can_be_made_due_again(standin: StandIn, boss: User):
    base, _bonus = finished("A1")
    assert deciding.write_off(study=STUDY, rows=keys(base), user=boss, reason="a colleague's test") == 1
    with pytest.raises(deciding.NotDone):
        approve(boss, base)
    assert states(base) == ["written_off"]
    assert deciding.put_back(study=STUDY, rows=keys(base), user=boss, reason="it was no test") == 1
    approve(boss, base)
    settle()
    assert states(base) == ["confirmed"] and standin.times[str(base.uid)] == 1


def test_pay_from_an_outside_experiment_has_its_own_books_and_is_never_paid(boss: User):
    base, bonus = finished("label", recruiter="otree")
    assert states(base, bonus) == ["elsewhere", "elsewhere"]
    with pytest.raises(deciding.NotDone):
        approve(boss, base, bonus)
    assert deciding.mark_paid(study=STUDY, rows=keys(base), user=boss, note="x") == 0
    balances = books.balances(STUDY)[STUDY, "USD"]
    assert balances[Account.ELSEWHERE] == -balances[Account.COST_ELSEWHERE] == Decimal("3.00")
    assert balances[Account.COST] == 0


def test_the_last_page_shows_the_status_of_the_pay(standin: StandIn, boss: User):
    base, bonus = finished("A1")
    person = base.enrolment
    (recorded,) = pay_status(person)
    assert recorded.startswith("Recorded.") and "through the site that brought" in recorded
    approve(boss, base)
    settle()
    of_base, of_bonus = pay_status(person)
    assert (
        of_base.startswith("For taking part: ")
        and of_base.endswith("has been paid.")
        and of_bonus.startswith("Bonus: Recorded.")
    )
    approve(boss, bonus)
    settle()
    assert pay_status(person) == ["This has been paid."]


def test_the_last_page_names_the_right_payment_method(boss: User):
    by_code, elsewhere = finished("code", recruiter="codes"), finished("label", recruiter="otree")
    assert "researchers will pay you themselves" in pay_status(by_code[0].enrolment)[0]
    assert "by the experiment that brought" in pay_status(elsewhere[0].enrolment)[0]
    deciding.write_off(study=STUDY, rows=keys(*by_code), user=boss, reason="a test of ours")
    assert "decided not to pay" in pay_status(by_code[0].enrolment)[0]


def test_the_database_refuses_to_change_the_books():
    base, _bonus = finished("A1")
    posting = base.postings.get()
    plain = QuerySet(Posting)
    changes = [
        lambda: plain.filter(pk=posting.pk).update(amount=9),
        lambda: plain.filter(pk=posting.pk).delete(),
        lambda: LedgerRow.objects.filter(pk=base.pk).update(amount=9),
        lambda: LedgerRow.objects.filter(pk=base.pk).update(currency="EUR"),
        lambda: connection.cursor().execute("DELETE FROM payouts_ledgerrow"),
    ]
    for change in changes:
        with pytest.raises(DatabaseError, match="never changed"), transaction.atomic():
            change()
    for change in (posting.save, posting.delete, lambda: Posting.objects.update(amount=9)):
        with pytest.raises(Unchangeable):
            change()


def test_errors_in_the_books_are_found():
    base, _bonus = finished("A1")
    LedgerRow.objects.filter(pk=base.pk).update(state="approved")
    expected_text = "\n".join(map(str, books.check()))
    assert "“approved” holds 0.00 USD, but" in expected_text
    assert f"the postings of row {base.uid} do not match its state" in expected_text
    with pytest.raises(CommandError, match="but its rows sum to"):
        call_command("check_books")
    LedgerRow.objects.filter(pk=base.pk).update(state="due")
    call_command("check_books", STUDY)
