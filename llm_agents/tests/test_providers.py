"""Single calls of both protocols over a real socket: streams, schemas and secrets."""

from __future__ import annotations

import base64
import gc
import json
import logging
import traceback
import urllib.parse

import pytest

from llm_agents import errors
from llm_agents.endpoints import Endpoint
from llm_agents.providers import provider_of
from llm_agents.providers.base import Request, retry_after
from llm_agents.standins.__main__ import KEY as STAND_IN_KEY
from llm_agents.tests.wire import KEY, ScriptedAnswer, Wire, answer, error, stream

PROMPT = "the price is secret-4711"
MESSAGES = [{"role": "system", "content": "Rules."}, {"role": "user", "content": PROMPT}]
SCHEMA = {
    "type": "object", "properties": {"answer": {"type": "number"}}, "required": ["answer"],
    "additionalProperties": False,
}  # fmt: skip
ANSWER_TEXT = '{"answer": 20}'


@pytest.fixture(params=["openai", "anthropic"])
def protocol(request):
    return request.param


@pytest.fixture
def serving():
    running = []

    def serve(*answers):
        running.append(Wire(*answers))
        return running[-1]

    yield serve
    for wire in running:
        wire.close()


async def ask(endpoint, **options):
    provider = provider_of(endpoint)
    try:
        return await provider.complete(Request("m", MESSAGES, **{"timeout": 10.0, **options}))
    finally:
        await provider.close()


# ---- streams -----------------------------------------------------------------------------------


async def test_stream_arrives_in_pieces_and_gives_the_same_answer(serving, protocol):
    wire = serving(ScriptedAnswer(stream(protocol, '{"ans', 'wer": ', "20}"), pause=0.02))
    pieces_shown = []
    completion = await ask(wire.endpoint(protocol), on_text=pieces_shown.append)
    assert pieces_shown == ['{"ans', 'wer": ', "20}"]
    assert (completion.text, completion.model, completion.refused) == (ANSWER_TEXT, "m-1", False)
    assert (completion.input_tokens, completion.output_tokens) == (11, 7)
    assert completion.stop in ("stop", "end_turn") and completion.request_id
    assert 0 < completion.first_text < 5
    assert wire.bodies[0]["stream"] is True


async def test_tool_arguments_are_streamed(serving, protocol):
    wire = serving(ScriptedAnswer(stream(protocol, '{"answer"', ": 20}", tool=True)))
    pieces_shown = []
    completion = await ask(wire.endpoint(protocol, structured="tool"), on_text=pieces_shown.append, schema=SCHEMA)
    assert (completion.text, completion.structured) == (ANSWER_TEXT, "tool")
    assert pieces_shown == ['{"answer"', ": 20}"]


@pytest.mark.parametrize("cut", [True, False], ids=["connection lost", "ended early"])
async def test_truncated_stream_is_not_an_answer(serving, protocol, cut):
    wire = serving(ScriptedAnswer(stream(protocol, '{"ans', ended=False), cut=cut))
    with pytest.raises(errors.Unavailable, match=r"cut off|could not be reached"):
        await ask(wire.endpoint(protocol), on_text=lambda piece: None)


async def test_slow_stream_is_cut_off_at_the_timeout(serving, protocol):
    wire = serving(ScriptedAnswer(stream(protocol, *"abcdefghijklmnopqrstuvwxyz"), pause=0.1))
    with pytest.raises(errors.TimedOut, match=r"within 0\.5 seconds"):
        await ask(wire.endpoint(protocol), on_text=lambda piece: None, timeout=0.5)


async def test_failure_inside_a_stream_is_a_provider_error(serving, protocol):
    failure = {"type": "error", "error": {"type": "overloaded_error", "message": f"overloaded {KEY}"}}
    wire = serving(
        ScriptedAnswer([*stream(protocol, "a", ended=False), f"event: error\ndata: {json.dumps(failure)}\n\n"])
    )
    with pytest.raises(errors.Unavailable, match=r"failed while answering: overloaded \[key\]"):
        await ask(wire.endpoint(protocol), on_text=lambda piece: None)


@pytest.mark.parametrize("lines", [["data: {}\n\n"], ["data: nonsense\n\n"], ['data: {"choices": 5}\n\n'], []])
async def test_malformed_stream_is_unreadable(serving, protocol, lines):
    wire = serving(
        ScriptedAnswer([line if protocol == "openai" else f"event: message_start\n{line}" for line in lines])
    )
    with pytest.raises(errors.Unreadable):
        await ask(wire.endpoint(protocol), on_text=lambda piece: None)


async def test_endpoint_without_stream_options_still_streams(serving):
    wire = serving(
        error(400, "Unsupported parameter: 'stream_options'."),
        ScriptedAnswer(stream("openai", ANSWER_TEXT, usage=False)),
    )
    completion = await ask(wire.endpoint("openai"), on_text=lambda piece: None)
    assert (completion.text, completion.output_tokens) == (ANSWER_TEXT, None)
    assert ["stream_options" in body for body in wire.bodies] == [True, False]


# ---- schemas -----------------------------------------------------------------------------------


async def test_schema_is_enforced_the_endpoints_way(serving, protocol):
    tool = protocol == "anthropic"
    wire = serving(answer(protocol, ANSWER_TEXT, tool=tool))
    completion = await ask(wire.endpoint(protocol), schema=SCHEMA)
    assert json.loads(completion.text) == {"answer": 20}
    assert completion.structured == ("tool" if tool else "json_schema")
    (body,) = wire.bodies
    if tool:
        assert body["tools"][0]["input_schema"] == SCHEMA
        assert body["tool_choice"] == {"type": "tool", "name": body["tools"][0]["name"]}
    else:
        constraint = body["response_format"]
        assert constraint["type"] == "json_schema"
        assert (constraint["json_schema"]["strict"], constraint["json_schema"]["schema"]) == (True, SCHEMA)


@pytest.mark.parametrize(
    ("structured", "parameters"),
    [("json_object", {"response_format"}), ("tool", {"tools", "tool_choice"}), ("none", set())],
)
async def test_openai_protocol_has_other_ways_to_enforce_a_schema(serving, structured, parameters):
    wire = serving(answer("openai", ANSWER_TEXT, tool=structured == "tool"))
    completion = await ask(wire.endpoint("openai", structured=structured), schema=SCHEMA)
    assert (completion.text, completion.structured) == (ANSWER_TEXT, structured)
    assert wire.bodies[0].keys() & {"response_format", "tools", "tool_choice"} == parameters


async def test_without_a_schema_nothing_is_enforced(serving, protocol):
    wire = serving(answer(protocol, ANSWER_TEXT))
    completion = await ask(wire.endpoint(protocol))
    assert completion.structured == "none"
    assert not wire.bodies[0].keys() & {"response_format", "tools", "tool_choice"}


async def test_endpoint_without_schemas_is_asked_in_plain_text(serving, protocol):
    refusal = "response_format is not supported" if protocol == "openai" else "tools: not supported by this model"
    wire = serving(error(400, refusal), answer(protocol, ANSWER_TEXT))
    endpoint = wire.endpoint(protocol)
    for _time in range(2):
        completion = await ask(endpoint, schema=SCHEMA)
        assert (completion.text, completion.structured) == (ANSWER_TEXT, "none")
    assert [bool(body.keys() & {"response_format", "tools"}) for body in wire.bodies] == [True, False, False]


async def test_other_bad_requests_are_rejected(serving, protocol):
    wire = serving(error(400, "temperature must be at most 2"))
    with pytest.raises(errors.Rejected, match="HTTP 400: temperature"):
        await ask(wire.endpoint(protocol), schema=SCHEMA)
    assert len(wire.requests) == 1


async def test_no_redirect_is_followed(serving, protocol):
    inside = serving(ScriptedAnswer("what only this machine may read"))
    entry = serving(ScriptedAnswer("", 307, {"location": inside.address}))
    with pytest.raises(errors.Rejected, match="redirects") as failure:
        await ask(entry.endpoint(protocol))
    assert inside.requests == []
    assert "only this machine" not in str(failure.value)


async def test_a_public_name_that_leads_inside_is_refused_with_the_reason(protocol, monkeypatch):
    monkeypatch.setattr("outgoing.client.resolve", lambda host, port: ["127.0.0.1"])
    with pytest.raises(errors.NotConfigured, match=r"models\.example.*LOCAL_HOSTS"):
        await ask(Endpoint("inside", protocol, "http://models.example/v1", KEY))


async def test_an_endless_answer_is_unreadable(serving, protocol, monkeypatch):
    monkeypatch.setattr("llm_agents.providers.base.MAX_BYTES", 1000)
    with pytest.raises(errors.Unreadable):
        await ask(serving(ScriptedAnswer(" " * 5000)).endpoint(protocol))


@pytest.mark.parametrize(
    ("protocol", "refusal_fields"),
    [
        ("openai", {"finish_reason": "content_filter"}),
        ("openai", {"message": {"role": "assistant", "content": None, "refusal": "I cannot."}}),
        ("anthropic", {"stop_reason": "refusal"}),
    ],
)
async def test_a_refusal_is_marked(serving, protocol, refusal_fields):
    completion = await ask(serving(answer(protocol, "I cannot.", **refusal_fields)).endpoint(protocol))
    assert (completion.text, completion.refused) == ("I cannot.", True)


# ---- keys and endpoints ------------------------------------------------------------------------


async def test_a_key_goes_to_its_own_endpoint_and_to_no_other(serving, protocol, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-official-key")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-official-key")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "sk-official-key")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-official")
    monkeypatch.setenv("OTHER_KEY", "sk-other-key")
    wire = serving(answer(protocol, ANSWER_TEXT))
    await ask(wire.endpoint(protocol, key=None, key_variable="OTHER_KEY"))
    await ask(wire.endpoint(protocol, key=None))
    with_key, without_key = (json.dumps(headers) for headers, _body in wire.requests)
    assert "sk-other-key" in with_key and "sk-other-key" not in without_key
    assert "official" not in with_key + without_key


async def test_a_changed_key_is_used_from_the_next_call_on(serving, protocol):
    wire = serving(answer(protocol, ANSWER_TEXT))
    for key in ("sk-first-key", "sk-second-key"):
        await provider_of(wire.endpoint(protocol, key=key)).complete(Request("m", MESSAGES))
    first, second = (json.dumps(headers) for headers, _body in wire.requests)
    assert "sk-first-key" in first and "sk-second-key" in second
    await provider_of(wire.endpoint(protocol)).close()


@pytest.mark.parametrize(
    "options",
    [{"key": "sk-“quoted”"}, {"key": "sk-1\nX-Other: 1"}, {"base_url": "http://nowhere:port"}],
    ids=["quotes", "line break", "no address"],
)
async def test_misconfigured_endpoint_raises_not_configured(protocol, options):
    endpoint = Endpoint(**{"name": "local", "protocol": protocol, "key": "sk-1", **options})
    with pytest.raises(errors.NotConfigured, match="of endpoint “local”") as caught:
        await ask(endpoint)
    assert options.get("key", "nowhere") not in str(caught.value)


async def test_parameters_that_are_not_json_are_refused(serving, protocol):
    wire = serving(answer(protocol, ANSWER_TEXT))
    with pytest.raises(errors.Rejected, match="as JSON"):
        await ask(wire.endpoint(protocol), parameters={"temperature": float("nan")})


async def test_errors_in_showing_a_draft_do_no_harm(serving, protocol):
    def broken(_piece):
        raise ConnectionError

    wire = serving(ScriptedAnswer(stream(protocol, '{"answer"', ": 20}")))
    assert (await ask(wire.endpoint(protocol), on_text=broken)).text == ANSWER_TEXT


# ---- secrets -----------------------------------------------------------------------------------

FAILURES = {
    "refused key": error(401, f"Incorrect API key provided: {KEY}"),
    "forbidden": error(403, f"{KEY} may not"),
    "bad request": error(400, f"bad: {PROMPT} Bearer {KEY}"),
    "rate": error(429, f"{KEY} is too fast", retry_after_ms="5"),
    "broken": error(500, f"trace: Authorization: Bearer {KEY}"),
    "list of errors": ScriptedAnswer(json.dumps([{"error": {"message": f"{KEY}"}}]), 400),
    "plain text": ScriptedAnswer(f"<html>{KEY}</html>", 502),
    "no json": ScriptedAnswer(f"{KEY} {PROMPT}"),
    "another shape": ScriptedAnswer(json.dumps({"echo": [KEY, PROMPT]})),
    "cut": ScriptedAnswer(["data: {"], cut=True),
    "silence": ScriptedAnswer("{}", pause=2),
}


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("failure", FAILURES)
async def test_no_key_and_no_prompt_in_errors_tracebacks_and_logs(serving, protocol, failure, streamed, caplog):
    caplog.set_level(logging.DEBUG)
    wire = serving(FAILURES[failure])
    endpoint = wire.endpoint(protocol)
    options = {"on_text": lambda piece: None} if streamed else {}
    with pytest.raises(errors.ProviderError) as caught:
        await ask(endpoint, schema=SCHEMA, timeout=1.0, **options)
    visible_text = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + repr(endpoint) + caplog.text
    exception, error_texts = caught.value, []
    while exception is not None:
        error_texts.append(f"{exception!r} {vars(exception)}")
        exception = exception.__cause__ or exception.__context__
    assert len(error_texts) <= 2, "the SDK's error holds the request"
    for text in (visible_text, *error_texts):
        assert KEY not in text
    assert PROMPT not in caplog.text
    gc.collect()


UNPREFIXED_KEY = "house+7f3a/91c2=0b5d"
"""A key without a recognizable prefix."""
KEY_QUOTATIONS = {
    "as it is": f"key {UNPREFIXED_KEY} refused",
    "in an address": f"GET /?key={urllib.parse.quote(UNPREFIXED_KEY, safe='')}&a=b",
    "in base 64": f"Basic {base64.b64encode(UNPREFIXED_KEY.encode()).decode()}",
    "with a name in base 64": f"Basic {base64.b64encode(f'me:{UNPREFIXED_KEY}'.encode()).decode()}",
    "cut off": f"the key is {UNPREFIXED_KEY[:12]}",
    "its end": f"the key ends with {UNPREFIXED_KEY[-12:]}",
    "in capitals": f"key {UNPREFIXED_KEY.upper()} refused",
    "as JSON": json.dumps({"headers": {"authorization": f"Bearer {UNPREFIXED_KEY}", "list": [UNPREFIXED_KEY]}}),
    "at the limit": "x" * 490 + UNPREFIXED_KEY,
}


@pytest.mark.parametrize("message", KEY_QUOTATIONS.values(), ids=KEY_QUOTATIONS)
async def test_no_part_of_a_key_remains_however_it_is_quoted(serving, protocol, message):
    wire = serving(error(400, message))
    with pytest.raises(errors.Rejected) as caught:
        await ask(wire.endpoint(protocol, key=UNPREFIXED_KEY))
    reported = str(caught.value).lower()
    encoded = base64.b64encode(UNPREFIXED_KEY.encode()).decode().lower()
    for key_form in (UNPREFIXED_KEY, encoded, urllib.parse.quote(UNPREFIXED_KEY, safe="").lower()):
        assert not [
            key_form[start : start + 9] for start in range(len(key_form) - 8) if key_form[start : start + 9] in reported
        ], reported
    assert "me:" not in reported


@pytest.mark.parametrize("key", [None, "none", "abc", "7", "a", "no", STAND_IN_KEY])
async def test_other_words_stay(serving, protocol, key):
    message = (
        "A stand-in is not a key. NoneType: no such model, none at all; nonexistent. Basic requests are far too "
        "long for an absent model."
    )
    wire = serving(error(400, message))
    with pytest.raises(errors.Rejected) as caught:
        await ask(wire.endpoint(protocol, key=key))
    assert str(caught.value) == f"HTTP 400: {message}"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7), ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25), ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0),
        ({"retry-after": "soon"}, None), ({"retry-after": "-3"}, None), ({"retry-after": "nan"}, None), ({}, None),
    ],
)  # fmt: skip
def test_all_forms_of_retry_after_are_read(headers, seconds):
    assert retry_after(headers) == seconds
