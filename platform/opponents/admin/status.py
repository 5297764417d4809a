"""The status of each endpoint, over all its models, as shown in the list."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from opponents.circuits import open_circuits
from opponents.health import health


@dataclass(frozen=True)
class EndpointStatus:
    """Statistics of one endpoint over the last hour; `p95` is that of its slowest model."""

    calls: int = 0
    errors: int = 0
    p95: float | None = None
    spend: Decimal = Decimal(0)
    open_until: datetime | None = None


def endpoint_statuses() -> dict[str, EndpointStatus]:
    """Return, by name, the status of every endpoint that was called or is paused."""
    circuits = open_circuits()
    statuses = {name: EndpointStatus(open_until=until) for name, until in circuits.items()}
    for row in health():
        previous = statuses.get(row.endpoint, EndpointStatus())
        times = [time for time in (previous.p95, row.p95) if time is not None]
        statuses[row.endpoint] = EndpointStatus(
            calls=previous.calls + row.calls,
            errors=previous.errors + row.errors,
            p95=max(times, default=None),
            spend=previous.spend + row.spend,
            open_until=circuits.get(row.endpoint),
        )
    return statuses
