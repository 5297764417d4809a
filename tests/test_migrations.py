"""A stored database of 0.2 becomes one of this version, and of a made-up next one, and keeps its data."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connections
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

from config.postgres import _program_folder
from conftest import KIND, POSTGRES
from tests.stored import FILES

pytestmark = [pytest.mark.services, pytest.mark.both]

NAME = "stored"
TABLES = {
    "sqlite": "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'",
    "postgres": """
        SELECT table_name || '.' || column_name AS name, concat_ws(' ', data_type, is_nullable,
            character_maximum_length, numeric_precision, numeric_scale) AS sql
        FROM information_schema.columns WHERE table_schema = 'public'
        UNION ALL SELECT indexname, split_part(indexdef, ' WHERE ', 1) FROM pg_indexes WHERE schemaname = 'public'
        UNION ALL SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE connamespace = 'public'::regnamespace AND contype <> 'c'""",
}
"""Queries for the definitions of tables, indexes and constraints.

PostgreSQL words conditions differently after a dump, so they are left out.
"""
Rows = dict[str, list[dict[str, Any]]]


@pytest.fixture
def stored(db: None, tmp_path: Path) -> Iterator[Any]:
    """A connection to the stored database, which takes the place of the tests' own."""
    with _in_place(tmp_path / "stored.sqlite3") as connection:
        if POSTGRES is not None:
            _psql("--dbname", NAME, "--file", str(FILES[KIND]))
        else:
            with closing(sqlite3.connect(connection.settings_dict["NAME"])) as database:
                database.executescript(FILES[KIND].read_text())
        yield connection


@contextmanager
def _in_place(file: Path) -> Iterator[Any]:
    """Yield a connection to an empty database, in a file on SQLite, which takes the place of the tests' own."""
    own = connections["default"]
    if POSTGRES is not None:
        _psql("--command", f"CREATE DATABASE {NAME}")
    connection = type(own)({**own.settings_dict, "NAME": NAME if POSTGRES is not None else str(file)}, "default")
    connections["default"] = connection
    yield connection
    connection.close()
    connections["default"] = own
    if POSTGRES is not None:
        _psql("--command", f"DROP DATABASE {NAME}")


def _psql(*arguments: str) -> None:
    psql = [_program_folder() / "psql", "--quiet", "--set=ON_ERROR_STOP=1", "--username=postgres"]
    subprocess.run([*psql, f"--host={POSTGRES.folder}", *arguments], stdout=subprocess.DEVNULL, check=True)


def _ask(database: Any, query: str) -> list[dict[str, Any]]:
    with database.cursor() as cursor:
        cursor.execute(query)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _tables(database: Any) -> dict[str, str]:
    """Return the definitions of the database's tables, indexes and constraints."""
    return {row["name"]: row["sql"] for row in _ask(database, TABLES[KIND])}


def _rows(database: Any) -> Rows:
    """Return the rows of every table but Django's own records of migrations, models and permissions."""
    names = database.introspection.table_names()
    kept = [name for name in names if name not in ("django_migrations", "django_content_type", "auth_permission")]
    return {name: _ask(database, f'SELECT * FROM "{name}" ORDER BY 1') for name in kept}


def _migrate(database: Any, *target: tuple[str, str]) -> None:
    executor = MigrationExecutor(database)
    executor.migrate(list(target) or executor.loader.graph.leaf_nodes())


@pytest.fixture
def fresh_tables(db: None, tmp_path: Path) -> dict[str, str]:
    """The tables that the migrations of this version make."""
    with _in_place(tmp_path / "fresh.sqlite3") as connection:
        call_command("migrate", verbosity=0)
        return _tables(connection)


def test_stored_database_gets_the_tables_of_this_version(fresh_tables, stored):
    """As long as 0.2 is not released, `python -m tests.stored` stores it again after a change of its tables."""
    _migrate(stored)
    assert _tables(stored) == fresh_tables


def test_the_migrations_make_what_the_models_declare(db):
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def test_next_migration_keeps_the_data_both_ways(stored, settings):
    before = _rows(stored)
    settings.MIGRATION_MODULES = {"studies": "tests.stored.next"}
    _migrate(stored)
    after = _rows(stored)
    assert [row.pop("made_up") for row in after["studies_study"]] == [
        "seen-slug: Title that is seen", "hidden-slug: Title that is hidden", "seen-draft: Seen draft",
    ]  # fmt: skip
    assert after == before
    _migrate(stored, ("studies", "0001_initial"))
    assert _rows(stored) == before


def test_migrate_refuses_a_database_of_0_1(stored):
    MigrationRecorder(stored).record_applied("studies", "0002_of_0_1")
    with pytest.raises(CommandError, match=r"such as studies\.0002_of_0_1: "):
        call_command("migrate", verbosity=0)
