"""Stand-in servers on 127.0.0.1 that speak the providers' protocols and answer, or misbehave, as configured."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, ClassVar, Self

from llm_agents.standins.anthropic import Anthropic
from llm_agents.standins.http import HttpAnswer, HttpRequest, HttpServer
from llm_agents.standins.misbehaviours import (
    Answer,
    Calls,
    CutStream,
    Disconnect,
    Drip,
    Echo,
    Empty,
    FailingStream,
    Failure,
    Hang,
    Malformed,
    Output,
    Refusal,
    Slow,
    WrongModel,
    WrongTypes,
)
from llm_agents.standins.openai import OpenAI
from llm_agents.standins.protocols import ALL_FEATURES, Protocol, Reply, StreamEvent, new_id

KEY = "sk-0123456789-0123"
"""The key of tests' calls to stand-in servers; it must appear nowhere else."""

JSON = {"content-type": "application/json"}
EVENTS = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}


class StandIn:
    """A server that answers the n-th call with the n-th answer (then repeats the last), or with a function's result.

    Use as a context manager.

    Args:
        answers: in order of the calls, or a function of a call's body. A function may block: it runs in its own thread.
        features: those of `ALL_FEATURES` that the server supports; it refuses the rest with HTTP 400.
        key: the only accepted key; None: any, or none.
        models: the list of models.
        tokens: (read, written) of each answer, or a function of the call's body and the text.
        keeps_requests: whether `requests` and `headers` are filled.
        port: 0 for any free one.

    Attributes:
        requests: bodies of the calls, as received.
        headers: their headers, by lower-case name.
        abandoned: calls whose caller hung up before the end of the answer.
    """

    protocols: ClassVar[tuple[Protocol, ...]]

    def __init__(
        self,
        answers: Sequence[Answer] | Callable[[dict[str, Any]], Answer],
        *,
        features: frozenset[str] = ALL_FEATURES,
        key: str | None = None,
        models: Sequence[str] = ("stand-in-large", "stand-in-small"),
        tokens: tuple[int, int] | Callable[[Mapping[str, Any], str], tuple[int, int]] = (11, 7),
        keeps_requests: bool = True,
        port: int = 0,
    ):
        self._answers, self._features, self._key, self._models, self._tokens = answers, features, key, models, tokens
        self._keeps_requests, self._calls = keeps_requests, 0
        self.requests: list[dict[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self.abandoned = 0
        self._choosing = ThreadPoolExecutor(max_workers=16, thread_name_prefix="stand-in-answers")
        self._server = HttpServer(self._handle, port)

    @property
    def port(self) -> int:
        return self._server.port

    @property
    def environment(self) -> dict[str, str]:
        """The variables that point the official SDKs at this server."""
        variables: dict[str, str] = {}
        for protocol in self.protocols:
            key, address = protocol.variables
            variables |= {key: self._key or KEY, address: f"http://127.0.0.1:{self.port}{protocol.prefix}"}
        return variables

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        self._choosing.shutdown(wait=False)

    async def _handle(self, request: HttpRequest, answer: HttpAnswer) -> None:
        anthropic = "anthropic-version" in request.headers
        protocol = self.protocols[-1] if anthropic else self.protocols[0]
        if (request.method, request.path) == ("GET", "/v1/models"):
            return await answer.send(200, JSON, _encoded(protocol.models(self._models)))
        matching = [protocol for protocol in self.protocols if protocol.path == request.path]
        call = _Call(matching[0] if matching else protocol, answer)
        if not matching or request.method != "POST":
            return await call.fail(Failure(404, f"no such path: {request.path}", None))
        call.key = key = call.protocol.key(request.headers)
        if self._key is not None and key != self._key:
            return await call.fail(Failure(401, call.protocol.wrong_key_message(key or ""), None))
        try:
            call.request = json.loads(request.body)
            self._calls += 1
            if self._keeps_requests:
                self.requests.append(call.request)
                self.headers.append(request.headers)
            refused = call.protocol.refusal(call.request, request.headers, self._features)
        except (ValueError, TypeError, AttributeError, KeyError):
            refused = "The body of the request cannot be read."
        if refused:
            return await call.fail(Failure(400, refused, None))
        try:
            await self._answer(call, await self._choose_answer(call.request))
        except (asyncio.CancelledError, ConnectionError):
            self.abandoned += 1
            raise

    async def _choose_answer(self, request: dict[str, Any]) -> Answer:
        if not callable(self._answers):
            return self._answers[min(self._calls, len(self._answers)) - 1]
        try:
            return await asyncio.get_running_loop().run_in_executor(self._choosing, self._answers, request)
        except Exception as failure:  # noqa: BLE001 - any error is reported to the caller
            return Failure(500, f"The stand-in server's own function failed: {failure!r}")

    async def _answer(self, call: _Call, answer: Answer) -> None:
        match answer:
            case Slow():
                await asyncio.sleep(answer.seconds - (time.monotonic() - call.came_at))
                await self._answer(call, answer.answer)
            case Hang():
                await asyncio.sleep(answer.seconds)
                call.http.drop()
            case Disconnect():
                call.http.drop()
            case Failure():
                await call.fail(answer)
            case WrongModel():
                await call.fail(Failure(404, call.protocol.wrong_model_message(str(call.request["model"])), None))
            case Malformed():
                await call.send_malformed(answer.body)
            case Refusal():
                await call.send_reply(self._reply(call, answer.text, refused=True))
            case Empty():
                await call.send_reply(self._reply(call, ""))
            case WrongTypes():
                await call.send_reply(self._reply(call, answer.distorted))
            case Drip():
                await call.send_reply(self._reply(call, answer.answer), pause=answer.seconds)
            case CutStream():
                await call.send_reply(self._reply(call, answer.answer), limit=answer.after)
            case FailingStream():
                await call.send_reply(self._reply(call, answer.answer), limit=answer.after, failure=answer.failure)
            case Echo():
                failure = Failure(answer.status, call.echo())
                if answer.after is None:
                    await call.fail(failure)
                else:
                    await call.send_reply(self._reply(call, answer.answer), limit=answer.after, failure=failure)
            case str() | Calls():
                await call.send_reply(self._reply(call, answer))

    def _reply(self, call: _Call, output: Output, *, refused: bool = False) -> Reply:
        tokens = self._tokens(call.request, str(output)) if callable(self._tokens) else self._tokens
        if isinstance(output, Calls):
            return Reply(output.text, tokens, calls=output.calls)
        return Reply(output, tokens, refused)


class _Call:
    """A call in progress."""

    request: dict[str, Any]
    key: str | None = None

    def __init__(self, protocol: Protocol, http: HttpAnswer):
        self.protocol, self.http, self._id = protocol, http, new_id("req_")
        self.request, self.came_at = {}, time.monotonic()

    def echo(self) -> str:
        """The call's key and messages, as a careless service would repeat them."""
        contents = [self.request.get("system"), *(message.get("content") for message in self.request["messages"])]
        return f"Authorization: {self.key}; key={self.key}. Could not answer: {contents}"

    async def fail(self, failure: Failure) -> None:
        headers = {**JSON, **self._id_header}
        if failure.retry_after is not None:
            headers["retry-after"] = f"{failure.retry_after:g}"
        elif failure.retry_after_ms is not None:
            headers["retry-after-ms"] = str(failure.retry_after_ms)
        await self.http.send(failure.status, headers, _encoded(self.protocol.error(failure, self._id)))

    async def send_malformed(self, body: str) -> None:
        """Send something that violates the protocol."""
        if not self._streams:
            return await self.http.send(200, {**JSON, **self._id_header}, body.encode(errors="replace"))
        self.http.begin(200, {**EVENTS, **self._id_header})
        await self.http.piece(StreamEvent(body.replace("\n", " ")).encoded())
        await self.http.piece(b"")

    async def send_reply(
        self, reply: Reply, *, pause: float = 0.0, limit: int | None = None, failure: Failure | None = None
    ) -> None:
        """Send an answer as requested: whole or streamed.

        Args:
            pause: seconds before each piece.
            limit: characters after which it breaks off.
            failure: what is sent there; None: nothing, the connection is lost.
        """
        if self._streams:
            return await self._stream(reply, pause, limit, failure)
        if failure is not None:
            return await self.fail(failure)
        body = self.protocol.body(self.request, reply)
        await asyncio.sleep(pause * sum(bool(event.piece) for event in self.protocol.stream(self.request, reply)))
        await self.http.send(200, {**JSON, **self._id_header}, _encoded(body), limit=limit)

    async def _stream(self, reply: Reply, pause: float, limit: int | None, failure: Failure | None) -> None:
        self.http.begin(200, {**EVENTS, **self._id_header})
        sent_characters = 0
        for event in self.protocol.stream(self.request, reply):
            if event.piece and pause:
                await asyncio.sleep(pause)
            sent_characters += len(event.piece)
            if limit is not None and sent_characters > limit:
                if failure is None:
                    return self.http.drop()
                await self.http.piece(self.protocol.failure_event(failure, self._id).encoded())
                return await self.http.piece(b"")
            await self.http.piece(event.encoded())
        await self.http.piece(b"")

    @property
    def _streams(self) -> bool:
        return bool(self.request.get("stream"))

    @property
    def _id_header(self) -> dict[str, str]:
        return {self.protocol.id_header: self._id}


def _encoded(body: Any) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode(errors="replace")


class OpenAIStandIn(StandIn):
    """OpenAI's Chat Completions."""

    protocols = (OpenAI(),)


class AnthropicStandIn(StandIn):
    """Anthropic's Messages."""

    protocols = (Anthropic(),)


class BothStandIn(StandIn):
    """Both protocols on one port."""

    protocols = (OpenAI(), Anthropic())
