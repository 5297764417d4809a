"""What this app tells those above it, inside the transaction in which it happens."""

from django.dispatch import Signal

consented = Signal()
"""Sent with `enrolment` when a participant agrees to take part; a receiver may raise StepRefused."""
enrolment_ended = Signal()
"""Sent with `enrolment` when a participant reaches a terminal state: time to compute pay."""
