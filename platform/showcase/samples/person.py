"""A simulated participant: takes every step through the services that the pages call, at the pace of a person.

Unlike the participants of a pilot, who test the pages, these are placed in cells and owed pay, so that the study they
leave behind is complete. What they answer and how they move is up to each sample.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from enum import StrEnum
from random import Random
from typing import Any

from django.utils import timezone

from checks.steps import Comprehension
from games.interface import MoveData, Role
from games.play import Play, script_move
from llm_agents.agent import spec_of
from lobby import services as lobby
from lobby.models import Place
from matches import services
from matches.errors import Stale
from matches.models import Match
from matches.pacing import human_delay
from matches.step import MatchStep
from participants import services as people
from participants.models import Enrolment
from participants.steps import Step, StepRefused
from piloting.answering import NAMES, WRONG_WORD, options_of
from plans.questions import Answer
from quality import counts
from recruiters import simulated
from showcase.samples.clock import Walk
from studies.enrolling import enrol
from studies.models import Study
from surveys.posted import posted_as
from surveys.steps import Questions

SECONDS: Mapping[str, float] = {
    "consent": 24, "name": 8, "before": 26, "instructions": 75, "comprehension": 21, "match": 11, "after": 38,
    "other": 30,
}  # fmt: skip
"""Median seconds on a page, of questions by name; "match": on the result. A person's own pace multiplies them."""
POLL_SECONDS, LOBBY_SECONDS = 2.0, 8.0
"""How often someone who waits looks for news: in a match, and in the lobby."""
MAX_TRIES = 10
"""More than any page allows."""
SPREAD = 0.25
"""Standard deviation of the logarithm of every duration."""


class Plan(StrEnum):
    """How a simulated participant's session goes."""

    FINISH = "finish"
    SCREENED_OUT = "screened_out"
    WRONG_CODE = "wrong_code"
    VANISHES = "vanishes"
    """Closes the page with the instructions."""
    SILENT = "silent"
    """Closes the page during the match."""
    TOO_SLOW = "too_slow"
    """Stays on the match's page without moving."""
    WITHDRAWS = "withdraws"
    MISREADS = "misreads"
    """Gives wrong answers about the rules."""


class Person:
    """One simulated participant of a study.

    Attributes:
        number: from 1; with the study's short name, the seed of everything the person does.
        payment: what becomes of the person's payments (`payouts.simulated.PAYMENTS`).
        stops_before: with a plan to stop during the match: before which of their moves, from 1.
    """

    def __init__(
        self, study: Study, number: int, plan: Plan = Plan.FINISH, *, payment: str = "paid", stops_before: int = 2
    ):
        self.study = study
        self.number = number
        self.plan = plan
        self.payment = payment
        self.stops_before = stops_before
        self.rng = Random(f"{study.slug}/{number}")
        self.pace = math.exp(self.rng.gauss(0, SPREAD))
        self.enrolment = Enrolment()

    # ---- what each sample decides ------------------------------------------------------------------------

    def answer(self, name: str) -> Answer:
        """Return the answer to a question."""
        raise NotImplementedError

    def move(self, play: Play, role: Role) -> MoveData:
        """Return the person's move; it may depend only on what the seat sees."""
        raise NotImplementedError

    def thinking(self, move: MoveData) -> float:
        """Return the median seconds for this move."""
        raise NotImplementedError

    # ---- the session --------------------------------------------------------------------------------------

    def walk(self) -> Walk:
        """Go from the link to the last page; yield the seconds until the next action."""
        self.enrolment = enrol(self.study, simulated.arrival(self.number, payment=self.payment))
        while True:
            self.enrolment, step = people.show_step(enrolment_id=self.enrolment.pk)
            if step is None or self.enrolment.ended:
                return
            if step.kind == "instructions" and self.plan == Plan.VANISHES:  # the study ends when its time is up
                yield (self.enrolment.expires_at - timezone.now()).total_seconds() + 1
                people.prepare_step(Enrolment.objects.get(pk=self.enrolment.pk))
                return
            if isinstance(step, MatchStep):
                yield from self._play(step)
            elif step.kind == "lobby":
                yield from self._wait()
                continue
            self.enrolment.refresh_from_db()
            if self.enrolment.ended and people.result_step(self.enrolment) is None:
                return
            shown_at, position = timezone.now(), self.enrolment.position
            known = SECONDS.get(step.kind) or SECONDS.get(step.step.get("name", ""), SECONDS["other"])
            yield max(self._seconds(known), step.step.get("seconds", 0))
            self._count(position, (timezone.now() - shown_at).total_seconds())
            yield from self._answer(step, position)

    def _seconds(self, median: float) -> float:
        return max(1.0, median * self.pace * math.exp(self.rng.gauss(0, SPREAD)))

    def _answer(self, step: Step, position: int) -> Walk:
        data = self._answers(step)
        for _try in range(MAX_TRIES):
            try:
                people.answer_step(enrolment_id=self.enrolment.pk, position=position, data=data)
            except StepRefused:  # a wrong code word or answer: another try
                yield self._seconds(SECONDS["name"])
            else:
                return

    def _answers(self, step: Step) -> dict[str, str]:
        """Return the answers to a page's form."""
        if step.kind == "consent":
            return {"agree": "yes"}
        if step.kind == "name":
            return {"name": self.rng.choice(NAMES)}
        if step.kind == "instructions":
            return {"code_word": WRONG_WORD if self.plan == Plan.WRONG_CODE else self.enrolment.code_word}
        if isinstance(step, Comprehension):
            return options_of(step.open_questions(), correct=self.plan != Plan.MISREADS)
        if isinstance(step, Questions):
            return {
                field: value
                for question in step.questions()
                for field, value in posted_as(question, self.answer(question.name)).items()
            }
        return {}

    def _count(self, position: int, seconds: float) -> None:
        """Send what the page counts about itself; a few people look at something else in between."""
        away = self.rng.random() < 0.06
        visible = seconds * (self.rng.uniform(0.5, 0.9) if away else 1)
        figures = counts.Counts(
            view=f"{self.rng.randrange(16**12):012x}",
            position=position,
            open_ms=int(1000 * seconds),
            visible_ms=int(1000 * visible),
            hidden=int(away),
            blurred=int(away),
            pastes=0,
            pasted=0,
        )
        counts.store(token=self.enrolment.token, counts=figures)

    # ---- the lobby ----------------------------------------------------------------------------------------

    def _wait(self) -> Walk:
        """Stay in the lobby, saying when asked that they are ready, until a match begins or the wait ends."""
        position = self.enrolment.position
        place = Place.objects.get(enrolment=self.enrolment, step=position)
        lobby.update_pool(place.hall_id, place.pool)
        while True:
            place = Place.objects.select_related("enrolment", "group").get(pk=place.pk)
            if place.enrolment.ended or place.enrolment.position != position:
                return
            if place.group_id is not None and place.ready_at is None:
                yield self.rng.uniform(2, 5)
                group = {"group": str(place.group_id)}
                people.answer_step(enrolment_id=self.enrolment.pk, position=position, data=group)
                lobby.update_pool(place.hall_id, place.pool)
            else:
                yield LOBBY_SECONDS
                lobby.mark_present(place)

    # ---- the match ----------------------------------------------------------------------------------------

    def _play(self, step: MatchStep) -> Walk:
        """Play to the end of the match, or stop as planned."""
        seat, made = step.seat(), 0
        assert seat is not None
        while (match := Match.objects.get(pk=seat.match_id)).status == Match.Status.LIVE:
            turn = match.asked_turn(seat.role)
            if turn is None:
                yield from self._let_others_move(match)
                continue
            services.mark_shown(match_id=match.pk, role=seat.role, answering=turn.answering, at=timezone.now())
            made += 1
            if made == self.stops_before and self.plan in (Plan.SILENT, Plan.TOO_SLOW, Plan.WITHDRAWS):
                yield from self._stop(match.pk, seat.role)
                return
            move = self.move(match.play(), seat.role)
            yield self._seconds(self.thinking(move))
            people.touch(self.enrolment.pk)
            try:
                services.submit_move(
                    match_id=match.pk, role=seat.role, move=move, answering=turn.answering, made_at=timezone.now()
                )
            except Stale:  # another player has ended the match
                continue

    def _let_others_move(self, match: Match) -> Walk:
        """Let the match's scripts move, each after the time that a person would take; wait for people."""
        by_agent = next((turn for turn in match.open_turns().values() if turn.by_agent), None)
        if by_agent is None:
            yield POLL_SECONDS
            people.touch(self.enrolment.pk)
            return
        script = spec_of(match.agents()[by_agent.role].spec).name
        move = script_move(match.play(), by_agent.role, script)
        yield human_delay(move, None, self.rng)
        people.touch(self.enrolment.pk)
        with suppress(Stale):  # another participant of the match has let it move
            services.submit_move(match_id=match.pk, role=by_agent.role, move=move, answering=by_agent.answering)

    def _stop(self, match_id: int, role: Role) -> Walk:
        """Withdraw, or let the time run out."""
        if self.plan == Plan.WITHDRAWS:
            yield self._seconds(30)
            people.withdraw(enrolment_id=self.enrolment.pk)
            return
        while (match := Match.objects.get(pk=match_id)).status == Match.Status.LIVE:
            turn = match.asked_turn(role)
            if turn is None:
                return
            yield max(1.0, (turn.deadline - timezone.now()).total_seconds() + 1)
            if self.plan == Plan.TOO_SLOW:
                people.touch(self.enrolment.pk)
            services.handle_time_outs(match_id=match_id)


def chance(probabilities: Mapping[Any, float], rng: Random) -> Any:
    """Return a value drawn with these probabilities."""
    return rng.choices(list(probabilities), weights=list(probabilities.values()))[0]
