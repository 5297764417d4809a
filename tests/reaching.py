"""Bring participants into each state by actions of people, clock and researchers; `Stack.call` runs them.

Screen-outs and waiting need the study's second version (`launch_second_version`), which asks a question
before the game and has a slow opponent.
"""

from __future__ import annotations

from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from exports.tests import building
from matches import services as matches
from matches.models import Match, Seat
from monitoring import services as monitor
from participants import services as people
from participants.models import Enrolment
from participants.states import State
from studies.models import Study
from studies.tests import kit
from tests import actions

PATIENCE = 240.0
OPPONENT_DELAY = 600.0
"""Seconds that the second version's opponent takes for a move; longer than any test."""
GROUP_STATES = (State.PARTNER_LEFT, State.NO_PARTNER, State.REPLACED, State.OUR_OUTAGE)
"""States that take several people or an outage; these tests set them directly."""
REACHABLE = tuple(state for state in State if state != State.FAILED_COMPREHENSION)
"""All states but the one that takes questions about the rules, which these studies do not have."""
SECOND_VERSION = (State.SCREENED_OUT, State.WAITING)
"""States that participants reach only in the second version."""
_QUESTION = {
    "name": "known", "kind": "single", "text": "Have you played this before?", "options": ["No", "Yes"],
    "ends_if": "known == 'Yes'",
}  # fmt: skip


def launch_second_version(slug: str) -> None:
    """Change the launched study and launch its second version, for participants who arrive from now on."""
    agents = {"script:fair": kit.agent("script:fair", delay=OPPONENT_DELAY)}
    kit.launch_again(Study.objects.get(slug=slug), before=[_QUESTION], agents=agents)


def reach_state(path: str, target: str) -> str:
    """Let this page's participant continue until they reach this state; return their actual state.

    For a withdrawal or a returned place, stop at the first turn: the rest happens on the pages and at the recruiter.
    """
    person = Enrolment.objects.get(token=path.split("/")[2])
    _advance(person, State(target))
    return Enrolment.objects.values_list("state", flat=True).get(pk=person.pk)


def _advance(person: Enrolment, target: State) -> None:
    people.show_step(enrolment_id=person.pk)
    if target == State.ARRIVED:
        return
    if target == State.DROPPED_OUT:
        _let_enrolment_expire(person)
        return
    building.answer(person, agree="yes")
    if target == State.CONSENTED:
        return
    building.answer(person, name="Robin")
    if target in SECOND_VERSION:
        building.answer(person, question_known="Yes" if target == State.SCREENED_OUT else "No")
    if target == State.SCREENED_OUT:
        return
    building.read_instructions(person, word="certainly-not-it" if target == State.FAILED_CODE_WORD else None)
    if target in (State.FAILED_CODE_WORD, State.INSTRUCTED):
        return
    people.show_step(enrolment_id=person.pk)
    if target in (State.PLAYING, State.WITHDREW, State.RETURNED):
        return
    _play(person, target)


def _play(person: Enrolment, target: State) -> None:
    if target in GROUP_STATES:
        actions.end_enrolment(person.get_absolute_url(), target)
        return
    match = Seat.objects.select_related("match").get(enrolment=person).match
    if target == State.TIMED_OUT:
        _let_turn_time_out(person, match)
    elif target == State.OPPONENT_FAILED:
        with transaction.atomic():
            monitor.end_match(match=match, user=User.objects.filter(is_superuser=True).first(), reason="It hangs.")
    elif target == State.WAITING:
        actions.move(person.get_absolute_url(), "fair", patience=PATIENCE)
        people.show_step(enrolment_id=person.pk)
    else:
        while actions.move(person.get_absolute_url(), "fair", patience=PATIENCE):
            pass
        if target == State.QUIZ:
            building.answer(person)
            people.show_step(enrolment_id=person.pk)
        else:
            building.answer_quiz(person, correctly=target == State.COMPLETED)


def _let_enrolment_expire(person: Enrolment) -> None:
    """Let the study's time limit pass, before the server's last heartbeat, without any activity of the participant."""
    Enrolment.objects.filter(pk=person.pk).update(expires_at=timezone.now() - timedelta(minutes=1))
    people.end_expired()


def _let_turn_time_out(person: Enrolment, match: Match) -> None:
    """Keep the participant on the page of their turn until its time and the extra time are over."""
    while not Enrolment.objects.get(pk=person.pk).ended:
        people.touch(person.pk)
        with transaction.atomic():
            locked = Match.objects.select_for_update().get(pk=match.pk)
            deadline = timezone.now() - timedelta(seconds=1)
            turns = {role: {**turn, "deadline": deadline.isoformat()} for role, turn in locked.turns.items()}
            Match.objects.filter(pk=match.pk, status=Match.Status.LIVE).update(turns=turns, deadline=deadline)
        matches.handle_time_outs(match_id=match.pk)
