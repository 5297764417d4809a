"""Turns played with tool calls: stored and charged as they happen, and played once."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest

from games import registry
from games.play import configure
from games.tests.toys import Well
from llm_agents import endpoints
from llm_agents.endpoints import Price
from llm_agents.pricing import PriceList
from llm_agents.replaying import differences
from llm_agents.standins import AnthropicStandIn, Calls, Failure, Hang, OpenAIStandIn, Slow
from matches import agents, leases, services
from matches.models import Match
from opponents.agents import Agent
from opponents.models import Call
from opponents.services import records_of
from plans.asking import AgentSettings
from studies.tests.kit import answering, use_standin

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
LOOK_UP = Calls((("get_yields", "{}"), ("get_period_number", "{}")))
NOTE = Calls((("note", '{"note": "five is safe"}'),))
PUMP = Calls((("pump", '{"amount": 1}'),))


@pytest.fixture(autouse=True)
def toy(monkeypatch, as_worker) -> None:
    """Register the toy game."""
    original_get = registry.get
    monkeypatch.setattr(registry, "get", lambda key: Well if key == "well" else original_get(key))


def open_well(agent: str = "openai:m", periods: int = 2, **settings) -> Match:
    """Open a match of the toy game played by a model alone."""
    agent_settings = AgentSettings(**{"strategy": "tools", "retries": 0, "call_seconds": 5.0, **settings})
    players = {"keeper": services.Player(agent=agent, settings=agent_settings)}
    return services.open_match(game="well", config={"periods": periods}, players=players, seed=1)


def answer_open_turn(match: Match) -> Match:
    """Answer the open turn as the worker does."""
    agents.answer_turn(match_uid=match.uid, role="keeper", answering=match.open_turns()["keeper"].answering)
    match.refresh_from_db()
    return match


def moves(match: Match) -> list[dict]:
    return [event.data["move"] for event in match.events.filter(kind="move").order_by("number")]


@pytest.mark.parametrize(("standin", "agent"), [(OpenAIStandIn, "openai:m"), (AnthropicStandIn, "anthropic:m")])
def test_a_match_is_played_and_every_call_stored_once(monkeypatch, standin, agent):
    with standin([LOOK_UP, NOTE, PUMP, LOOK_UP, PUMP]) as service:
        use_standin(monkeypatch, service)
        match = answer_open_turn(answer_open_turn(open_well(agent)))
    assert match.status == Match.Status.FINISHED
    assert moves(match) == [{"note": "five is safe"}, {"amount": 1}, {"amount": 1}]
    calls = list(Call.objects.order_by("pk"))
    assert [call.purpose for call in calls] == ["look", "note", "move", "look", "move"]
    assert {call.outcome for call in calls} == {Call.Outcome.MOVE}
    assert [len(call.record["messages"]) for call in calls] == [2, 0, 0, 2, 0]
    (yields, number) = calls[0].record["tools"]
    assert (yields["name"], yields["result"], yields["size"]) == ("get_yields", "[]", 2)
    assert (number["arguments"], number["result"]) == ("{}", "1")
    assert len({call.record["conversation"] for call in calls}) == 2
    assert not differences(match.configured(), match.log(), records_of(match.uid))


def test_replay_detects_a_tool_with_a_different_result(monkeypatch):
    with answering(monkeypatch, [LOOK_UP, PUMP]):
        match = answer_open_turn(open_well(periods=1))
    call = Call.objects.order_by("pk").first()
    call.record["tools"][0]["result"] = "[7]"
    call.save()
    (difference,) = differences(match.configured(), match.log(), records_of(match.uid))
    assert "its result is now different" in difference


def test_a_cap_applies_between_two_calls_of_a_turn(monkeypatch):
    prices = PriceList({"openai:m": Price(input=0, output=1_000_000)})
    monkeypatch.setattr(agents, "current_prices", lambda: prices)
    with answering(monkeypatch, [LOOK_UP, LOOK_UP, LOOK_UP, PUMP], tokens=(0, 1)):
        match = answer_open_turn(open_well(cap_match=17.5, max_tokens=16, script="cautious"))
    assert Call.objects.count() == 2
    assert match.events.get(kind="move").data["by"] == "script:cautious"


def test_agent_that_never_submits_is_replaced(monkeypatch):
    with answering(monkeypatch, [NOTE, LOOK_UP, LOOK_UP, LOOK_UP, LOOK_UP, LOOK_UP]):
        match = answer_open_turn(open_well(calls=3, restarts=1, script="cautious"))
    assert Call.objects.count() == 6
    note, move = match.events.filter(kind="move").order_by("number")
    assert note.data["move"] == {"note": "five is safe"}
    assert move.data["by"] == "rules"
    offered_tools = [call.record["offered"] for call in Call.objects.order_by("pk")]
    assert offered_tools[2] == offered_tools[5] == ["pump"]


def test_dead_worker_leaves_its_notes_and_calls(monkeypatch):
    """The next worker restarts the turn: there is one note, and one move."""
    with answering(monkeypatch, [LOOK_UP, NOTE, Hang(30), LOOK_UP, PUMP]) as service:
        match = open_well(periods=1)
        first_answering = match.open_turns()["keeper"].answering
        future = agents.begin_turn(match_uid=match.uid, role="keeper", answering=first_answering)
        wait_for(lambda: len(service.requests) == 3)
        future.cancel()
        leases.give_back_all()
        match.refresh_from_db()
        assert match.open_turns()["keeper"].answering > first_answering
        match = answer_open_turn(match)
    assert match.status == Match.Status.FINISHED
    assert moves(match) == [{"note": "five is safe"}, {"amount": 1}]
    assert [call.purpose for call in Call.objects.order_by("pk")] == ["look", "note", "look", "move"]


def test_no_other_worker_takes_a_turn_renumbered_by_a_note(monkeypatch):
    with answering(monkeypatch, [NOTE, Slow(2.0, PUMP)]):
        match = open_well(periods=1)
        first_answering = match.open_turns()["keeper"].answering
        future = agents.begin_turn(match_uid=match.uid, role="keeper", answering=first_answering)
        wait_for(lambda: moves(match))
        match.refresh_from_db()
        renumbered = match.open_turns()["keeper"].answering
        assert leases.leased_turns(match.pk) == {("keeper", renumbered)}
        assert agents.begin_turn(match_uid=match.uid, role="keeper", answering=renumbered) is None
        future.result(20)
    assert moves(match) == [{"note": "five is safe"}, {"amount": 1}]


def test_an_endpoint_without_tools_is_asked_in_plain_json(monkeypatch):
    plain_answers = [
        json.dumps({"tool": "get_yields", "arguments": {}}),
        json.dumps({"tool": "pump", "arguments": {"amount": 1}}),
    ]
    refusal = Failure(400, "Unrecognized request argument supplied: tools", None)
    with answering(monkeypatch, [refusal, *plain_answers]):
        match = answer_open_turn(open_well(agent="openai:no-tools", periods=1))
    assert match.status == Match.Status.FINISHED
    assert "NoTools" in Call.objects.order_by("pk").first().record["error"]


def test_setup_page_warns_of_missing_tools(monkeypatch):
    monkeypatch.setattr(endpoints, "PRESETS", {"openai": replace(endpoints.PRESETS["openai"], tools=False)})
    game = configure(Well, {})
    agent = Agent(spec="openai:m", settings=AgentSettings(strategy="tools"))
    assert "Tools in plain JSON" in agent.check(game)["plain_tools"]
    assert not Agent(spec="openai:m", settings=AgentSettings(strategy="tools", plain_tools=True)).check(game)
    with_unknown_strategy = Agent(spec="openai:m", settings=AgentSettings(strategy="telepathy"))
    assert "has no strategy" in with_unknown_strategy.check(game)["strategy"]


def test_what_a_turn_reads_does_not_grow_with_the_match(monkeypatch):
    """Neither the log nor earlier answers are read: the last turn's record is as small as the first's."""
    with answering(monkeypatch, lambda request: PUMP):
        match = open_well(periods=12)
        for _period in range(11):
            match = answer_open_turn(match)
        monkeypatch.setattr(Match, "log", lambda self: pytest.fail("the log was read"))
        answer_open_turn(match)
    sizes = [len(json.dumps(call.record)) for call in Call.objects.order_by("pk")]
    assert max(sizes) < 1.1 * min(sizes)


def wait_for(condition) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
