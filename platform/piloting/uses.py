"""Which pilots ask models of an endpoint."""

from __future__ import annotations

from collections.abc import Iterator

from opponents.uses import Use, asks, names_endpoint
from piloting.enrolling import version_of
from piloting.models import Pilot


def uses_of(endpoint: str) -> Iterator[Use]:
    """Yield the pilots whose agents, or whose player for the participants, are models of the endpoint."""
    for pilot in Pilot.objects.select_related("study").order_by("pk").iterator():
        if names_endpoint([pilot.player], endpoint) or asks(version_of(pilot).agents().values(), endpoint):
            yield Use(pilot.study, f"{pilot._meta.verbose_name} {pilot.number}", pilot.get_absolute_url())
