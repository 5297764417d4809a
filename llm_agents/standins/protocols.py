"""What a stand-in server needs to know of an API in order to speak it."""

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
EVERYTHING = frozenset({"json_schema", "json_object", "tools", "stream_options"})
"""What a server may not know: ways of holding an answer to a form, and asking for usage in a stream."""


@dataclass(frozen=True)
class Reply:
    """What a model says.

    Attributes:
        text: the answer; with `refused`, the words that decline it.
        tokens: read and written.
        calls: (name, arguments) of the tools that it calls beside or instead.
    """

    text: str
    tokens: tuple[int, int]
    refused: bool = False
    calls: tuple[tuple[str, str], ...] = ()

    @property
    def as_object(self) -> dict[str, Json] | None:
        """The text as the JSON object that it is, if it is one and nothing else."""
        return object_in(self.text)


@dataclass(frozen=True)
class Sent:
    """One server-sent event, and how much of the model's text is in it."""

    data: Json
    name: str | None = None
    piece: str = ""

    def encoded(self) -> bytes:
        data = self.data if isinstance(self.data, str) else json.dumps(self.data, ensure_ascii=False)
        return (f"event: {self.name}\n" if self.name else "").encode() + f"data: {data}\n\n".encode(errors="replace")


class Protocol(ABC):
    """One API, as its documentation and its official SDK have it."""

    path: ClassVar[str]
    """Where calls are posted."""
    prefix: ClassVar[str]
    """What a base URL ends with."""
    variables: ClassVar[tuple[str, str]]
    """The SDK's environment variables for the key and the base URL."""
    id_header: ClassVar[str]
    """The header that carries a request's id."""

    @abstractmethod
    def key(self, headers: Mapping[str, str]) -> str | None:
        """The key that a call comes with."""

    @abstractmethod
    def refusal(self, request: Mapping[str, Json], headers: Mapping[str, str], knows: frozenset[str]) -> str | None:
        """Why the service would answer this call with HTTP 400, in its own words."""

    @abstractmethod
    def body(self, request: Mapping[str, Json], reply: Reply) -> Json:
        """A successful answer."""

    @abstractmethod
    def stream(self, request: Mapping[str, Json], reply: Reply) -> Iterator[Sent]:
        """The same answer in pieces."""

    @abstractmethod
    def error(self, failure: Failure, request_id: str) -> Json:
        """The body of a failure."""

    @abstractmethod
    def failing(self, failure: Failure, request_id: str) -> Sent:
        """A failure in the middle of a stream."""

    @abstractmethod
    def wrong_key(self, key: str) -> str:
        """What is said about a key that is not known."""

    @abstractmethod
    def wrong_model(self, model: str) -> str:
        """What is said about a model that there is not."""

    @abstractmethod
    def models(self, names: Sequence[str]) -> Json:
        """The list of models."""


def object_in(text: str) -> dict[str, Json] | None:
    """The JSON object that `text` is, if it is one and nothing else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def new_id(prefix: str) -> str:
    """An id as the services make them."""
    return f"{prefix}{uuid4().hex}"


def answered_by(request: Mapping[str, Json]) -> str:
    """The model's name as it comes back: services answer with a name more exact than the one that was asked for."""
    return f"{request['model']}-stand-in"


def pieces(text: str) -> list[str]:
    """`text` in parts of about a token."""
    return re.findall(r"\s*\S{1,5}|\s+$", text)


def text_of(content: Json) -> str:
    """A message's content as text, whether it came as text or in blocks."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "".join(str(block.get("text", "")) for block in blocks if isinstance(block, Mapping))
