"""The two kinds of databases: dumping one to a file, and loading it from there."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import tempfile
from contextlib import closing, suppress
from pathlib import Path
from typing import Protocol
from urllib.parse import parse_qsl, unquote, urlsplit

from deploy.operate.machine import CODE, Machine, Refused, run

_EMPTY = """
DO $$ DECLARE found record; BEGIN
    FOR found IN SELECT oid::regclass AS name FROM pg_class
        WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace
    LOOP EXECUTE 'DROP TABLE IF EXISTS ' || found.name || ' CASCADE'; END LOOP;
    FOR found IN SELECT oid::regprocedure AS name FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    LOOP EXECUTE 'DROP ROUTINE IF EXISTS ' || found.name || ' CASCADE'; END LOOP;
END $$;
"""
"""Removes what a dump could contain, and what a newer version may have added."""


class Database(Protocol):
    kind: str

    def dump(self, file: Path) -> None:
        """Write a consistent copy of the whole database to a file."""

    def load(self, file: Path) -> None:
        """Replace the whole database by the copy in a file, or change nothing."""

    def applied(self) -> list[str]:
        """Return the applied migrations as app.name; none if the database is empty."""


class Postgres:
    kind = "PostgreSQL"

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        parts = {
            "PGHOST": address.netloc.rpartition("@")[2].partition(":")[0], "PGPORT": address.port,
            "PGUSER": address.username, "PGPASSWORD": address.password, "PGDATABASE": address.path.lstrip("/"),
            **{f"PG{name.upper()}": value for name, value in parse_qsl(address.query)},
        }  # fmt: skip
        # In the environment, since other users can read command lines.
        self._environment = {**os.environ, **{name: unquote(str(value)) for name, value in parts.items() if value}}

    def dump(self, file: Path) -> None:
        run(["pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--file={file}"], env=self._environment)

    def load(self, file: Path) -> None:
        """Without its whole input, psql gives the transaction up: it never meets the end of its script."""
        restore = ["pg_restore", "--no-owner", "--no-privileges", "--file=-"]
        load = ["psql", "--quiet", "--no-psqlrc", "--single-transaction", "--set=ON_ERROR_STOP=1", "--output=/dev/null"]
        load += [f"--command={_EMPTY}", "--file=-"]
        # The dump is opened here, so that the database's programs need no access to its folder.
        with file.open("rb") as dump, tempfile.TemporaryFile() as errors:
            source = subprocess.Popen(restore, env=self._environment, stdin=dump, stdout=subprocess.PIPE, stderr=errors)
            target = subprocess.Popen(load, env=self._environment, stdin=subprocess.PIPE, stderr=errors)
            assert source.stdout is not None and target.stdin is not None
            with source.stdout, suppress(BrokenPipeError):
                shutil.copyfileobj(source.stdout, target.stdin)
            if source.wait():
                target.kill()
            with suppress(BrokenPipeError):
                target.stdin.close()
            if target.wait() or source.returncode:
                errors.seek(0)
                raise Refused(f"The database was not restored and is unchanged:\n{errors.read().decode()[-2000:]}")

    def applied(self) -> list[str]:
        if not self._ask("SELECT to_regclass('public.django_migrations')").strip():
            return []
        return self._ask("SELECT app || '.' || name FROM django_migrations ORDER BY 1").split()

    def _ask(self, query: str) -> str:
        return run(["psql", "--no-psqlrc", "--no-align", "--tuples-only", f"--command={query}"], env=self._environment)


class Sqlite:
    kind = "SQLite"

    def __init__(self, file: Path, machine: Machine) -> None:
        self.file = file
        self._machine = machine

    def dump(self, file: Path) -> None:
        self._copy(self.file, file)

    def load(self, file: Path) -> None:
        with closing(sqlite3.connect(file)) as copy:
            if copy.execute("PRAGMA integrity_check").fetchone() != ("ok",):
                raise Refused(f"{file} is damaged.")
        self._copy(file, self.file)
        self._machine.give(self.file)

    def applied(self) -> list[str]:
        if not self.file.exists():
            return []
        with closing(sqlite3.connect(self.file)) as database:
            try:
                return [
                    row[0] for row in database.execute("SELECT app || '.' || name FROM django_migrations ORDER BY 1")
                ]
            except sqlite3.OperationalError:
                return []

    @staticmethod
    def _copy(source: Path, target: Path) -> None:
        with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target)) as new:
            old.backup(new)


def database_of(machine: Machine) -> Database:
    """Return the installation's database.

    Raises:
        Refused: DATABASE_URL is missing or names another kind.
    """
    machine.require_settings()
    url = machine.environment["DATABASE_URL"]
    scheme, _colon, rest = url.partition(":")
    if scheme in ("postgres", "postgresql"):
        return Postgres(url)
    if scheme == "sqlite":
        return Sqlite(CODE / rest.removeprefix("///"), machine)
    raise Refused(f"DATABASE_URL begins with {scheme}: neither postgres nor sqlite.")
