"""Whatever a model's endpoint does, the waiting participant gets an answer or a paid end; every call is stored."""

from __future__ import annotations

import json
import uuid

import pytest

from llm_agents.standins.server import AnthropicStandIn, Failure, Hang, Malformed, OpenAIStandIn
from matches import agents, services
from matches.models import Match
from matches.tests.kit import opened
from opponents.agents import counted_movers
from opponents.models import Call
from participants.models import Enrolment
from participants.states import State
from plans.asking import AgentSettings
from studies.tests.kit import answering, use_standin

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("as_worker")]
QUICK = {"call_seconds": 1.0, "limit_seconds": 4.5, "retries": 1, "tries_after_first": 1}
ACCEPT = '{"decision": "accept"}'
MISBEHAVIOURS = {
    "hung": [Hang(30)],
    "busy": [Failure(429)],
    "broken": [Failure(500)],
    "not the protocol": [Malformed()],
    "no move": ["I would rather talk about the weather."],
    "an illegal move": ['{"decision": "maybe"}'],
    "numbers as words": ['{"alice_gain": "six thousand", "bob_gain": "four"}'],
    "empty": [""],
    "unknown model": [Failure(404)],
    "wrong key": [Failure(401)],
}


def waiting(**settings) -> Match:
    """Open a match in which a participant has made an offer to the model `openai:m`."""
    bob = services.Player(agent="openai:m", settings=AgentSettings(**{**QUICK, **settings}))
    match = opened({"alice": "person", "bob": bob})
    offer = {"alice_gain": 6000, "bob_gain": 4000}
    services.submit_move(match_id=match.pk, role="alice", move=offer, answering=match.open_turns()["alice"].answering)
    match.refresh_from_db()
    return match


def answer_open_turn(match: Match) -> Match:
    """Answer bob's turn as the worker does."""
    answering = match.open_turns()["bob"].answering
    agents.answer_turn(match_uid=match.uid, role="bob", answering=answering)
    match.refresh_from_db()
    return match


@pytest.mark.parametrize("answers", MISBEHAVIOURS.values(), ids=MISBEHAVIOURS)
def test_without_a_fallback_the_game_ends_with_pay(monkeypatch, answers):
    with answering(monkeypatch, answers):
        match = answer_open_turn(waiting())
    assert (match.status, match.ending) == (Match.Status.ABANDONED, State.OPPONENT_FAILED)
    assert Enrolment.objects.get().state == State.OPPONENT_FAILED
    records = [call.record for call in Call.objects.order_by("pk")]
    assert records
    assert all(record["problem"] or record["error"] for record in records)


@pytest.mark.parametrize("answers", MISBEHAVIOURS.values(), ids=MISBEHAVIOURS)
def test_a_fallback_script_moves_and_is_flagged(monkeypatch, answers):
    with answering(monkeypatch, answers):
        match = answer_open_turn(waiting(script="fair"))
    assert match.status == Match.Status.LIVE
    moves = [event.data for event in match.log() if event.kind == "move" and event.data["role"] == "bob"]
    assert moves[0] == {"role": "bob", "move": {"decision": "reject"}, "by": "script:fair"}


@pytest.mark.parametrize("answers", MISBEHAVIOURS.values(), ids=MISBEHAVIOURS)
def test_a_fallback_model_moves_and_is_flagged(monkeypatch, answers):
    with OpenAIStandIn(answers) as failing, AnthropicStandIn([ACCEPT]) as fallback:
        use_standin(monkeypatch, failing, fallback)
        match = answer_open_turn(waiting(fallbacks=("anthropic:n",)))
    assert match.status == Match.Status.FINISHED
    (move,) = [event.data for event in match.log() if event.kind == "move" and event.data["role"] == "bob"]
    assert move == {"role": "bob", "move": {"decision": "accept"}, "by": "anthropic:n"}
    assert [call.record["rung"] for call in Call.objects.order_by("pk")][-1] == 1


def test_every_refused_try_is_stored_with_its_error(monkeypatch):
    with answering(monkeypatch, ["Well…", '{"decision": "maybe"}', ACCEPT]) as standin:
        match = answer_open_turn(waiting(tries_after_first=2))
    assert match.status == Match.Status.FINISHED
    problems = [call.record["problem"] for call in Call.objects.order_by("pk")]
    assert [bool(problem) for problem in problems] == [True, True, False]
    assert "maybe" in standin.requests[-1]["messages"][-2]["content"]


def test_a_busy_endpoint_is_retried(monkeypatch):
    with answering(monkeypatch, [Failure(429), ACCEPT]):
        match = answer_open_turn(waiting())
    assert match.status == Match.Status.FINISHED
    assert [call.record["attempt"] for call in Call.objects.order_by("pk")] == [1, 2]


def test_a_model_is_shown_its_own_earlier_answers(monkeypatch):
    first_answer = 'Hm. {"decision": "reject"} That is my answer.'
    offer = json.dumps({"alice_gain": 5000, "bob_gain": 5000})
    with answering(monkeypatch, [first_answer, offer]) as standin:
        match = answer_open_turn(answer_open_turn(waiting()))
    assert match.status == Match.Status.LIVE
    texts = [message["content"] for message in standin.requests[-1]["messages"] if message["role"] == "assistant"]
    assert texts == [first_answer]


@pytest.mark.parametrize(("answers", "by"), [("No move.", "script:fair"), (Failure(500), "script:fair:away")])
def test_script_moves_without_an_answer_are_not_data(monkeypatch, answers, by):
    with answering(monkeypatch, [answers]):
        match = answer_open_turn(waiting(script="fair", script_counts=True))
    assert next(event.data["by"] for event in match.log() if event.data.get("role") == "bob") == by
    assert (by in counted_movers(match.agents().values())) == (answers == "No move.")


def test_clock_runs_the_fallback_script_without_workers():
    match = waiting(script="fair")
    Match.objects.filter(pk=match.pk).update(turns=_overdue(match))
    services.handle_time_outs(match_id=match.pk)
    match.refresh_from_db()
    assert match.log()[-1].data["by"] == "script:fair"


def _overdue(match: Match) -> dict:
    return {role: {**turn, "deadline": "2020-01-01T00:00:00+00:00"} for role, turn in match.turns.items()}


@pytest.mark.parametrize("script", ["fair", ""])
@pytest.mark.parametrize("cap", ["cap_match", "cap_study", "day"])
def test_reaching_a_cap_stops_only_new_calls(monkeypatch, settings, cap, script):
    """The fallbacks then take over: the script moves, or the game ends with pay."""
    settings.SPEND_CAP_PER_DAY = "1" if cap == "day" else ""
    offer = json.dumps({"alice_gain": 5000, "bob_gain": 5000})
    with answering(monkeypatch, ['{"decision": "reject"}', offer]) as standin:
        match = waiting(script=script, **({} if cap == "day" else {cap: 1.0}))
        Match.objects.filter(pk=match.pk).update(budget_of="study:one")
        match = answer_open_turn(match)
        assert len(standin.requests) == 1, "asked while below the cap"
        spent = {"answering": 1, "role": "bob", "record": {}, "budget_of": "study:one", "cost": "1.25"}
        Call.objects.create(match_uid=match.uid if cap == "cap_match" else uuid.uuid4(), **spent)
        match = answer_open_turn(match)
        assert len(standin.requests) == 1
    assert Call.objects.count() == 2, "every record is stored"
    if script:
        assert (match.status, match.log()[-1].data["by"]) == (Match.Status.LIVE, "script:fair")
    else:
        assert (match.status, match.ending) == (Match.Status.ABANDONED, State.OPPONENT_FAILED)
        assert Enrolment.objects.get().state == State.OPPONENT_FAILED


def test_a_matchs_calls_are_charged_to_its_study(monkeypatch):
    with answering(monkeypatch, [ACCEPT]):
        match = waiting()
        Match.objects.filter(pk=match.pk).update(budget_of="study:one")
        answer_open_turn(match)
    assert [call.budget_of for call in Call.objects.all()] == ["study:one"]
