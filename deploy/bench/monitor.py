"""How long a study's monitor takes while 500 people play, after a few and after many matches."""

from __future__ import annotations

import argparse
import time

import httpx

from deploy.bench.kit import Table, cpu, quantile, stack_on

SLUG, LIVE, REQUESTS = "watched", 500, 30


def report(options: argparse.Namespace) -> None:
    """Print a row for each number of finished matches and kind of request, on durable PostgreSQL."""
    table = Table("finished|live|what|CPU ms of the web server|response ms, median and slowest|KB")
    with stack_on("postgres") as (stack, pids):
        key = stack.call("monitoring.tests.crowd.launch_crowded", SLUG, finished=0, live=LIVE)
        headers, finished = {"Cookie": stack.call("deploy.bench.study.signed_in")}, 0
        with httpx.Client(base_url=stack.url, headers=headers, timeout=60) as client:
            for size in options.finished:
                stack.call("monitoring.tests.crowd.add_finished", SLUG, size - finished)
                finished = size
                for kind, address in (("page", f"/admin/monitor/{key}/"), ("update", f"/admin/monitor/{key}/now/")):
                    kilobytes = len(client.get(address).raise_for_status().text) / 1000
                    before, times = cpu(pids["web"]), []
                    for _number in range(REQUESTS):
                        started_at = time.perf_counter()
                        client.get(address).raise_for_status()
                        times.append(1000 * (time.perf_counter() - started_at))
                    used = 1000 * (cpu(pids["web"]) - before) / REQUESTS
                    table.row(size, LIVE, kind, used, f"{quantile(times, 0.5):.0f}, {max(times):.0f}", kilobytes)
