"""`manage.py await_migrations`: run before workers start, so that none meets an outdated schema."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import InterfaceError, OperationalError, connection
from django.db.migrations.executor import MigrationExecutor

CHECK_SECONDS = 1.0


class Command(BaseCommand):
    help = "Wait until the database is available and has every migration of this version."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--patience", type=float, default=3600, help="seconds (3600)")

    def handle(self, *, patience: float, **options: Any) -> None:
        deadline = time.monotonic() + patience
        while problem := missing():
            if time.monotonic() > deadline:
                raise CommandError(problem)
            time.sleep(CHECK_SECONDS)


def missing() -> str:
    """Return what the database lacks and what to do about it; empty if it has everything."""
    try:
        executor = MigrationExecutor(connection)
        plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except (OperationalError, InterfaceError) as error:
        connection.close()
        reason = str(error).partition("\n")[0] or type(error).__name__
        return f"The database is unavailable ({reason}). Start it, or correct DATABASE_URL or PARLEY_DATA."
    return f"{len(plan)} migrations are missing; run `manage.py migrate`." if plan else ""
