"""One call to one endpoint: within its limits, retrying transient failures.

A call that fails with 429, 5xx, 408, 409 or a lost connection is retried after a wait that doubles
each time, randomized between half and all of it ("equal jitter", M. Brooker, Exponential Backoff
And Jitter, AWS 2015), or lasts as long as Retry-After says.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from llm_agents.agent import AgentSpec
from llm_agents.breaker import BREAKERS
from llm_agents.endpoints import Endpoint, endpoint
from llm_agents.errors import CircuitOpen, NotConfigured, ProviderError, RateLimited, TimedOut, Unavailable
from llm_agents.limits import limit_of
from llm_agents.providers import provider_of
from llm_agents.providers.base import ChatMessage, Completion, Provider, Request
from llm_agents.record import CallRecord

COPIED = (
    "input_tokens", "output_tokens", "cached_tokens", "request_id", "stop", "structured", "refused", "first_text",
)  # fmt: skip
"""The parts of a completion that a record keeps under the same names."""


@dataclass(frozen=True)
class Policy:
    """Timeouts and retries of a call.

    Attributes:
        call_seconds: the time limit of one attempt.
        retries: attempts after the first.
        first_wait: seconds before the first retry, approximately.
        longest_wait: maximum seconds before any retry, whatever the provider asks for.
        retry_timeouts: whether an attempt that timed out is retried.
        deadline: by `time.monotonic`, for everything including waits; None: no deadline.
    """

    call_seconds: float = 60.0
    retries: int = 2
    first_wait: float = 0.5
    longest_wait: float = 20.0
    retry_timeouts: bool = False
    deadline: float | None = None

    def remaining(self) -> float:
        """Return the seconds until the deadline, at least 0."""
        return float("inf") if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def longest(self) -> float:
        """Return the maximum seconds that a call started now takes, with its retries and the wait for a free slot."""
        attempts = (self.retries + 1) * (self.call_seconds + self.longest_wait)
        return attempts if self.deadline is None else self.remaining()


@dataclass(frozen=True)
class Attempt:
    """One attempt: it resulted in `completion` or `error` after `seconds`; `number` counts from 1."""

    number: int
    seconds: float
    completion: Completion | None = None
    error: ProviderError | None = None

    def record(self, agent: AgentSpec, messages: Sequence[ChatMessage], **fields: Any) -> CallRecord:
        """Return the record of an attempt to send an agent these messages; `fields` are its further ones."""
        if self.completion is None:
            result: dict[str, Any] = {"error": f"{type(self.error).__name__}: {self.error}"}
        else:
            result = {name: getattr(self.completion, name) for name in COPIED}
            result |= {"answer": self.completion.text, "answered_by": self.completion.model}
        return CallRecord(
            provider=endpoint(agent.kind).protocol,
            endpoint=agent.kind,
            model=agent.name,
            messages=[{"role": message["role"], "content": message["content"]} for message in messages],
            parameters=agent.parameters,
            seed=agent.seed,
            latency=self.seconds,
            attempt=self.number,
            **result,
            **fields,
        )


OnAttempt = Callable[[Attempt], None]


async def call(endpoint_name: str, request: Request, *, policy: Policy, on_attempt: OnAttempt) -> Completion:
    """Return the endpoint's answer.

    Args:
        request: the policy replaces its `timeout`.
        on_attempt: called after each attempt.

    Raises:
        ProviderError: that of the last attempt; CircuitOpen at once if the endpoint's circuit is open.
    """
    target = endpoint(endpoint_name)
    provider = provider_of(target)
    number = 1
    while True:
        try:
            return await _attempt(target, provider, request, policy, number, on_attempt)
        except ProviderError as error:
            wait = _wait_seconds(error, number, policy)
            if wait is None or BREAKERS.state(target.name) == "open":
                raise
        await asyncio.sleep(wait)
        number += 1


async def _attempt(
    target: Endpoint, provider: Provider, request: Request, policy: Policy, number: int, on_attempt: OnAttempt
) -> Completion:
    BREAKERS.check(target.name, target.address)
    async with limit_of(target).slot(policy.deadline):
        seconds = min(policy.call_seconds, policy.remaining())
        if seconds <= 0:
            raise TimedOut("The time for the decision is up.")
        trial = BREAKERS.enter(target.name)
        started_at = time.monotonic()
        reported = False
        try:
            completion = await provider.complete(replace(request, timeout=seconds))
        except ProviderError as error:
            reported = _report_to_breaker(target.name, error, cut_short=seconds < policy.call_seconds)
            on_attempt(Attempt(number, time.monotonic() - started_at, error=error))
            raise
        else:
            reported = True
            BREAKERS.succeeded(target.name)
        finally:
            if not reported:
                BREAKERS.inconclusive(target.name, trial=trial)
    on_attempt(Attempt(number, time.monotonic() - started_at, completion))
    return completion


def _report_to_breaker(name: str, error: ProviderError, *, cut_short: bool) -> bool:
    """Report a failure to the breaker; return False if it says nothing about whether the endpoint is up."""
    if isinstance(error, Unavailable) or (isinstance(error, TimedOut) and not cut_short):
        BREAKERS.failed(name)
        return True
    if isinstance(error, TimedOut | NotConfigured):
        return False
    BREAKERS.succeeded(name)
    return True


def _wait_seconds(error: ProviderError, number: int, policy: Policy) -> float | None:
    """Return the seconds until the next attempt; None if there is none."""
    transient = isinstance(error, RateLimited | Unavailable) or (isinstance(error, TimedOut) and policy.retry_timeouts)
    if not transient or isinstance(error, CircuitOpen) or number > policy.retries:
        return None
    if error.retry_after is None:
        wait = policy.first_wait * 2 ** (number - 1) * random.uniform(0.5, 1)
    else:
        wait = error.retry_after
    wait = min(wait, policy.longest_wait)
    return wait if wait < policy.remaining() else None
