"""Paying: what is approved is paid exactly once, whatever the recruiter's interface does, and nobody is forgotten."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from importlib import import_module

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from participants.paid import told
from payouts import books, deciding, guard, paying
from payouts.models import Account, LedgerRow, Limit, Posting, Transfer, Unchangeable
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
    deciding.approve(study=STUDY, rows=keys(*rows), who=boss)


def later(hours: float = 2) -> None:
    """So much time passes: leases run out, waits end, what was asked was asked long ago."""
    ago = timedelta(hours=hours)
    Transfer.objects.update(until=F("until") - ago, next_at=F("next_at") - ago)
    Transfer.objects.exclude(asked_at=None).update(asked_at=F("asked_at") - ago)
    LedgerRow.objects.exclude(sent_at=None).update(sent_at=F("sent_at") - ago)


def settle(rounds: int = 12) -> None:
    """The sweep comes again and again, until nothing is under way."""
    for _round in range(rounds):
        paying.pay_due()
        if not LedgerRow.objects.filter(state__in=OPEN).exists():
            return
        later()


def states(*rows: LedgerRow) -> list[str]:
    return [LedgerRow.objects.get(pk=row.pk).state for row in rows]


# ---- all goes well ---------------------------------------------------------------------------------


def test_nothing_is_paid_that_nobody_approved(standin: StandIn):
    rows = finished("A1")
    settle()
    assert states(*rows) == ["due", "due"]
    assert not standin.asked


def test_what_is_approved_is_paid_once_base_before_bonus(standin: StandIn, boss: User):
    base, bonus = finished("A1")
    approve(boss, base, bonus)
    settle()
    assert states(base, bonus) == ["confirmed", "confirmed"]
    assert standin.paid == [(str(base.uid), "1.00"), (str(bonus.uid), "2.00")]


def test_every_step_is_in_the_journal_with_who_and_why(standin: StandIn, boss: User):
    base, _bonus = finished("A1")
    approve(boss, base)
    settle()
    journal = [(one.debit, one.credit, one.amount, one.by) for one in base.postings.all()]
    assert journal == [
        ("cost", "owed", Decimal("1.00"), ""),
        ("owed", "approved", Decimal("1.00"), "boss"),
        ("approved", "in_transit", Decimal("1.00"), ""),
        ("in_transit", "paid", Decimal("1.00"), ""),
    ]
    row = LedgerRow.objects.get(pk=base.pk)
    assert row.approved_by == "boss" and row.approved_at <= row.sent_at <= row.settled_at
    assert row.fee == Decimal("0.20")


def test_balances_follow_the_money(standin: StandIn, boss: User):
    base, _bonus = finished("A1")
    approve(boss, base)
    settle()
    held = books.balances(STUDY)[STUDY, "USD"]
    assert {name: amount for name, amount in held.items() if amount} == {
        Account.COST: Decimal("-3.00"), Account.OWED: Decimal("2.00"), Account.PAID: Decimal("1.00"),
    }  # fmt: skip
    assert sum(held.values()) == 0


def test_an_order_that_is_only_taken_is_asked_about_until_it_is_confirmed(standin: StandIn, boss: User):
    standin.later = True
    base, bonus = finished("A1")
    approve(boss, base, bonus)
    paying.pay_due()
    assert states(base, bonus) == ["sent", "approved"]
    settle()
    assert states(base, bonus) == ["confirmed", "confirmed"]
    assert set(standin.times.values()) == {1}


def test_an_order_that_is_never_confirmed_comes_to_a_person_after_a_week(standin: StandIn, boss: User):
    standin.later = True
    base, _bonus = finished("A1")
    approve(boss, base)
    paying.pay_due()
    later(24 * 8)
    paying.pay_due()
    assert states(base) == ["unclear"]
    assert standin.times[str(base.uid)] == 1


def test_a_recruiter_that_took_an_order_and_then_falls_silent_brings_it_to_a_person_after_a_week(
    standin: StandIn, boss: User
):
    standin.later = True
    base, _bonus = finished("A1")
    approve(boss, base)
    paying.pay_due()
    standin.fail("look_up", *["error_before"] * 5)
    for _time in range(2):
        later(48)
        paying.pay_due()
        assert states(base) == ["sent"]
    later(24 * 4)
    paying.pay_due()
    assert states(base) == ["unclear"] and standin.times[str(base.uid)] == 1
    assert "took it a week ago" in LedgerRow.objects.get(pk=base.pk).problem


def test_an_order_that_turns_out_to_be_taken_after_a_day_is_not_said_to_be_unanswered(standin: StandIn, boss: User):
    standin.later = True
    base, _bonus = finished("A1")
    approve(boss, base)
    standin.fail("pay", "drop_after")
    paying.pay_due()
    later(30)
    paying.pay_due()
    assert states(base) == ["sent"], "it was taken, and is asked about until it is confirmed"
    later()
    paying.pay_due()
    assert states(base) == ["confirmed"] and standin.times[str(base.uid)] == 1


# ---- the interface fails ---------------------------------------------------------------------------


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("asked", ["assignment_status", "prepare", "pay", "look_up"])
def test_whatever_fails_everybody_is_paid_once(standin: StandIn, boss: User, asked: str, fault: str):
    base, bonus = finished("A1")
    other, _ = finished("A2")
    approve(boss, base, bonus, other)
    if asked == "look_up":
        standin.fail("pay", "drop_after")
    standin.fail(asked, fault)
    paying.pay_due(most=1)
    assert "confirmed" not in states(base), "the failed payment is seen"
    assert LedgerRow.objects.get(pk=base.pk).problem
    settle()
    assert states(base, bonus, other) == ["confirmed"] * 3
    assert standin.times == {str(row.uid): 1 for row in (base, bonus, other)}
    assert not any(LedgerRow.objects.values_list("problem", flat=True))


def test_an_order_without_an_answer_is_looked_up_before_anything_else(standin: StandIn, boss: User):
    base, _bonus = finished("A1")
    approve(boss, base)
    standin.fail("pay", "error_after")
    paying.pay_due()
    assert states(base) == ["sent"] and standin.asked["pay"] == 1
    settle()
    assert standin.asked["pay"] == 1 and states(base) == ["confirmed"]


def test_an_order_without_an_answer_rests_before_it_is_looked_up(standin: StandIn, boss: User):
    base, _bonus = finished("A1")
    approve(boss, base)
    standin.fail("pay", "drop_before")
    paying.pay_due()
    Transfer.objects.update(next_at=timezone.now())
    paying.pay_due()
    assert not standin.asked["look_up"], "it may still be on its way"
    settle()
    assert states(base) == ["confirmed"] and standin.times[str(base.uid)] == 1


def test_an_interface_that_stays_silent_brings_the_row_to_a_person_after_a_day(standin: StandIn, boss: User):
    base, _bonus = finished("A1")
    approve(boss, base)
    standin.fail("pay", "drop_before")
    standin.fail("look_up", *["error_before"] * 100)
    paying.pay_due()
    for _hour in range(14):
        later(2)
        paying.pay_due()
    assert states(base) == ["unclear"]
    assert "has not answered for a day" in LedgerRow.objects.get(pk=base.pk).problem
    assert not standin.paid


def test_waits_grow_and_are_seen(standin: StandIn, boss: User):
    base, _bonus = finished("A1")
    approve(boss, base)
    standin.fail("assignment_status", *["error_before"] * 3)
    waits = []
    for _try in range(3):
        paying.pay_due()
        transfer = Transfer.objects.get(row=base)
        waits.append((transfer.next_at - timezone.now()).total_seconds())
        Transfer.objects.update(next_at=timezone.now())
    assert 20 < waits[0] < waits[1] < waits[2]
    assert "did not answer" in LedgerRow.objects.get(pk=base.pk).problem


def test_one_persons_error_delays_nobody_else(standin: StandIn, boss: User):
    people = [finished(f"A{number}")[0] for number in range(4)]
    approve(boss, *people)
    standin.fail("assignment_status", "nonsense_before")
    paying.pay_due()
    assert sorted(states(*people)) == ["approved", "confirmed", "confirmed", "confirmed"]


# ---- the assignment's status ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "says"),
    [
        ("rejected", "rejected"),
        ("returned", "gave their assignment back"),
        ("timed_out", "ran out"),
        ("unknown", "no such assignment"),
        ("somebody_else", "somebody else"),
    ],
)
def test_whoever_is_not_who_we_think_is_not_paid_and_the_researcher_reads_why(
    standin: StandIn, boss: User, status: str, says: str
):
    standin.statuses["A1"] = status
    base, bonus = finished("A1")
    approve(boss, base, bonus)
    settle()
    assert states(base, bonus) == ["failed", "failed"]
    assert says in LedgerRow.objects.get(pk=base.pk).problem
    assert not standin.asked["prepare"] and not standin.paid

    del standin.statuses["A1"]
    approve(boss, base, bonus)
    settle()
    assert states(base, bonus) == ["confirmed", "confirmed"], "it is recovered by approving again"


def test_whoever_has_not_handed_in_yet_is_paid_when_they_have(standin: StandIn, boss: User):
    standin.statuses["A1"] = "working"
    base, _bonus = finished("A1")
    approve(boss, base)
    paying.pay_due()
    assert states(base) == ["approved"]
    assert "not handed in" in LedgerRow.objects.get(pk=base.pk).problem
    del standin.statuses["A1"]
    settle()
    assert states(base) == ["confirmed"]


def test_a_refusal_is_kept_without_naming_the_worker(standin: StandIn, boss: User):
    standin.refuses = "no money left for worker A1WORKER and assignment-of-A1WORKER"
    base, _bonus = finished("A1WORKER")
    approve(boss, base)
    settle()
    assert states(base) == ["failed"]
    said = LedgerRow.objects.get(pk=base.pk).problem + "".join(Posting.objects.values_list("why", flat=True))
    assert "no money left" in said and "A1WORKER" not in said


def test_whoever_was_erased_cannot_be_paid_any_more_and_is_not_forgotten(standin: StandIn, boss: User):
    base, bonus = finished("A1")
    approve(boss, base, bonus)
    standin.fail("pay", "drop_after")
    paying.pay_due()
    Identity.objects.all().delete()
    settle()
    assert states(base) == ["unclear"]
    deciding.resolve(study=STUDY, row=base.pk, paid=True, who=boss, note="seen in the recruiter's list")
    settle()
    assert states(base, bonus) == ["confirmed", "failed"]


# ---- what people decide ----------------------------------------------------------------------------


def test_an_approval_can_be_withdrawn_until_it_is_sent(standin: StandIn, boss: User):
    base, bonus = finished("A1")
    approve(boss, base, bonus)
    assert deciding.withdraw(study=STUDY, rows=keys(base, bonus), who=boss) == 2
    settle()
    assert states(base, bonus) == ["due", "due"] and not standin.paid
    approve(boss, base)
    settle()
    assert deciding.withdraw(study=STUDY, rows=keys(base), who=boss) == 0
    assert states(base) == ["confirmed"]


def test_a_second_click_approves_nothing(standin: StandIn, boss: User):
    base, bonus = finished("A1")
    approve(boss, base, bonus)
    with pytest.raises(deciding.NotDone, match="None of these"):
        approve(boss, base, bonus)
    assert base.postings.count() == 2


def test_rows_of_another_study_cannot_be_touched(standin: StandIn, boss: User):
    base, _bonus = finished("A1", study="another")
    with pytest.raises(deciding.NotDone):
        approve(boss, base)
    assert deciding.write_off(study=STUDY, rows=keys(base), who=boss, reason="mine") == 0
    assert states(base) == ["due"]


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


def test_what_failed_or_was_withdrawn_frees_its_share_of_the_limit(standin: StandIn, boss: User):
    (base, bonus), other = finished("A1"), finished("A2")
    standin.statuses["A1"] = "returned"
    deciding.set_limit(study=STUDY, currency="USD", most=Decimal("3.60"))
    approve(boss, base, bonus)
    settle()
    approve(boss, *other)
    settle()
    assert states(base, bonus, *other) == ["failed", "failed", "confirmed", "confirmed"]


@pytest.mark.parametrize("paid", [True, False])
def test_what_is_unclear_is_never_sent_again_by_itself_and_a_person_resolves_it(
    standin: StandIn, boss: User, paid: bool
):
    base, _bonus = finished("A1")
    approve(boss, base)
    standin.fail("pay", "drop_after" if paid else "drop_before")
    standin.fail("look_up", *["error_before"] * 40)
    paying.pay_due()
    for _hour in range(14):
        later(2)
        paying.pay_due()
    assert states(base) == ["unclear"]
    asked = standin.asked["pay"]
    standin.faults.clear()
    settle()
    assert states(base) == ["unclear"] and standin.asked["pay"] == asked

    with pytest.raises(deciding.NotDone):
        deciding.resolve(study=STUDY, row=base.pk, paid=paid, who=boss, note="  ")
    deciding.resolve(study=STUDY, row=base.pk, paid=paid, who=boss, note="asked them")
    with pytest.raises(deciding.NotDone, match="no longer unclear"):
        deciding.resolve(study=STUDY, row=base.pk, paid=not paid, who=boss, note="asked them")
    if not paid:
        assert states(base) == ["failed"]
        approve(boss, base)
        settle()
    assert states(base) == ["confirmed"] and standin.times[str(base.uid)] == 1


def test_people_without_a_marketplace_are_paid_by_hand(boss: User):
    base, bonus = finished("code", recruiter="codes")
    assert deciding.mark_paid(study=STUDY, rows=keys(base), who=boss, note="cash") == 0, "approved first"
    approve(boss, base, bonus)
    settle()
    assert states(base, bonus) == ["approved", "approved"], "nobody here pays them"
    with pytest.raises(deciding.NotDone):
        deciding.mark_paid(study=STUDY, rows=keys(base), who=boss, note="")
    assert deciding.mark_paid(study=STUDY, rows=keys(base, bonus), who=boss, note="cash, list 3") == 2
    assert states(base, bonus) == ["confirmed", "confirmed"]
    assert base.postings.last().why == "cash, list 3"
    assert deciding.put_back(study=STUDY, rows=keys(bonus), who=boss, reason="wrong line") == 1
    assert states(base, bonus) == ["confirmed", "due"]


def test_what_a_recruiter_may_be_paying_now_cannot_be_marked_as_paid(standin: StandIn, boss: User):
    base, bonus = finished("A1")
    approve(boss, base)
    assert deciding.mark_paid(study=STUDY, rows=keys(base, bonus), who=boss, note="cash") == 0
    settle()
    assert deciding.put_back(study=STUDY, rows=keys(base), who=boss, reason="oops") == 0, "the recruiter paid it"
    assert states(base, bonus) == ["confirmed", "due"]


def test_what_is_written_off_is_not_paid_and_can_be_put_back(standin: StandIn, boss: User):
    base, _bonus = finished("A1")
    assert deciding.write_off(study=STUDY, rows=keys(base), who=boss, reason="a colleague's test") == 1
    with pytest.raises(deciding.NotDone):
        approve(boss, base)
    assert states(base) == ["written_off"]
    assert deciding.put_back(study=STUDY, rows=keys(base), who=boss, reason="it was no test") == 1
    approve(boss, base)
    settle()
    assert states(base) == ["confirmed"] and standin.times[str(base.uid)] == 1


def test_what_an_experiment_elsewhere_pays_is_in_books_of_its_own_and_never_paid(boss: User):
    base, bonus = finished("label", recruiter="otree")
    assert states(base, bonus) == ["elsewhere", "elsewhere"]
    with pytest.raises(deciding.NotDone):
        approve(boss, base, bonus)
    assert deciding.mark_paid(study=STUDY, rows=keys(base), who=boss, note="x") == 0
    held = books.balances(STUDY)[STUDY, "USD"]
    assert held[Account.ELSEWHERE] == -held[Account.COST_ELSEWHERE] == Decimal("3.00")
    assert held[Account.COST] == 0


# ---- what the worker reads -------------------------------------------------------------------------


def test_the_last_page_says_how_far_the_pay_is(standin: StandIn, boss: User):
    base, bonus = finished("A1")
    person = base.enrolment
    assert told(person) == [
        "It is noted. Once the researchers have approved it, it is paid through the page that brought you here."
    ]
    approve(boss, base)
    settle()
    assert told(person)[0] == "For taking part: It has been paid." and told(person)[1].startswith("Bonus: It is noted.")
    approve(boss, bonus)
    settle()
    assert told(person) == ["It has been paid."]


def test_the_last_page_promises_nobody_a_way_of_paying_that_is_not_theirs(boss: User):
    by_code, elsewhere = finished("code", recruiter="codes"), finished("label", recruiter="otree")
    assert told(by_code[0].enrolment) == ["It is noted. The researchers pay it to you themselves."]
    assert told(elsewhere[0].enrolment) == [
        "The experiment that brought you here pays this to you, with whatever else you earn there."
    ]
    deciding.write_off(study=STUDY, rows=keys(*by_code), who=boss, reason="a test of ours")
    assert "decided not to pay" in told(by_code[0].enrolment)[0]


# ---- what the database keeps -----------------------------------------------------------------------


def test_the_database_refuses_to_change_what_is_in_the_books():
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


def test_books_that_do_not_agree_are_found():
    base, _bonus = finished("A1")
    LedgerRow.objects.filter(pk=base.pk).update(state="approved")
    says = "\n".join(map(str, books.check()))
    assert "the account “approved” holds 0.00 USD, its rows say 1.00" in says
    assert f"the journal of row {base.uid} does not lead to its state" in says
    with pytest.raises(CommandError, match="its rows say"):
        call_command("check_books")
    LedgerRow.objects.filter(pk=base.pk).update(state="due")
    call_command("check_books", STUDY)


def test_rows_of_before_get_a_journal(standin: StandIn):
    base, bonus = finished("A1")
    elsewhere, _ = finished("label", recruiter="otree")
    guard.take_down(connection)
    connection.cursor().execute("DELETE FROM payouts_posting")
    LedgerRow.objects.update(study="", recruiter="")
    LedgerRow.objects.filter(pk=bonus.pk).update(state="confirmed")
    LedgerRow.objects.filter(pk=elsewhere.pk).update(state="due")
    guard.put_up(connection)
    import_module("payouts.migrations.0002_journal").open_books(apps, None)
    assert books.check() == []
    assert states(base, bonus, elsewhere) == ["due", "confirmed", "elsewhere"]
    assert LedgerRow.objects.get(pk=base.pk).recruiter == "standin"
