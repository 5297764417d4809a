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
        parameters: the sampling parameters sent with it.
        try_number: 1 for the first try of a decision.
        latency: seconds until the answer or the error.
        answer: the raw text; None if the provider gave none.
        answered_by: the model that answered, according to the provider.
        input_tokens, output_tokens: the tokens as the provider counts them.
        request_id: the provider's id of the call.
        stop: why the model stopped, in the provider's words.
        problem: why the answer was not a legal move, as the model was told; None if it was one.
        fault: "unreadable" if the answer contained no move of the requested kind, "illegal" if it contained one that
            the rules do not allow; None if there was no problem or no answer.
        error: kind and message of the provider's failure, if it failed.
        endpoint: the name of the endpoint that was called.
        strategy: how the model was asked; None: the game's default.
        seed: the sampling seed that was sent.
        prompt_sha256: the version of all texts in force (rules, persona, prompts).
        structured: how a schema was enforced on the answer: "json_schema", "json_object", "tool" or "none".
        rung: 0 for the seat's own agent, 1 for its first fallback, and so on.
        attempt: 1 for the first call of a try, 2 for its first retry after a failure.
        streamed: whether the answer was streamed.
        first_text: seconds until the first text of a streamed answer.
        refused: whether the provider reports that the model would not answer.
        short: whether the model was asked only for the values that determine its move.
        purpose: "move", "plan", "belief", "replan", "look", "note", "judge" or "chat".
        remarks: what the model wrote beside its move, by requested key.
        cached_tokens: the number of input tokens that the provider read from its cache.
        conversation: the conversation it belongs to, which stores every answer and tool result once; None: none.
        tools: the tools that were called, in order: {name, arguments (as written), result, size (characters of
            the result), fault (None, or "unknown", "unreadable", "illegal", "ignored")}.
        offered: the names of the tools that were offered.
        answering: the number of the event that opened the turn, at the time of the call; for "chat", none.
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
    def accepted(self) -> bool:
        """Whether the call's answer was accepted."""
        return self.answer is not None and self.problem is None
