"""How long a study's monitor takes while 500 people play, after a few and after many matches."""

from __future__ import annotations

import statistics
import time

import httpx
import psutil

from config.supervisor import Stack

SLUG = "watched"
LIVE = 500
REQUESTS = 30
PASSWORD = "only for the benchmark"


def prepare() -> str:
    """Create a researcher; return their session cookie as NAME=VALUE."""
    from django.conf import settings
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.auth.models import User
    from django.contrib.sessions.backends.db import SessionStore

    user = User.objects.create_superuser("watcher", password=PASSWORD)
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[-1]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    return f"{settings.SESSION_COOKIE_NAME}={session.session_key}"


def add_finished(finished: int) -> None:
    """Add people who have played the study."""
    from deploy.bench import crowd
    from studies.models import Study

    crowd.add_people(Study.objects.get(slug=SLUG), finished=finished, live=0)


def report(stack: Stack, *, sizes: tuple[int, ...] = (200, 5_000)) -> None:
    """Print a row for each number of finished matches."""
    cookie = stack.call("deploy.bench.monitor.prepare")
    key = stack.call("deploy.bench.crowd.launch_crowded", SLUG, finished=sizes[0], live=LIVE)
    finished = sizes[0]
    (web,) = psutil.Process(stack.pids["web"]).children()
    print(
        "| finished | live | what | CPU ms of the web server | response ms, median and slowest | KB |",
        flush=True,
    )
    print("|---|---|---|---|---|---|", flush=True)
    with httpx.Client(base_url=stack.url, headers={"Cookie": cookie}, timeout=60) as client:
        for size in sizes:
            if size > finished:
                stack.call("deploy.bench.monitor.add_finished", size - finished)
                finished = size
            for kind, address in (("page", f"/admin/monitor/{key}/"), ("update", f"/admin/monitor/{key}/now/")):
                print(f"| {size:,} | {LIVE} | {kind} | {_requests(client, address, web)} |", flush=True)


def _requests(client: httpx.Client, address: str, web: psutil.Process) -> str:
    kilobytes = len(_request(client, address)) / 1000
    cpu_before, times = _cpu(web), []
    for _number in range(REQUESTS):
        started_at = time.perf_counter()
        _request(client, address)
        times.append(1000 * (time.perf_counter() - started_at))
    cpu = 1000 * (_cpu(web) - cpu_before) / REQUESTS
    return f"{cpu:.0f} | {statistics.median(times):.0f}, {max(times):.0f} | {kilobytes:.0f}"


def _request(client: httpx.Client, address: str) -> str:
    answer = client.get(address)
    answer.raise_for_status()
    return answer.text


def _cpu(root: psutil.Process) -> float:
    """Return the CPU seconds of a process and its children."""
    cpu_times = [process.cpu_times() for process in (root, *root.children(recursive=True))]
    return sum(times.user + times.system for times in cpu_times)
