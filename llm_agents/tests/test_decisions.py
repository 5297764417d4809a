"""Decisions of scripted players and of models at stand-in servers, called through the official SDKs."""

from __future__ import annotations

import json
import threading
from dataclasses import asdict

import pytest

from games.play import configure, start
from games.tests.toys import ClockAuction, Guessing
from llm_agents import errors
from llm_agents.agent import AgentSpec, parse_spec
from llm_agents.deciding import decide
from llm_agents.match import play_match
from llm_agents.settings import bare
from llm_agents.standins import AnthropicStandIn, Failure, Hang, Malformed, OpenAIStandIn
from llm_agents.standins.server import KEY
from llm_agents.turn import AgentTurn

STANDINS = {"openai": OpenAIStandIn, "anthropic": AnthropicStandIn}
GAME = configure(Guessing, {"players": 2})
LEGAL_ANSWER = '{"answer": 20}'


@pytest.fixture(params=STANDINS)
def kind(request):
    return request.param


@pytest.fixture
def serving(kind, monkeypatch):
    """Start a stand-in server with these answers and point the SDK at it."""
    running = []

    def serve(answers):
        standin = STANDINS[kind](answers)
        running.append(standin.__enter__())
        for name, value in standin.environment.items():
            monkeypatch.setenv(name, value)
        return standin

    yield serve
    for standin in running:
        standin.__exit__(None, None, None)


async def decide_first_turn(kind, calls=None, **settings):
    play, events = start(GAME, 1)
    turn = AgentTurn(play, "player_1", events=events, calls=[] if calls is None else calls)
    return await decide(AgentSpec(kind, "some-model", bare(**settings)), turn)


# ---- names of agents ---------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["script:random", "openai:gpt-x", "anthropic:claude:1", "openai:org/model-7b"])
def test_agent_is_a_kind_and_a_name(text):
    spec = parse_spec(text)
    assert str(spec) == text
    assert spec.scripted == text.startswith("script:")


@pytest.mark.parametrize("text", ["", "random", "human:me", "script:", "openai: ", "openai"])
def test_other_text_is_not_an_agent(text):
    with pytest.raises(errors.BadAgent, match="script:NAME, openai:MODEL, anthropic:MODEL"):
        parse_spec(text)


def test_scripted_player_must_belong_to_the_game():
    assert parse_spec("script:zero", GAME).name == "zero"
    with pytest.raises(errors.BadAgent, match=r"guessing .*“fair”.*random, zero"):
        parse_spec("script:fair", Guessing)


# ---- decisions ---------------------------------------------------------------------------------


async def test_a_script_decides_without_a_call():
    play, events = start(GAME, 1)
    decision = await decide(parse_spec("script:zero"), AgentTurn(play, "player_1", events=events))
    assert (decision.move, decision.calls, decision.tries) == ({"answer": 0.0}, (), 1)


async def test_script_has_no_move_out_of_turn():
    play, events = start(configure(ClockAuction, {}), 1)
    with pytest.raises(errors.NoLegalMove, match="no scripted player"):
        await decide(AgentSpec("script", "clever"), AgentTurn(play, "a", events=events))


async def test_model_gets_the_messages_and_its_answer_is_the_move(serving, kind):
    standin = serving(['I choose\n```json\n{"answer": "20"}\n```'])
    decision = await decide_first_turn(kind)
    assert decision.move == {"answer": 20.0}
    assert decision.tries == 1
    assert decision.raw.startswith("I choose")
    (request,) = standin.requests
    assert request["model"] == "some-model"
    system = request["system"] if kind == "anthropic" else request["messages"][0]["content"]
    assert system.startswith(GAME.instructions("player_1"))
    assert request["messages"][-1]["role"] == "user"
    assert "It is your turn" in request["messages"][-1]["content"]


async def test_every_call_is_recorded_as_plain_data(serving, kind):
    serving([LEGAL_ANSWER])
    calls = []
    await decide_first_turn(kind, calls)
    (call,) = calls
    assert (call.provider, call.model, call.answered_by) == (kind, "some-model", "some-model-stand-in")
    assert (call.answer, call.problem, call.error, call.try_number) == (LEGAL_ANSWER, None, None, 1)
    assert (call.input_tokens, call.output_tokens) == (11, 7)
    assert call.request_id and call.stop and call.latency > 0
    assert call.messages[0]["role"] == "system"
    assert KEY not in json.dumps(asdict(call))


async def test_model_is_corrected_and_asked_again(serving, kind):
    standin = serving(["no idea", '{"answer": 500}', '{"answer": 20, "why": "x"}', LEGAL_ANSWER])
    decision = await decide_first_turn(kind)
    assert decision.move == {"answer": 20.0} and decision.tries == 4
    assert "no complete JSON object" in decision.calls[0].problem
    assert [call.problem for call in decision.calls[1:]] == ["At most 100.", "“why” is unknown.", None]
    assert [call.fault for call in decision.calls] == ["unreadable", "illegal", "illegal", None]
    messages = standin.requests[-1]["messages"]
    assert [message["content"] for message in messages if message["role"] == "assistant"] == [
        "no idea",
        '{"answer": 500}',
        '{"answer": 20, "why": "x"}',
    ]
    assert "At most 100." in messages[-3]["content"]
    assert len(standin.requests[0]["messages"]) == len(messages) - 6


async def test_after_the_last_try_there_is_no_legal_move(serving, kind):
    standin = serving(["never"])
    calls = []
    with pytest.raises(errors.NoLegalMove, match="No legal move in 3 tries") as failure:
        await decide_first_turn(kind, calls, tries_after_first=2)
    assert len(standin.requests) == 3
    assert list(failure.value.calls) == calls and len(calls) == 3


async def test_empty_answer_is_corrected_too(serving, kind):
    serving(["", LEGAL_ANSWER])
    decision = await decide_first_turn(kind)
    assert decision.tries == 2 and decision.calls[0].answer == ""


async def test_parameters_are_sent(serving, kind):
    standin = serving([LEGAL_ANSWER])
    play, events = start(GAME, 1)
    spec = AgentSpec(kind, "m", bare(temperature=0.3, max_tokens=99))
    await decide(spec, AgentTurn(play, "player_1", events=events))
    assert (standin.requests[0]["temperature"], standin.requests[0]["max_tokens"]) == (0.3, 99)


# ---- failures of providers ---------------------------------------------------------------------


async def test_transient_failure_is_retried_and_every_attempt_recorded(serving, kind):
    standin = serving([Failure(429), Failure(500), LEGAL_ANSWER])
    decision = await decide_first_turn(kind)
    assert decision.tries == 1 and len(standin.requests) == 3
    assert [(call.try_number, call.attempt) for call in decision.calls] == [(1, 1), (1, 2), (1, 3)]
    assert [(call.error or "").partition(":")[0] for call in decision.calls] == ["RateLimited", "Unavailable", ""]


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (Failure(429, "slow down"), errors.RateLimited, "HTTP 429: slow down"),
        (Failure(500, "oops"), errors.Unavailable, "HTTP 500: oops"),
        (Failure(529, "overloaded"), errors.Unavailable, "HTTP 529"),
        (Failure(404, "no such model"), errors.Rejected, "HTTP 404: no such model"),
        (Failure(400, f"bad request with {KEY}"), errors.Rejected, "HTTP 400"),
        (Failure(401, f"wrong key {KEY}"), errors.Rejected, "did not accept the key"),
        (Hang(), errors.TimedOut, "No answer within 0.3 seconds"),
        (Malformed(), errors.Unreadable, "answer is not a"),
        (Malformed("not json"), errors.Unreadable, "answer is not a"),
        (Malformed("[]"), errors.Unreadable, "answer is not a"),
        (Malformed('{"choices": [], "content": null}'), errors.Unreadable, "answer is not a"),
    ],
    ids=lambda value: repr(value)[:30] if not isinstance(value, type) else value.__name__,
)
async def test_failure_is_classified_recorded_and_free_of_keys(serving, kind, answer, error, message):
    serving([answer])
    calls = []
    with pytest.raises(error, match=message) as failure:
        await decide_first_turn(kind, calls, call_seconds=0.3 if isinstance(answer, Hang) else 20)
    assert len(calls) == (3 if error in (errors.RateLimited, errors.Unavailable) else 1)
    for call in calls:
        assert call.error.startswith(error.__name__) and call.answer is None
        assert KEY not in str(failure.value) + call.error
    assert "\n" not in str(failure.value)


async def test_unreachable_endpoint_is_unavailable(serving, kind):
    serving([LEGAL_ANSWER]).__exit__(None, None, None)
    with pytest.raises(errors.Unavailable, match="could not be reached"):
        await decide_first_turn(kind)


async def test_without_a_key_nothing_is_sent(serving, kind, monkeypatch):
    standin = serving([LEGAL_ANSWER])
    for name in standin.environment:
        if name.endswith("_KEY"):
            monkeypatch.delenv(name)
    with pytest.raises(errors.NotConfigured, match="_API_KEY is not set"):
        await decide_first_turn(kind)
    assert standin.requests == []


# ---- whole matches -----------------------------------------------------------------------------


def agents(**specs):
    return {role: parse_spec(spec) for role, spec in specs.items()}


def test_a_match_between_scripts_is_the_same_every_time():
    scripts = agents(player_1="script:random", player_2="script:zero")
    first, second = (json.dumps(play_match(GAME, 5, scripts).as_dict()) for _time in range(2))
    assert first == second
    assert json.loads(first)["agents"] == {"player_1": "script:random", "player_2": "script:zero"}
    assert "failed" not in json.loads(first)


def test_model_remembers_accepted_answers_but_not_refused_ones(serving, kind):
    standin = serving(["hm", 'First: {"answer": 20}', '{"answer": 30}', '{"answer": 40}'])
    match = play_match(GAME, 1, agents(player_1=f"{kind}:m", player_2="script:zero"))
    assert match.failed is None and match.play.finished
    remembered = [message["content"] for message in standin.requests[-1]["messages"] if message["role"] == "assistant"]
    assert remembered == ['First: {"answer": 20}', '{"answer": 30}']
    assert [call.try_number for call in match.calls] == [1, 2, 1, 1]


def test_models_asked_at_once_think_concurrently(serving, kind):
    concurrent = threading.Barrier(2, timeout=5)

    def answer(_request):
        concurrent.wait()
        return LEGAL_ANSWER

    serving(answer)
    game = configure(Guessing, {"players": 2, "runs": 1})
    match = play_match(game, 1, agents(player_1=f"{kind}:a", player_2=f"{kind}:b"))
    assert match.failed is None and len(match.calls) == 2


def test_match_without_a_legal_move_has_no_payoffs(serving, kind):
    serving(["never"])
    match = play_match(GAME, 1, agents(player_1="script:zero", player_2=f"{kind}:m"))
    line = match.as_dict()
    assert line["failed"].startswith(f"player_2 ({kind}:m): ")
    assert line["payoffs"] == {"player_1": None, "player_2": None} and line["metrics"] == {}
    assert line["events"][-1] == {"number": 3, "kind": "abandoned", "reason": line["failed"], "role": "player_2"}
    assert len(match.calls) == 4


def test_a_failing_provider_ends_the_match(serving, kind):
    serving([Failure(401)])
    match = play_match(GAME, 1, agents(player_1=f"{kind}:m", player_2="script:zero"))
    assert "did not accept the key" in match.failed
    assert match.calls[0].error
