"""Signals sent to the apps above, inside the transaction of the change."""

from django.dispatch import Signal

group_made = Signal()
"""Sent with `group` and `seats` (the enrolment by seat) when a group's match is opened."""
