"""Database triggers that refuse to change or delete postings and the amounts of ledger rows.

Installed after every migration, since SQLite drops a table's triggers when a migration rebuilds it.
"""

from __future__ import annotations

from typing import Any

from django.db import connections

_OWED = ("id", "uid", "enrolment_id", "reason", "amount", "currency")
"""Columns of a ledger row that never change, unlike its state."""
_POSTING_MESSAGE = "postings are never changed"
_ROW_MESSAGE = "amounts owed are never changed"
_GUARDED = (
    ("payouts_posting", "update", "BEFORE UPDATE", _POSTING_MESSAGE),
    ("payouts_posting", "delete", "BEFORE DELETE", _POSTING_MESSAGE),
    ("payouts_ledgerrow", "update", f"BEFORE UPDATE OF {', '.join(_OWED)}", _ROW_MESSAGE),
    ("payouts_ledgerrow", "delete", "BEFORE DELETE", _ROW_MESSAGE),
)


def install(connection: Any) -> None:
    """Install the triggers; do nothing if they are installed."""
    remove(connection)
    sqlite = connection.vendor == "sqlite"
    for table, operation, when, message in _GUARDED:
        name = f"{table}_kept_{operation}"
        if sqlite:
            _run(connection, f"CREATE TRIGGER {name} {when} ON {table} BEGIN SELECT RAISE(ABORT, '{message}'); END")
        else:
            body = f"BEGIN RAISE EXCEPTION '{message}' USING ERRCODE = 'integrity_constraint_violation'; END"
            _run(connection, f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ {body} $$")
            _run(connection, f"CREATE TRIGGER {name} {when} ON {table} FOR EACH ROW EXECUTE FUNCTION {name}()")


def remove(connection: Any) -> None:
    """Remove the triggers."""
    for table, operation, _when, _message in _GUARDED:
        name = f"{table}_kept_{operation}"
        if connection.vendor == "sqlite":
            _run(connection, f"DROP TRIGGER IF EXISTS {name}")
        else:
            _run(connection, f"DROP TRIGGER IF EXISTS {name} ON {table}")
            _run(connection, f"DROP FUNCTION IF EXISTS {name}()")


def install_after_migrating(sender: Any, using: str, **_signal: Any) -> None:
    """Install the triggers if the tables exist."""
    connection = connections[using]
    if "payouts_posting" in connection.introspection.table_names():
        install(connection)


def _run(connection: Any, statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
