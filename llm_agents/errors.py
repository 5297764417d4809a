"""Everything that can go wrong inside `llm_agents`, as one tree. No message ever holds a key."""

from __future__ import annotations

from collections.abc import Sequence

from llm_agents.record import CallRecord


class AgentError(Exception):
    """Base of every error raised by this package; `str(error)` is fit to show to a researcher."""


class BadAgent(AgentError):
    """The words that name an agent name none."""


class BadAnswer(AgentError):
    """A model's text holds no move; says why in words for the model."""


class NoLegalMove(AgentError):
    """The agent was asked as often as it may be and never gave a legal move.

    Args:
        reason: what was wrong with its last answer.
        calls: every call that was made for the decision.
    """

    def __init__(self, reason: str, calls: Sequence[CallRecord] = ()):
        super().__init__(reason)
        self.calls = tuple(calls)


class NoSubmission(NoLegalMove):
    """All conversations of a turn with tools ended without a submission."""


class ProviderError(AgentError):
    """The provider gave no answer at all.

    Args:
        reason: what happened, in words for a researcher.
        retry_after: seconds after which the provider wants to be asked again, where it says so.
    """

    def __init__(self, reason: str, *, retry_after: float | None = None):
        super().__init__(reason)
        self.retry_after = retry_after


class NotConfigured(ProviderError):
    """There is no such endpoint, or its key is not set."""


class TimedOut(ProviderError):
    """No answer within the time given."""


class RateLimited(ProviderError):
    """The provider refuses more calls for now (HTTP 429)."""


class Unavailable(ProviderError):
    """The provider cannot be reached or is failing (HTTP 5xx)."""


class CircuitOpen(Unavailable):
    """The endpoint has been failing and is not even asked for a while; nothing was sent."""


class Rejected(ProviderError):
    """The provider will not take this request (HTTP 4xx): a wrong key, model or parameter."""


class NoTools(Rejected):
    """The endpoint takes no tools for this model; the same can be asked in plain JSON."""


class Unreadable(ProviderError):
    """What came back is not in the provider's own format."""
