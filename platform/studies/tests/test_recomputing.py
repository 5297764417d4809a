"""`check_people` recomputes everybody's pay from the log alone, and names each difference."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import F
from django.test import Client

from audit import guard
from matches.models import Event, Match
from participants.models import Enrolment
from participants.states import State
from payouts.models import LedgerRow, Posting
from studies import recomputing
from studies.models import PeopleCheck
from studies.tests import test_states as reaching
from tests.visitors import EQUAL_SPLIT, Visitor, arrived_participant, launched_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return launched_study(quiz=False)


@pytest.fixture
def visitor(study) -> Visitor:
    """Someone who played a match and was paid for it."""
    visitor = Visitor(arrived_participant(study)).walk_to("match")
    visitor.move(**EQUAL_SPLIT)
    visitor.let_agent_answer()
    assert found() == []
    return visitor


def found() -> list[str]:
    return [each.message for each in recomputing.discrepancies()]


def change_ledger(**values: object) -> None:
    """Change the base pay's row, which the database refuses unless its guard is removed."""
    guard.remove(connection)
    LedgerRow.objects.filter(reason="base").update(**values)
    guard.install(connection)


def delete_base_pay() -> None:
    guard.remove(connection)
    row = LedgerRow.objects.get(reason="base")
    connection.cursor().execute("DELETE FROM payouts_posting WHERE row_id = %s", [row.pk])
    connection.cursor().execute("DELETE FROM payouts_ledgerrow WHERE id = %s", [row.pk])
    guard.install(connection)
    assert not Posting.objects.filter(row=row).exists()


def change_last_page() -> None:
    person = Enrolment.objects.get()
    Enrolment.objects.update(earnings={**person.earnings, "total": "$9.00"})


def change_offer() -> None:
    event = Event.objects.get(kind="move", role="alice")
    Event.objects.filter(pk=event.pk).update(data={**event.data, "move": {"alice_gain": 6000.0, "bob_gain": 4000.0}})


CORRUPTIONS: list[tuple[Callable[[], object], list[str]]] = [
    (lambda: change_ledger(amount="2.50"), ["base pay of $2.50, but the log gives $1.00"]),
    (lambda: change_ledger(currency="EUR"), ["base pay of €1.00, but the log gives $1.00"]),
    (delete_base_pay, ["is owed base pay of $1.00"]),
    (change_last_page, ["shows $9.00, but the log gives $2.00"]),
    (lambda: Enrolment.objects.update(earnings=None), ["shows no pay, but the log gives $2.00"]),
    (lambda: Match.objects.update(payoffs={"alice": 1.0, "bob": 1.0}), ["the stored payoffs of match"]),
    (lambda: Match.objects.update(snapshot={}), []),
    (change_offer, ["cannot be replayed: Event 4"]),
    (lambda: Event.objects.filter(kind="end").delete(), ["a match cannot be replayed"]),
    (
        lambda: Enrolment.objects.update(state=State.DROPPED_OUT),
        ["ended as “dropped out” instead of completed", "the ledger owes bonus of $1.00", "shows"],
    ),
    (
        lambda: Enrolment.objects.update(state=State.PLAYING, ended_at=None, position=F("position")),
        ["no step is left, but is not completed"],
    ),
]


@pytest.mark.parametrize(("corrupt", "messages"), CORRUPTIONS)
def test_each_corruption_is_named(visitor, corrupt, messages):
    corrupt()
    named = found()
    assert len(named) == len(messages), named
    for message, sentence in zip(messages, named, strict=True):
        assert message in sentence and sentence.startswith(visitor.enrolment.pseudonym)


def test_a_payment_without_reason_is_named(study):
    visitor = Visitor(arrived_participant(study)).walk_to("match")
    reaching.run_out_of_time(visitor)
    assert found() == [] and not LedgerRow.objects.exists()
    Enrolment.objects.update(state=State.OPPONENT_FAILED)
    base, bonus, page = found()
    assert "is owed base pay of $1.00" in base and "is owed bonus of $1.00" in bonus
    assert "shows $0.00, but the log gives $2.00" in page


def test_command_fails_with_the_sentences_and_runs_in_check_books(visitor):
    call_command("check_people", stdout=(out := StringIO()))
    assert "1 participants checked" in out.getvalue()
    change_last_page()
    with pytest.raises(CommandError, match="1 differences"):
        call_command("check_people", "splitting", stdout=(out := StringIO()))
    assert "splitting: p-" in out.getvalue() and "shows $9.00" in out.getvalue()
    with pytest.raises(CommandError, match="the last page shows"):
        call_command("check_books")


def test_nightly_result_is_shown_to_operators_and_on_the_pay_page(visitor, study):
    from paydesk.status import book_errors

    change_last_page()
    for _night in range(2):
        recomputing.check_and_store()
    assert (PeopleCheck.objects.get().people, len(PeopleCheck.objects.get().differences)) == (1, 1)
    assert Client().get("/health/ready").json()["pay_differences"] == 1
    assert "shows $9.00" in book_errors(study)[0]
