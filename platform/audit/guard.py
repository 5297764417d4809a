"""Database triggers that refuse to change or delete rows which are written once, in the tables that apps register.

They are installed after every migration, since SQLite drops a table's triggers when a migration rebuilds it.
"""

from __future__ import annotations

from typing import Any

from django.db import connections

_guarded: dict[tuple[str, str], str] = {}
"""The message for each table and operation, such as "DELETE" or "UPDATE OF amount, currency"."""


def register(table: str, message: str, *operations: str) -> None:
    """Refuse these operations on a table, with this message."""
    _guarded.update({(table, operation): message for operation in operations})


def install(connection: Any) -> None:
    """Install the triggers of all tables that exist."""
    remove(connection)
    tables = set(connection.introspection.table_names())
    with connection.cursor() as cursor:
        for (table, operation), message in _guarded.items():
            name = _name(table, operation)
            on = f"CREATE TRIGGER {name} BEFORE {operation} ON {table}"
            if table not in tables:
                continue
            if connection.vendor == "sqlite":
                cursor.execute(f"{on} BEGIN SELECT RAISE(ABORT, '{message}'); END")
                continue
            body = f"BEGIN RAISE EXCEPTION '{message}' USING ERRCODE = 'integrity_constraint_violation'; END"
            cursor.execute(f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ {body} $$")
            cursor.execute(f"{on} FOR EACH ROW EXECUTE FUNCTION {name}()")


def remove(connection: Any) -> None:
    """Remove the triggers."""
    with connection.cursor() as cursor:
        for table, operation in _guarded:
            name = _name(table, operation)
            if connection.vendor == "sqlite":
                cursor.execute(f"DROP TRIGGER IF EXISTS {name}")
            else:
                cursor.execute(f"DROP FUNCTION IF EXISTS {name}() CASCADE")


def install_after_migrating(sender: Any, using: str, **_signal: Any) -> None:
    install(connections[using])


def _name(table: str, operation: str) -> str:
    return f"{table}_kept_{operation.split()[0].lower()}"
