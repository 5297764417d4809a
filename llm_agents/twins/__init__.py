"""Stand-ins for the providers that speak their real protocols over a real socket, with scripted answers."""

from llm_agents.twins.misbehaviours import (
    Answer,
    Calls,
    CutStream,
    Disconnect,
    Drip,
    Echo,
    Empty,
    FailingStream,
    Failure,
    Hang,
    Malformed,
    Refusal,
    Slow,
    WrongModel,
    WrongTypes,
)
from llm_agents.twins.server import KEY, AnthropicTwin, BothTwin, OpenAITwin, Twin

__all__ = [
    "KEY",
    "Answer",
    "AnthropicTwin",
    "BothTwin",
    "Calls",
    "CutStream",
    "Disconnect",
    "Drip",
    "Echo",
    "Empty",
    "FailingStream",
    "Failure",
    "Hang",
    "Malformed",
    "OpenAITwin",
    "Refusal",
    "Slow",
    "Twin",
    "WrongModel",
    "WrongTypes",
]
