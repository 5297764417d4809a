"""Circuit breakers: calls to an endpoint that keeps failing are paused, so that nobody waits for it.

closed: calls go through. open: after `failures` failures in a row within `window` seconds, calls are
refused for `pause` seconds. half-open: then one trial call goes through and closes or reopens the
circuit (M. Nygard, Release It!, 2007). Calls may come from any thread.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from llm_agents.errors import CircuitOpen

log = logging.getLogger(__name__)

State = Literal["closed", "open", "half-open"]
Hook = Callable[[str, State], None]


PAUSE_SECONDS = 15.0
"""Seconds from opening a circuit to the trial call."""


@dataclass
class _Circuit:
    """What is known about one endpoint.

    Attributes:
        failed_at: times of the failures since the last success.
        open_until: when the trial call may be made; None: closed.
        trial: the trial call is in progress.
        changed_at: when it was last opened or closed, by whichever process, as seconds since the epoch.
        address: that of the last call.
    """

    failed_at: list[float] = field(default_factory=list)
    open_until: float | None = None
    trial: bool = False
    changed_at: float = 0.0
    address: str | None = None

    def open(self, until: float, changed_at: float) -> None:
        self.open_until, self.trial, self.changed_at = until, False, changed_at

    def close(self, changed_at: float) -> bool:
        """Close it; return whether it was open."""
        was_open = self.open_until is not None
        self.failed_at, self.open_until, self.trial = [], None, False
        self.changed_at = changed_at if was_open else self.changed_at
        return was_open


class Breakers:
    """One circuit per endpoint name.

    Args:
        failures: consecutive failures that open a circuit.
        window: seconds within which they must fall.
        pause: seconds from opening to the trial call.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        *,
        failures: int = 5,
        window: float = 60.0,
        pause: float = PAUSE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._failures, self._window, self._pause, self._clock = failures, window, pause, clock
        self._circuits: defaultdict[str, _Circuit] = defaultdict(_Circuit)
        self._hooks: list[Hook] = []
        self._lock = threading.Lock()

    def on_change(self, hook: Hook) -> None:
        """Call `hook(name, state)` whenever calls open or close a circuit."""
        self._hooks.append(hook)

    def state(self, name: str) -> State:
        with self._lock:
            return self._state(self._circuits[name])

    def seconds_left(self, name: str) -> float:
        """Return the seconds until an open circuit lets a trial call through; 0 if it is not open."""
        with self._lock:
            open_until = self._circuits[name].open_until
            return 0.0 if open_until is None else max(0.0, open_until - self._clock())

    def check(self, name: str, address: str = "") -> None:
        """Check a circuit before waiting for a slot. An endpoint with a new `address` starts with a closed circuit.

        Raises:
            CircuitOpen: the circuit is open, or half-open with its trial call in progress.
        """
        with self._lock:
            circuit = self._circuits[name]
            address_changed = circuit.address not in (None, address)
            circuit.address = address
            if not address_changed:
                self._refuse(circuit)
        if address_changed:
            self.succeeded(name)

    def enter(self, name: str) -> bool:
        """Enter a call; `succeeded`, `failed` or `inconclusive` must follow. Return True for a trial call.

        Raises:
            CircuitOpen: the circuit is open, or half-open with its trial call in progress.
        """
        with self._lock:
            circuit = self._circuits[name]
            self._refuse(circuit)
            circuit.trial = circuit.open_until is not None
            return circuit.trial

    def succeeded(self, name: str) -> None:
        """Record that the endpoint answered, even with a refusal: its circuit closes."""
        with self._lock:
            closes = self._circuits[name].close(time.time())
        if closes:
            self._notify(name, "closed")

    def failed(self, name: str) -> None:
        """Record that the endpoint could not answer."""
        with self._lock:
            circuit, now = self._circuits[name], self._clock()
            circuit.failed_at = [moment for moment in circuit.failed_at if moment > now - self._window] + [now]
            opens = circuit.trial or (circuit.open_until is None and len(circuit.failed_at) >= self._failures)
            if opens:
                circuit.open(now + self._pause, time.time())
        if opens:
            self._notify(name, "open")

    def inconclusive(self, name: str, *, trial: bool) -> None:
        """Record that a call ended without revealing anything about the endpoint; another call may be the trial."""
        with self._lock:
            if trial:
                self._circuits[name].trial = False

    def learn(self, name: str, seconds: float, changed_at: float) -> None:
        """Apply a change made by another process, if it came after the last one known here; calls no hook.

        Args:
            seconds: how long the circuit is still open; 0: it was closed.
        """
        with self._lock:
            circuit = self._circuits[name]
            if changed_at <= circuit.changed_at:
                return
            if seconds and self._state(circuit) != "open":
                circuit.open(self._clock() + seconds, changed_at)
            if not seconds and circuit.open_until is not None:
                circuit.close(changed_at)

    def trip(self, name: str, seconds: float | None = None) -> None:
        """Open a circuit; calls no hook."""
        with self._lock:
            self._circuits[name].open(self._clock() + (self._pause if seconds is None else seconds), time.time())

    def reset(self, name: str | None = None) -> None:
        """Forget one circuit, or all; calls no hook."""
        with self._lock:
            for known_name in list(self._circuits) if name is None else [name]:
                self._circuits.pop(known_name, None)

    def _refuse(self, circuit: _Circuit) -> None:
        if circuit.trial or self._state(circuit) == "open":
            raise CircuitOpen("The endpoint has been failing; calls to it are paused.")

    def _state(self, circuit: _Circuit) -> State:
        if circuit.open_until is None:
            return "closed"
        return "open" if self._clock() < circuit.open_until else "half-open"

    def _notify(self, name: str, state: State) -> None:
        log.warning("endpoint %s: circuit %s", name, state)
        for hook in self._hooks:
            hook(name, state)


BREAKERS = Breakers()
"""The circuits of this process's calls, by endpoint name."""

state = BREAKERS.state
trip = BREAKERS.trip
reset = BREAKERS.reset
