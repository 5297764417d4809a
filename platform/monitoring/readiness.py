"""Health checks of the installation: /health/ready and /metrics."""

from __future__ import annotations

import hmac
import logging
import threading
import time
from dataclasses import dataclass, field
from typing import Any

import redis
from django.conf import settings
from django.db import DatabaseError, InterfaceError, close_old_connections
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Gauge, generate_latest

from matches import turns
from matches.models import Lease, Match
from monitoring import alive
from monitoring.storage import Storage, check_storage
from studies.recomputing import stored_differences

log = logging.getLogger(__name__)
CHECK_INTERVAL = 60.0
"""Seconds between two checks of a worker."""
MAX_WAIT_SECONDS = 60.0
"""An agent's turn waiting longer than this for a worker (in seconds) makes the installation not ready."""


@dataclass
class Readiness:
    """The result of the checks. `waiting` is the age in seconds of the oldest agent's turn without a worker."""

    problems: list[str] = field(default_factory=list)
    running_processes: dict[str, int] | None = None
    waiting: float | None = None
    live: int | None = None
    pay_differences: int | None = None
    """What the last nightly check of everybody's pay found; it does not make the installation unready."""
    storage: Storage = field(default_factory=Storage)


def check_health() -> Readiness:
    """Check the database, the data folder and Redis; never raises if any is unavailable."""
    health = Readiness()
    try:
        health.live = Match.objects.filter(status=Match.Status.LIVE).count()
        health.pay_differences = len(stored_differences())
        health.waiting = oldest_waiting_seconds()
        if health.waiting > MAX_WAIT_SECONDS:
            health.problems.append("an agent's turn has waited too long for a worker")
    except (DatabaseError, InterfaceError):
        health.problems.append("the database is unavailable")
    health.storage = check_storage(database=health.waiting is not None)
    health.problems += health.storage.problems
    try:
        health.running_processes = alive.running_processes()
        names = {"worker": "no worker is running", "beat": "no clock (beat) is running"}
        health.problems += [problem for kind, problem in names.items() if not health.running_processes[kind]]
    except redis.RedisError:
        health.problems.append("Redis is unavailable")
    return health


def oldest_waiting_seconds() -> float:
    """Return the age in seconds of the oldest agent's turn without a worker; 0 if there is none."""
    now = timezone.now()
    leased = set(Lease.objects.filter(until__gt=now).values_list("match_id", "role", "answering"))
    awaiting = Match.objects.filter(status=Match.Status.LIVE, requeue_at__isnull=False)
    opened = [
        turn.opened_at
        for match_id, stored_turns in awaiting.values_list("pk", "turns")
        for turn in turns.load(stored_turns).values()
        if turn.by_agent and (match_id, turn.role, turn.answering) not in leased
    ]
    return max(0.0, (now - min(opened)).total_seconds()) if opened else 0.0


def log_problems(health: Readiness) -> None:
    """Log why the installation is not ready; the log keeps one line a minute (`config.logs`)."""
    if health.problems:
        log.error("not ready: %s", "; ".join(health.problems))


def keep_logging_problems() -> None:
    """Check every minute from a thread as long as the process lives, whether or not anyone asks."""

    def check() -> None:
        while True:
            time.sleep(CHECK_INTERVAL)
            close_old_connections()
            log_problems(check_health())

    threading.Thread(target=check, name="readiness", daemon=True).start()


@never_cache
def ready(request: HttpRequest) -> JsonResponse:
    """Return 200 if everything works, else 503; the response lists the problems and identifies no one."""
    health = check_health()
    log_problems(health)
    report = {
        "status": "not ready" if health.problems else "ready",
        "problems": health.problems,
        "processes": health.running_processes,
        "oldest_waiting_turn_seconds": None if health.waiting is None else round(health.waiting, 1),
        "pay_differences": health.pay_differences,
        "free_bytes": health.storage.free_bytes,
        "database_bytes": health.storage.database_bytes,
        "last_backup_seconds": None if health.storage.backup_seconds is None else round(health.storage.backup_seconds),
        "restarts": health.storage.restarts,
    }
    response: Any = JsonResponse(report, status=503 if health.problems else 200)
    response._has_been_logged = True  # with the reason, and not at every request
    return response


@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Return the Prometheus metrics to requests with METRICS_TOKEN."""
    expected = f"Bearer {settings.METRICS_TOKEN}"
    authorization = request.headers.get("Authorization", "")
    if not settings.METRICS_TOKEN or not hmac.compare_digest(authorization.encode(), expected.encode()):
        raise Http404
    health, registry = check_health(), CollectorRegistry()
    storage, differences = health.storage, "Differences between pay and the log, found by the last nightly check"
    figures: list[tuple[str, str, str, Any]] = [
        ("parley_ready", "1 if everything that matches need is available", "", not health.problems),
        ("parley_processes", "Running processes", "kind", health.running_processes),
        ("parley_free_bytes", "Free space on the disk", "of", storage.free_bytes),
        ("parley_restarts", "Restarts of a child process", "child", storage.restarts),
        ("parley_database_bytes", "Size of the database", "", storage.database_bytes),
        ("parley_last_backup_age_seconds", "Age of the last backup", "", storage.backup_seconds),
        ("parley_pay_differences", differences, "", health.pay_differences),
        ("parley_live_matches", "Live matches", "", health.live if health.waiting is not None else None),
        ("parley_oldest_waiting_turn_seconds", "Age of the oldest agent's turn without a worker", "", health.waiting),
    ]
    for name, text, label, value in figures:
        if value is None:
            continue
        gauge = Gauge(name, text, [label] if label else [], registry=registry)
        for key, number in value.items() if label else [("", value)]:
            if number is not None:
                (gauge.labels(key) if label else gauge).set(number)
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)
