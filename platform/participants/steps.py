"""The kinds of step that a way through a study is made of.

Each app registers the kinds it knows (consent here, a match in `matches`, the quiz in `checks`), so
that this app can walk people along without knowing what they meet.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from django.utils.functional import Promise

from participants.models import Enrolment
from participants.states import State


class StepRefused(Exception):
    """The answer to a step was not taken.

    Attributes:
        errors: the reason by field ("" for the whole).
        kept: what the step remembers of it all the same, added to its data; nothing else changes.
    """

    def __init__(self, errors: Mapping[str, str | Promise], *, kept: Mapping[str, Any] | None = None):
        super().__init__("; ".join(str(reason) for reason in errors.values()))
        self.errors = errors
        self.kept = dict(kept or {})


class Step(ABC):
    """What one kind of step shows and does. One instance per enrolment and step."""

    kind: ClassVar[str]
    title: ClassVar[str | Promise]
    template: ClassVar[str]
    state: ClassVar[State]
    """The state of a participant who is at this step."""
    done_state: ClassVar[State | None] = None
    """The state once the step is answered, where it differs from the next step's."""

    def __init__(self, enrolment: Enrolment, step: Mapping[str, Any]):
        self.enrolment = enrolment
        self.step = step
        self.posted: Mapping[str, str] = {}
        self.errors: Mapping[str, str | Promise] = {}
        """What was posted last and why it was not taken; for `context`, when a page is shown again."""

    @property
    def slow(self) -> bool:
        """Whether `prepare` may have work to do."""
        return False

    def prepare(self, position: int) -> None:  # noqa: B027  (most steps need no preparation)
        """Slow work that `enter` will need, before anybody's row is locked; `position` is this step's on the way."""

    def enter(self) -> None:  # noqa: B027  (most steps need no preparation)
        """Called in the transaction that brings the participant here; again on a resumed visit."""

    def state_now(self) -> State:
        """The state of somebody to whom the page is shown now; called after `enter`."""
        return self.state

    def clock(self) -> Mapping[str, Any] | None:
        """The time that runs while somebody is on a page beside this one: {remaining (seconds), extended}."""
        return None

    def pause(self) -> int:
        """Let the time stand while somebody reports a problem; returns for how many seconds. Nothing by default."""
        return 0

    @abstractmethod
    def context(self) -> dict[str, Any]:
        """What the template shows."""

    @abstractmethod
    def answer(self, data: Mapping[str, str]) -> None:
        """Take the posted answer; returning normally moves the participant to the next step.

        Raises:
            StepRefused: the answer is not complete or not acceptable; the page is shown again.
        """


_kinds: dict[str, type[Step]] = {}


def register(kind: type[Step]) -> type[Step]:
    """Class decorator: make a kind of step known."""
    _kinds[kind.kind] = kind
    return kind


def of(enrolment: Enrolment, step: Mapping[str, Any]) -> Step:
    """The step's behaviour."""
    return _kinds[step["kind"]](enrolment, step)
