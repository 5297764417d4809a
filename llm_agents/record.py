"""What is kept of every call of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class CallRecord:
    """One call, complete enough to be read, priced and repeated; plain data under `dataclasses.asdict`.

    Attributes:
        provider: "openai" or "anthropic".
        model: the model asked for.
        messages: all that was sent, as [{role, content}].
        parameters: sampling parameters sent along.
        try_number: 1 for the first try of a decision.
        latency: seconds until the answer or the error, the client's own retries included.
        answer: the raw text, None when the provider gave none.
        answered_by: the model that the provider says it was.
        input_tokens, output_tokens: as the provider counts them.
        request_id: the provider's name for the call.
        stop: why the model stopped, in the provider's words.
        problem: why the answer was no legal move, as the model was told; None if it was one.
        error: kind and message of the provider's failure, if it failed.
    """

    provider: str
    model: str
    messages: list[dict[str, str]]
    parameters: dict[str, Any]
    try_number: int
    latency: float
    answer: str | None = None
    answered_by: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    request_id: str | None = None
    stop: str | None = None
    problem: str | None = None
    error: str | None = None
