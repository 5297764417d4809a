"""Turns played with tools, over both protocols: whatever a model does, each period ends and is recorded in full."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import asdict, dataclass, replace
from typing import Any

import anthropic
import openai
import pytest

from games import registry
from games.errors import Refused
from games.interface import Chance, Config, Form, Game, Move, Said, Text, Tool, Turn
from games.periods import PeriodGame
from games.play import configure, script_move, start, submit
from games.tests.toys import Well
from llm_agents.agent import AgentSpec
from llm_agents.deciding import decide, first_request
from llm_agents.match import MatchRecord, play_match
from llm_agents.prompting import ABOUT_MARKS
from llm_agents.providers import provider_called
from llm_agents.replaying import differences
from llm_agents.settings import bare
from llm_agents.standins import BothStandIn, Calls
from llm_agents.standins.__main__ import TOOL_KINDS, Misbehaviour, StandInModel
from llm_agents.standins.server import Slow
from llm_agents.tests.injections import INJECTIONS
from llm_agents.turn import AgentTurn

PERIODS = 20
PUMP = Calls((("pump", '{"amount": 1}'),))
PROTOCOLS = ("openai", "anthropic")


class Strict(Well):
    """The toy game, without a move for unusable answers."""

    def forfeit(self, state, role):
        return None


def play_keeper(monkeypatch, standin: BothStandIn, protocol: str, periods: int = PERIODS, **spec: Any) -> MatchRecord:
    for name, value in standin.environment.items():
        monkeypatch.setenv(name, value)
    agent = AgentSpec(protocol, "stand-in", bare(strategy="tools", **{"calls": 6, "restarts": 1, **spec}))
    return play_match(configure(Strict, {"periods": periods}), 1, {"keeper": agent})


def replay_differences(record: MatchRecord) -> list[str]:
    records: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for call in record.calls:
        records.setdefault(("keeper", call.answering), []).append(asdict(call))
    return differences(record.play.game, record.events, records)


@pytest.mark.parametrize("periods", [6, pytest.param(PERIODS, marks=pytest.mark.slow)])
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("kind", ["well-behaved", *TOOL_KINDS])
def test_every_period_ends_despite_misbehaviour(monkeypatch, protocol, kind, periods):
    misbehaves = [] if kind == "well-behaved" else [Misbehaviour(kind, 3)]
    with BothStandIn(StandInModel(seed=0, delay=0, prose=False, misbehaves=misbehaves)) as standin:
        record = play_keeper(monkeypatch, standin, protocol, periods)
    assert record.failed is None and len(record.play.state.yields) == periods
    assert record.play.state.notes
    assert not replay_differences(record)
    assert all(len(call.tools) or call.problem for call in record.calls)
    sizes = [len(json.dumps(asdict(call))) for call in record.calls]
    assert max(sizes[len(sizes) // 2 :]) < 2 * max(sizes[: len(sizes) // 2])


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("structured", [True, False])
def test_every_period_ends_in_plain_json(monkeypatch, protocol, structured):
    with BothStandIn(StandInModel(seed=0, delay=0, prose=False, misbehaves=[Misbehaviour("prose", 5)])) as standin:
        record = play_keeper(
            monkeypatch, standin, protocol, periods=2, plain_tools=True, structured=structured, calls=10
        )
    assert record.failed is None and not replay_differences(record)
    assert "tools" not in standin.requests[0] or structured


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_agent_that_never_submits_fails_but_keeps_its_notes(monkeypatch, protocol):
    looks, note = Calls((("get_yields", "{}"),)), Calls((("note", '{"note": "n"}'),))
    with BothStandIn([note, looks, looks, looks, looks, looks, looks]) as standin:
        record = play_keeper(monkeypatch, standin, protocol, calls=3, restarts=1)
    assert record.play.abandoned == "no submission"
    assert record.play.state.notes == ("n",)
    assert len(record.calls) == 6
    assert len({call.conversation for call in record.calls}) == 2
    last_request = standin.requests[2]
    assert len(last_request["tools"]) == 1 and "pump" in json.dumps(last_request["tool_choice"])


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_calls_are_answered_in_order_up_to_the_submission(monkeypatch, protocol):
    several_calls = Calls(
        (("get_period_number", "{}"), ("no_such", "{}"), ("get_yield", '{"period": 0}')), "First I look."
    )
    calls_after_submission = Calls((("pump", '{"amount": 1}'), ("pump", '{"amount": 2}'), ("note", '{"note": "late"}')))
    with BothStandIn([several_calls, calls_after_submission]) as standin:
        record = play_keeper(monkeypatch, standin, protocol, periods=1)
    first, second = record.calls
    assert [tool["fault"] for tool in first.tools] == [None, "unknown", "illegal"]
    assert [tool["fault"] for tool in second.tools] == [None, "ignored", "ignored"]
    assert record.play.state.yields == (1,) and not record.play.state.notes
    assert first.answer == "First I look."


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "answer", [Calls((("pump", '{"amount": 1}'), ("note", '{"note": "é"}')), "Words first."), PUMP]
)
async def test_streams_contain_the_same_calls_as_whole_answers(monkeypatch, protocol, answer):
    play, _events = start(configure(Well, {}), 1)
    spec = AgentSpec(protocol, "m", bare(strategy="tools"))
    with BothStandIn([answer]) as standin:
        for name, value in standin.environment.items():
            monkeypatch.setenv(name, value)
        request, provider, pieces = (
            first_request(spec, AgentTurn(play, "keeper")),
            provider_called(protocol),
            list[str](),
        )
        unstreamed = await provider.complete(request)
        streamed = await provider.complete(replace(request, on_text=pieces.append))
        await provider.close()
    assert [(call.name, json.loads(call.arguments)) for call in unstreamed.calls] == [
        (name, json.loads(arguments)) for name, arguments in answer.calls
    ]
    assert [(call.name, json.loads(call.arguments)) for call in streamed.calls] == [
        (name, json.loads(arguments)) for name, arguments in answer.calls
    ]
    assert unstreamed.text == streamed.text == "".join(pieces) == answer.text


@pytest.mark.parametrize("streamed", [False, True])
async def test_the_official_sdks_validate_what_the_stand_ins_send(streamed):
    """Strict validation: any field of a wrong type is an error."""
    parameters = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    with BothStandIn([Calls((("look", "{}"), ("pump", '{"amount": 1}')), "Both.")]) as standin:
        address = f"http://127.0.0.1:{standin.port}"
        openai_client = openai.AsyncOpenAI(api_key="k", base_url=f"{address}/v1", _strict_response_validation=True)
        anthropic_client = anthropic.AsyncAnthropic(api_key="k", base_url=address, _strict_response_validation=True)
        openai_tools = [
            {"type": "function", "function": {"name": name, "parameters": parameters}} for name in ("look", "pump")
        ]
        arguments: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "?"}], "stream": streamed}
        first = await openai_client.chat.completions.create(**arguments, tools=openai_tools, tool_choice="required")
        anthropic_tools = [{"name": name, "input_schema": parameters} for name in ("look", "pump")]
        second = await anthropic_client.messages.create(
            **arguments, max_tokens=9, tools=anthropic_tools, tool_choice={"type": "any"}
        )
        if streamed:
            names = [
                call.function.name
                async for chunk in first
                for choice in chunk.choices
                for call in choice.delta.tool_calls or ()
                if call.function.name
            ]
            blocks = [event.content_block async for event in second if event.type == "content_block_start"]
        else:
            names, blocks = [call.function.name for call in first.choices[0].message.tool_calls], second.content
        assert names == ["look", "pump"]
        assert [block.name for block in blocks if block.type == "tool_use"] == ["look", "pump"]
        await openai_client.close()
        await anthropic_client.close()


# ---- other players' words in tool results ----------------------------------------------------------


class SayMove(Move):
    words: str


class Nothing(Move):
    pass


@dataclass(frozen=True)
class Spoken:
    words: tuple[str, ...] = ()


class Whisper(Game[Config, Spoken]):
    """One player says something; the other can only look it up."""

    key, title, summary, rules_version = "whisper", "Whisper", "One speaks, one listens.", 1
    move_types = (SayMove,)
    Config, State, scripts = Config, Spoken, {"random": lambda game, state, role, rng: {"words": "hello"}}

    def roles(self):
        return "speaker", "listener"

    def role_title(self, role):
        return role.title()

    def remembers(self, role):
        return False

    def text_variables(self, role):
        return {}

    @classmethod
    def instruction_template(cls):
        return "Speak in turn."

    def setup(self, chance: Chance):
        return Spoken()

    def turn(self, state):
        if len(state.words) == 2:
            return None
        return Turn({self.roles()[len(state.words)]: (Form("say", "Say", SayMove),)})

    def apply(self, state, moves, chance):
        (move,) = moves.values()
        return Spoken((*state.words, move.words))

    def default(self, state, role):
        return {"words": ""}

    def view(self, state, role):
        return (Text("status", "Somebody may have spoken."),)

    def notices(self, before, moves, after, role):
        return ()

    def payoffs(self, state):
        return dict.fromkeys(self.roles(), 0.0)

    def metrics(self, state):
        return self.Results()

    def bonus_share(self, role, payoff):
        return 0.5

    def tools(self, state, role):
        if role != "listener":
            return ()
        return (
            Tool(
                "listen",
                "What was said.",
                Nothing,
                lambda _arguments: {"said": [Said("Speaker", words) for words in state.words]},
            ),
        )


def listen_then_speak(request: dict[str, Any]) -> Calls:
    """Look up data first, and speak once the tool has answered."""
    has_looked = any(message["role"] == "assistant" for message in request["messages"])
    return Calls((("say", '{"words": "yes"}') if has_looked else ("listen", "{}"),))


@pytest.mark.slow
@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_players_words_in_tool_results_stay_between_marks(monkeypatch, protocol):
    delivered = []
    with BothStandIn(listen_then_speak, keeps_requests=False) as standin:
        for name, value in standin.environment.items():
            monkeypatch.setenv(name, value)
        for name, words in INJECTIONS.items():
            play, events = start(configure(Whisper, {}), 1)
            try:
                play, new_events = submit(play, "speaker", {"words": words})
            except Refused:
                continue
            decision = await decide(
                AgentSpec(protocol, "m", bare(strategy="tools")),
                AgentTurn(play, "listener", events=[*events, *new_events]),
            )
            (tool,) = decision.calls[0].tools
            quoted_words = json.loads(tool["result"])["said"][0]
            assert quoted_words.startswith('<message from="Speaker">"') and quoted_words.endswith('"</message>'), name
            assert json.loads(quoted_words.removeprefix('<message from="Speaker">').removesuffix("</message>")) == words
            assert quoted_words.count("<") == quoted_words.count(">") == 2, name
            assert ABOUT_MARKS in decision.calls[0].messages[0]["content"]
            assert decision.move == {"words": "yes"}, name
            delivered.append(name)
        await provider_called(protocol).close()
    assert len(delivered) >= len(INJECTIONS) - 2


def test_tools_reveal_nothing_hidden_from_the_role(monkeypatch):
    """Nobody may know the well's flow: the results are the same whatever it is."""
    outcomes = []
    for flow in (5, 6):
        play, _events = start(configure(Well, {}), 1)
        play = replace(play, state=replace(play.state, flow=flow))
        request = first_request(AgentSpec("openai", "m", bare(strategy="tools")), AgentTurn(play, "keeper"))
        answers = [tool.answer(tool.arguments()) for tool in Well(play.game.config).tools(play.state, "keeper")[::2]]
        outcomes.append((json.dumps(list(request.messages)), [tool.parameters for tool in request.tools], answers))
    assert outcomes[0] == outcomes[1]


async def test_many_turns_at_once_wait_only_for_the_model(monkeypatch):
    """Each call takes the stand-in one second; one after the other, they would take twenty."""
    with BothStandIn(lambda request: Slow(1.0, PUMP), keeps_requests=False) as standin:
        for name, value in standin.environment.items():
            monkeypatch.setenv(name, value)
        play, events = start(configure(Well, {}), 1)
        spec = AgentSpec("openai", "m", bare(strategy="tools"))
        started_at = time.monotonic()
        await asyncio.gather(*(decide(spec, AgentTurn(play, "keeper", events=events)) for _turn in range(20)))
        elapsed = time.monotonic() - started_at
        await provider_called("openai").close()
    assert elapsed < 10


@pytest.mark.parametrize("key", [key for key in registry.keys() if issubclass(registry.get(key), PeriodGame)])
def test_opening_request_of_a_period_does_not_grow(key):
    """The past is available through the tools only."""
    game = configure(registry.get(key), {"periods": 40})
    role, opening_texts = game.roles()[0], {}
    play, _events = start(game, 1)
    while not play.over and game.period(play.state) < 30:
        period = game.period(play.state)
        request = first_request(AgentSpec("openai", "m", bare(strategy="tools")), AgentTurn(play, role))
        opening_texts[period] = request.messages[1]["content"]
        for waiting_role in play.waiting_for():
            play, _events = submit(play, waiting_role, script_move(play, waiting_role, "random"))
    assert len(opening_texts[max(opening_texts)]) < len(opening_texts[1]) + 100
