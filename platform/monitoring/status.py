"""Everything a study's monitor shows at this moment."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

import redis
from django.utils import timezone

from helping import services as help_services
from helping.models import Message
from monitoring import alive, charts
from monitoring.clocks import RECENT_PERIOD, Latency, LiveMatches, budget_of, live_of, models_latency, people_latency
from monitoring.failures import Failure, failures_of
from monitoring.outcomes import Preview, preview_of
from monitoring.people import MAX_CELLS_LISTED, People, Window, arrivals_of, people_of
from monitoring.spending import Spending, spending_of
from opponents.health import EndpointHealth, health
from participants.states import ENDED, State
from payouts.services import Waiting, waiting
from studies import faults
from studies.models import Study
from uptime.services import Interval, uptime

OUTAGES_PERIOD = timedelta(hours=24)
MAX_OUTAGES = 3
"""The monitor shows this many outages within `OUTAGES_PERIOD`."""


@dataclass(frozen=True)
class StateCount:
    """The number of participants in a state, and its bar's length in percent of the longest."""

    state: State
    number: int
    percent: float
    kind: str


@dataclass(frozen=True)
class StudyStatus:
    """The monitor's data; the cost of no attribute grows with the number of finished matches."""

    at: datetime
    people: People
    states: list[StateCount]
    arrivals: charts.Bars
    live: LiveMatches
    people_latency: Latency
    models_latency: Latency
    latencies: charts.Bars
    models: list[EndpointHealth]
    spending: Spending
    failures: list[Failure]
    unavailable_endpoints: list[str]
    why_closed: str
    """Why no participant may enter although the study is launched; usually empty."""
    over_cap: Decimal | None
    """The spending limit for failed matches, if it is exceeded."""
    currency: str
    waiting: Waiting | None
    cell_map: charts.CellMap | None
    preview: Preview | None
    no_worker: bool
    """Whether no worker is running, so that agents never answer."""
    questions: list[Message]
    """What participants have asked and nobody has answered yet, the oldest first."""
    outages: list[Interval]
    """When participants could not be served lately, the latest first."""

    @property
    def recent_minutes(self) -> int:
        """The minutes covered by response times and models' health."""
        return round(RECENT_PERIOD.total_seconds() / 60)


def status_of(study: Study, window: Window) -> StudyStatus:
    """Return the study's status now."""
    people = people_of(study)
    version = study.latest_version()
    workers = 0
    with suppress(redis.RedisError):
        workers = alive.running_processes()["worker"]
    by_people, by_models = people_latency(study), models_latency(study)
    return StudyStatus(
        at=timezone.now(),
        people=people,
        states=_states(people),
        arrivals=charts.arrivals(arrivals_of(study, window), window),
        live=live_of(study),
        people_latency=by_people,
        models_latency=by_models,
        latencies=charts.latencies(by_people, by_models),
        models=health(RECENT_PERIOD, budget_of=budget_of(study)),
        spending=spending_of(study),
        failures=failures_of(study),
        unavailable_endpoints=faults.unavailable_endpoints(version) if version else [],
        why_closed=faults.why_closed(version) if version else "",
        over_cap=faults.exceeded_cap(study),
        currency=version.plan.pay.currency if version else "",
        no_worker=not workers,
        questions=help_services.open_questions_of(study),
        outages=_recent_outages() if people.live or study.status != Study.Status.CLOSED else [],
        waiting=waiting([study.slug]).get(study.slug),
        cell_map=charts.cell_map(people.cells) if len(people.cells) > MAX_CELLS_LISTED else None,
        preview=preview_of(study, people),
    )


def _recent_outages() -> list[Interval]:
    seen = uptime()
    recent = [interval for interval in seen.gaps if interval[1] > seen.now - OUTAGES_PERIOD]
    return recent[: -MAX_OUTAGES - 1 : -1]


def _states(people: People) -> list[StateCount]:
    largest = max(people.by_state.values(), default=0) or 1
    return [
        StateCount(state, number, round(100 * number / largest, 1), _kind(state))
        for state, number in people.by_state.items()
    ]


def _kind(state: State) -> str:
    if state == State.COMPLETED:
        return "good"
    return "bad" if state in ENDED else "live"
