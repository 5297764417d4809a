"""What the lobby tells those above it, inside the transaction in which it happens."""

from django.dispatch import Signal

group_made = Signal()
"""Sent with `group` and `seats` (the enrolment by seat) when a group's match has been opened."""
