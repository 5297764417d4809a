"""Signals sent to the apps above, inside the transaction of the change."""

from django.dispatch import Signal

consented = Signal()
"""Sent with `enrolment` when a participant consents; a receiver may raise StepRefused."""
enrolment_ended = Signal()
"""Sent with `enrolment` when it ends; receivers compute the pay."""
