"""An oTree server beside a running Parley: its project copied to a folder of its own, its data kept there."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

from config import children
from config.supervisor import HOST, StackError, free_port

PROJECT = Path(__file__).resolve().parent.parent / "otree"
PATIENCE = 60


class Otree:
    """The demonstration's experiment on a free port.

    Args:
        folder: where the project is copied to; oTree keeps its database in it.
        program: the `otree` of its environment.
    """

    def __init__(self, folder: Path, program: Path, *, wanted_port: int = 0):
        self.folder, self.program = folder, program
        self.port = free_port(wanted_port)
        self.url = f"http://{HOST}:{self.port}"
        self.rest_key = secrets.token_urlsafe(24)
        self.environment: dict[str, str] = {}
        self._process: subprocess.Popen[bytes] | None = None

    def prepare(self, *, parley: str, study: str, link_key: str) -> None:
        """Copy the project, and remember what it must know of Parley."""
        shutil.copytree(PROJECT, self.folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        kept = {name: os.environ[name] for name in ("HOME", "LANG", "LC_ALL", "TMPDIR") if name in os.environ}
        self.environment = {
            **kept,
            "PATH": f"{self.program.parent}{os.pathsep}{os.environ.get('PATH', '')}",
            "PYTHONUNBUFFERED": "1",
            "OTREE_URL": self.url,
            "OTREE_REST_KEY": self.rest_key,
            "PARLEY_URL": parley,
            "PARLEY_STUDY": study,
            "PARLEY_LINK_KEY": link_key,
        }

    def start(self) -> None:
        """Serve; returns once pages are answered.

        Raises:
            StackError: with what oTree said.
        """
        command = [str(self.program), "devserver_inner", f"{HOST}:{self.port}"]
        self._process = children.start(command, environment=self.environment, log=self.log_file, cwd=self.folder)
        until = time.monotonic() + PATIENCE
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > until:
                self.stop()
                raise StackError(f"oTree does not answer:\n{self.log()[-3000:]}")
            time.sleep(0.2)

    def stop(self) -> None:
        """End it; its sessions are kept in the folder. Safe to call twice."""
        if self._process is not None:
            children.stop(self._process, patience=20)
            self._process = None

    @property
    def log_file(self) -> Path:
        return self.folder / "otree.log"

    def log(self) -> str:
        """What it has written so far."""
        return self.log_file.read_text(errors="replace") if self.log_file.exists() else ""

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/demo", timeout=5) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False
