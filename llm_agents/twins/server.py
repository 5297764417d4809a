"""Small HTTP servers on 127.0.0.1: OpenAI's chat completions and Anthropic's messages, without streaming."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, ClassVar, Self

KEY = "sk-twin-0123456789"
"""The key that twins are called with in tests; it must turn up nowhere else."""


@dataclass(frozen=True)
class Failure:
    """Answer with this HTTP status; the client may try again after `retry_after_ms`."""

    status: int
    message: str = "scripted failure"
    retry_after_ms: int = 1


@dataclass(frozen=True)
class Hang:
    """Say nothing for `seconds`, or until the twin closes."""

    seconds: float = 60.0


@dataclass(frozen=True)
class Malformed:
    """Answer 200 with a body that is not the protocol's."""

    body: str = '{"surprise": true}'


Answer = str | Failure | Hang | Malformed


class Twin:
    """A server that answers the n-th call with the n-th answer (the last one for ever), or with what a function says.

    Use as a context manager.

    Attributes:
        requests: bodies of the calls, as they came.
    """

    path: ClassVar[str]
    prefix: ClassVar[str]
    variables: ClassVar[tuple[str, str]]

    def __init__(self, answers: Sequence[Answer] | Callable[[dict[str, Any]], Answer]):
        self._answers = answers
        self.requests: list[dict[str, Any]] = []
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def environment(self) -> dict[str, str]:
        """The variables that make the official SDK talk to this twin."""
        key, address = self.variables
        return {key: KEY, address: f"http://127.0.0.1:{self._server.server_port}{self.prefix}"}

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()

    def reply(self, request: Mapping[str, Any], text: str, number: int) -> dict[str, Any]:
        """The body of a successful answer."""
        raise NotImplementedError

    def error(self, failure: Failure) -> dict[str, Any]:
        """The body of a failure."""
        return {"error": {"type": "scripted", "message": failure.message}}

    def _next(self, request: dict[str, Any]) -> tuple[int, Answer]:
        with self._lock:
            self.requests.append(request)
            number = len(self.requests)
        if callable(self._answers):
            return number, self._answers(request)
        return number, self._answers[min(number, len(self._answers)) - 1]

    def _handler(twin) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                if self.path != twin.path:
                    return self._send(404, json.dumps(twin.error(Failure(404, f"no such path: {self.path}"))))
                number, answer = twin._next(body)
                match answer:
                    case str():
                        self._send(200, json.dumps(twin.reply(body, answer, number)))
                    case Malformed():
                        self._send(200, answer.body)
                    case Failure():
                        self._send(answer.status, json.dumps(twin.error(answer)), answer.retry_after_ms)
                    case Hang():
                        twin._closing.wait(answer.seconds)
                        self.close_connection = True

            def _send(self, status: int, body: str, retry_after_ms: int | None = None) -> None:
                data = body.encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                if retry_after_ms is not None:
                    self.send_header("retry-after-ms", str(retry_after_ms))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler


class OpenAITwin(Twin):
    """POST /v1/chat/completions."""

    prefix = "/v1"
    path = "/v1/chat/completions"
    variables = ("OPENAI_API_KEY", "OPENAI_BASE_URL")

    def reply(self, request: Mapping[str, Any], text: str, number: int) -> dict[str, Any]:
        return {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": 0,
            "model": f"{request['model']}-twin",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "stop",
                    "message": {"role": "assistant", "content": text},
                    "logprobs": None,
                }
            ],
            "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
        }


class AnthropicTwin(Twin):
    """POST /v1/messages."""

    prefix = ""
    path = "/v1/messages"
    variables = ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL")

    def reply(self, request: Mapping[str, Any], text: str, number: int) -> dict[str, Any]:
        return {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": f"{request['model']}-twin",
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 11, "output_tokens": 7},
        }

    def error(self, failure: Failure) -> dict[str, Any]:
        return {"type": "error", **super().error(failure)}
