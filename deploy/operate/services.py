"""Parley's services: their command lines, and starting and stopping them with systemd or without."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NoReturn

from deploy.operate.machine import CODE, Machine, run

DEFAULTS = {"WEB_HOST": "127.0.0.1", "WEB_PORT": "8000", "WEB_PROXIES": "127.0.0.1", "WORKER_THREADS": "12"}
"""Settings that only the services' command lines use."""
KINDS = ("web", "worker", "collector", "beat")
STANDARD = ("parley-web", "parley-worker@1", "parley-collector", "parley-beat")
"""The services of one machine, in the order in which they start."""


def command(kind: str, number: str, settings: dict[str, str]) -> list[str]:
    """Return the command line of a service; several of a kind on one machine are numbered."""

    def value(name: str) -> str:
        return settings.get(name) or DEFAULTS[name]

    worker = ["celery", "-A", "config", "worker", "-P", "threads", "--loglevel", "warning"]
    worker += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    if kind == "web":
        return [
            "python", "-m", "config.serving", "--host", value("WEB_HOST"), "--port", value("WEB_PORT"),
            "--forwarded-allow-ips", value("WEB_PROXIES"), "--timeout-graceful-shutdown", "5",
        ]  # fmt: skip
    if kind == "worker":
        return [*worker, "-n", f"turns{number}@%h", "-c", value("WORKER_THREADS"), "-Q", "turns,default,payouts"]
    if kind == "collector":
        return [*worker, "-n", f"collections{number}@%h", "-c", "4", "-Q", "collections"]
    schedule = Path(settings.get("PARLEY_DATA") or "/tmp") / "beat-schedule"
    return ["celery", "-A", "config", "beat", "--schedule", str(schedule), "--pidfile=", "--loglevel", "warning"]


def become(machine: Machine, kind: str, number: str = "1") -> NoReturn:
    """Turn this process into a service."""
    machine.require_settings()
    machine.become_user()
    os.chdir(CODE)
    settings = machine.environment
    if kind != "web":
        subprocess.run(["python", "manage.py", "await_migrations"], env=settings, check=True)
    service = command(kind, number, settings)
    os.execvpe(service[0], service, settings)


class Systemd:
    """Services as systemd's units."""

    def reload(self) -> None:
        run(["systemctl", "daemon-reload"])

    def enable(self, names: list[str]) -> None:
        run(["systemctl", "enable", "--quiet", *names])

    def running(self) -> list[str]:
        """Return the services that run or are about to be restarted, in the order in which they start."""
        listing = run(["systemctl", "list-units", "--plain", "--no-legend", "--all", "parley-*.service"])
        rows = [line.split() for line in listing.splitlines()]
        return in_order([row[0].removesuffix(".service") for row in rows if row[2] in ("active", "activating")])

    def start(self, names: list[str]) -> None:
        for name in names:
            run(["systemctl", "start", name])

    def stop(self, names: list[str]) -> None:
        if names:
            run(["systemctl", "stop", *names])


class Runner:
    """Services without systemd: one detached supervisor for each, which reads the unit and restarts its process."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.folder = machine.root / "run/parley"
        self.logs = machine.root / "var/log/parley"

    def reload(self) -> None:
        """Supervisors read their units when they start."""

    def enable(self, names: list[str]) -> None:
        """Without systemd, nothing starts with the machine."""

    def running(self) -> list[str]:
        names = [file.stem for file in self.folder.glob("*.lock")] if self.folder.is_dir() else []
        return in_order([name for name in names if self._supervisor(name)])

    def start(self, names: list[str]) -> None:
        for folder in (self.folder, self.logs):
            folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            with (self.folder / f"{name}.lock").open("a+") as lock, (self.logs / f"{name}.log").open("ab") as log:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    continue  # it runs
                # The supervisor inherits the open file, and with it the lock.
                supervisor = subprocess.Popen(
                    [sys.executable, "-P", "-m", "deploy.operate", "supervise", name],
                    env={**os.environ, "PYTHONPATH": str(CODE)}, cwd="/", start_new_session=True,
                    pass_fds=[lock.fileno()], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                )  # fmt: skip
                lock.truncate(0)
                lock.write(str(supervisor.pid))

    def stop(self, names: list[str]) -> None:
        supervisors = {name: pid for name in names if (pid := self._supervisor(name))}
        for pid in supervisors.values():
            os.kill(pid, signal.SIGTERM)
        for name in supervisors:
            with (self.folder / f"{name}.lock").open() as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)  # granted once the supervisor has ended

    def supervise(self, name: str) -> None:
        """Run one service until SIGTERM; restart its process when it ends."""
        process: subprocess.Popen[bytes] | None = None

        def end(_signal: int, _frame: object) -> None:
            raise SystemExit

        signal.signal(signal.SIGTERM, end)
        unit = self._unit(name)
        try:
            while True:
                for line in [*unit.get("ExecStartPre", []), *unit["ExecStart"]]:
                    process = subprocess.Popen(line.split(), cwd=CODE)
                    if process.wait():
                        break
                time.sleep(float(unit["RestartSec"][0]))
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            if process is not None:
                process.terminate()
                try:
                    process.wait(float(unit["TimeoutStopSec"][0]))
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()

    def _unit(self, name: str) -> dict[str, list[str]]:
        """Return a unit's settings; `a@b` is the template `a@` with %i as b."""
        template, _at, number = name.partition("@")
        file = self.machine.units / f"{template}{'@' if number else ''}.service"
        settings: dict[str, list[str]] = {}
        for line in file.read_text().replace("%i", number).splitlines():
            if "=" in line and not line.startswith("#"):
                key, value = line.split("=", 1)
                settings.setdefault(key, []).append(value)
        return settings

    def _supervisor(self, name: str) -> int | None:
        """Return the id of the service's supervisor if it runs: it holds the lock on its file."""
        try:
            with (self.folder / f"{name}.lock").open() as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except OSError:
                    return int(lock.read() or 0) or None
        except FileNotFoundError:
            pass
        return None


def manager(machine: Machine) -> Systemd | Runner:
    return Systemd() if machine.systemd else Runner(machine)


def in_order(names: list[str]) -> list[str]:
    """Sort services: the web server first, since it applies migrations."""
    return sorted(names, key=lambda name: (name.partition("@")[0] != "parley-web", name))
