"""Fallbacks of agents that fail, and their records."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, replace

import pytest

from games.play import configure, replay_events, start
from games.tests.toys import Guessing
from llm_agents import breaker, errors
from llm_agents.agent import AgentSpec, is_scripted, parse_spec, spec_of
from llm_agents.deciding import decide
from llm_agents.endpoints import PRESETS, use_endpoints
from llm_agents.match import play_match
from llm_agents.pricing import LISTED, Price
from llm_agents.settings import bare
from llm_agents.tests.wire import KEY, ScriptedAnswer, Wire, answer, error, stream
from llm_agents.turn import AgentTurn

GAME = configure(Guessing, {"players": 2})
LEGAL_ANSWER, ILLEGAL_ANSWER = '{"answer": 20}', '{"answer": 500}'
FIRST, SECOND = AgentSpec("first", "a"), AgentSpec("second", "b")


@pytest.fixture(params=["openai", "anthropic"])
def protocol(request):
    return request.param


@pytest.fixture
def serving():
    """Serve answers as endpoints, by name."""
    running, endpoints = {}, {}

    def serve(protocol, options=None, **answers):
        for name, scripted_answers in answers.items():
            wire = running[name] = Wire(*scripted_answers)
            endpoints[name] = wire.endpoint(protocol, name, **(options or {}))
        use_endpoints(endpoints.get)
        return running

    yield serve
    for wire in running.values():
        wire.close()


async def decide_first_turn(spec=FIRST, *, seconds=None, **options):
    play, events = start(GAME, 1)
    return await decide(spec, AgentTurn(play, "player_1", events=events, **options), seconds=seconds)


def with_fallbacks(*fallbacks, script="", **settings):
    settings = bare(**{"tries_after_first": 1, "call_seconds": 0.5, "retries": 1, **settings})
    return replace(FIRST, settings=settings, fallbacks=fallbacks, script=script)


# ---- names and presets -------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_names_agents(name):
    assert str(parse_spec(f"{name}:some/model:7b")) == f"{name}:some/model:7b"


def test_own_endpoint_names_agents_and_may_replace_a_preset(serving):
    with pytest.raises(errors.BadAgent):
        parse_spec("first:a")
    serving("openai", first=[], openai=[])
    assert parse_spec("first:a") == FIRST
    assert parse_spec("mistral:x").kind == "mistral"


# ---- the ladder --------------------------------------------------------------------------------

FAILURES = {
    "429": error(429, retry_after_ms="1"),
    "500": error(500, retry_after_ms="1"),
    "401": error(401),
    "no such model": error(404),
    "hung": ScriptedAnswer("{}", pause=5),
    "not the protocol": ScriptedAnswer('{"surprise": 1}'),
    "not json": ScriptedAnswer("<html>"),
    "lost connection": ScriptedAnswer("{", cut=True),
    "illegal": None,
    "empty": None,
    "refusal": None,
}
REPLIES = {"illegal": ILLEGAL_ANSWER, "empty": "", "refusal": "I would rather not."}
CALLS = {"429": 2, "500": 2, "lost connection": 2, "illegal": 2, "empty": 2, "refusal": 2}


@pytest.mark.parametrize("failure", FAILURES)
async def test_fallback_moves_when_the_first_agent_fails(serving, protocol, failure):
    failing = FAILURES[failure] or answer(protocol, REPLIES[failure])
    wires = serving(protocol, first=[failing], second=[answer(protocol, LEGAL_ANSWER)])
    calls = []
    decision = await decide_first_turn(with_fallbacks(SECOND), calls=calls)
    assert (decision.move, decision.by, decision.rung, decision.tries) == ({"answer": 20.0}, "second:b", 1, 1)
    assert decision.calls == tuple(calls)
    calls_made = CALLS.get(failure, 1)
    assert [(call.endpoint, call.rung) for call in calls] == [("first", 0)] * calls_made + [("second", 1)]
    assert len(wires["first"].requests) == calls_made
    assert decision.rule_breaks == (calls_made if failure in REPLIES else 0)


@pytest.mark.parametrize("failure", FAILURES)
async def test_fallback_script_moves_when_all_fail_and_is_flagged(serving, protocol, failure):
    failing = FAILURES[failure] or answer(protocol, REPLIES[failure])
    serving(protocol, first=[failing], second=[failing])
    decision = await decide_first_turn(with_fallbacks(SECOND, script="zero"))
    assert (decision.move, decision.by, decision.rung, decision.raw) == ({"answer": 0.0}, "script:zero", 2, None)
    assert {call.rung for call in decision.calls} == {0, 1}


@pytest.mark.parametrize(
    ("failure", "kind"), [("illegal", errors.NoLegalMove), ("500", errors.Unavailable), ("hung", errors.TimedOut)]
)
async def test_without_a_script_the_last_failure_is_raised(serving, protocol, failure, kind):
    failing = FAILURES[failure] or answer(protocol, REPLIES[failure])
    serving(protocol, first=[error(401)], second=[failing])
    calls = []
    with pytest.raises(kind):
        await decide_first_turn(with_fallbacks(SECOND), calls=calls)
    assert calls[0].error.startswith("Rejected") and calls[-1].rung == 1


async def test_own_move_is_not_attributed_to_a_fallback(serving, protocol):
    wires = serving(
        protocol, first=[answer(protocol, ILLEGAL_ANSWER), answer(protocol, LEGAL_ANSWER)], second=[error(500)]
    )
    decision = await decide_first_turn(with_fallbacks(SECOND, script="zero"))
    assert (decision.by, decision.rung, decision.tries, decision.rule_breaks) == (None, 0, 2, 1)
    assert wires["second"].requests == []


async def test_open_circuit_costs_no_call_and_no_time(serving, protocol):
    wires = serving(protocol, first=[answer(protocol, LEGAL_ANSWER)], second=[answer(protocol, LEGAL_ANSWER)])
    breaker.trip("first")
    decision = await decide_first_turn(with_fallbacks(SECOND))
    assert decision.by == "second:b" and wires["first"].requests == []


async def test_rung_may_be_a_script_or_a_deleted_endpoint(serving, protocol):
    serving(protocol, first=[error(401)])
    decision = await decide_first_turn(with_fallbacks(SECOND, AgentSpec("script", "zero")))
    assert (decision.by, decision.rung) == ("script:zero", 2)


async def test_whole_decision_has_a_time_limit(serving, protocol):
    wires = serving(
        protocol,
        first=[ScriptedAnswer("{}", pause=5)],
        second=[ScriptedAnswer("{}", pause=5)],
        third=[answer(protocol, LEGAL_ANSWER)],
    )
    started_at = time.monotonic()
    decision = await decide_first_turn(
        with_fallbacks(SECOND, AgentSpec("third", "c"), call_seconds=0.8, script="zero"), seconds=1.2
    )
    assert time.monotonic() - started_at < 2
    assert decision.by == "script:zero"
    assert len(wires["second"].requests) == 1 and wires["third"].requests == []


# ---- drafts ------------------------------------------------------------------------------------


def streamed_answer(protocol, *pieces, **options):
    return ScriptedAnswer(stream(protocol, *pieces), **options)


async def test_discarded_draft_is_retracted(serving, protocol):
    serving(
        protocol,
        first=[
            streamed_answer(protocol, '{"ans', 'wer": 500}'),
            ScriptedAnswer(stream(protocol, '{"an', ended=False), cut=True),
            error(500, retry_after_ms="1"),
        ],
        second=[streamed_answer(protocol, '{"answer"', ": 20}")],
    )
    pieces, retracted = [], []

    def retract():
        retracted.append("".join(pieces))
        pieces.clear()

    decision = await decide_first_turn(with_fallbacks(SECOND), on_text=pieces.append, on_retract=retract)
    assert "".join(pieces) == LEGAL_ANSWER == decision.raw
    assert retracted == ['{"answer": 500}', '{"an']
    assert all(call.streamed for call in decision.calls)
    assert decision.calls[-1].first_text > 0


# ---- the record --------------------------------------------------------------------------------


async def test_record_says_who_was_asked_and_how(serving, protocol):
    serving(protocol, first=[error(500, retry_after_ms="1"), answer(protocol, LEGAL_ANSWER)])
    spec = AgentSpec("first", "a", bare(strategy="fresh", temperature=0.5), seed=7)
    decision = await decide_first_turn(spec, template="Name a number.")
    failed, call = decision.calls
    assert (failed.attempt, failed.try_number, failed.answer) == (1, 1, None)
    assert (call.attempt, call.endpoint, call.provider, call.model) == (2, "first", protocol, "a")
    assert (call.strategy, call.seed, call.parameters["temperature"]) == ("fresh", 7, 0.5)
    assert (call.streamed, call.first_text, call.refused, call.structured) == (False, None, False, "none")
    assert len(call.prompt_sha256) == 64
    assert KEY not in json.dumps([asdict(record) for record in decision.calls])


async def test_sent_texts_have_a_hash(serving, protocol):
    serving(protocol, first=[answer(protocol, LEGAL_ANSWER)])
    hashes = [
        (await decide_first_turn(template=text)).calls[0].prompt_sha256 for text in (None, "One.", "Two.", "One.")
    ]
    assert hashes[1] == hashes[3]
    assert len(set(hashes)) == 3


async def test_call_costs_the_endpoints_price(serving, protocol):
    serving(protocol, {"prices": {"a": Price(input=1_000_000, output=0)}}, first=[answer(protocol, LEGAL_ANSWER)])
    (call,) = (await decide_first_turn()).calls
    assert LISTED.cost(call) == 11


async def test_structured_agents_answer_is_held_to_the_moves_schema(serving, protocol):
    wires = serving(protocol, first=[answer(protocol, LEGAL_ANSWER, tool=protocol == "anthropic")])
    decision = await decide_first_turn(AgentSpec("first", "a", bare(structured=True)))
    assert decision.move == {"answer": 20.0}
    assert decision.calls[0].structured == ("tool" if protocol == "anthropic" else "json_schema")
    assert wires["first"].bodies[0].keys() & {"response_format", "tools"}


# ---- whole matches -----------------------------------------------------------------------------


async def test_missing_endpoint_leaves_the_turn_to_the_fallbacks(serving, protocol):
    serving(protocol, second=[answer(protocol, LEGAL_ANSWER)])
    decision = await decide_first_turn(replace(spec_of("gone:m"), fallbacks=(SECOND,)))
    assert (decision.move, decision.by) == ({"answer": 20.0}, "second:b")
    assert not is_scripted("gone:m")


def test_log_says_that_a_fallback_moved(serving, protocol):
    serving(protocol, first=[answer(protocol, LEGAL_ANSWER), error(401)], second=[answer(protocol, '{"answer": 30}')])
    agents = {"player_1": with_fallbacks(SECOND, script="zero"), "player_2": parse_spec("script:zero")}
    match = play_match(GAME, 1, agents)
    assert match.failed is None and match.play.finished
    moves = [event.data for event in match.events if event.kind == "move" and event.data["role"] == "player_1"]
    assert [move.get("by") for move in moves] == [None, "second:b", "second:b"]
    assert replay_events(GAME, match.events).payoffs() == match.play.payoffs()
