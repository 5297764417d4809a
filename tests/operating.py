"""Installations of Parley in folders: `deploy/parley` with $PARLEY_ROOT, on private databases and a private Redis."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from config.postgres import PrivatePostgres, _program_folder
from config.private_redis import PrivateRedis
from config.supervisor import free_port

ROOT = Path(__file__).resolve().parent.parent
PARLEY = ROOT / "deploy" / "parley"
SITE = "https://parley.example.org"


@dataclass
class Trial:
    """One installation below a folder."""

    root: Path
    database: str
    redis: str = "redis://127.0.0.1:1/0"
    code: Path = ROOT
    """The folder of Parley that is installed."""
    port: int = field(default_factory=free_port)

    @property
    def environment(self) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if name in ("HOME", "LANG", "PATH")}
        path = f"{self.root}/usr/local/bin:{_program_folder()}:{inherited['PATH']}:/usr/sbin"
        return {**inherited, "PARLEY_ROOT": str(self.root), "PATH": path}

    @property
    def install_options(self) -> list[str]:
        return ["--no-nginx", "--database", self.database, "--redis", self.redis, "--port", str(self.port)]

    def run(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.code / "deploy/parley", *map(str, arguments)], env=self.environment, cwd="/", capture_output=True,
            text=True, timeout=600,
        )  # fmt: skip

    def parley(self, *arguments: str | Path) -> str:
        """Run a command of `parley` that must succeed; return what it printed."""
        process = self.run(*arguments)
        logs = "".join(log.read_text()[-1000:] for log in self.root.glob("var/log/parley/*"))
        assert process.returncode == 0, f"{process.stdout}\n{process.stderr}\n{logs}"
        return process.stdout

    def shell(self, code: str) -> str:
        return self.parley("shell", "--no-imports", "-c", code).strip()

    def stop(self) -> None:
        """End the services."""
        code = "from deploy.operate.services import *; r = Runner(Machine()); r.stop(r.running())"
        subprocess.run(["python3", "-c", code], env=self.environment, cwd=self.code, check=True, timeout=60)


class Servers:
    """A PostgreSQL with several databases, and Redis servers, for several installations."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.postgres = PrivatePostgres()
        self.redis: list[PrivateRedis] = []

    def __enter__(self) -> Servers:
        self.postgres.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        for server in self.redis:
            server.stop()
        self.postgres.stop()

    def trial(self, name: str) -> Trial:
        """Return a machine on which nothing is installed yet."""
        psql = [str(_program_folder() / "psql"), f"--host={self.postgres.folder}", "--username=postgres", "--quiet"]
        statements = [f"CREATE ROLE {name} LOGIN", f"CREATE DATABASE {name} OWNER {name}"]
        subprocess.run([*psql, *(f"--command={statement}" for statement in statements)], check=True)
        folder = self.folder / name
        folder.mkdir()
        redis = PrivateRedis(folder)
        redis.start()
        self.redis.append(redis)
        return Trial(folder, f"postgres://{name}@/{name}?host={self.postgres.folder}", redis.url)
