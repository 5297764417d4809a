"""What the journeys with Prolific do inside a live stack; run by `Stack.call`."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from exports.tests import building
from marketplaces.prolific.models import Publication
from participants import services as people
from participants.models import Enrolment
from participants.states import State
from payouts import books, deciding
from payouts.models import LedgerRow
from tests import deeds

ENDED_BY_OTHERS = ("opponent_failed", "screened_out", "timed_out", "dropped_out")


def walk(path: str, until: str) -> str:
    """The person of this page goes on to a state or an ending; returns the state they are in."""
    person = Enrolment.objects.get(token=path.split("/")[2])
    _walk(person, until)
    person.refresh_from_db()
    return person.state


def _walk(person: Enrolment, until: str) -> None:
    people.show_step(enrolment_id=person.pk)
    if until == "arrived":
        return
    building.answer(person, agree="yes")
    if until == "consented":
        return
    building.answer(person, name="Robin")
    people.show_step(enrolment_id=person.pk)
    if until == "failed_code_word":
        building.read_instructions(person, word="wrong")
        return
    if until == "instructed":
        return
    building.read_instructions(person)
    people.show_step(enrolment_id=person.pk)
    if until in ENDED_BY_OTHERS:
        with transaction.atomic():
            people.end(people.locked(person.pk), State(until))
        return
    if until in ("playing", "withdrew", "returned"):
        return
    while deeds.move(person.get_absolute_url(), "fair", patience=120):
        pass
    if until == "quiz":
        building.answer(person)
        people.show_step(enrolment_id=person.pk)
        return
    building.answer_quiz(person, rightly=until == "completed")


def state_of(path: str) -> str:
    return Enrolment.objects.get(token=path.split("/")[2]).state


def codes_of(slug: str) -> dict[str, str]:
    return Publication.objects.get(study__slug=slug).codes


def approve_all(slug: str) -> int:
    """Approve everything that is due in the study; returns how many rows."""
    due = list(LedgerRow.objects.filter(study=slug, state=LedgerRow.State.DUE).values_list("pk", flat=True))
    deciding.approve(study=slug, rows=due, who=User.objects.filter(is_superuser=True).first())
    return len(due)


def ledger(slug: str) -> dict[str, Any]:
    """The study's ledger: rows by state, cents by reason, and whether the books agree."""
    rows = list(LedgerRow.objects.filter(study=slug))
    cents: Counter[str] = Counter()
    for row in rows:
        cents[row.reason] += int(row.amount * 100)
    return {
        "states": dict(Counter(row.state for row in rows)),
        "cents": dict(cents),
        "wrong": [str(one) for one in books.check(slug)],
    }
