"""The benchmark on this machine, clients included: `make bench` prints a table for each of its parts.

`make bench BENCH="--parts live --workers 1 50 --database sqlite"` prints a part of it. Each part starts private
stacks (web server, worker, Redis, PostgreSQL). Compare ratios within one run rather than figures from different
machines.
"""

from __future__ import annotations

import argparse
import os
import platform as machine
import subprocess
import sys
import time
from typing import Any

from deploy.bench import calls, collecting, datasets, groups, live, monitor, pages, scale

PARTS = {
    "live": live.report,
    "pages": pages.report,
    "beside": live.report_beside,
    "groups": groups.report,
    "scale": scale.report,
    "calls": calls.report,
    "collections": collecting.report,
    "tools": calls.report_tools,
    "export": datasets.report,
    "monitor": monitor.report,
}
DATABASES = ["postgres", "sqlite"]


def simulation_rate() -> float:
    """Return bargaining decisions per second of `manage.py simulate`, start-up included."""
    command = [sys.executable, "manage.py", "simulate", "bargaining", "--matches", "3000", "--json"]
    command += ["--seat", "alice=script:haggler", "--seat", "bob=script:random"]
    started_at = time.monotonic()
    simulation = subprocess.run(command, capture_output=True, text=True, check=True)
    return simulation.stdout.count('"kind": "move"') / (time.monotonic() - started_at)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)

    def several(name: str, default: list[Any], what: str, **options: Any) -> None:
        parser.add_argument(f"--{name}", type=type(default[0]), nargs="*", default=default, help=what, **options)

    def one(name: str, default: Any, what: str) -> None:
        parser.add_argument(f"--{name}", type=type(default), default=default, help=f"{what} ({default})")

    several("parts", [*PARTS], "what is measured", choices=PARTS)
    several("database", DATABASES, "where a part compares databases", choices=DATABASES)
    several("workers", [1, 50, 200], "live: concurrent participants")
    several("hung", [0, 50, 100], "beside: people whose model hangs")
    several("at-once", [200], "calls: concurrent calls")
    several("finished", [200, 5_000], "monitor: finished matches")
    several("pairs", [1, 2, 1, 2], "scale: web processes, and as many workers")
    one("seconds", 30.0, "seconds measured per row")
    one("thinking", 2.0, "live, beside: mean seconds that a participant thinks")
    one("groups", 200, "groups: groups of four in the lobby")
    one("tables", 6, "groups: groups of ten that play sealed rounds")
    one("matches", 10_000, "collections: matches in the large collection")
    one("periods", calls.PERIODS, "tools: periods of the long match")
    one("exported", datasets.MATCHES, "export: matches in the datasets")
    options = parser.parse_args()
    system = f"{machine.machine()}, {os.cpu_count()} cores, Python {machine.python_version()}"
    print(f"{system}; clients on the same machine")
    print(f"simulate: {simulation_rate():,.0f} bargaining decisions per second", flush=True)
    for name in options.parts:
        PARTS[name](options)


if __name__ == "__main__":
    main()
