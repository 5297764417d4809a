"""An oTree server beside a running Parley, with its project and data in one folder.

It runs as in experiments (`otree prodserver1of2`): every answer is in its database by the time the next page is
shown. oTree's `devserver` holds everything in memory until it is stopped, and loses it when killed.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

from config import children
from config.supervisor import HOST, StackError, free_port

PROJECT = Path(__file__).resolve().parent.parent / "otree"
PATIENCE = 60
_STOP_BOTH = """trap "trap '' TERM; kill -TERM 0; wait" TERM; "$@" & wait"""
"""oTree starts a separate process for page time-outs: on SIGTERM, this shell ends both."""


class Otree:
    """The demonstration's experiment on a free port.

    Args:
        folder: where the project is copied to and oTree stores its database.
        program: the `otree` of its environment.
        wanted_port: the first port to try; 0 for any.
        database_url: a PostgreSQL database; otherwise an SQLite file in the folder.
        project: the folder to copy.
    """

    def __init__(
        self, folder: Path, program: Path, *, wanted_port: int = 0, database_url: str = "", project: Path = PROJECT
    ):
        self.folder, self.program, self.database_url, self.project = folder, program, database_url, project
        self.port = free_port(wanted_port)
        self.url = f"http://{HOST}:{self.port}"
        self.rest_key = secrets.token_urlsafe(24)
        self.password = secrets.token_urlsafe(9)
        self.environment: dict[str, str] = {}
        self._process: subprocess.Popen[bytes] | None = None

    def prepare(self, *, parley: str, link_keys: str) -> None:
        """Copy the project, and store its settings for Parley."""
        shutil.copytree(self.project, self.folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        inherited = {name: os.environ[name] for name in ("HOME", "LANG", "LC_ALL", "TMPDIR") if name in os.environ}
        self.environment = {
            **inherited,
            "PATH": f"{self.program.parent}{os.pathsep}{os.environ.get('PATH', '')}",
            "PYTHONUNBUFFERED": "1",
            "OTREE_PRODUCTION": "1",
            "OTREE_URL": self.url,
            "OTREE_REST_KEY": self.rest_key,
            "OTREE_AUTH_LEVEL": "DEMO",
            "OTREE_ADMIN_PASSWORD": self.password,
            "PARLEY_URL": parley,
            "PARLEY_LINK_KEYS": link_keys,
            **({"DATABASE_URL": self.database_url} if self.database_url else {}),
        }

    def start(self) -> None:
        """Start the server; return once it answers.

        Raises:
            StackError: contains oTree's output.
        """
        command = ["sh", "-c", _STOP_BOTH, "sh", str(self.program), "prodserver1of2", f"{HOST}:{self.port}"]
        self._process = children.start(
            command, environment=self.environment, log=self.log_file, cwd=self.folder, death_signal=signal.SIGTERM
        )
        deadline = time.monotonic() + PATIENCE
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise StackError(f"oTree does not answer:\n{self.log()[-3000:]}")
            time.sleep(0.2)

    def stop(self) -> None:
        """Stop the server and keep its sessions. Safe to call twice."""
        if self._process is not None:
            children.stop(self._process, patience=20)
            self.kill()

    def kill(self) -> None:
        """Kill all of its processes at once, as a power cut would. Safe to call twice."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def log_file(self) -> Path:
        return self.folder / "otree.log"

    def log(self) -> str:
        """Return the server's output so far."""
        return self.log_file.read_text(errors="replace") if self.log_file.exists() else ""

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/demo", timeout=5) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False
