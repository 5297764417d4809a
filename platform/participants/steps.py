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
    """The answer to a step was not taken. `errors` maps a field ("" for the whole) to the reason."""

    def __init__(self, errors: Mapping[str, str | Promise]):
        super().__init__("; ".join(str(reason) for reason in errors.values()))
        self.errors = errors


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

    def enter(self) -> None:  # noqa: B027  (most steps need no preparation)
        """Called in the transaction that brings the participant here; again on a resumed visit."""

    def state_now(self) -> State:
        """The state of somebody to whom the page is shown now; called after `enter`."""
        return self.state

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
