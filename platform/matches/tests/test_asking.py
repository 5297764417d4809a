"""An agent's turn with faults: which call was played, an unavailable database, a model that recovers."""

from __future__ import annotations

import asyncio
import threading
import time
from types import SimpleNamespace

import pytest
from django.db import OperationalError

from llm_agents.errors import AgentError
from llm_agents.record import CallRecord
from llm_agents.standins import Failure, OpenAIStandIn
from matches import agents, asking, services
from matches.models import Event, Match
from matches.tests.kit import opened
from matches.writers import Writers
from opponents.endpoints import MEMORY, Memory, refresh_if_old
from opponents.models import Call, Endpoint
from plans.asking import AgentSettings
from studies.tests.kit import answering

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("as_worker")]
ACCEPT = '{"decision": "accept"}'
OFFER = {"alice_gain": 6000, "bob_gain": 4000}


def match_with(model: str, **settings) -> Match:
    """Open a bargaining match between a script and a model, at the model's turn."""
    bob = services.Player(agent=model, settings=AgentSettings(**{"limit_seconds": 30, **settings}))
    match = opened({"alice": services.Player(agent="script:fair", delay=1000), "bob": bob})
    services.submit_move(match_id=match.pk, role="alice", move=OFFER, answering=1)
    return match


def test_only_the_played_call_is_marked_as_played(monkeypatch):
    with answering(monkeypatch, [ACCEPT, ACCEPT]):
        match = match_with("openai:stand-in")
        agent = match.agents()["bob"]
        # A worker that is killed after storing its call and before moving.
        host = agents.Host(agents._writers, agents.current_prices)
        lost = agents.question_for(match, Match.objects.get(pk=match.pk).play(), "bob", agent, host)
        asyncio.run(lost.decide())
        agents.answer_turn(match_uid=match.uid, role="bob", answering=2)
    outcomes = Call.objects.filter(match_uid=match.uid).order_by("pk").values_list("outcome", flat=True)
    assert list(outcomes) == [Call.Outcome.UNPLAYED, Call.Outcome.MOVE]
    assert Event.objects.filter(match=match, kind="move", role="bob").count() == 1


def test_a_call_is_kept_if_the_decision_fails_after_its_answer(monkeypatch):
    async def fail_after_the_answer(_spec, turn, **_options):
        turn.calls.append(CallRecord("openai", "stand-in", [], {}, 1, 0.5, answer="{}"))
        raise AgentError("cut off")

    monkeypatch.setattr(asking, "decide", fail_after_the_answer)
    with answering(monkeypatch, []):
        match = match_with("openai:stand-in")
        host = agents.Host(agents._writers, agents.current_prices)
        question = agents.question_for(match, Match.objects.get(pk=match.pk).play(), "bob", match.agents()["bob"], host)
        question.stored_with_move = True
        with pytest.raises(AgentError):
            asyncio.run(question.decide())
    assert [call.outcome for call in Call.objects.filter(match_uid=match.uid)] == [Call.Outcome.UNPLAYED]


def test_model_with_a_sealed_move_is_not_asked_again(monkeypatch):
    with answering(monkeypatch, ['{"answer": 20}']) as standin:
        waits = services.Player(agent="script:rational", delay=1000)
        players = {"p1": "openai:stand-in", "p2": waits, "p3": waits}
        match = opened(players, game="beauty_contest", config={"players": 3})
        turn = match.open_turns()["p1"].answering
        for _duplicate_task in range(2):
            agents.answer_turn(match_uid=match.uid, role="p1", answering=turn)
        assert len(standin.requests) == 1
    assert list(Call.objects.filter(match_uid=match.uid).values_list("outcome", flat=True)) == [Call.Outcome.MOVE]


def test_an_endpoint_made_a_moment_ago_answers_its_first_turn(monkeypatch):
    """Another process made it, so nothing here says that the endpoints must be read again."""
    monkeypatch.setattr(MEMORY, "__dict__", vars(Memory()))
    refresh_if_old()
    with OpenAIStandIn([ACCEPT]) as standin:
        Endpoint.objects.bulk_create([Endpoint(name="new", base_url=f"http://127.0.0.1:{standin.port}/v1")])
        match = match_with("new:stand-in")
        agents.answer_turn(match_uid=match.uid, role="bob", answering=2)
    match.refresh_from_db()
    assert match.status == Match.Status.FINISHED


@pytest.mark.slow
def test_a_briefly_unavailable_model_ends_no_match(monkeypatch):
    failures = [Failure(503)] * 3
    with answering(monkeypatch, [*failures, ACCEPT]):
        match = match_with("openai:stand-in", retries=0)
        agents.answer_turn(match_uid=match.uid, role="bob", answering=2)
    match.refresh_from_db()
    assert match.status == Match.Status.FINISHED
    assert not Event.objects.filter(match=match, kind="move", data__has_key="by").exists()


def test_a_decided_move_is_saved_when_the_database_returns(monkeypatch):
    outage = threading.Event()
    outage.set()
    move_in_transaction = services.move_in_transaction

    def refuse(**keywords):
        if outage.is_set():
            raise OperationalError("the server closed the connection unexpectedly")
        return move_in_transaction(**keywords)

    with answering(monkeypatch, [ACCEPT]):
        match = match_with("openai:stand-in")
        monkeypatch.setattr(services, "move_in_transaction", refuse)
        future = agents.begin_turn(match_uid=match.uid, role="bob", answering=2)
        deadline = time.monotonic() + 10
        while not Call.objects.filter(match_uid=match.uid).exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not future.done()
        outage.clear()
        future.result(timeout=20)
    match.refresh_from_db()
    assert match.status == Match.Status.FINISHED
    assert [call.outcome for call in Call.objects.filter(match_uid=match.uid)] == [Call.Outcome.MOVE]


def test_writers_retry_outages_and_pass_on_other_errors():
    attempts = SimpleNamespace(times=0)

    def fail_twice() -> str:
        attempts.times += 1
        if attempts.times < 3:
            raise OperationalError("away")
        return "done"

    def fail_for_good() -> None:
        raise ValueError("a bug")

    async def run_both() -> str:
        writers = Writers("test", 1)
        try:
            with pytest.raises(ValueError):
                await writers.retry(fail_for_good)
            return await writers.retry(fail_twice)
        finally:
            await asyncio.to_thread(writers.close)

    assert asyncio.run(run_both()) == "done" and attempts.times == 3
