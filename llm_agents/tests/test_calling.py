"""Retries, limits and circuits, over a real socket."""

from __future__ import annotations

import asyncio
import email.utils
import threading
import time
from contextlib import suppress

import pytest

from llm_agents import breaker, errors
from llm_agents.breaker import BREAKERS, Breakers
from llm_agents.calling import Policy, call
from llm_agents.endpoints import use_endpoints
from llm_agents.limits import Limit
from llm_agents.providers import provider_called
from llm_agents.providers.base import Request
from llm_agents.tests.wire import ScriptedAnswer, Wire, answer, error

QUICK = {"call_seconds": 5.0, "first_wait": 0.02}


@pytest.fixture(params=["openai", "anthropic"])
def protocol(request):
    return request.param


@pytest.fixture
def serving():
    """Serve answers as the endpoint "local"."""
    running = []

    def serve(protocol, *answers, **options):
        wire = Wire(*answers)
        running.append(wire)
        endpoint = wire.endpoint(protocol, **options)
        use_endpoints({endpoint.name: endpoint}.get)
        return wire

    yield serve
    for wire in running:
        wire.close()


async def ask(attempts=None, **policy):
    request = Request("m", [{"role": "user", "content": "Hello"}])
    attempts = [] if attempts is None else attempts
    return await call("local", request, policy=Policy(**{**QUICK, **policy}), on_attempt=attempts.append)


# ---- retries -----------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
async def test_transient_errors_are_retried(serving, protocol, status):
    wire = serving(protocol, error(status), error(status), answer(protocol, "yes"))
    attempts = []
    assert (await ask(attempts)).text == "yes"
    assert [attempt.number for attempt in attempts] == [1, 2, 3]
    assert [attempt.error is None for attempt in attempts] == [False, False, True]
    assert len(wire.requests) == 3


async def test_lost_connection_is_retried(serving, protocol):
    serving(protocol, ScriptedAnswer("{", cut=True), answer(protocol, "yes"))
    assert (await ask()).text == "yes"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
async def test_permanent_errors_are_not_retried(serving, protocol, status):
    wire = serving(protocol, error(status))
    with pytest.raises(errors.Rejected):
        await ask()
    assert len(wire.requests) == 1


async def test_unreadable_answers_are_not_retried(serving, protocol):
    wire = serving(protocol, ScriptedAnswer('{"surprise": true}'))
    with pytest.raises(errors.Unreadable):
        await ask()
    assert len(wire.requests) == 1


@pytest.mark.parametrize(("retry_timeouts", "calls"), [(False, 1), (True, 3)])
async def test_timeouts_are_retried_if_the_policy_says_so(serving, protocol, retry_timeouts, calls):
    wire = serving(protocol, ScriptedAnswer("{}", pause=3))
    with pytest.raises(errors.TimedOut):
        await ask(call_seconds=0.2, retry_timeouts=retry_timeouts)
    assert len(wire.requests) == calls


async def test_waits_double_and_vary(serving, protocol):
    wire = serving(protocol, error(500))
    attempts, started_at = [], time.monotonic()
    with pytest.raises(errors.Unavailable):
        await ask(attempts, first_wait=0.2)
    waited = time.monotonic() - started_at - sum(attempt.seconds for attempt in attempts)
    assert 0.1 + 0.2 <= waited < 0.2 + 0.4 + 0.3
    assert len(wire.requests) == 3


@pytest.mark.parametrize(
    "headers",
    [{"retry_after": "1"}, {"retry_after_ms": "600"}, {"retry_after": email.utils.formatdate(9e9, usegmt=True)}],
    ids=["seconds", "milliseconds", "date"],
)
async def test_retry_after_is_respected_up_to_the_policys_longest_wait(serving, protocol, headers):
    serving(protocol, error(429, **headers), answer(protocol, "yes"))
    started_at = time.monotonic()
    await ask(longest_wait=0.8)
    assert 0.6 <= time.monotonic() - started_at < 2


async def test_waits_end_at_the_deadline(serving, protocol):
    wire = serving(protocol, error(429, retry_after="10"))
    started_at = time.monotonic()
    with pytest.raises(errors.RateLimited):
        await ask(deadline=started_at + 2)
    assert time.monotonic() - started_at < 1.5
    assert len(wire.requests) == 1


async def test_call_is_cut_off_at_the_deadline_and_none_starts_later(serving, protocol):
    wire = serving(protocol, ScriptedAnswer("{}", pause=3))
    started_at = time.monotonic()
    with pytest.raises(errors.TimedOut):
        await ask(deadline=started_at + 0.4)
    assert time.monotonic() - started_at < 1.5
    with pytest.raises(errors.TimedOut):
        await ask(deadline=started_at)
    assert len(wire.requests) == 1


async def test_unknown_endpoint():
    with pytest.raises(errors.NotConfigured, match="There is no endpoint “nowhere”"):
        await call("nowhere", Request("m", []), policy=Policy(), on_attempt=print)


# ---- limits ------------------------------------------------------------------------------------


async def test_concurrency_limit_is_kept(serving, protocol):
    wire = serving(protocol, ScriptedAnswer(answer(protocol, "yes").body, pause=0.1), concurrency=3)
    await asyncio.gather(*(ask() for _call in range(10)))
    assert (len(wire.requests), wire.most_at_once) == (10, 3)
    await provider_called("local").close()


async def test_waiting_for_a_slot_ends_at_the_deadline(serving, protocol):
    serving(protocol, ScriptedAnswer(answer(protocol, "yes").body, pause=1), concurrency=1)
    first = asyncio.create_task(ask())
    await asyncio.sleep(0.1)
    with pytest.raises(errors.TimedOut, match="no free slot"):
        await ask(deadline=time.monotonic() + 0.2)
    assert (await first).text == "yes"
    assert breaker.state("local") == "closed"


async def test_calls_per_minute_are_limited():
    limit = Limit(10, 3, minute=0.5)
    started_at, starts = time.monotonic(), []

    async def record_start():
        async with limit.slot():
            starts.append(time.monotonic() - started_at)

    await asyncio.gather(*(record_start() for _call in range(7)))
    assert [int(start / 0.5) for start in sorted(starts)] == [0, 0, 0, 1, 1, 1, 2]


async def test_waiting_for_the_next_minute_ends_at_the_deadline():
    limit = Limit(10, 1)
    async with limit.slot():
        pass
    started_at = time.monotonic()
    with pytest.raises(errors.TimedOut):
        async with limit.slot(started_at + 5):
            pass
    assert time.monotonic() - started_at < 1


# ---- circuits ----------------------------------------------------------------------------------


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def breakers(clock):
    return Breakers(failures=3, window=60, pause=10, clock=clock)


def fail_three_times(breakers):
    for _time in range(3):
        breakers.enter("x")
        breakers.failed("x")


def test_circuit_opens_after_consecutive_failures(breakers):
    for outcome in (breakers.failed, breakers.failed, breakers.succeeded, breakers.failed, breakers.failed):
        breakers.enter("x")
        outcome("x")
    assert breakers.state("x") == "closed"
    breakers.failed("x")
    assert breakers.state("x") == "open"
    with pytest.raises(errors.Unavailable, match="calls to it are paused"):
        breakers.enter("x")
    assert breakers.state("y") == "closed"


def test_failures_far_apart_do_not_open_it(breakers, clock):
    for _time in range(9):
        breakers.failed("x")
        clock.now += 31
    assert breakers.state("x") == "closed"


@pytest.mark.parametrize(("outcome", "state"), [("succeeded", "closed"), ("failed", "open")])
def test_one_trial_call_after_the_pause(breakers, clock, outcome, state):
    fail_three_times(breakers)
    clock.now += 10
    assert breakers.state("x") == "half-open"
    assert breakers.enter("x") is True
    with pytest.raises(errors.CircuitOpen):
        breakers.enter("x")
    getattr(breakers, outcome)("x")
    assert breakers.state("x") == state


def test_inconclusive_trial_leaves_the_circuit_to_the_next_call(breakers, clock):
    fail_three_times(breakers)
    clock.now += 10
    breakers.inconclusive("x", trial=breakers.enter("x"))
    assert breakers.enter("x") is True


def test_hooks_report_changes_of_this_process_only(breakers, clock):
    changes = []
    breakers.on_change(lambda name, state: changes.append((name, state)))
    fail_three_times(breakers)
    clock.now += 10
    breakers.enter("x")
    breakers.succeeded("x")
    assert changes == [("x", "open"), ("x", "closed")]
    breakers.trip("x", 5)
    assert breakers.state("x") == "open"
    clock.now += 5
    assert breakers.state("x") == "half-open"
    breakers.reset("x")
    assert breakers.state("x") == "closed"
    assert len(changes) == 2


def test_many_threads_get_one_trial(breakers, clock):
    fail_three_times(breakers)
    clock.now += 10
    trials, start = [], threading.Barrier(16)

    def enter():
        start.wait()
        with suppress(errors.CircuitOpen):
            trials.append(breakers.enter("x"))

    threads = [threading.Thread(target=enter) for _number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert trials == [True]


FAILING = {
    "500": error(500),
    "529": error(529),
    "hung": ScriptedAnswer("{}", pause=3),
    "lost": ScriptedAnswer("{", cut=True),
}


@pytest.mark.parametrize("failing", FAILING)
async def test_endpoint_that_is_down_gets_no_more_calls(serving, protocol, failing):
    wire = serving(protocol, FAILING[failing])
    for _time in range(5):
        with pytest.raises((errors.Unavailable, errors.TimedOut)):
            await ask(retries=0, call_seconds=0.5)
    started_at = time.monotonic()
    with pytest.raises(errors.CircuitOpen):
        await ask()
    assert time.monotonic() - started_at < 0.5
    assert len(wire.requests) == 5


@pytest.mark.parametrize("status", [400, 401, 404, 429])
async def test_refusal_means_that_the_endpoint_is_up(serving, protocol, status):
    serving(protocol, error(status))
    for _time in range(6):
        with pytest.raises(errors.ProviderError):
            await ask(retries=0)
    assert breaker.state("local") == "closed"


async def test_missing_key_and_deadline_do_not_count_as_failures(serving, protocol):
    serving(protocol, ScriptedAnswer("{}", pause=3), key=None, key_variable="NO_SUCH_VARIABLE")
    for _time in range(6):
        with pytest.raises(errors.NotConfigured, match="NO_SUCH_VARIABLE is not set"):
            await ask()
    serving(protocol, ScriptedAnswer("{}", pause=3))
    for _time in range(6):
        with pytest.raises(errors.TimedOut):
            await ask(deadline=time.monotonic() + 0.05)
    assert breaker.state("local") == "closed"


async def test_open_circuit_stops_retries_and_reports_the_cause(serving, protocol):
    wire = serving(protocol, error(500, "the real cause"))
    with pytest.raises(errors.Unavailable, match="the real cause"):
        await ask(retries=9, first_wait=0.001)
    assert len(wire.requests) == 5


async def test_circuit_closes_when_the_trial_succeeds(serving, protocol):
    serving(protocol, *[error(500)] * 5, answer(protocol, "yes"))
    for _time in range(5):
        with pytest.raises(errors.Unavailable):
            await ask(retries=0)
    BREAKERS.trip("local", 0.1)
    await asyncio.sleep(0.15)
    assert (await ask()).text == "yes"
    assert breaker.state("local") == "closed"


async def test_endpoint_with_a_new_address_is_asked_at_once(serving, protocol):
    serving(protocol, error(500))
    for _time in range(5):
        with pytest.raises(errors.Unavailable):
            await ask(retries=0)
    serving(protocol, answer(protocol, "yes"))
    assert (await ask()).text == "yes"


async def test_cancelled_trial_leaves_the_circuit_to_the_next_call(serving, protocol):
    serving(protocol, ScriptedAnswer("{}", pause=3), answer(protocol, "yes"))
    BREAKERS.trip("local", 0)
    trial = asyncio.create_task(ask())
    await asyncio.sleep(0.3)
    with pytest.raises(errors.CircuitOpen):
        await ask()
    trial.cancel()
    with pytest.raises(asyncio.CancelledError):
        await trial
    assert (await ask()).text == "yes"
