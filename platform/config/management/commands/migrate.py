"""`manage.py migrate`, one at a time: web servers that start together wait for the first one."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from django.conf import settings
from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState

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
            with patch.object(ProjectState, "_find_reload_model", _to_render):
                super().handle(*positional, **options)


_related_to_render: Callable[..., set[tuple[str, str]]] = ProjectState._find_reload_model  # type: ignore[attr-defined]


def _to_render(state: ProjectState, app_label: str, model_name: str, delay: bool = False) -> set[tuple[str, str]]:
    """Return the models that Django renders again after an operation: of a new one, only itself.

    Nothing rendered before can refer to it yet. Django also renders all that it refers to, and what refers to these:
    two thirds of the CPU time of migrating an empty database.
    """
    if model_name not in state.apps.all_models[app_label]:
        state.is_delayed = True  # operations in Python render everything before they run
        return {(app_label, model_name)}
    return _related_to_render(state, app_label, model_name, delay)


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
