"""Signals sent to the apps above: two inside the transaction of a change, the others to ask what a page shows."""

from collections.abc import Iterator
from typing import Any

from django.dispatch import Signal

from participants.models import Enrolment

consented = Signal()
"""Sent with `enrolment` when a participant consents; a receiver may raise StepRefused."""
enrolment_ended = Signal()
"""Sent with `enrolment` when it ends; receivers compute the pay."""

returning = Signal()
"""How does this participant return to their recruiter? A receiver that knows says it (`ReturnInstructions`)."""
returning_over_quota = Signal()
"""The same if no place is left when they consent."""
explaining = Signal()
"""Why did a check fail? Receivers return rows {title, lines: [(label, text)]} for the last page."""
telling_pay = Signal()
"""What is the status of the payment? Receivers return sentences for the last page, which promises nothing else."""


def answers(question: Signal, enrolment: Enrolment) -> Iterator[Any]:
    """Return what the receivers of a question about this participant say, without None."""
    said = question.send(Enrolment, enrolment=enrolment)
    return (answer for _receiver, answer in said if answer is not None)
