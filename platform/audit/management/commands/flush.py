"""`manage.py flush`: empty the whole database, including the audit log and the ledger's journal."""

from __future__ import annotations

from typing import Any

from django.core.management.commands import flush
from django.db import connections

from audit import guard


class Command(flush.Command):
    def handle(self, **options: Any) -> None:
        """Remove the triggers during the flush on SQLite, which deletes row by row."""
        connection = connections[options["database"]]
        if connection.vendor != "sqlite":
            super().handle(**options)
            return
        guard.remove(connection)
        try:
            super().handle(**options)
        finally:
            guard.install(connection)
