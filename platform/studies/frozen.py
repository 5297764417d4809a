"""Keep launched versions immutable: their rows are written once.

The model refuses changes in Python, and a trigger refuses them in the database. The trigger is created after every
migration, because SQLite loses it when a migration rebuilds the table.
"""

from __future__ import annotations

from typing import Any, NoReturn

from django.db import connections, models
from django.db.backends.base.base import BaseDatabaseWrapper

_SQLITE = """
CREATE TRIGGER IF NOT EXISTS {table}_is_frozen BEFORE UPDATE ON {table}
BEGIN SELECT RAISE(ABORT, 'a launched version is never changed'); END
"""
_POSTGRES = """
CREATE OR REPLACE FUNCTION {table}_is_frozen() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'a launched version is never changed' USING ERRCODE = 'integrity_constraint_violation'; END $$;
DROP TRIGGER IF EXISTS {table}_is_frozen ON {table};
CREATE TRIGGER {table}_is_frozen BEFORE UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION {table}_is_frozen();
"""
TRIGGERS = {"sqlite": _SQLITE, "postgresql": _POSTGRES}


class Frozen(TypeError):
    """An attempt to change or delete a launched version."""

    def __init__(self) -> None:
        super().__init__("A launched version cannot be changed or deleted. Edit the study and launch it again.")


def refuse(*_args: Any, **_kwargs: Any) -> NoReturn:
    """Raise Frozen."""
    raise Frozen


class FrozenRows(models.QuerySet):
    """A queryset that allows adding and reading rows only."""

    update = refuse
    bulk_update = refuse
    delete = refuse
    update_or_create = refuse


def create_trigger(sender: Any, using: str, **_signal: Any) -> None:
    """Create the database trigger that refuses changes to versions, if it does not exist."""
    connection: BaseDatabaseWrapper = connections[using]
    table = sender.get_model("Version")._meta.db_table
    statement = TRIGGERS.get(connection.vendor)
    if statement is None or table not in connection.introspection.table_names():
        return
    with connection.cursor() as cursor:
        cursor.execute(statement.format(table=table))
