"""What every provider is: one call in, one text out, errors of one tree."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypedDict, TypeVar
from weakref import WeakKeyDictionary

from llm_agents.errors import ProviderError, RateLimited, Rejected, Unavailable


class ChatMessage(TypedDict):
    """One message of a conversation with a model."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Request:
    """One call.

    Attributes:
        parameters: further arguments of the provider's API (temperature, max_tokens…).
        timeout: seconds for the whole call, the client's own retries included.
    """

    model: str
    messages: Sequence[ChatMessage]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    timeout: float = 60.0


@dataclass(frozen=True)
class Completion:
    """What came back; `text` is empty where the model said nothing."""

    text: str
    model: str | None
    input_tokens: int | None
    output_tokens: int | None
    request_id: str | None
    stop: str | None


class Provider(Protocol):
    """The seam to a maker of models."""

    async def complete(self, request: Request) -> Completion:
        """Ask once.

        Raises:
            ProviderError: no answer; the kind says whose fault it is.
        """
        ...

    async def close(self) -> None:
        """Close the connections of the running event loop."""
        ...


class Client(Protocol):
    """What is asked of an SDK's client."""

    async def close(self) -> None: ...


T = TypeVar("T", bound=Client)
_KEY = re.compile(r"\bsk-[\w*.-]+")


class ClientPerLoop(Generic[T]):
    """An SDK client for each event loop: its connections belong to the loop that opened them."""

    def __init__(self, make: Callable[[], T]):
        self._make = make
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, T] = WeakKeyDictionary()

    def get(self) -> T:
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            self._clients[loop] = self._make()
        return self._clients[loop]

    async def close(self) -> None:
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()


def failed(status: int, body: object, key: str | None) -> ProviderError:
    """The error for an HTTP status, with what the provider's body says about it but never a key."""
    if status in (401, 403):
        return Rejected(f"The provider did not accept the key (HTTP {status}).")
    kind = RateLimited if status == 429 else Unavailable if status >= 500 or status in (408, 409) else Rejected
    inner = body.get("error", body) if isinstance(body, dict) else body
    said = str(inner.get("message", "")) if isinstance(inner, dict) else str(inner or "")
    if key:
        said = said.replace(key, "[key]")
    said = " ".join(_KEY.sub("[key]", said).split())[:500]
    return kind(f"HTTP {status}: {said}" if said else f"HTTP {status}")
