"""The interface of every provider: a request in, a completion out, and errors from one tree."""

from __future__ import annotations

import asyncio
import email.utils
import json
import logging
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, NotRequired, Protocol, TypedDict, TypeVar
from weakref import WeakKeyDictionary

import httpx2

from llm_agents.endpoints import Endpoint
from llm_agents.errors import NotConfigured, NoTools, ProviderError, RateLimited, Rejected, Unavailable, Unreadable
from llm_agents.scrubbing import without_key
from outgoing.client import AddressRefused, TooLarge

log = logging.getLogger(__name__)

CONNECT_SECONDS = 5.0
"""Seconds to wait for a connection before an endpoint counts as unreachable."""
MAX_BYTES = 64 * 2**20
"""Maximum bytes of an answer: a stream sends some hundred bytes for each token."""
LONGEST_ANSWER: Mapping[str, int] = {"anthropic": 4_096, "openai": 16_384}
"""Tokens of the longest answer if no `max_tokens` is given, by protocol: sent to Anthropic's, which requires a limit,
and assumed of OpenAI's, where each model has a limit of its own."""


class ChatMessage(TypedDict):
    """One message of a conversation with a model.

    An assistant's message may contain the tool `calls` it made; a message of the role "tool" is the result of
    the call whose id is `answers`.
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    calls: NotRequired[Sequence[ToolCall]]
    answers: NotRequired[str]


@dataclass(frozen=True)
class ToolCall:
    """A tool call of a model; `arguments` as it wrote them, possibly not JSON."""

    id: str
    name: str
    arguments: str

    @property
    def as_object(self) -> dict[str, Any]:
        """Return the arguments as an object, or an empty one if they are invalid: services accept only objects back."""
        try:
            value = json.loads(self.arguments)
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}


@dataclass(frozen=True)
class OfferedTool:
    """A tool as offered to a model; `parameters` is a JSON schema of an object."""

    name: str
    help: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class Request:
    """One call.

    Attributes:
        parameters: further arguments of the provider's API (temperature, max_tokens…).
        timeout: seconds for the whole call, including the end of a stream.
        schema: JSON schema of the answer, where the endpoint can enforce one.
        on_text: if given, the answer is streamed, and this is called with each new piece of text.
        tools: of which the answer must call at least one.
    """

    model: str
    messages: Sequence[ChatMessage]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    timeout: float = 60.0
    schema: Mapping[str, Any] | None = None
    on_text: Callable[[str], None] | None = None
    tools: Sequence[OfferedTool] = ()


@dataclass(frozen=True)
class Completion:
    """A provider's answer.

    Attributes:
        text: empty if the model wrote nothing.
        refused: the provider reports that the model would not answer.
        first_text: seconds until the first piece of a streamed answer.
        structured: how the request's schema was enforced ("none" if it was not).
        calls: the tool calls, in order; none if no tools were offered.
        input_tokens: all tokens read; `cached_tokens` of them from the provider's cache.
    """

    text: str
    model: str | None
    input_tokens: int | None
    output_tokens: int | None
    request_id: str | None
    stop: str | None
    refused: bool = False
    first_text: float | None = None
    structured: str = "none"
    calls: tuple[ToolCall, ...] = ()
    cached_tokens: int | None = None


class Provider(Protocol):
    """The interface to a provider of models."""

    async def complete(self, request: Request) -> Completion:
        """Ask once.

        Raises:
            ProviderError: no answer; the class says why.
        """
        ...

    async def close(self) -> None:
        """Close the connections of the running event loop."""
        ...


class HttpProvider(Provider, Protocol):
    """A provider that speaks a protocol over HTTP."""

    async def models(self) -> list[str]:
        """Return the models that the endpoint lists.

        Raises:
            ProviderError: it does not list any.
        """
        ...

    def body(self, request: Request) -> dict[str, Any]:
        """Return the JSON object that `complete` sends for this request."""
        ...


class Client(Protocol):
    """What an SDK's client must support."""

    async def close(self) -> None: ...


T = TypeVar("T", bound=Client)


class Clients(Generic[T]):
    """One SDK client per endpoint and event loop: connections belong to the loop that opened them.

    A client is replaced when its endpoint's address or key has changed.
    """

    def __init__(self, make: Callable[[Endpoint], T]):
        self._make = make
        self._lock = threading.Lock()
        self._loops: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, tuple[Any, T]]] = WeakKeyDictionary()

    def get(self, endpoint: Endpoint) -> T:
        """Return the running loop's client.

        Raises:
            NotConfigured: the endpoint's key is not set, or its address is invalid.
        """
        made_for = (endpoint.address, endpoint.secret(), endpoint.concurrency)
        loop = asyncio.get_running_loop()
        with self._lock:
            clients = self._loops.setdefault(loop, {})
        cached = clients.get(endpoint.name)
        if cached is None or cached[0] != made_for:
            try:
                client = self._make(endpoint)
            except (ValueError, httpx2.InvalidURL):
                raise NotConfigured(f"The address of endpoint “{endpoint.name}” is not a valid URL.") from None
            cached = clients[endpoint.name] = (made_for, client)
        return cached[1]

    async def close(self, endpoint: Endpoint) -> None:
        """Close the running loop's client of an endpoint."""
        with self._lock:
            clients = self._loops.get(asyncio.get_running_loop(), {})
        cached = clients.pop(endpoint.name, None)
        if cached is not None:
            await cached[1].close()


class Draft:
    """A streamed answer as it grows; errors in showing it do not affect it.

    Attributes:
        first: seconds until the first piece; None before it.
    """

    def __init__(self, on_text: Callable[[str], None]):
        self._on_text: Callable[[str], None] | None = on_text
        self._started_at = time.monotonic()
        self._pieces: list[str] = []
        self.first: float | None = None

    def add(self, piece: str | None) -> None:
        if piece:
            if self.first is None:
                self.first = time.monotonic() - self._started_at
            self._pieces.append(piece)
            self._show(piece)

    def _show(self, piece: str) -> None:
        if self._on_text is None:
            return
        try:
            self._on_text(piece)
        except Exception as error:  # noqa: BLE001 - showing a draft may fail in any way
            self._on_text = None
            log.warning("a draft could not be shown: %s", type(error).__name__)

    @property
    def text(self) -> str:
        return "".join(self._pieces)


class Unsupported:
    """Parameters that a model of an endpoint was found not to support, for the life of the process."""

    def __init__(self) -> None:
        self._entries: set[tuple[str, str, str, str]] = set()

    def contains(self, endpoint: Endpoint, model: str, parameter: str) -> bool:
        return (endpoint.name, endpoint.address, model, parameter) in self._entries

    def add(self, endpoint: Endpoint, model: str, parameter: str) -> None:
        self._entries.add((endpoint.name, endpoint.address, model, parameter))
        log.warning("endpoint %s does not support %s for model %s; leaving it out", endpoint.name, parameter, model)

    def clear(self) -> None:
        self._entries.clear()


UNSUPPORTED = Unsupported()


def refuse_tools(endpoint: Endpoint, request: Request) -> None:
    """Skip the request if tools are known to be unsupported.

    Raises:
        NoTools
    """
    if request.tools and (not endpoint.tools or UNSUPPORTED.contains(endpoint, request.model, "tools")):
        raise NoTools(f"Endpoint “{endpoint.name}” does not support tools for model “{request.model}”.")


# ---- failures ----------------------------------------------------------------------------------


def error_text(body: object, key: str | None) -> str:
    """Return a failed call's message from its body: one line, at most 500 characters, without any part of a key."""
    inner = body[0] if isinstance(body, list) and body else body
    inner = inner.get("error", inner) if isinstance(inner, dict) else inner
    message = str(inner.get("message", "")) if isinstance(inner, dict) else str(inner or "")
    return " ".join(without_key(message, key).split())[:500]


def connection_error(error: Exception) -> ProviderError:
    """Return the error for an SDK's failure to connect or to read, which holds the cause."""
    if isinstance(error.__cause__, AddressRefused):
        return NotConfigured(str(error.__cause__))
    if isinstance(error.__cause__, TooLarge):
        return Unreadable(str(error.__cause__))
    return Unavailable("The provider could not be reached.")


def error_for_status(
    status: int, body: object, key: str | None, headers: Mapping[str, str] | None = None
) -> ProviderError:
    """Return the error for an HTTP status, with the provider's message but never a key."""
    if status in (401, 403):
        return Rejected(f"The provider did not accept the key (HTTP {status}).")
    if 300 <= status < 400:
        return Rejected(f"The address redirects calls elsewhere (HTTP {status}). Enter the address that answers them.")
    kind = RateLimited if status == 429 else Unavailable if status >= 500 or status in (408, 409) else Rejected
    message = error_text(body, key)
    return kind(f"HTTP {status}: {message}" if message else f"HTTP {status}", retry_after=retry_after(headers or {}))


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait from the headers retry-after-ms and Retry-After (RFC 9110 §10.2.3)."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    try:
        retry_at = email.utils.parsedate_to_datetime(headers.get("retry-after", ""))
        return max(0.0, retry_at.timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


_PARAMETERS: Mapping[str, re.Pattern[str]] = {
    "stream_options": re.compile(r"stream_options|include_usage"),
    "tools": re.compile(r"tool|function", re.IGNORECASE),
    "structured": re.compile(r"response_format|json_schema|json_object|structured output|tool|function", re.IGNORECASE),
}


def unsupported_parameter(status: int, body: object, parameters: set[str]) -> str | None:
    """Return which of the `parameters` sent ("structured", "stream_options") a failed call is about, if any."""
    if status not in (400, 404, 422):
        return None
    text = str(body)
    return next((name for name, pattern in _PARAMETERS.items() if name in parameters and pattern.search(text)), None)
