"""All of Parley on one machine: a private Redis, the web server, workers and beat, supervised."""

from __future__ import annotations

import fcntl
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import IO, Any

from config import children
from config.children import ROOT
from config.private_redis import PrivateRedis

HOST = "127.0.0.1"
FIRST_DELAY, MAX_DELAY = 0.3, 30.0
"""Seconds before a dead service is restarted: doubled each time, reset once it has run for STABLE_SECONDS."""
STABLE_SECONDS = 10.0
COLLECTOR_THREADS = 4
PRIVATE_UMASK = 0o077
"""The umask of every process that writes people's data."""
PROBE_SECONDS = 0.1
MAX_MESSAGE_BYTES = 64 * 1024
"""Maximum bytes of one message of a socket."""


class StackError(RuntimeError):
    """The stack could not start, or a call within it failed."""


class Service:
    """One child process that should be running."""

    def __init__(self, name: str, command: list[str], *, stop_signal: signal.Signals = signal.SIGTERM) -> None:
        self.name = name
        self.command = command
        self.stop_signal = stop_signal
        self.should_run = False
        self.process: subprocess.Popen[Any] | None = None
        self.started_at = 0.0
        self.wait = FIRST_DELAY
        self.restart_at: float | None = None


class Stack:
    """A complete Parley in `data_dir`: services "redis", "web", "worker", "collector" and "beat".

    Use it as a context manager, or call `start` and `stop`.

    Args:
        database_url: by default, the data are stored in SQLite in `data_dir`.
        redis_url: by default, a private Valkey is started.
        web_port: the first port to try; 0 for any.
        web_processes: number of processes that share the port.
        local_model: also serve a small language model (service "model", set up by deploy/setup/llm.sh) at `model_url`.
        environment: added to the environment of the child processes.
        say: called with a message when a service dies.
    """

    def __init__(
        self,
        data_dir: Path | str,
        *,
        database_url: str | None = None,
        redis_url: str | None = None,
        web_port: int = 0,
        web_processes: int = 1,
        worker_concurrency: int = 12,
        without: Iterable[str] = (),
        local_model: bool = False,
        environment: Mapping[str, str] | None = None,
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.data_dir = Path(data_dir).resolve()
        self.database_url = database_url
        self.redis_url = redis_url
        self.wanted_port = web_port
        self.port = 0
        self.web_processes = web_processes
        self.worker_concurrency = worker_concurrency
        self.services: dict[str, Service] = {}
        self._without = set(without)
        self._local_model = local_model
        self.model_port = 0
        self._environment = dict(environment or {})
        self._say = say
        self._change = threading.RLock()
        self._stopping = threading.Event()
        self._supervisor_thread: threading.Thread | None = None
        self._lock: IO[str] | None = None
        self._held_port: socket.socket | None = None
        self._redis: PrivateRedis | None = None
        self._call_process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    @property
    def model_url(self) -> str:
        """The address of the local model, which speaks OpenAI's protocol."""
        return f"http://{HOST}:{self.model_port}/v1"

    @property
    def pids(self) -> dict[str, int]:
        """The process ids of the running services."""
        with self._change:
            return {
                name: service.process.pid
                for name, service in self.services.items()
                if service.process is not None and service.process.poll() is None
            }

    @property
    def environment(self) -> dict[str, str]:
        """The child processes' environment: this process's, with all data locations replaced by the stack's own."""
        inherited = {key: value for key, value in os.environ.items() if key not in ("DATABASE_URL", "REDIS_URL")}
        overrides = {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "PYTHONPATH": f"{ROOT / 'platform'}{os.pathsep}{ROOT}",
            "PYTHONUNBUFFERED": "1",
            "PARLEY_STACK": "1",
            "PARLEY_DATA": str(self.data_dir),
            "REDIS_URL": self.redis_url or "",
            "SITE_URL": self.url,
        }
        if self.database_url:
            overrides["DATABASE_URL"] = self.database_url
        return {**inherited, **overrides, **self._environment}

    def __enter__(self) -> Stack:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    # ---- start and stop ------------------------------------------------------------------------------

    def start(self, patience: float = 60) -> None:
        """Start everything; return once the web server answers.

        Raises:
            StackError: names the service that did not start; nothing is left running.
        """
        self.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.data_dir.chmod(0o700)
        (self.data_dir / "static").mkdir(exist_ok=True)
        self._lock_folder()
        try:
            self.port, self._held_port = hold_port(self.wanted_port)
            if self.redis_url is None:
                self._redis = PrivateRedis(self.data_dir)
                self.redis_url = self._redis.url
                self._start_service(Service("redis", self._redis.command))
                self._wait_until("redis", self._redis.answers, patience)
            self.manage("migrate", "--verbosity", "0")
            if self._local_model:
                self._start_model(patience)
            for name, command in self._commands().items():
                if name not in self._without:
                    self._start_service(Service(name, command))
            self._supervisor_thread = threading.Thread(target=self._supervise, name="supervisor", daemon=True)
            self._supervisor_thread.start()
            if "web" in self.services:
                self._wait_until("web", self.is_healthy, patience)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop everything, in reverse order of starting. Safe to call twice."""
        self._stopping.set()
        if self._supervisor_thread is not None:
            self._supervisor_thread.join()
        self.close_calls()
        for service in reversed(self.services.values()):
            service.should_run = False
            if service.process is not None:
                children.stop(service.process, stop_signal=service.stop_signal)
        if self._redis is not None:
            self._redis.stop()
        if self._held_port is not None:
            self._held_port.close()
        if self._lock is not None:
            self._lock.close()

    # ---- for tests -----------------------------------------------------------------------------------

    def kill(self, name: str) -> None:
        """Send SIGKILL, as in a crash; the supervisor restarts the service."""
        process = self.services[name].process
        assert process is not None
        process.kill()

    def halt(self, name: str) -> None:
        """Stop one service and keep it down until `restart`."""
        with self._change:
            service = self.services[name]
            service.should_run = False
            if service.process is not None:
                children.stop(service.process, stop_signal=service.stop_signal)

    def restart(self, name: str) -> None:
        """Stop one service, if it is running, and start it immediately."""
        with self._change:
            self.halt(name)
            self._start_service(self.services[name])

    def is_healthy(self) -> bool:
        """Return whether the web server answers and reaches its database."""
        try:
            with urllib.request.urlopen(f"{self.url}/health/", timeout=2) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def log(self, name: str) -> str:
        """Return a service's output so far."""
        path = self._log_path(name)
        return path.read_text(errors="replace") if path.exists() else ""

    # ---- Django inside the stack ---------------------------------------------------------------------

    def manage(self, *arguments: str) -> str:
        """Run `manage.py` with the stack's data; return its output.

        Raises:
            StackError: the command failed; contains its output.
        """
        process = subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), *arguments],
            env=self.environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            umask=PRIVATE_UMASK,
        )
        if process.returncode:
            command = " ".join(["manage.py", *arguments])
            output = f"{process.stdout}{process.stderr}".strip()
            raise StackError(f"{command} exited with {process.returncode}: {output}")
        return process.stdout

    def call(self, name: str, *arguments: Any, **keywords: Any) -> Any:
        """Call a function by its dotted name with the stack's data, JSON in and out.

        Raises:
            StackError: contains the traceback.
        """
        if self._call_process is None or self._call_process.poll() is not None:
            self._call_process = children.start(
                [sys.executable, "-m", "config.calls"],
                environment=self.environment,
                log=self._log_path("calls"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        call_process = self._call_process
        assert call_process.stdin is not None
        assert call_process.stdout is not None
        call_process.stdin.write(json.dumps([name, arguments, keywords]) + "\n")
        call_process.stdin.flush()
        line = call_process.stdout.readline()
        if not line:
            raise StackError(f"{name}: {self.log('calls')[-2000:]}")
        answer = json.loads(line)
        if "error" in answer:
            raise StackError(answer["error"])
        return answer["result"]

    def close_calls(self) -> None:
        """End the process that runs the calls; the next call starts another."""
        if self._call_process is not None:
            children.stop(self._call_process)
            self._call_process = None

    # ---- the services --------------------------------------------------------------------------------

    def _start_model(self, patience: float) -> None:
        python = ROOT / ".venv-llm" / "bin" / "python"
        if not python.exists():
            raise StackError("There is no local model here: run deploy/setup/llm.sh (make demo-llm does).")
        self.model_port = free_port()
        serve = ROOT / "deploy" / "llm" / "serve.py"
        self._start_service(Service("model", [str(python), str(serve), "--port", str(self.model_port)]))
        self._wait_until("model", lambda: "ready" in self.log("model"), patience)

    def _commands(self) -> dict[str, list[str]]:
        uvicorn = ["--host", HOST, "--port", str(self.port), "--lifespan", "off", "--ws", "websockets-sansio"]
        uvicorn += ["--ws-max-size", str(MAX_MESSAGE_BYTES), "--ws-per-message-deflate", "false"]
        uvicorn += [
            "--workers",
            str(self.web_processes),
            "--no-access-log",
            "--log-level",
            "warning",
            "--timeout-graceful-shutdown",
            "3",
        ]
        standalone = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "warning"]
        worker = ["-P", "threads", "-c", str(self.worker_concurrency), "-Q", "turns,default,payouts", *standalone]
        collector = ["-P", "threads", "-c", str(COLLECTOR_THREADS), "-Q", "collections", *standalone]
        schedule = ["--schedule", str(self.data_dir / "beat-schedule"), "--pidfile", "", "--loglevel", "warning"]
        celery = [sys.executable, "-m", "celery", "-A", "config"]
        return {
            "web": [sys.executable, "-m", "uvicorn", "config.asgi:application", *uvicorn],
            "worker": [*celery, "worker", "-n", "turns@%h", *worker],
            "collector": [*celery, "worker", "-n", "collections@%h", *collector],
            "beat": [*celery, "beat", *schedule],
        }

    def _start_service(self, service: Service) -> None:
        with self._change:
            self.services[service.name] = service
            self._log_path(service.name).parent.mkdir(exist_ok=True)
            service.process = children.start(
                service.command, environment=self.environment, log=self._log_path(service.name), umask=PRIVATE_UMASK
            )
            service.started_at = time.monotonic()
            service.restart_at = None
            service.should_run = True

    def _supervise(self) -> None:
        """Restart services that died, after longer waits the sooner they died."""
        while not self._stopping.wait(PROBE_SECONDS):
            with self._change:
                for service in self.services.values():
                    self._restart_if_dead(service)

    def _restart_if_dead(self, service: Service) -> None:
        process, now = service.process, time.monotonic()
        if not service.should_run or process is None or process.poll() is None:
            return
        if service.restart_at is None:
            if now - service.started_at > STABLE_SECONDS:
                service.wait = FIRST_DELAY
            service.restart_at = now + service.wait
            service.wait = min(2 * service.wait, MAX_DELAY)
            self._say(f"{service.name} ended ({process.returncode}); restarting it. {self._log_path(service.name)}")
        if now >= service.restart_at:
            self._start_service(service)

    def _wait_until(self, name: str, is_ready: Callable[[], bool], patience: float) -> None:
        deadline = time.monotonic() + patience
        while not is_ready():
            process = self.services[name].process
            has_died = self._supervisor_thread is None and process is not None and process.poll() is not None
            if has_died or time.monotonic() > deadline:
                raise StackError(f"{name} does not answer. {self._log_path(name)}:\n{self.log(name)[-3000:]}")
            time.sleep(0.05)

    def _log_path(self, name: str) -> Path:
        return self.data_dir / "logs" / f"{name}.log"

    def _lock_folder(self) -> None:
        """Lock the folder: two stacks on one folder would share a Redis."""
        self._lock = (self.data_dir / "running.lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise StackError(f"Parley is already running on {self.data_dir}.") from None


def free_port(first_port: int = 0) -> int:
    """Return the first free port from `wanted` on; with 0, any below those that outgoing connections use."""
    candidates = range(first_port, first_port + 100) if first_port else random.sample(range(20_000, 30_000), 100)
    for port in candidates:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return port
    raise StackError(f"no free port from {first_port} on")


def hold_port(first_port: int = 0) -> tuple[int, socket.socket]:
    """Return a free port, and a socket that reserves it among stacks until it is closed.

    The web server binds its port only seconds later. Until then an abstract kernel socket name reserves
    the port; it disappears when the process ends, even after a crash.
    """
    while True:
        port = free_port(first_port)
        reservation = socket.socket(socket.AF_UNIX)
        try:
            reservation.bind(f"\0parley-port-{port}")
        except OSError:
            reservation.close()
            first_port = first_port and port + 1
            continue
        return port, reservation
