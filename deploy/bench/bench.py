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

from deploy.bench import calls, collecting, datasets, groups, live, pages, profile
from deploy.bench.kit import Table, children_cpu

DATABASES = ["postgres", "sqlite"]


def report_commands(options: argparse.Namespace) -> None:
    """Print a row for each command that needs no database, its start included."""
    table = Table("command|CPU s|decisions/s")
    simulate = ["simulate", "bargaining", "--json", "--seat", "alice=script:haggler"]
    for command in (["told", "econarena-contest-self"], simulate, [*simulate, "--matches", "3000"]):
        cpu_before, began_at = children_cpu(), time.monotonic()
        ran = subprocess.run([sys.executable, "manage.py", *command], capture_output=True, text=True, check=True)
        decisions, seconds = ran.stdout.count('"kind": "move"'), time.monotonic() - began_at
        table.row(" ".join(command), children_cpu() - cpu_before, decisions / seconds)


PARTS = {
    "commands": report_commands,
    "live": live.report,
    "pages": pages.report,
    "groups": groups.report,
    "calls": calls.report,
    "collections": collecting.report,
    "models": calls.report_models,
    "export": datasets.report,
    "profile": profile.report,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)

    def several(name: str, default: list[Any], what: str, **options: Any) -> None:
        parser.add_argument(f"--{name}", type=type(default[0]), nargs="*", default=default, help=what, **options)

    def one(name: str, default: Any, what: str) -> None:
        parser.add_argument(f"--{name}", type=type(default), default=default, help=f"{what} ({default})")

    several("parts", [*PARTS], "what is measured", choices=PARTS)
    several("database", DATABASES, "where a part compares databases", choices=DATABASES)
    several("workers", [50, 200], "live: concurrent participants")
    several("pairs", [1, 2], "live: web processes, and as many workers")
    several("at-once", [200], "calls: concurrent calls")
    one("seconds", 30.0, "seconds measured per row")
    one("thinking", 2.0, "live: mean seconds that a participant thinks")
    one("delay", 0.0, "live: seconds that the opponent thinks, so that a worker makes its moves")
    one("tables", 6, "groups: groups of ten that play sealed rounds")
    one("matches", 10_000, "collections: matches in the large collection")
    one("exported", datasets.GAMES, "export: games in the datasets")
    options = parser.parse_args()
    print(
        f"{machine.machine()}, {os.cpu_count()} cores, Python {machine.python_version()}; clients on it too", flush=True
    )
    for name in options.parts:
        PARTS[name](options)


if __name__ == "__main__":
    main()
