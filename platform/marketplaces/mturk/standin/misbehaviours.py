"""How the stand-in's interface fails on request."""

from __future__ import annotations

from enum import StrEnum


class Misbehaviour(StrEnum):
    """What befalls one call."""

    DOWN = "down"
    """The connection is lost before anything is done."""
    LOST = "lost"
    """It is done, and the answer is lost."""
    FAILS = "fails"
    """HTTP 500 before anything is done."""
    FAILS_LATE = "fails-late"
    """It is done, and HTTP 500 is answered."""
    SLOW = "slow"
    """The answer comes after `StandIn.slowness` seconds; it is done at once."""
    NONSENSE = "nonsense"
    """It is done, and a page of HTML is answered."""
    GARBLED = "garbled"
    """It is done, and the answer is JSON in which nothing is where it should be."""
    THROTTLED = "throttled"
    """Nothing is done, for there were too many calls."""

    @property
    def acts(self) -> bool:
        """Whether the call takes effect all the same."""
        return self in (Misbehaviour.LOST, Misbehaviour.FAILS_LATE, Misbehaviour.SLOW) or self.talks_nonsense

    @property
    def talks_nonsense(self) -> bool:
        return self in (Misbehaviour.NONSENSE, Misbehaviour.GARBLED)
