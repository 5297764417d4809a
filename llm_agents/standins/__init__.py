"""Stand-ins for the providers: they speak the real protocols over a real socket, with scripted answers."""

from llm_agents.standins.misbehaviours import (
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
from llm_agents.standins.server import KEY, AnthropicStandIn, BothStandIn, OpenAIStandIn, StandIn

__all__ = [
    "KEY",
    "Answer",
    "AnthropicStandIn",
    "BothStandIn",
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
    "OpenAIStandIn",
    "Refusal",
    "Slow",
    "StandIn",
    "WrongModel",
    "WrongTypes",
]
