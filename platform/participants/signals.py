"""What this app tells those above it, inside the transaction in which it happens."""

from django.dispatch import Signal

enrolment_ended = Signal()
"""Sent with `enrolment` when a participant reaches a terminal state: time to compute pay."""
