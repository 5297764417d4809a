"""Real data for the tests, created through the services as in actual use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from games import registry
from games.play import script_move
from llm_agents.record import CallRecord
from matches import services
from matches.models import Match, Seat
from opponents.models import Call
from participants import services as people
from participants.models import Enrolment
from participants.steps import StepRefused
from recruiters.arrivals import Arrival
from studies.enrolling import enrol
from studies.models import Study
from studies.tests import kit

OFFER = {"alice_gain": 6000, "bob_gain": 4000}
FAIR = {"alice_gain": 5000, "bob_gain": 5000}


def new_study(**parts: Any) -> Study:
    """Return a launched bargaining study in which people play alice against a fair script, with the game's quiz."""
    defaults = {
        "title": "Splitting money",
        "slug": "splitting",
        "agents": "script:fair",
        "quota": 100_000,
        "quiz": registry.get(parts.get("game", "bargaining")).system == "GLEE",
    }
    return kit.launched(**{**defaults, **parts})


def launch_with(study: Study, **changes: Any) -> None:
    """Change parts of the study's plan and launch it again."""
    kit.launch_again(study, **changes)


def arrive(study: Study, *, worker: str = "", proof: str = "", details: Mapping[str, str] | None = None) -> Enrolment:
    """Let a participant arrive by a link of their own."""
    return enrol(study, Arrival("mturk", worker=worker, proof=proof or worker, details=details or {}))


def answer(person: Enrolment, **data: str) -> Enrolment:
    """Show the participant their current page and answer it."""
    enrolment, _step = people.show_step(enrolment_id=person.pk)
    return people.answer_step(enrolment_id=person.pk, position=enrolment.position, data=data)


def consent(person: Enrolment, *, name: str = "Robin") -> Enrolment:
    answer(person, agree="yes")
    return answer(person, name=name)


def read_instructions(person: Enrolment, *, word: str | None = None) -> Enrolment:
    """Type the code word, or a wrong one as often as allowed."""
    try:
        return answer(person, code_word=person.code_word if word is None else word)
    except StepRefused:
        return answer(person, code_word=word)


def match_of(person: Enrolment) -> Match:
    people.show_step(enrolment_id=person.pk)
    return Seat.objects.select_related("match").get(enrolment=person).match


def move(match: Match, role: str, data: Mapping[str, Any], *, by: str | None = None) -> None:
    """Make one move as any player of `role`."""
    match.refresh_from_db()
    services.submit_move(match_id=match.pk, role=role, move=data, answering=match.play().opened[role], by=by)


def let_agent_answer(match: Match, role: str = "bob") -> None:
    """Let the scripted agent move while it is its turn."""
    match.refresh_from_db()
    script = match.seats.get(role=role).agent.removeprefix("script:")
    while role in match.play().waiting_for():
        move(match, role, script_move(match.play(), role, script))
        match.refresh_from_db()


def play(person: Enrolment, *, messages: Sequence[str] = (), by: str | None = None) -> Match:
    """Make the person's offers, one per message and each refused by the agent, then a fair one that it accepts."""
    match = match_of(person)
    for message in messages:
        move(match, "alice", {**OFFER, "message": message})
        let_agent_answer(match)
        move(match, "alice", {"decision": "reject"})
    move(match, "alice", FAIR, by=by)
    let_agent_answer(match)
    match.refresh_from_db()
    return match


def answer_quiz(person: Enrolment, *, correctly: bool = True) -> Enrolment:
    answer(person)  # continue from the finished match
    person.refresh_from_db()
    step = person.steps[person.position]
    from games import play as playing

    answers = {}
    for question in playing.configure(registry.get(step["game"]), step["config"]).quiz(step["role"]):
        wrong_answer = next(option for option in question.options if option != question.answer)
        answers[question.key] = question.answer if correctly else wrong_answer
    return answer(person, **answers)


def complete(study: Study, *, worker: str, name: str = "Robin", messages: Sequence[str] = (), **link: Any) -> Enrolment:
    """Let a participant do everything correctly, from the link to the last page."""
    person = arrive(study, worker=worker, **link)
    consent(person, name=name)
    read_instructions(person)
    play(person, messages=messages)
    answer_quiz(person)
    person.refresh_from_db()
    return person


def save_call(match: Match, **record: Any) -> None:
    """Save a model call as the worker does."""
    fields: dict[str, Any] = {
        "provider": "openai", "model": "m", "messages": [], "parameters": {"temperature": 1.0}, "try_number": 1,
        "latency": 0.25, **record,
    }  # fmt: skip
    Call.objects.create(match_uid=match.uid, role="bob", answering=2, record=asdict(CallRecord(**fields)))
