"""What keeps a launched version as it was: its rows are written once, whoever tries to write them again.

The model refuses in Python, and a trigger refuses in the database, where no code of ours is asked. The
trigger is put in place after every migration, since SQLite loses it when a migration rebuilds the table.
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
    """Somebody tried to change or delete what was launched."""

    def __init__(self) -> None:
        super().__init__("A launched version is never changed or deleted; edit the study and launch it again.")


def refuse(*_args: Any, **_kwargs: Any) -> NoReturn:
    """Raises Frozen."""
    raise Frozen


class FrozenRows(models.QuerySet):
    """Rows that can be added and read."""

    update = refuse
    bulk_update = refuse
    delete = refuse
    update_or_create = refuse


def put_trigger(sender: Any, using: str, **_signal: Any) -> None:
    """Let the database refuse to change versions; harmless where it does so already."""
    connection: BaseDatabaseWrapper = connections[using]
    table = sender.get_model("Version")._meta.db_table
    statement = TRIGGERS.get(connection.vendor)
    if statement is None or table not in connection.introspection.table_names():
        return
    with connection.cursor() as cursor:
        cursor.execute(statement.format(table=table))
