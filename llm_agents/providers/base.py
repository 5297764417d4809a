"""The interface of every provider: a request in, a completion out, and errors from one tree."""

from __future__ import annotations

import asyncio
import email.utils
import json
import logging
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Literal, NotRequired, TypedDict

import httpx2

from llm_agents.endpoints import Endpoint
from llm_agents.errors import (
    NotConfigured,
    NoTools,
    ProviderError,
    RateLimited,
    Rejected,
    TimedOut,
    Unavailable,
    Unreadable,
)
from llm_agents.per_loop import PerLoop
from llm_agents.scrubbing import NO_KEY, without_key
from outgoing.client import AddressRefused, TooLarge, async_options

log = logging.getLogger(__name__)

CONNECT_SECONDS = 5.0
"""Seconds to wait for a connection before an endpoint counts as unreachable."""
MAX_BYTES = 64 * 2**20
"""Maximum bytes of an answer: a stream sends some hundred bytes for each token."""
UNREACHABLE = "The provider could not be reached."
CUT_OFF = "The answer was cut off."
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
    return Unavailable(UNREACHABLE)


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


# ---- calls -------------------------------------------------------------------------------------

_CLIENTS = PerLoop[Any]()
"""One SDK client for each endpoint and event loop, since connections belong to the loop that opened them."""


class Provider(ABC):
    """Calls one endpoint through its protocol's official SDK, with the SDK's own retries switched off.

    Both SDKs come from one generator and name their errors alike.

    Attributes:
        sdk: the module.
        base_error: the base of its errors.
        unreadable: says that a response is not in the protocol's format.
        optional: the parameters of a call that an endpoint may turn out not to support.
    """

    sdk: ModuleType
    base_error: type[Exception]
    unreadable: str
    optional: tuple[str, ...] = ("tools", "structured")

    def __init__(self, endpoint: Endpoint):
        self._endpoint = endpoint

    # ---- for each protocol -------------------------------------------------------------------------

    @abstractmethod
    def body(self, request: Request) -> dict[str, Any]:
        """Return the JSON object that `complete` sends for this request."""

    @abstractmethod
    def make_client(self, **options: Any) -> Any:
        """Return the SDK's client."""

    @abstractmethod
    async def ask(self, client: Any, request: Request, enforcement: str) -> Completion:
        """Ask once, with the request's schema enforced in this way."""

    def status_error(self, error: Any, key: str | None) -> ProviderError:
        """Return the error for a failure by status."""
        return error_for_status(error.status_code, error.body, key, error.response.headers)

    # ---- the same for all --------------------------------------------------------------------------

    async def complete(self, request: Request) -> Completion:
        """Ask once; the answer is streamed if the request wants text as it comes.

        Raises:
            ProviderError: no answer; the class says why.
        """
        client = self._client()
        failure: ProviderError
        try:
            async with asyncio.timeout(request.timeout):
                return await self._complete(client, request)
        except ProviderError as error:
            failure = error
        except TimeoutError:
            failure = TimedOut(f"No answer within {request.timeout:g} seconds.")
        except self.sdk.APIStatusError as error:
            failure = self.status_error(error, client.api_key)
        except self.sdk.APITimeoutError as error:
            if isinstance(error.__cause__, httpx2.ConnectTimeout):
                failure = Unavailable(UNREACHABLE)
            else:
                failure = TimedOut(f"No answer within {request.timeout:g} seconds.")
        except self.sdk.APIConnectionError as error:
            failure = connection_error(error)
        except self.sdk.APIResponseValidationError:
            failure = Unreadable(self.unreadable)
        except self.sdk.APIError as error:
            failure = Unavailable(f"The provider failed while answering: {error_text(error.body, client.api_key)}")
        except httpx2.HTTPError:
            failure = Unavailable(CUT_OFF)
        except (self.base_error, json.JSONDecodeError, UnicodeDecodeError):
            failure = Unreadable(self.unreadable)
        except ValueError:
            failure = Rejected("The request cannot be encoded as JSON.")
        # Raised here and not above: the SDK's errors hold the request with its key and would be chained to this one.
        raise failure

    async def models(self) -> list[str]:
        """Return the models that the endpoint lists.

        Raises:
            ProviderError: it does not list any.
        """
        try:
            return [model.id async for model in self._client().models.list()]
        except (self.base_error, httpx2.HTTPError, ValueError, TypeError, AttributeError):
            pass
        raise Unreadable("The endpoint does not list its models.")

    async def close(self) -> None:
        """Close the endpoint's connections of the running event loop."""
        client = _CLIENTS.pop(self._endpoint.name)
        if client is not None:
            await client.close()

    def optional_parameters(self, request: Request) -> set[str]:
        """Return the optional parameters of the call that the endpoint is not known not to support."""
        applicable = {
            "tools": bool(request.tools),
            "structured": request.schema is not None and not request.tools and self._endpoint.structured != "none",
            "stream_options": request.on_text is not None,
        }
        return {
            name
            for name in self.optional
            if applicable[name] and not UNSUPPORTED.contains(self._endpoint, request.model, name)
        }

    def enforcement(self, optional_parameters: set[str]) -> str:
        """Return how a schema is enforced."""
        return self._endpoint.structured if "structured" in optional_parameters else "none"

    def timeout(self, request: Request) -> Any:
        return self.sdk.Timeout(request.timeout, connect=min(CONNECT_SECONDS, request.timeout))

    async def _complete(self, client: Any, request: Request) -> Completion:
        """Ask, and ask again without each parameter that the endpoint turns out not to support."""
        refuse_tools(self._endpoint, request)
        while True:
            optional_parameters = self.optional_parameters(request)
            try:
                return await self.ask(client, request, self.enforcement(optional_parameters))
            except self.sdk.APIStatusError as error:
                parameter = unsupported_parameter(error.status_code, error.body, optional_parameters)
                if parameter is None:
                    raise
                UNSUPPORTED.add(self._endpoint, request.model, parameter)
                if parameter == "tools":
                    raise NoTools(f"Tools are not supported: {error_text(error.body, client.api_key)}") from None

    def _client(self) -> Any:
        """Return the running loop's client.

        Raises:
            NotConfigured: the endpoint's key is not set, or its address is invalid.
        """
        endpoint = self._endpoint
        key = endpoint.secret()
        made_for = (endpoint.protocol, endpoint.address, key, endpoint.concurrency)

        def make() -> Any:
            limits = httpx2.Limits(max_connections=None, max_keepalive_connections=endpoint.concurrency)
            http_client = self.sdk.DefaultAsyncHttpxClient(**async_options(limits=limits, max_bytes=MAX_BYTES))
            return self.make_client(
                api_key=key or NO_KEY, base_url=endpoint.address, max_retries=0, http_client=http_client
            )

        try:
            return _CLIENTS.get(endpoint.name, made_for, make)
        except (ValueError, httpx2.InvalidURL):
            raise NotConfigured(f"The address of endpoint “{endpoint.name}” is not a valid URL.") from None
