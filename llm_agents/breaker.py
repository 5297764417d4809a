"""Circuit breakers: calls to an endpoint that keeps failing are paused, so that nobody waits for it.

closed: calls go through. open: after `failures` failures in a row within `window` seconds, calls are
refused for `pause` seconds. half-open: then one trial call goes through and closes or reopens the
circuit (M. Nygard, Release It!, 2007). Calls may come from any thread.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from llm_agents.errors import CircuitOpen

log = logging.getLogger(__name__)

State = Literal["closed", "open", "half-open"]
Hook = Callable[[str, State], None]


@dataclass
class _Circuit:
    """`failed_at`: times of the failures since the last success. `trial`: the trial call of a half-open circuit."""

    failed_at: list[float] = field(default_factory=list)
    open_until: float | None = None
    trial: bool = False


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
        pause: float = 15.0,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._failures, self._window, self._pause, self._clock = failures, window, pause, clock
        self._circuits: dict[str, _Circuit] = {}
        self._addresses: dict[str, str] = {}
        self._hooks: list[Hook] = []
        self._lock = threading.Lock()

    def on_change(self, hook: Hook) -> None:
        """Call `hook(name, state)` whenever calls open or close a circuit."""
        self._hooks.append(hook)

    def state(self, name: str) -> State:
        with self._lock:
            circuit = self._circuits.get(name)
            return "closed" if circuit is None else self._state(circuit)

    def seconds_left(self, name: str) -> float:
        """Return the seconds until an open circuit lets a trial call through; 0 if it is not open."""
        with self._lock:
            circuit = self._circuits.get(name)
            if circuit is None or circuit.open_until is None:
                return 0.0
            return max(0.0, circuit.open_until - self._clock())

    def check(self, name: str, address: str = "") -> None:
        """Check a circuit before waiting for a slot. An endpoint with a new `address` starts with a closed circuit.

        Raises:
            CircuitOpen: the circuit is open, or half-open with its trial call in progress.
        """
        with self._lock:
            address_changed = self._addresses.get(name, address) != address
            self._addresses[name] = address
            if not address_changed:
                self._refuse(name)
        if address_changed:
            self.succeeded(name)

    def enter(self, name: str) -> bool:
        """Enter a call; `succeeded`, `failed` or `inconclusive` must follow. Return True for a trial call.

        Raises:
            CircuitOpen: the circuit is open, or half-open with its trial call in progress.
        """
        with self._lock:
            circuit = self._refuse(name)
            if circuit is None or circuit.open_until is None:
                return False
            circuit.trial = True
            return True

    def succeeded(self, name: str) -> None:
        """Record that the endpoint answered, even with a refusal: its circuit closes."""
        with self._lock:
            circuit = self._circuits.pop(name, None)
        if circuit is not None and circuit.open_until is not None:
            self._notify(name, "closed")

    def failed(self, name: str) -> None:
        """Record that the endpoint could not answer."""
        with self._lock:
            circuit = self._circuits.setdefault(name, _Circuit())
            now = self._clock()
            circuit.failed_at = [moment for moment in circuit.failed_at if moment > now - self._window] + [now]
            opens = circuit.trial or (circuit.open_until is None and len(circuit.failed_at) >= self._failures)
            if opens:
                circuit.open_until, circuit.trial = now + self._pause, False
        if opens:
            self._notify(name, "open")

    def inconclusive(self, name: str, *, trial: bool) -> None:
        """Record that a call ended without revealing anything about the endpoint; another call may be the trial."""
        with self._lock:
            circuit = self._circuits.get(name)
            if circuit is not None and trial:
                circuit.trial = False

    def trip(self, name: str, seconds: float | None = None) -> None:
        """Open a circuit because another process found the endpoint down; calls no hook."""
        with self._lock:
            circuit = self._circuits.setdefault(name, _Circuit())
            circuit.open_until = self._clock() + (self._pause if seconds is None else seconds)
            circuit.trial = False

    def reset(self, name: str | None = None) -> None:
        """Close one circuit, or all; calls no hook."""
        with self._lock:
            if name is None:
                self._circuits.clear()
                self._addresses.clear()
            else:
                self._circuits.pop(name, None)
                self._addresses.pop(name, None)

    def _refuse(self, name: str) -> _Circuit | None:
        circuit = self._circuits.get(name)
        if circuit is not None and (circuit.trial or self._state(circuit) == "open"):
            raise CircuitOpen("The endpoint has been failing; calls to it are paused.")
        return circuit

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
on_change = BREAKERS.on_change
trip = BREAKERS.trip
reset = BREAKERS.reset
