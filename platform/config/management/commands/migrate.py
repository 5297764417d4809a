"""`manage.py migrate`, one at a time: web servers that start together wait for the first one."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections
from django.db.migrations.loader import MigrationLoader

LOCK_NUMBER = 0x5061726C6579
"""Number of the advisory lock in PostgreSQL."""


class Command(migrate.Command):
    def handle(self, *positional: Any, **options: Any) -> None:
        with migration_lock(options["database"]):
            if unknown := unknown_migrations(options["database"]):
                raise CommandError(
                    f"This database has {len(unknown)} migrations that this version lacks, such as {unknown[0]}: it is "
                    "of a newer version, or of 0.1, from which there is no upgrade. Check out that version; from 0.1, "
                    "export every study with it and begin with an empty database. Nothing was changed."
                )
            super().handle(*positional, **options)


def unknown_migrations(database: str) -> list[str]:
    """Return the migrations of installed apps that were applied but do not exist here, as app.name."""
    loader = MigrationLoader(connections[database])
    unknown = {*loader.applied_migrations} - {*loader.disk_migrations}
    return sorted(f"{app}.{name}" for app, name in unknown if app in loader.migrated_apps)


@contextmanager
def migration_lock(database: str) -> Iterator[None]:
    """Hold the migration lock; other processes that want it wait."""
    connection = connections[database]
    if connection.vendor != "postgresql":
        settings.DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (settings.DATA_DIR / "migrating.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [LOCK_NUMBER])
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [LOCK_NUMBER])
