"""Database triggers that refuse to change or delete audit records.

A migration that rebuilds the table (as SQLite does for most changes) must install the triggers again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

OnConnection = Callable[[Any], None]
_TABLE = "audit_record"
_MESSAGE = "audit records are never changed"
_SQLITE = [
    f"CREATE TRIGGER {_TABLE}_kept_{operation.lower()} BEFORE {operation} ON {_TABLE} "
    f"BEGIN SELECT RAISE(ABORT, '{_MESSAGE}'); END"
    for operation in ("UPDATE", "DELETE")
]
_POSTGRES = [
    f"CREATE FUNCTION {_TABLE}_kept() RETURNS trigger LANGUAGE plpgsql "
    f"AS $$ BEGIN RAISE EXCEPTION '{_MESSAGE}'; END $$",
    f"CREATE TRIGGER {_TABLE}_kept BEFORE UPDATE OR DELETE ON {_TABLE} FOR EACH ROW EXECUTE FUNCTION {_TABLE}_kept()",
]
_other_guards: list[tuple[OnConnection, OnConnection]] = []


def install(connection: Any) -> None:
    """Install the triggers."""
    _run(connection, _SQLITE if connection.vendor == "sqlite" else _POSTGRES)


def remove(connection: Any) -> None:
    """Remove the triggers."""
    if connection.vendor == "sqlite":
        _run(connection, [f"DROP TRIGGER {_TABLE}_kept_{operation}" for operation in ("update", "delete")])
    else:
        _run(connection, [f"DROP TRIGGER {_TABLE}_kept ON {_TABLE}", f"DROP FUNCTION {_TABLE}_kept()"])


def register(*, install: OnConnection, remove: OnConnection) -> None:
    """Register another app's triggers, which `flush` has to remove as well."""
    _other_guards.append((install, remove))


def install_all(connection: Any) -> None:
    """Install the triggers of all guarded tables."""
    for run in (install, *(installed for installed, _removed in _other_guards)):
        run(connection)


def remove_all(connection: Any) -> None:
    """Remove the triggers of all guarded tables."""
    for run in (remove, *(removed for _installed, removed in _other_guards)):
        run(connection)


def _run(connection: Any, statements: list[str]) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
