"""What the journeys through Mechanical Turk's stand-in do to a live stack's data; run inside it by `Stack.call`."""

from __future__ import annotations

import time
from collections import Counter
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from marketplaces.models import Recruitment
from marketplaces.mturk import comparing
from marketplaces.mturk.arriving import KEY
from matches.models import Seat
from participants import services as people
from participants.models import Enrolment
from participants.states import State
from payouts import books, deciding
from payouts.models import LedgerRow
from recruiters.models import Identity
from studies.models import Study
from tests import deeds

PATIENCE = 240.0


def key_of(slug: str) -> int:
    """The study's key."""
    return Study.objects.get(slug=slug).pk


def walk(path: str, ending: str) -> str:
    """The person whose page this is goes on until their way has this ending; returns where they stand then."""
    person = _by(path)
    answer(person, agree="yes")
    if ending == State.WITHDREW:
        people.withdraw(enrolment_id=person.pk)
        return _state(person)
    answer(person, name="Robin")
    answer(person, code_word="certainly-not-it" if ending == State.FAILED_CODE_WORD else person.code_word)
    if ending in (State.FAILED_CODE_WORD, State.PLAYING):
        people.show_step(enrolment_id=person.pk)
        return _state(person)
    if ending in (State.COMPLETED, State.FAILED_QUIZ, State.QUIZ):
        people.show_step(enrolment_id=person.pk)
        _play(path, person)
        if ending != State.QUIZ:
            _answer_quiz(person, rightly=ending == State.COMPLETED)
        return _state(person)
    deeds.end(path, ending)
    return _state(person)


def answer(person: Enrolment, **data: str) -> None:
    """The person sees the page where they stand, and answers it."""
    shown, _step = people.show_step(enrolment_id=person.pk)
    people.answer_step(enrolment_id=person.pk, position=shown.position, data=data)


def _play(path: str, person: Enrolment) -> None:
    until = time.monotonic() + PATIENCE
    while deeds.move(path, "fair", patience=PATIENCE):
        if time.monotonic() > until:
            raise TimeoutError("the match does not end")
    while Seat.objects.get(enrolment=person).match.status != "finished":
        time.sleep(0.1)
    answer(person)


def _answer_quiz(person: Enrolment, *, rightly: bool) -> None:
    match = Seat.objects.get(enrolment=person).match
    given = {}
    for question in match.configured().quiz("alice"):
        wrong = next(option for option in question.options if option != question.answer)
        given[question.key] = question.answer if rightly else wrong
    answer(person, **given)


def fall_silent(worker: str, minutes: int) -> None:
    """The worker's page has said nothing for so long; they came before that."""
    then = timezone.now() - timedelta(minutes=minutes)
    Enrolment.objects.filter(identity__worker=worker).update(last_seen_at=then, arrived_at=then)


def run_out(worker: str) -> None:
    """The study's time for this worker is over."""
    Enrolment.objects.filter(identity__worker=worker).update(expires_at=timezone.now() - timedelta(seconds=1))
    people.drop_absent()


def states(slug: str) -> dict[str, int]:
    """How many people of the study are in each state."""
    found = Identity.objects.filter(study=slug, recruiter=KEY).values_list("enrolment__state", flat=True)
    return dict(Counter(found))


def advice(slug: str) -> list[str]:
    """What the study's desk advises."""
    return [line.advice for line in comparing.lines_of(Study.objects.get(slug=slug)) if line.advice]


def trouble(slug: str) -> str:
    """What the recruitment says is wrong."""
    return Recruitment.objects.get(study__slug=slug).problem


def approve_all(slug: str) -> int:
    """An owner approves all that is due in the study; returns how many rows."""
    rows = list(LedgerRow.objects.filter(study=slug, state=LedgerRow.State.DUE).values_list("pk", flat=True))
    deciding.approve(study=slug, rows=rows, who=User.objects.filter(is_superuser=True).first())
    return len(rows)


def ledger(slug: str) -> list[dict[str, Any]]:
    """The study's rows: who (worker), reason, amount, state."""
    rows = LedgerRow.objects.filter(study=slug).select_related("enrolment__identity")
    return [
        {
            "worker": row.enrolment.identity.worker,
            "reason": row.reason,
            "amount": str(row.amount),
            "state": row.state,
            "problem": row.problem,
        }
        for row in rows
    ]


def await_pay(slug: str) -> None:
    """Until no row of the study is on its way any more."""
    until = time.monotonic() + PATIENCE
    under_way = LedgerRow.objects.filter(study=slug, state__in=["approved", "sent"])
    while under_way.exists():
        if time.monotonic() > until:
            raise TimeoutError(f"not paid: {list(under_way.values('state', 'problem'))}")
        time.sleep(0.2)


def books_agree() -> list[str]:
    """What is wrong with the books; nothing."""
    return [str(one) for one in books.check()]


def _by(path: str) -> Enrolment:
    return Enrolment.objects.get(token=path.split("/")[2])


def _state(person: Enrolment) -> str:
    return Enrolment.objects.values_list("state", flat=True).get(pk=person.pk)
