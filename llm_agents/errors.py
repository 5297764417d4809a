"""All errors of `llm_agents`, as one tree. No message ever contains a key."""

from __future__ import annotations

from collections.abc import Sequence

from llm_agents.record import CallRecord


class AgentError(Exception):
    """Base of every error raised by this package; `str(error)` may be shown to a researcher."""


class BadAgent(AgentError):
    """The text does not name an agent."""


class BadAnswer(AgentError):
    """A model's text contains no move; the message says why, for the model."""


class NoLegalMove(AgentError):
    """The agent used up its tries without a legal move.

    Args:
        reason: what was wrong with its last answer.
        calls: every call made for the decision.
    """

    def __init__(self, reason: str, calls: Sequence[CallRecord] = ()):
        super().__init__(reason)
        self.calls = tuple(calls)


class NoSubmission(NoLegalMove):
    """All conversations of a turn with tools ended without a submission."""


class ProviderError(AgentError):
    """The provider gave no answer at all.

    Args:
        reason: what happened, for a researcher.
        retry_after: seconds after which the provider wants to be asked again, if it says so.
    """

    def __init__(self, reason: str, *, retry_after: float | None = None):
        super().__init__(reason)
        self.retry_after = retry_after


class NotConfigured(ProviderError):
    """There is no such endpoint, or its key is not set."""


class TimedOut(ProviderError):
    """No answer within the time limit."""


class RateLimited(ProviderError):
    """The provider refuses more calls for now (HTTP 429)."""


class Unavailable(ProviderError):
    """The provider cannot be reached or is failing (HTTP 5xx)."""


class CircuitOpen(Unavailable):
    """The endpoint has been failing and calls to it are paused; nothing was sent."""


class Rejected(ProviderError):
    """The provider rejects this request (HTTP 4xx): a wrong key, model or parameter."""


class NoTools(Rejected):
    """The endpoint does not support tools for this model; plain JSON still works."""


class Unreadable(ProviderError):
    """The response is not in the provider's own format."""
