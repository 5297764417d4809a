"""Payment lists: no payment is on two, and each returned payment is settled or left to a person with a reason."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.contrib.auth.models import User

from panels import lists
from panels.models import KIND, Panel, PaymentList
from participants.models import Enrolment
from payouts import books, deciding, paying
from payouts.deciding import NotDone
from payouts.models import LedgerRow
from payouts.tests.people import finished
from recruiters.models import Identity
from recruiters.uploads import BadFile

pytestmark = pytest.mark.django_db
HEAD = "id,amount\n"


@pytest.fixture
def panel(panel_of) -> Panel:
    return panel_of()[0]


@pytest.fixture
def payment_list(panel, boss) -> PaymentList:
    """A list of A1 and B2, who are owed 3.00 each."""
    for worker in ("A1", "B2"):
        _finish(worker)
    _approve(boss)
    return lists.create(panel.study, user=boss)


def _finish(worker: str) -> Enrolment:
    base, _bonus = finished(worker, recruiter=KIND, study="splitting")
    details = {"person": worker, "task": "", "session": ""}
    Identity.objects.filter(enrolment=base.enrolment).update(details=details)
    return base.enrolment


def _approve(boss: User) -> None:
    rows = LedgerRow.objects.filter(state__in=("due", "failed")).values_list("pk", flat=True)
    deciding.approve(study="splitting", rows=list(rows), user=boss)


def states(worker: str) -> set[str]:
    return set(LedgerRow.objects.filter(enrolment__identity__worker=worker).values_list("state", flat=True))


def reconcile_report(payment_list, panel, boss, text: str, *, rest_failed: bool = False):
    findings = lists.reconcile(
        payment_list, panel, lists.read(text.encode(), panel), user=boss, rest_failed=rest_failed
    )
    assert not books.check("splitting")
    return findings


def test_list_has_one_line_per_person_in_the_panels_columns(payment_list, panel):
    panel.columns = "worker = person\nsum = amount\nthereof bonus = bonus\nnote = reference"
    pseudonym = Enrolment.objects.get(identity__worker="A1").pseudonym
    lines = b"".join(lists.as_csv(payment_list, panel)).decode().splitlines()
    assert lines[:2] == ["worker,sum,thereof bonus,note", f"A1,3.00,2.00,splitting-1-{pseudonym}"]
    assert len(lines) == 3


def test_listed_payment_cannot_be_paid_in_another_way(payment_list, panel, boss):
    with pytest.raises(NotDone):
        lists.create(panel.study, user=boss)
    rows = list(LedgerRow.objects.values_list("pk", flat=True))
    assert deciding.withdraw(study="splitting", rows=rows, user=boss) == 0
    assert deciding.mark_paid(study="splitting", rows=rows, user=boss, note="cash") == 0
    assert paying.pay_due() == 0
    assert states("A1") == {"sent"}


def test_matching_payments_are_confirmed_once(payment_list, panel, boss):
    text = HEAD + "A1,3.00\nB2,$3\n"
    assert reconcile_report(payment_list, panel, boss, text).confirmed == 4
    again = reconcile_report(payment_list, panel, boss, text)
    assert (again.confirmed, again.settled_before) == (0, 2) and states("A1") == states("B2") == {"confirmed"}
    assert b"".join(lists.as_csv(payment_list, panel)).decode().splitlines() == ["id,amount,currency,reference"]


@pytest.mark.parametrize(
    ("text", "expected_text"),
    [
        ("A1,4.00\nB2,3.00\n", "says 4.00, but 3.00 is due"),
        ("A1,2.00\nB2,3.00\n", "says 2.00, but 3.00 is due"),
        ("A1,3.00\nA1,3.00\nB2,3.00\n", "2 times, with a total of 6.00"),
        ("A1,1.00\nB2,3.00\nA1,2.00\n", "2 times, with a total of 3.00"),
    ],
)
def test_different_amount_or_repeated_line_is_unclear(payment_list, panel, boss, text, expected_text):
    findings = reconcile_report(payment_list, panel, boss, HEAD + text)
    assert states("A1") == {"unclear"} and states("B2") == {"confirmed"}
    assert (findings.confirmed, findings.unclear) == (2, 2) and expected_text in findings.remarks[0].reason
    assert expected_text in LedgerRow.objects.filter(state="unclear")[0].problem
    row = LedgerRow.objects.filter(state="unclear")[0]
    deciding.resolve(study="splitting", row=row.pk, paid=True, user=boss, note="Seen at the panel.")


def test_missing_person_stays_open_or_fails(payment_list, panel, boss):
    findings = reconcile_report(payment_list, panel, boss, HEAD + "A1,3.00\n")
    assert len(findings.missing) == 1 and states("B2") == {"sent"}
    reconcile_report(payment_list, panel, boss, HEAD + "A1,3.00\n", rest_failed=True)
    assert states("B2") == {"failed"} and states("A1") == {"confirmed"}
    _approve(boss)
    second = lists.create(panel.study, user=boss)
    assert second.number == 2 and reconcile_report(second, panel, boss, HEAD + "B2,3.00\n").confirmed == 2
    assert reconcile_report(payment_list, panel, boss, HEAD + "B2,3.00\n").confirmed == 0


def test_zero_amount_fails_with_the_reason(payment_list, panel, boss):
    findings = reconcile_report(payment_list, panel, boss, HEAD + "A1,0\nB2,3.00\n")
    assert states("A1") == {"failed"} and "nothing was paid" in findings.remarks[0].reason


def test_additional_person_is_reported_without_effect(payment_list, panel, boss):
    third = _finish("C3")
    findings = reconcile_report(payment_list, panel, boss, HEAD + "A1,3.00\nB2,3.00\nC3,3.00\nZ9,5.00\n")
    assert states("C3") == {"due"}
    reasons = [remark.reason for remark in findings.remarks]
    assert third.pseudonym in reasons[0] and "Nobody with this ID" in reasons[1] and "Z9" not in " ".join(reasons)
    assert [remark.line for remark in findings.remarks] == [4, 5]


@pytest.mark.parametrize(
    ("data", "expected_text"),
    [
        (b"", "name each of the columns"), (b"person,amount\nA1,3.00\n", "“id”, “amount”"),
        (b"id,amount,id\nA1,3.00,B2\n", "name each of the columns"), (b"id,amount\n", "no payment"),
        (b"id,amount\nA1,three\n", "not a valid amount"), (b"id,amount\nA1,-3\n", "not a valid amount"),
        (b"id,amount\nA1,nan\n", "not a valid amount"), (b"id,amount\n,3.00\n", "The ID is missing"),
        (b"\xff\xfe\x00", "UTF-8"),
    ],
)  # fmt: skip
def test_invalid_file_is_refused_as_a_whole(payment_list, panel, data, expected_text):
    with pytest.raises(BadFile, match=expected_text):
        lists.read(data, panel)
    assert states("A1") == {"sent"}


def test_person_who_took_part_twice_has_one_line(panel, boss):
    _finish("A1")
    again, _bonus = finished("A1-again", recruiter=KIND, study="splitting")
    Identity.objects.filter(enrolment=again.enrolment).update(details={"person": "A1"})
    _approve(boss)
    payment_list = lists.create(panel.study, user=boss)
    assert b"A1,6.00" in b"".join(lists.as_csv(payment_list, panel))
    assert reconcile_report(payment_list, panel, boss, HEAD + "A1,6\n").confirmed == 4


def test_erased_participant_is_on_no_list(panel, boss):
    erased, _other = _finish("A1"), _finish("B2")
    _approve(boss)
    Identity.objects.filter(enrolment=erased).delete()
    payment_list = lists.create(panel.study, user=boss)
    assert set(payment_list.rows.values_list("enrolment__identity__worker", flat=True)) == {"B2"}


def test_unused_list_is_withdrawn_with_a_reason(payment_list, panel, boss):
    with pytest.raises(NotDone):
        lists.take_back(payment_list, user=boss, why="  ")
    assert lists.take_back(payment_list, user=boss, why="The file was lost.") == 4
    assert states("A1") == {"failed"} and not books.check("splitting")
    with pytest.raises(NotDone):
        lists.take_back(payment_list, user=boss, why="Again.")


def test_amounts_paid_by_the_panel_are_never_due(panel):
    Panel.objects.update(pays="bonuses")
    _finish("A1")
    assert dict(LedgerRow.objects.values_list("reason", "state")) == {"base": "elsewhere", "bonus": "due"}
    assert LedgerRow.objects.get(reason="base").amount == Decimal("1.00")
