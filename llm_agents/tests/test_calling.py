"""Patience: retries, limits and circuits, over a real socket."""

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
from llm_agents.tests.wire import Says, Wire, answer, error

QUICK = {"call_seconds": 5.0, "first_wait": 0.02}


@pytest.fixture(params=["openai", "anthropic"])
def protocol(request):
    return request.param


@pytest.fixture
def place():
    """Serve some answers as the endpoint "place"."""
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


async def ask(kept=None, **policy):
    request = Request("m", [{"role": "user", "content": "Hello"}])
    attempts = [] if kept is None else kept
    return await call("place", request, policy=Policy(**{**QUICK, **policy}), keep=attempts.append)


# ---- retries -----------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
async def test_what_may_pass_is_tried_again(place, protocol, status):
    wire = place(protocol, error(status), error(status), answer(protocol, "yes"))
    kept = []
    assert (await ask(kept)).text == "yes"
    assert [attempt.number for attempt in kept] == [1, 2, 3]
    assert [attempt.error is None for attempt in kept] == [False, False, True]
    assert len(wire.requests) == 3


async def test_a_lost_connection_is_tried_again(place, protocol):
    place(protocol, Says("{", cut=True), answer(protocol, "yes"))
    assert (await ask()).text == "yes"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
async def test_what_will_not_pass_is_not_tried_again(place, protocol, status):
    wire = place(protocol, error(status))
    with pytest.raises(errors.Rejected):
        await ask()
    assert len(wire.requests) == 1


async def test_what_cannot_be_read_is_not_tried_again(place, protocol):
    wire = place(protocol, Says('{"surprise": true}'))
    with pytest.raises(errors.Unreadable):
        await ask()
    assert len(wire.requests) == 1


@pytest.mark.parametrize(("again", "calls"), [(False, 1), (True, 3)])
async def test_a_time_out_is_tried_again_where_the_policy_says_so(place, protocol, again, calls):
    wire = place(protocol, Says("{}", pause=3))
    with pytest.raises(errors.TimedOut):
        await ask(call_seconds=0.2, retry_timeouts=again)
    assert len(wire.requests) == calls


async def test_waits_double_and_vary(place, protocol):
    wire = place(protocol, error(500))
    kept, began = [], time.monotonic()
    with pytest.raises(errors.Unavailable):
        await ask(kept, first_wait=0.2)
    waited = time.monotonic() - began - sum(attempt.seconds for attempt in kept)
    assert 0.1 + 0.2 <= waited < 0.2 + 0.4 + 0.3
    assert len(wire.requests) == 3


@pytest.mark.parametrize(
    "headers",
    [{"retry_after": "1"}, {"retry_after_ms": "600"}, {"retry_after": email.utils.formatdate(9e9, usegmt=True)}],
    ids=["seconds", "milliseconds", "date"],
)
async def test_the_provider_says_when_to_come_back_and_the_policy_how_late(place, protocol, headers):
    place(protocol, error(429, **headers), answer(protocol, "yes"))
    began = time.monotonic()
    await ask(longest_wait=0.8)
    assert 0.6 <= time.monotonic() - began < 2


async def test_no_wait_goes_beyond_the_deadline(place, protocol):
    wire = place(protocol, error(429, retry_after="10"))
    began = time.monotonic()
    with pytest.raises(errors.RateLimited):
        await ask(deadline=began + 2)
    assert time.monotonic() - began < 1.5
    assert len(wire.requests) == 1


async def test_a_call_is_cut_at_the_deadline_and_none_begins_after_it(place, protocol):
    wire = place(protocol, Says("{}", pause=3))
    began = time.monotonic()
    with pytest.raises(errors.TimedOut):
        await ask(deadline=began + 0.4)
    assert time.monotonic() - began < 1.5
    with pytest.raises(errors.TimedOut):
        await ask(deadline=began)
    assert len(wire.requests) == 1


async def test_an_endpoint_that_there_is_not():
    with pytest.raises(errors.NotConfigured, match="There is no endpoint “nowhere”"):
        await call("nowhere", Request("m", []), policy=Policy(), keep=print)


# ---- limits ------------------------------------------------------------------------------------


async def test_no_more_calls_at_once_than_the_endpoint_takes(place, protocol):
    wire = place(protocol, Says(answer(protocol, "yes").body, pause=0.1), concurrency=3)
    await asyncio.gather(*(ask() for _call in range(10)))
    assert (len(wire.requests), wire.most_at_once) == (10, 3)
    await provider_called("place").close()


async def test_waiting_for_a_place_ends_at_the_deadline(place, protocol):
    place(protocol, Says(answer(protocol, "yes").body, pause=1), concurrency=1)
    first = asyncio.create_task(ask())
    await asyncio.sleep(0.1)
    with pytest.raises(errors.TimedOut, match="no place"):
        await ask(deadline=time.monotonic() + 0.2)
    assert (await first).text == "yes"
    assert breaker.state("place") == "closed"


async def test_calls_within_a_minute_are_counted():
    limit = Limit(10, 3, minute=0.5)
    began, starts = time.monotonic(), []

    async def one():
        async with limit.place():
            starts.append(time.monotonic() - began)

    await asyncio.gather(*(one() for _call in range(7)))
    assert [int(start / 0.5) for start in sorted(starts)] == [0, 0, 0, 1, 1, 1, 2]


async def test_a_place_in_the_next_minute_is_not_waited_for_beyond_the_deadline():
    limit = Limit(10, 1)
    async with limit.place():
        pass
    began = time.monotonic()
    with pytest.raises(errors.TimedOut):
        async with limit.place(began + 5):
            pass
    assert time.monotonic() - began < 1


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


def broken(breakers):
    for _time in range(3):
        breakers.enter("x")
        breakers.failed("x")


def test_a_circuit_opens_after_failures_in_a_row(breakers):
    for outcome in (breakers.failed, breakers.failed, breakers.succeeded, breakers.failed, breakers.failed):
        breakers.enter("x")
        outcome("x")
    assert breakers.state("x") == "closed"
    breakers.failed("x")
    assert breakers.state("x") == "open"
    with pytest.raises(errors.Unavailable, match="calls to it are paused"):
        breakers.enter("x")
    assert breakers.state("y") == "closed"


def test_failures_that_are_far_apart_do_not_open_it(breakers, clock):
    for _time in range(9):
        breakers.failed("x")
        clock.now += 31
    assert breakers.state("x") == "closed"


@pytest.mark.parametrize(("outcome", "state"), [("succeeded", "closed"), ("failed", "open")])
def test_after_the_pause_one_call_tries(breakers, clock, outcome, state):
    broken(breakers)
    clock.now += 10
    assert breakers.state("x") == "half-open"
    assert breakers.enter("x") is True
    with pytest.raises(errors.CircuitOpen):
        breakers.enter("x")
    getattr(breakers, outcome)("x")
    assert breakers.state("x") == state


def test_a_trial_that_tells_nothing_leaves_it_to_the_next(breakers, clock):
    broken(breakers)
    clock.now += 10
    breakers.left("x", trial=breakers.enter("x"))
    assert breakers.enter("x") is True


def test_changes_are_told_and_can_come_from_elsewhere(breakers, clock):
    told = []
    breakers.on_change(lambda name, state: told.append((name, state)))
    broken(breakers)
    clock.now += 10
    breakers.enter("x")
    breakers.succeeded("x")
    assert told == [("x", "open"), ("x", "closed")]
    breakers.trip("x", 5)
    assert breakers.state("x") == "open"
    clock.now += 5
    assert breakers.state("x") == "half-open"
    breakers.reset("x")
    assert breakers.state("x") == "closed"
    assert len(told) == 2


def test_many_threads_get_one_trial(breakers, clock):
    broken(breakers)
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


FAILING = {"500": error(500), "529": error(529), "hung": Says("{}", pause=3), "lost": Says("{", cut=True)}


@pytest.mark.parametrize("failing", FAILING)
async def test_an_endpoint_that_is_down_is_not_asked_any_more(place, protocol, failing):
    wire = place(protocol, FAILING[failing])
    for _time in range(5):
        with pytest.raises((errors.Unavailable, errors.TimedOut)):
            await ask(retries=0, call_seconds=0.5)
    began = time.monotonic()
    with pytest.raises(errors.CircuitOpen):
        await ask()
    assert time.monotonic() - began < 0.1
    assert len(wire.requests) == 5


@pytest.mark.parametrize("status", [400, 401, 404, 429])
async def test_an_endpoint_that_refuses_is_up(place, protocol, status):
    place(protocol, error(status))
    for _time in range(6):
        with pytest.raises(errors.ProviderError):
            await ask(retries=0)
    assert breaker.state("place") == "closed"


async def test_a_missing_key_and_a_deadline_say_nothing_about_the_endpoint(place, protocol):
    place(protocol, Says("{}", pause=3), key=None, key_variable="NO_SUCH_VARIABLE")
    for _time in range(6):
        with pytest.raises(errors.NotConfigured, match="NO_SUCH_VARIABLE is not set"):
            await ask()
    place(protocol, Says("{}", pause=3))
    for _time in range(6):
        with pytest.raises(errors.TimedOut):
            await ask(deadline=time.monotonic() + 0.05)
    assert breaker.state("place") == "closed"


async def test_retries_stop_when_the_circuit_opens_and_the_cause_is_told(place, protocol):
    wire = place(protocol, error(500, "the real cause"))
    with pytest.raises(errors.Unavailable, match="the real cause"):
        await ask(retries=9, first_wait=0.001)
    assert len(wire.requests) == 5


async def test_it_comes_back_when_the_trial_is_answered(place, protocol):
    place(protocol, *[error(500)] * 5, answer(protocol, "yes"))
    for _time in range(5):
        with pytest.raises(errors.Unavailable):
            await ask(retries=0)
    BREAKERS.trip("place", 0.1)
    await asyncio.sleep(0.15)
    assert (await ask()).text == "yes"
    assert breaker.state("place") == "closed"


async def test_an_endpoint_that_has_moved_is_asked_at_once(place, protocol):
    place(protocol, error(500))
    for _time in range(5):
        with pytest.raises(errors.Unavailable):
            await ask(retries=0)
    place(protocol, answer(protocol, "yes"))
    assert (await ask()).text == "yes"


async def test_a_cancelled_trial_leaves_the_circuit_to_the_next_call(place, protocol):
    place(protocol, Says("{}", pause=3), answer(protocol, "yes"))
    BREAKERS.trip("place", 0)
    trial = asyncio.create_task(ask())
    await asyncio.sleep(0.3)
    with pytest.raises(errors.CircuitOpen):
        await ask()
    trial.cancel()
    with pytest.raises(asyncio.CancelledError):
        await trial
    assert (await ask()).text == "yes"
