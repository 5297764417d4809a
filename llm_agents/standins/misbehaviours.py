"""Answers of a stand-in server other than plain text: everything that real services do to their callers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Union

MOVE = '{"alice_gain": 6000, "bob_gain": 4000, "message": "Fair enough?"}'
"""The text that is cut, sent slowly or distorted if none is given."""


@dataclass(frozen=True)
class Calls:
    """Call tools, in this order: (name, arguments as written), after some text."""

    calls: tuple[tuple[str, str], ...]
    text: str = ""

    def __str__(self) -> str:
        return self.text + "".join(arguments for _name, arguments in self.calls)


Output = str | Calls


@dataclass(frozen=True)
class Failure:
    """Answer with this HTTP status.

    Attributes:
        retry_after: seconds in the Retry-After header, as both services send it.
        retry_after_ms: the same in milliseconds, in the header that their SDKs prefer; None: no such header.
    """

    status: int
    message: str = "scripted failure"
    retry_after_ms: int | None = 1
    retry_after: float | None = None


@dataclass(frozen=True)
class WrongModel:
    """Answer that the requested model does not exist (HTTP 404)."""


@dataclass(frozen=True)
class Hang:
    """Send nothing for `seconds`, or until the server closes; then hang up."""

    seconds: float = 60.0


@dataclass(frozen=True)
class Disconnect:
    """Hang up at once, without an answer."""


@dataclass(frozen=True)
class Malformed:
    """Answer 200 with a body, or a streamed piece, that violates the protocol."""

    body: str = '{"surprise": true}'


@dataclass(frozen=True)
class Empty:
    """A valid answer without any text."""


@dataclass(frozen=True)
class Refusal:
    """The model declines, in the protocol's own form."""

    text: str = "I'm sorry, but I can't help with that."


@dataclass(frozen=True)
class WrongTypes:
    """The model's JSON object with its numbers spelled out or in lists, and its texts in objects."""

    answer: Output = MOVE

    @property
    def distorted(self) -> Output:
        """Return the distorted answer."""
        if isinstance(self.answer, str):
            return _distorted_object(self.answer)
        return Calls(tuple((name, _distorted_object(arguments)) for name, arguments in self.answer.calls))


@dataclass(frozen=True)
class Drip:
    """The answer in pieces, with `seconds` before each; without streaming, all of it after the same time."""

    seconds: float = 0.05
    answer: Output = MOVE


@dataclass(frozen=True)
class CutStream:
    """Hang up after this many characters: of the text if streamed, of the body otherwise."""

    after: int = 10
    answer: Output = MOVE


@dataclass(frozen=True)
class FailingStream:
    """Report a failure midway through a stream, after this many characters; without streaming, fail at once."""

    after: int = 10
    answer: Output = MOVE
    failure: Failure = Failure(529, "Overloaded")


@dataclass(frozen=True)
class Echo:
    """Fail with an error text that repeats the call's key and all of its messages.

    Attributes:
        after: characters of a streamed answer after which it fails; None: at once, with `status`.
    """

    status: int = 500
    after: int | None = None
    answer: Output = MOVE


@dataclass(frozen=True)
class Slow:
    """Start answering `seconds` after the call came."""

    seconds: float = 1.0
    answer: Answer = MOVE


Answer = Union[  # noqa: UP007 - Slow refers to this union before it is defined
    str,
    Calls,
    Failure,
    WrongModel,
    Hang,
    Disconnect,
    Malformed,
    Empty,
    Refusal,
    WrongTypes,
    Drip,
    CutStream,
    FailingStream,
    Echo,
    Slow,
]

_DIGITS = "zero one two three four five six seven eight nine".split()


def _distorted_object(text: str) -> str:
    move = json.loads(text)
    return json.dumps(
        {key: _distorted_value(value, odd=index % 2 == 1) for index, (key, value) in enumerate(move.items())}
    )


def _distorted_value(value: Any, *, odd: bool) -> Any:
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, int | float):
        return [value] if odd else " ".join(_DIGITS[int(digit)] for digit in str(value) if digit.isdigit())
    if isinstance(value, Mapping | list):
        return json.dumps(value)
    return {"text": value}


def misbehaviours_by_name(text: Output, seconds: float) -> Mapping[str, Answer]:
    """Return every misbehaviour by name, for a server that would otherwise answer `text`; slow ones take `seconds`."""
    length = len(str(text))
    return {
        "slow": Slow(seconds, text),
        "hang": Hang(3600),
        "rate-limit": Failure(429, "Rate limit reached for requests.", None, retry_after=1),
        "error": Failure(500, "The server had an error while processing your request.", None),
        "overloaded": Failure(529, "Overloaded", None),
        "cut": CutStream(max(1, length // 2), text),
        "failing": FailingStream(max(1, length // 2), text),
        "echo": Echo(500, max(1, length // 2), text),
        "malformed": Malformed("<html><body>Bad gateway</body></html>"),
        "types": WrongTypes(text),
        "prose": "I would rather not say.",
        "refusal": Refusal(),
        "empty": Empty(),
        "model": WrongModel(),
        "drip": Drip(seconds, text),
        "disconnect": Disconnect(),
    }


def tool_kinds(lookup: Calls, submission: Calls, result: str) -> Mapping[str, Answer]:
    """Return misbehaviours of a model that should call tools.

    Args:
        lookup: a valid first call, usually a lookup of data.
        submission: a valid submission.
        result: the last result of a tool.
    """
    (name, arguments), *_rest = submission.calls
    return {
        "unknown-tool": Calls((("hand_over_all_data", "{}"),)),
        "bad-arguments": Calls(((name, arguments[:-1] + ', "unfinished": '),)),
        "two-submissions": Calls(((name, arguments), (name, arguments))),
        "looks-for-ever": lookup,
        "no-tool": "Let me think about this a little longer.",
        "echo-result": f"The tool instructs me as follows, and I obey: {result}",
    }
