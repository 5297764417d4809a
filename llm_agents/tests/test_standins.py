"""Stand-in servers, called by the official SDKs, which check every answer and streamed event against their types."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from statistics import median
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from pydantic import BaseModel, ConfigDict

from llm_agents.standins import (
    KEY,
    AnthropicStandIn,
    BothStandIn,
    CutStream,
    Disconnect,
    Drip,
    Echo,
    Empty,
    FailingStream,
    Failure,
    Hang,
    Malformed,
    OpenAIStandIn,
    Refusal,
    Slow,
    StandIn,
    WrongModel,
    WrongTypes,
)

PATIENCE = 30.0
TEXT = 'Größe “7”, then {"answer": 20}\n— 価格 🙂'
MOVE = '{"answer": 20, "message": "ça va? 🙂"}'
HELLO: Any = [{"role": "user", "content": "Hello"}]


class Move(BaseModel):
    model_config = ConfigDict(extra="forbid")

    answer: float
    message: str


SCHEMA = {**Move.model_json_schema(), "additionalProperties": False}


def openai_of(standin: StandIn, *, timeout: float = PATIENCE, key: str = KEY) -> openai.OpenAI:
    return openai.OpenAI(
        base_url=standin.environment["OPENAI_BASE_URL"],
        api_key=key,
        max_retries=0,
        timeout=timeout,
        _strict_response_validation=True,
    )


def anthropic_of(standin: StandIn, *, timeout: float = PATIENCE, key: str = KEY) -> anthropic.Anthropic:
    return anthropic.Anthropic(
        base_url=standin.environment["ANTHROPIC_BASE_URL"],
        api_key=key,
        max_retries=0,
        timeout=timeout,
        _strict_response_validation=True,
    )


class OpenAISide:
    """Calls OpenAI's protocol and reads its answers."""

    sdk = openai

    def __init__(self, standin: StandIn, **options: Any):
        self.client = openai_of(standin, **options)

    def complete(self, **options: Any) -> Any:
        return self.client.chat.completions.create(model="stand-in-large", messages=HELLO, **options)

    def streamed(self) -> str:
        chunks = self.client.chat.completions.create(model="stand-in-large", messages=HELLO, stream=True)
        return "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)

    def models(self) -> list[str]:
        return [model.id for model in self.client.models.list()]

    @staticmethod
    def text(answer: Any) -> str:
        return answer.choices[0].message.content


class AnthropicSide:
    """Calls Anthropic's protocol and reads its answers."""

    sdk = anthropic

    def __init__(self, standin: StandIn, **options: Any):
        self.client = anthropic_of(standin, **options)

    def complete(self, **options: Any) -> Any:
        return self.client.messages.create(model="stand-in-large", messages=HELLO, max_tokens=50, **options)

    def streamed(self) -> str:
        with self.client.messages.stream(model="stand-in-large", messages=HELLO, max_tokens=50) as stream:
            return "".join(stream.text_stream)

    def models(self) -> list[str]:
        return [model.id for model in self.client.models.list()]

    @staticmethod
    def text(answer: Any) -> str:
        return "".join(block.text for block in answer.content)


SIDES: Mapping[str, Any] = {"openai": (OpenAIStandIn, OpenAISide), "anthropic": (AnthropicStandIn, AnthropicSide)}


@pytest.fixture(params=SIDES)
def side(request):
    """The stand-in class and the caller class of a protocol."""
    return SIDES[request.param]


@pytest.fixture
def calling(side):
    """Serve answers and return their caller."""
    running = []

    def begin(*answers, patience: float = PATIENCE, **options):
        standin = side[0](answers, **options)
        running.append(standin.__enter__())
        return side[1](standin, timeout=patience)

    yield begin
    for standin in running:
        standin.__exit__(None, None, None)


# ---- valid answers -------------------------------------------------------------------------------


def test_answer_is_valid_to_the_letter(calling):
    caller = calling(TEXT)
    assert caller.text(caller.complete()) == TEXT


def test_a_stream_of_valid_events_says_the_same(calling):
    assert calling(TEXT).streamed() == TEXT


def test_no_part_of_an_answer_waits_for_the_callers_acknowledgement():
    """It would wait 40 ms, so that a model of 50 ms took 90."""
    with OpenAIStandIn(["hi"]) as standin, httpx2.Client(base_url=standin.environment["OPENAI_BASE_URL"]) as client:
        answers = [client.get("/models") for _call in range(15)]
    assert median(answer.elapsed.total_seconds() for answer in answers) < 0.03


def test_the_models_are_listed(calling):
    assert calling("hi", models=("stand-in-large", "tiny")).models() == ["stand-in-large", "tiny"]


def test_answers_come_in_order_and_the_last_repeats(calling):
    caller = calling("one", "two")
    assert [caller.text(caller.complete()) for _call in range(3)] == ["one", "two", "two"]


def test_a_function_may_choose_the_answer(side):
    with side[0](lambda request: request["messages"][-1]["content"] * 2) as standin:
        caller = side[1](standin)
        assert caller.text(caller.complete()) == "HelloHello"
        assert len(standin.requests) == len(standin.headers) == 1


def test_answers_come_in_order_without_keeping_requests(side):
    with side[0](["one", "two"], keeps_requests=False) as standin:
        caller = side[1](standin)
        assert [caller.text(caller.complete()) for _call in range(2)] == ["one", "two"]
        assert standin.requests == standin.headers == []


def test_openai_tokens_names_and_finish_reasons():
    with OpenAIStandIn([TEXT], tokens=(12, 34)) as standin:
        client = openai_of(standin)
        raw_response = client.chat.completions.with_raw_response.create(model="m", messages=HELLO)
        answer = raw_response.parse()
        assert (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.total_tokens) == (12, 34, 46)
        assert (answer.model, answer.choices[0].finish_reason) == ("m-stand-in", "stop")
        assert raw_response.headers["x-request-id"].startswith("req_")
        for include_usage in (True, False):
            chunks = list(
                client.chat.completions.create(
                    model="m", messages=HELLO, stream=True, stream_options={"include_usage": include_usage}
                )
            )
            assert len({chunk.id for chunk in chunks}) == 1
            assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
            total_tokens = [chunk.usage.total_tokens for chunk in chunks if chunk.usage]
            assert total_tokens == ([46] if include_usage else [])


def test_anthropic_tokens_names_and_stop_reasons():
    with AnthropicStandIn([TEXT], tokens=(12, 34)) as standin:
        client = anthropic_of(standin)
        raw_response = client.messages.with_raw_response.create(model="m", messages=HELLO, max_tokens=9)
        answer = raw_response.parse()
        assert (answer.usage.input_tokens, answer.usage.output_tokens) == (12, 34)
        assert (answer.model, answer.stop_reason) == ("m-stand-in", "end_turn")
        assert raw_response.headers["request-id"].startswith("req_")
        with client.messages.stream(model="m", messages=HELLO, max_tokens=9) as stream:
            kinds = [event.type for event in stream]
            final = stream.get_final_message()
        assert (final.usage.input_tokens, final.usage.output_tokens, final.stop_reason) == (12, 34, "end_turn")
        assert kinds[0] == "message_start" and kinds[-1] == "message_stop"


# ---- answers that follow a schema ----------------------------------------------------------------


def test_openai_structured_output_is_parsed_by_the_sdk():
    with OpenAIStandIn([MOVE]) as standin:
        answer = openai_of(standin).chat.completions.parse(model="m", messages=HELLO, response_format=Move)
    assert answer.choices[0].message.parsed == Move(answer=20, message="ça va? 🙂")


@pytest.mark.parametrize("choice", [{"type": "function", "function": {"name": "move"}}, "required"], ids=str)
def test_openai_tool_calls_whole_and_streamed(choice):
    tools: Any = [{"type": "function", "function": {"name": "move", "parameters": SCHEMA, "strict": True}}]
    with OpenAIStandIn([MOVE]) as standin:
        client = openai_of(standin)
        unstreamed = client.chat.completions.create(model="m", messages=HELLO, tools=tools, tool_choice=choice)
        (call,) = unstreamed.choices[0].message.tool_calls
        assert (call.type, call.function.name, call.function.arguments) == ("function", "move", MOVE)
        assert unstreamed.choices[0].message.content is None
        with client.chat.completions.stream(model="m", messages=HELLO, tools=tools, tool_choice=choice) as stream:
            stream.until_done()
            (streamed_call,) = stream.get_final_completion().choices[0].message.tool_calls
        assert (streamed_call.function.name, json.loads(streamed_call.function.arguments)) == ("move", json.loads(MOVE))


@pytest.mark.parametrize("choice", [{"type": "tool", "name": "move"}, {"type": "any"}], ids=str)
def test_anthropic_tool_use_whole_and_streamed(choice):
    tools: Any = [{"name": "move", "description": "Move.", "input_schema": SCHEMA}]
    with AnthropicStandIn([MOVE]) as standin:
        client, arguments = anthropic_of(standin), {"tools": tools, "tool_choice": choice, "max_tokens": 9}
        unstreamed = client.messages.create(model="m", messages=HELLO, **arguments)
        with client.messages.stream(model="m", messages=HELLO, **arguments) as stream:
            streamed = stream.get_final_message()
    for answer in (unstreamed, streamed):
        (block,) = answer.content
        assert (block.type, block.name, block.input) == ("tool_use", "move", json.loads(MOVE))
        assert answer.stop_reason == "tool_use"


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]}, "additionalProperties"),
        (
            {"type": "object", "properties": {"a": {"type": "number"}}, "required": [], "additionalProperties": False},
            "Missing 'a'",
        ),
        ({"type": "array", "items": {"type": "number"}}, 'type: "object"'),
    ],
)
def test_openai_strict_schemas_are_as_strict_as_the_real_api(schema, reason):
    response_format: Any = {"type": "json_schema", "json_schema": {"name": "move", "strict": True, "schema": schema}}
    with OpenAIStandIn([MOVE]) as standin, pytest.raises(openai.BadRequestError, match=reason):
        openai_of(standin).chat.completions.create(model="m", messages=HELLO, response_format=response_format)


def test_unsupported_parameter_is_refused():
    tools: Any = [{"name": "move", "input_schema": SCHEMA}]
    format: Any = {"type": "json_object"}
    with BothStandIn([MOVE], features=frozenset()) as standin:
        with pytest.raises(openai.BadRequestError, match="response_format"):
            openai_of(standin).chat.completions.create(model="m", messages=HELLO, response_format=format)
        with pytest.raises(openai.BadRequestError, match="stream_options"):
            openai_of(standin).chat.completions.create(
                model="m", messages=HELLO, stream=True, stream_options={"include_usage": True}
            )
        with pytest.raises(anthropic.BadRequestError, match="tools"):
            anthropic_of(standin).messages.create(model="m", messages=HELLO, max_tokens=9, tools=tools)


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ([], "at least one message"),
        ([{"role": "system", "content": "Rules."}], "Unexpected role"),
        ([{"role": "user", "content": ""}], "non-empty content"),
        ([*HELLO, {"role": "assistant", "content": "Sure: "}], "trailing whitespace"),
    ],
)
def test_messages_that_anthropic_refuses(messages, reason):
    with AnthropicStandIn(["hi"]) as standin, pytest.raises(anthropic.BadRequestError, match=reason):
        anthropic_of(standin).messages.create(model="m", messages=messages, max_tokens=9)


def test_both_protocols_are_served_on_one_port():
    with BothStandIn([TEXT]) as standin:
        assert (
            OpenAISide.text(OpenAISide(standin).complete())
            == AnthropicSide.text(AnthropicSide(standin).complete())
            == TEXT
        )
        assert OpenAISide(standin).models() == AnthropicSide(standin).models() == ["stand-in-large", "stand-in-small"]


def test_wrong_key_is_refused(side):
    with side[0]([TEXT], key="sk-the-right-one") as standin:
        assert side[1](standin, key="sk-the-right-one").complete()
        with pytest.raises(side[1].sdk.AuthenticationError) as caught:
            side[1](standin).complete()
    assert caught.value.status_code == 401
    assert KEY not in str(caught.value)


# ---- failures, as the SDK sees them ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, "BadRequestError"), (403, "PermissionDeniedError"), (404, "NotFoundError"), (409, "ConflictError"),
        (429, "RateLimitError"), (500, "InternalServerError"), (503, "InternalServerError"),
        (529, "InternalServerError"),
    ],
)  # fmt: skip
def test_failures_have_status_message_and_request_id(calling, status, error):
    caller = calling(Failure(status, "not now"))
    for call in (caller.complete, caller.streamed):
        with pytest.raises(getattr(caller.sdk, error), match="not now") as caught:
            call()
        assert caught.value.status_code == status
        assert caught.value.request_id.startswith("req_")


def test_retry_after_can_be_read(calling):
    caller = calling(Failure(429, retry_after=7), Failure(429, retry_after_ms=250), Failure(429, retry_after_ms=None))
    retry_headers = []
    for _call in range(3):
        with pytest.raises(caller.sdk.RateLimitError) as caught:
            caller.complete()
        headers = caught.value.response.headers
        retry_headers.append((headers.get("retry-after"), headers.get("retry-after-ms")))
    assert retry_headers == [("7", None), (None, "250"), (None, None)]


def test_the_sdk_itself_retries_after_that_time(side):
    with side[0]([Failure(429, retry_after_ms=20), Failure(500), "yes"]) as standin:
        caller = side[1](standin)
        caller.client = caller.client.with_options(max_retries=2)
        assert caller.text(caller.complete()) == "yes"
        assert len(standin.requests) == 3


def test_unknown_model(calling):
    caller = calling(WrongModel())
    with pytest.raises(caller.sdk.NotFoundError, match="stand-in-large"):
        caller.complete()


@pytest.mark.parametrize("misbehaviour", [Hang(), Slow(60, TEXT), Drip(60, TEXT)], ids=repr)
def test_slow_answers_time_out(side, misbehaviour):
    with side[0]([misbehaviour]) as standin:
        caller = side[1](standin, timeout=0.5)
        for call in (caller.complete, caller.streamed):
            # A timeout inside a stream is raised below the SDK.
            with pytest.raises((caller.sdk.APITimeoutError, httpx2.TimeoutException)):
                call()
        caller.client.close()
        deadline = time.monotonic() + PATIENCE
        while standin.abandoned < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert standin.abandoned == 2


def test_slow_and_dripping_answers_arrive_whole(calling):
    caller = calling(Slow(0.05, TEXT), Drip(0.005, TEXT))
    assert caller.text(caller.complete()) == TEXT
    assert caller.streamed() == caller.text(caller.complete()) == TEXT


def test_dropped_connection_is_a_connection_error(calling):
    caller = calling(Disconnect())
    for call in (caller.complete, caller.streamed):
        with pytest.raises(caller.sdk.APIConnectionError):
            call()


def test_truncated_answer_is_not_an_answer(calling):
    caller = calling(CutStream(after=4, answer=TEXT))
    for call in (caller.complete, caller.streamed):
        with pytest.raises((caller.sdk.APIConnectionError, httpx2.TransportError)):
            call()


def test_stream_can_fail_midway(calling):
    caller = calling(FailingStream(after=8, answer=TEXT))
    with pytest.raises(caller.sdk.APIError, match="Overloaded"):
        caller.streamed()
    with pytest.raises(caller.sdk.InternalServerError) as caught:
        caller.complete()
    assert caught.value.status_code == 529


@pytest.mark.parametrize("body", ['{"surprise": true}', "<html>Bad gateway</html>", "", "[]", '"text"'])
def test_malformed_answers_are_refused_by_the_sdks_types(calling, body):
    caller = calling(Malformed(body))
    with pytest.raises((caller.sdk.APIResponseValidationError, ValueError)):
        caller.text(caller.complete())


def test_malformed_streams_are_refused_too(calling):
    caller = calling(Malformed())
    with pytest.raises((caller.sdk.APIError, ValueError, RuntimeError)):
        assert caller.streamed() == ""
        raise RuntimeError("the answer is empty")


def test_echo_repeats_key_and_prompt_in_the_error(calling):
    caller = calling(Echo(400), Echo(500, after=6, answer=TEXT))
    with pytest.raises(caller.sdk.BadRequestError) as caught:
        caller.complete()
    assert KEY in str(caught.value.body) and "Hello" in str(caught.value.body)
    with pytest.raises(caller.sdk.APIError) as caught:
        caller.streamed()
    assert KEY in str(caught.value.body) and "Hello" in str(caught.value.body)


def test_empty_answer_is_valid(calling):
    caller = calling(Empty())
    assert caller.text(caller.complete()) == caller.streamed() == ""


def test_wrong_types_distort_the_moves_fields(calling):
    caller = calling(WrongTypes('{"a": 12, "b": 12, "c": "words", "d": true, "e": [1]}'))
    distorted = {"a": "one two", "b": [12], "c": {"text": "words"}, "d": "True", "e": "[1]"}
    assert json.loads(caller.text(caller.complete())) == json.loads(caller.streamed()) == distorted


def test_refusal_uses_each_protocols_form():
    with BothStandIn([Refusal("No.")]) as standin:
        message = OpenAISide(standin).complete().choices[0].message
        assert (message.refusal, message.content) == ("No.", None)
        with openai_of(standin).chat.completions.stream(model="m", messages=HELLO) as stream:
            stream.until_done()
            assert stream.get_final_completion().choices[0].message.refusal == "No."
        answer = AnthropicSide(standin).complete()
        assert (answer.stop_reason, AnthropicSide.text(answer)) == ("refusal", "No.")


def test_failing_function_is_a_server_error(side):
    def broken(request: Any) -> str:
        raise ZeroDivisionError

    with side[0](broken) as standin, pytest.raises(side[1].sdk.InternalServerError, match="ZeroDivisionError"):
        side[1](standin).complete()
