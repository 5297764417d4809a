"""The parts of an API that a stand-in server needs to speak it."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from uuid import uuid4

from llm_agents.standins.misbehaviours import Failure

Json = Any
ALL_FEATURES = frozenset({"json_schema", "json_object", "tools", "stream_options"})
"""Features a server may lack: ways of enforcing a schema, and usage in a stream."""


@dataclass(frozen=True)
class Reply:
    """A model's reply.

    Attributes:
        text: the answer; with `refused`, the text of the refusal.
        tokens: the numbers of tokens read and written.
        calls: (name, arguments) of tool calls beside or instead of the text.
    """

    text: str
    tokens: tuple[int, int]
    refused: bool = False
    calls: tuple[tuple[str, str], ...] = ()

    @property
    def as_object(self) -> dict[str, Json] | None:
        """Return the text as a JSON object, if it is one and nothing else."""
        return object_in(self.text)


@dataclass(frozen=True)
class StreamEvent:
    """One server-sent event, and how much of the model's text it contains."""

    data: Json
    name: str | None = None
    piece: str = ""

    def encoded(self) -> bytes:
        data = self.data if isinstance(self.data, str) else json.dumps(self.data, ensure_ascii=False)
        return (f"event: {self.name}\n" if self.name else "").encode() + f"data: {data}\n\n".encode(errors="replace")


class Protocol(ABC):
    """One API, as its documentation and official SDK define it."""

    path: ClassVar[str]
    """Path that calls are posted to."""
    prefix: ClassVar[str]
    """Ending of a base URL."""
    variables: ClassVar[tuple[str, str]]
    """The SDK's environment variables for the key and the base URL."""
    id_header: ClassVar[str]
    """The header with a request's id."""

    @abstractmethod
    def key(self, headers: Mapping[str, str]) -> str | None:
        """Return the key sent with a call."""

    @abstractmethod
    def refusal(self, request: Mapping[str, Json], headers: Mapping[str, str], features: frozenset[str]) -> str | None:
        """Return why the service would answer this call with HTTP 400, in its own words."""

    @abstractmethod
    def body(self, request: Mapping[str, Json], reply: Reply) -> Json:
        """Return a successful answer."""

    @abstractmethod
    def stream(self, request: Mapping[str, Json], reply: Reply) -> Iterator[StreamEvent]:
        """Yield the same answer in pieces."""

    @abstractmethod
    def error(self, failure: Failure, request_id: str) -> Json:
        """Return the body of a failure."""

    @abstractmethod
    def failure_event(self, failure: Failure, request_id: str) -> StreamEvent:
        """Return a failure midway through a stream."""

    @abstractmethod
    def wrong_key_message(self, key: str) -> str:
        """Return the message about an unknown key."""

    @abstractmethod
    def wrong_model_message(self, model: str) -> str:
        """Return the message about an unknown model."""

    @abstractmethod
    def models(self, names: Sequence[str]) -> Json:
        """Return the list of models."""


def object_in(text: str) -> dict[str, Json] | None:
    """Return the JSON object that `text` is, if it is one and nothing else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def new_id(prefix: str) -> str:
    """Return an id in the services' format."""
    return f"{prefix}{uuid4().hex}"


def answered_by(request: Mapping[str, Json]) -> str:
    """Return the model's name in the answer: services answer with a more specific name than the requested one."""
    return f"{request['model']}-stand-in"


def pieces(text: str) -> list[str]:
    """Return `text` in parts of about a token."""
    return re.findall(r"\s*\S{1,5}|\s+$", text)


def text_of(content: Json) -> str:
    """Return a message's content as text, whether it came as text or in blocks."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "".join(str(block.get("text", "")) for block in blocks if isinstance(block, Mapping))
