"""The record of every call of a model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class CallRecord:
    """One call, complete enough to be read, priced and repeated; plain data under `dataclasses.asdict`.

    Attributes:
        provider: the protocol spoken, "openai" or "anthropic".
        model: the model asked for.
        messages: all that was sent, as [{role, content}]; in a `conversation`, only what is new since the last call.
        parameters: sampling parameters sent with it.
        try_number: 1 for the first try of a decision.
        latency: seconds until the answer or the error.
        answer: the raw text, None when the provider gave none.
        answered_by: the model that the provider says it was.
        input_tokens, output_tokens: as the provider counts them.
        request_id: the provider's name for the call.
        stop: why the model stopped, in the provider's words.
        problem: why the answer was no legal move, as the model was told; None if it was one.
        fault: "unreadable" when the answer held no move of the kind asked for, "illegal" when it held one that
            the rules do not allow; None where there was no problem or no answer.
        error: kind and message of the provider's failure, if it failed.
        endpoint: the name of the endpoint that was called.
        strategy: how the model was asked; None: as the game has it.
        seed: the sampling seed sent along.
        prompt_sha256: version of all texts in force (rules, persona, prompts).
        structured: how the answer was held to a schema: "json_schema", "json_object", "tool" or "none".
        rung: 0 for the seat's own agent, 1 for its first fallback, and so on.
        attempt: 1 for the first call of a try, 2 for its first retry after a failure.
        streamed: whether the answer was read as it was written.
        first_text: seconds until its first words, where it was.
        refused: the provider says that the model would not answer.
        short: the model was asked only for the values that determine its move.
        purpose: "move", "plan", "belief", "replan", "look", "note" or "judge".
        remarks: what the model wrote beside its move, under the keys it was asked for.
        cached_tokens: how many of the input tokens the provider read from its cache.
        conversation: the conversation it belongs to, with every answer and tool result stored once; None: none.
        tools: the tools that were called, in order: {name, arguments (as written), result, size (characters of
            the result), fault (None, or "unknown", "unreadable", "illegal", "ignored")}.
        offered: names of the tools that were offered.
        answering: number of the event that opened the turn as it was when the call was made.
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
    endpoint: str | None = None
    strategy: str | None = None
    seed: int | None = None
    prompt_sha256: str | None = None
    structured: str = "none"
    rung: int = 0
    attempt: int = 1
    streamed: bool = False
    first_text: float | None = None
    refused: bool = False
    short: bool = False
    fault: str | None = None
    purpose: str = "move"
    remarks: dict[str, Any] = field(default_factory=dict)
    cached_tokens: int | None = None
    conversation: str | None = None
    tools: list[dict[str, Any]] = field(default_factory=list)
    offered: list[str] = field(default_factory=list)
    answering: int | None = None

    @property
    def moved(self) -> bool:
        """Whether its answer was accepted."""
        return self.answer is not None and self.problem is None
