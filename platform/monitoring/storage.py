"""Whether data can be stored: writing to the database and the data folder, free space, and the last backup."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection, transaction
from django.utils import timezone

from monitoring import restarts
from monitoring.models import Watermark

MIN_FREE_BYTES = 64 * 2**20
"""Fewer free bytes on a disk make the installation not ready: the database writes in portions of some megabytes."""
_PLACES = {"database": "database", "data": "data folder"}
_PROBE = b"\0" * 64 * 2**10


@dataclass(frozen=True)
class Storage:
    """What is known of the stored data; None stands for unknown.

    Attributes:
        free_bytes: free space on the disks of the "database" and the "data" folder.
        database_bytes: size of the database.
        backup_seconds: age of the last backup, in seconds.
        restarts: how often each process was restarted in the last day.
    """

    problems: list[str] = field(default_factory=list)
    free_bytes: dict[str, int | None] = field(default_factory=dict)
    database_bytes: int | None = None
    backup_seconds: float | None = None
    restarts: dict[str, int] = field(default_factory=dict)


def check_storage(*, database: bool) -> Storage:
    """Write to the data folder, and to the database if it can be reached, and read it back; never raises."""
    sqlite_file = Path(str(settings.DATABASES["default"]["NAME"])) if connection.vendor == "sqlite" else None
    free_bytes = {"data": _free_bytes(settings.DATA_DIR)}
    free_bytes["database"] = _free_bytes(sqlite_file.parent) if sqlite_file else None
    problems = [
        problem for problem in (database and _write_to_database(), _write_to_folder(settings.DATA_DIR)) if problem
    ]
    problems += [
        f"only {free // 2**20} MB are free on the disk of the {_PLACES[place]}"
        for place, free in free_bytes.items()
        if free is not None and free < MIN_FREE_BYTES
    ]
    restarted = Counter(restart.partition(":")[0] for restart in restarts.recent(settings.DATA_DIR))
    return Storage(
        problems, free_bytes, _database_bytes(sqlite_file) if database else None, _backup_seconds(), dict(restarted)
    )


def _write_to_database() -> str:
    """Return why the database cannot be written; empty if it can."""
    now = timezone.now()
    try:
        with transaction.atomic():
            Watermark.objects.update_or_create(name="written", defaults={"until": now})
        written_at = Watermark.objects.values_list("until", flat=True).get(name="written")
    except (DatabaseError, InterfaceError) as error:
        return f"the database cannot be written: {str(error).partition(chr(10))[0]}"
    return "" if written_at is not None and written_at >= now else "the database lost what was written"


def _write_to_folder(folder: Path) -> str:
    """Return why the folder cannot be written; empty if it can."""
    try:
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            file.write(_PROBE)
            file.seek(0)
            return "" if file.read() == _PROBE else "the data folder lost what was written"
    except OSError as error:
        return f"the data folder cannot be written: {error.strerror}"


def _free_bytes(folder: Path) -> int | None:
    with suppress(OSError):
        return shutil.disk_usage(folder).free
    return None


def _database_bytes(sqlite_file: Path | None) -> int | None:
    with suppress(OSError, DatabaseError, InterfaceError):
        if sqlite_file:
            return sqlite_file.stat().st_size
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_database_size(current_database())")
            return int(cursor.fetchone()[0])
    return None


def _backup_seconds() -> float | None:
    """Return the age of the last backup: of the file that it touches."""
    with suppress(OSError):
        return time.time() - (settings.DATA_DIR / "last-backup").stat().st_mtime
    return None
