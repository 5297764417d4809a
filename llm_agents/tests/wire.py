"""A socket that sends exactly what a test wants, in OpenAI's and Anthropic's formats."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from llm_agents.endpoints import Endpoint

KEY = "sk-wire-0123456789abcdef"
"""The key of every call; it must appear nowhere else."""


@dataclass(frozen=True)
class ScriptedAnswer:
    """One answer.

    Attributes:
        body: all of it at once, or the pieces of a stream.
        pause: seconds before each piece.
        cut: drop the connection after the last piece.
    """

    body: str | Sequence[str]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    pause: float = 0.0
    cut: bool = False


class Wire:
    """A server that answers the n-th call with the n-th answer, and then repeats the last.

    Attributes:
        requests: (headers, body) of the calls.
        most_at_once: maximum concurrent calls.
    """

    def __init__(self, *answers: ScriptedAnswer):
        self._answers = answers
        self.requests: list[tuple[dict[str, str], dict[str, Any]]] = []
        self.most_at_once = self._now = 0
        self._lock, self._closing = threading.Lock(), threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def close(self) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()

    def endpoint(self, protocol: str, name: str = "local", **options: Any) -> Endpoint:
        """Return an endpoint at this server."""
        options = {"structured": "json_schema" if protocol == "openai" else "tool", "key": KEY, **options}
        return Endpoint(name, protocol, self.address + ("/v1" if protocol == "openai" else ""), **options)  # type: ignore[arg-type]

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [body for _headers, body in self.requests]

    def _handler(wire) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                with wire._lock:
                    wire.requests.append((dict(self.headers.items()), body))
                    answer = wire._answers[min(len(wire.requests), len(wire._answers)) - 1]
                    wire._now += 1
                    wire.most_at_once = max(wire.most_at_once, wire._now)
                try:
                    self._send_answer(answer)
                except OSError:
                    self.close_connection = True
                finally:
                    with wire._lock:
                        wire._now -= 1

            def _send_answer(self, answer: ScriptedAnswer) -> None:
                pieces = [answer.body] if isinstance(answer.body, str) else answer.body
                if isinstance(answer.body, str):
                    wire._closing.wait(answer.pause)
                self.send_response(answer.status)
                kind = "application/json" if isinstance(answer.body, str) else "text/event-stream"
                for name, value in {"content-type": kind, "transfer-encoding": "chunked", **answer.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                for piece in pieces:
                    if not isinstance(answer.body, str):
                        wire._closing.wait(answer.pause)
                    data = piece.encode()
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                    self.wfile.flush()
                if answer.cut:
                    self.close_connection = True
                    return
                self.wfile.write(b"0\r\n\r\n")

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler


# ---- formats of the two protocols ---------------------------------------------------------------


def answer(protocol: str, text: str, *, tool: bool = False, **further_fields: Any) -> ScriptedAnswer:
    """Return a whole answer."""
    if protocol == "openai":
        tool_call = {"id": "c1", "type": "function", "function": {"name": "move", "arguments": text}}
        message = {
            "role": "assistant",
            "content": None if tool else text,
            **({"tool_calls": [tool_call]} if tool else {}),
        }
        choice = {"index": 0, "finish_reason": "stop", "message": message, **further_fields}
        body = {"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": "m-1", "choices": [choice]}
        return ScriptedAnswer(
            json.dumps({**body, "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}})
        )
    tool_use = {"type": "tool_use", "id": "t1", "name": "move", "input": json.loads(text)} if tool else None
    body = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m-1", "stop_reason": "end_turn",
        "content": [tool_use or {"type": "text", "text": text}], "usage": {"input_tokens": 11, "output_tokens": 7},
        **further_fields,
    }  # fmt: skip
    return ScriptedAnswer(json.dumps(body))


def stream(protocol: str, *pieces: str, tool: bool = False, ended: bool = True, usage: bool = True) -> list[str]:
    """Return the lines of a streamed answer."""
    if protocol == "openai":
        deltas: list[dict[str, Any]] = [
            {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} if tool else {"content": piece}
            for piece in pieces
        ]
        chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
        if ended:
            chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        if ended and usage:
            chunks.append({"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 7}})  # type: ignore[dict-item]
        common = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": "m-1"}
        lines = [f"data: {json.dumps({**common, **chunk})}\n\n" for chunk in chunks]
        return [*lines, "data: [DONE]\n\n"] if ended else lines
    opening_message = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m-1", "content": [], "stop_reason": None,
    }  # fmt: skip
    block = {"type": "tool_use", "id": "t1", "name": "move", "input": {}} if tool else {"type": "text", "text": ""}
    kind, key = ("input_json_delta", "partial_json") if tool else ("text_delta", "text")
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**opening_message, "usage": {"input_tokens": 11, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "ping"},
        *({"type": "content_block_delta", "index": 0, "delta": {"type": kind, key: piece}} for piece in pieces),
    ]
    if ended:
        events += [
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}},
            {"type": "message_stop"},
        ]
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]


def error(status: int, message: str = "scripted", **headers: str) -> ScriptedAnswer:
    """Return a failure by status, in a format that both SDKs read."""
    body = json.dumps({"type": "error", "error": {"type": "scripted", "message": message}})
    return ScriptedAnswer(body, status, {name.replace("_", "-"): value for name, value in headers.items()})
