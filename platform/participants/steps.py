"""The kinds of step in a participant's path.

Each app registers its own kinds (consent here, a match in `matches`, the quiz in `checks`), so that
this app can lead participants through a path without knowing its steps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from django.utils.functional import Promise

from participants.models import Enrolment
from participants.states import State


class StepRefused(Exception):
    """The answer to a step was refused.

    Attributes:
        errors: the reason by field ("" for the answer as a whole).
        stored: data added to the step despite the refusal; nothing else changes.
    """

    def __init__(self, errors: Mapping[str, str | Promise], *, stored: Mapping[str, Any] | None = None):
        super().__init__("; ".join(str(reason) for reason in errors.values()))
        self.errors = errors
        self.stored = dict(stored or {})


class StepLeft(Exception):
    """The participant has left the step since its page was asked for."""


class Step(ABC):
    """Base class of all steps: what a step shows and does. One instance per enrolment and step."""

    kind: ClassVar[str]
    template: ClassVar[str]
    done_state: ClassVar[State | None] = None
    """The state after this step, if it differs from the next step's."""
    ends_with_answer: ClassVar[bool] = True
    """Whether an answer leads to the next step; otherwise the participant stays until the step's app moves them on."""
    shows_result: ClassVar[bool] = False
    """Whether the page is shown until the participant continues, even if the enrolment has completed at this step."""

    def __init__(self, enrolment: Enrolment, step: Mapping[str, Any]):
        self.enrolment = enrolment
        self.step = step
        self.posted: Mapping[str, str] = {}
        self.errors: Mapping[str, str | Promise] = {}
        """The last refused answer and the reasons; `context` uses them when the page is shown again."""

    @property
    @abstractmethod
    def title(self) -> str | Promise:
        """The heading of the page."""

    @property
    @abstractmethod
    def state(self) -> State:
        """The state of a participant at this step."""

    @property
    def kept(self) -> bool:
        """Whether many participants see the page alike, but for what its context marks as their own."""
        return False

    @property
    def required(self) -> bool:
        """Whether a participant must have done this step to be finished, and paid in full."""
        return True

    @property
    def slow(self) -> bool:
        """Whether `prepare` may have work to do."""
        return False

    def prepare(self, position: int) -> None:  # noqa: B027  (most steps need no preparation)
        """Do slow work that `enter` needs, before any row is locked; `position` is this step's in the path."""

    def enter(self, *, first: bool) -> None:  # noqa: B027  (most steps need no preparation)
        """Called on every visit, before the page is shown; `first`: it was not shown before."""

    def unfolded(self) -> list[dict[str, Any]] | None:
        """Return the steps that take the place of one that stands for them, when it is reached; None for all others."""
        return None

    def state_now(self) -> State:
        """Return the participant's state while the page is shown; called after `enter`."""
        return self.state

    def hold(self) -> None:  # noqa: B027  (most steps depend on no other row)
        """Lock the rows that decide whether this step is done; called before the enrolment is locked."""

    def others(self) -> list[int]:
        """Return the keys, in order, of the other enrolments that depend on this one at this step."""
        return []

    def leave(self) -> None:  # noqa: B027  (most steps keep nothing going)
        """Leave what goes on with others, once the enrolment has ended; called under the lock that `hold` took."""

    def is_done(self, *, present: bool) -> bool:
        """Return whether nothing is left to do at this step but to continue.

        Args:
            present: whether the participant is there now.
        """
        return not self.required

    def seconds_left(self) -> int:
        """Return for how many seconds the participant cannot go on yet."""
        return 0

    def clock(self) -> Mapping[str, Any] | None:
        """Return the clock that runs while the participant is on another page: {remaining (seconds), extended}."""
        return None

    def pause(self) -> int:
        """Pause the clock while the participant reports a problem; return for how many seconds."""
        return 0

    @abstractmethod
    def context(self) -> dict[str, Any]:
        """Return the template's context.

        Raises:
            StepLeft
        """

    @abstractmethod
    def answer(self, data: Mapping[str, str]) -> None:
        """Take the posted answer; on return the participant moves to the next step if it `ends_with_answer`.

        Raises:
            StepRefused: the answer is incomplete or invalid; the page is shown again.
        """


_kinds: dict[str, type[Step]] = {}


def register(kind: type[Step]) -> type[Step]:
    """Class decorator: register a kind of step."""
    _kinds[kind.kind] = kind
    return kind


def step_object(enrolment: Enrolment, step: Mapping[str, Any]) -> Step:
    """Return the step object for the step's data."""
    return _kinds[step["kind"]](enrolment, step)


def told_pay(step: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a step's data promise about the pay, as `participants/pay.html` shows it."""
    return {name: step.get(name) for name in ("pay", "endings")}
