"""Failures that the stand-in's API can produce on request."""

from __future__ import annotations

from enum import StrEnum


class Misbehaviour(StrEnum):
    """How one call fails."""

    DOWN = "down"
    """The connection is lost before the call takes effect."""
    LOST = "lost"
    """The call takes effect, but the answer is lost."""
    FAILS = "fails"
    """The call has no effect and returns HTTP 500."""
    FAILS_LATE = "fails-late"
    """The call takes effect, but returns HTTP 500."""
    SLOW = "slow"
    """The call takes effect immediately, but the answer arrives after `StandIn.slowness` seconds."""
    NONSENSE = "nonsense"
    """The call takes effect, but returns an HTML page."""
    GARBLED = "garbled"
    """The call takes effect, but returns JSON with the wrong structure."""
    THROTTLED = "throttled"
    """The call has no effect and is refused as one too many."""

    @property
    def takes_effect(self) -> bool:
        """Return whether the call takes effect despite the failure."""
        return self in (Misbehaviour.LOST, Misbehaviour.FAILS_LATE, Misbehaviour.SLOW) or self.is_malformed

    @property
    def is_malformed(self) -> bool:
        return self in (Misbehaviour.NONSENSE, Misbehaviour.GARBLED)
