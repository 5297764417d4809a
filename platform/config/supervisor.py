"""All of Parley on one machine: a private Redis, the web server, workers and beat, supervised."""

from __future__ import annotations

import fcntl
import json
import os
import random
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Self

from config import children
from config.children import PROBE_SECONDS, ROOT, Service
from config.private_redis import PrivateRedis
from monitoring import restarts

HOST = "127.0.0.1"
EVERYWHERE = "0.0.0.0"
COLLECTOR_THREADS = 4
PRIVATE_UMASK = 0o077
"""The umask of every process that writes people's data."""
PATIENCE = 300.0
"""Seconds that a service which runs may take to answer: a first start on a busy machine takes minutes."""
REPORT_SECONDS = 5.0
"""Seconds between two messages about a step of the start that takes long."""
LAST_LINES = 20
"""Lines of a service's log that are shown if it does not start."""


class StackError(RuntimeError):
    """The stack could not start, or a call within it failed."""


class Stack:
    """A complete Parley in `data_dir`: services "redis", "web", "worker", "collector" and "beat".

    Use it as a context manager, or call `start` and `stop`.

    Args:
        database_url: by default, the data are stored in SQLite in `data_dir`.
        redis_url: by default, a private Valkey is started.
        web_port: the first port to try; 0 for any.
        web_processes: number of processes that share the port.
        shared: whether other devices reach the web server, under all of this machine's addresses.
        local_model: also serve a small language model (service "model", set up by deploy/setup/llm.sh) at `model_url`.
        environment: added to the environment of the child processes.
        say: called with each step of the start, how long it has taken so far, and the end of a service.
    """

    def __init__(
        self,
        data_dir: Path | str,
        *,
        database_url: str | None = None,
        redis_url: str | None = None,
        web_port: int = 0,
        web_processes: int = 1,
        shared: bool = False,
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
        self._host = EVERYWHERE if shared else HOST
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
        self._jobs: list[subprocess.Popen[Any]] = []

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
                if service.process is not None and service.runs
            }

    @property
    def environment(self) -> dict[str, str]:
        """The child processes' environment: this process's, with all data locations replaced by the stack's own."""
        inherited = {key: value for key, value in os.environ.items() if key not in ("DATABASE_URL", "REDIS_URL")}
        overrides = {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "PYTHONPATH": f"{ROOT / 'platform'}{os.pathsep}{ROOT}",
            "PYTHONUNBUFFERED": "1",
            "PARLEY_DATA": str(self.data_dir),
            "REDIS_URL": self.redis_url or "",
            "SITE_URL": self.url,
        }
        if self.database_url:
            overrides["DATABASE_URL"] = self.database_url
        return {**inherited, **overrides, **self._environment}

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    # ---- start and stop ------------------------------------------------------------------------------

    def start(self, patience: float = PATIENCE) -> None:
        """Start everything; return once the web server answers.

        Args:
            patience: seconds that each service may take to answer, as long as it runs.

        Raises:
            StackError: names the service that did not start, with its last lines; nothing is left running.
        """
        self.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.data_dir.chmod(0o700)
        (self.data_dir / "static").mkdir(exist_ok=True)
        self._lock_folder()
        try:
            self.port, self._held_port = hold_port(self.wanted_port, self._host)
            if self.redis_url is None:
                self._redis = PrivateRedis(self.data_dir)
                self.redis_url = self._redis.url
                with self.step("Starting Redis"):
                    self._start_service("redis", self._redis.command)
                    self._wait_until("redis", self._redis.answers, patience)
            with self.step("Preparing the database"):
                self.call("django.core.management.call_command", "migrate", verbosity=0)
            if self._local_model:
                with self.step("Loading the language model"):
                    self._start_model(patience)
            for name, command in self._commands().items():
                if name not in self._without:
                    self._start_service(name, command)
                if name == "web" and name in self.services:
                    self._fill()
                    # The others start afterwards: on few cores, everything would otherwise wait for everything.
                    with self.step("Starting the web server"):
                        self._wait_until("web", self.is_healthy, patience)
            self._supervisor_thread = threading.Thread(target=self._supervise, name="supervisor", daemon=True)
            self._supervisor_thread.start()
        except BaseException:
            self.stop()
            raise

    def _fill(self) -> None:
        """Put into the database, while the web server starts, what a stack of this kind begins with."""

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """Say what is done now, and every few seconds how long it has taken."""
        started_at, is_done = time.monotonic(), threading.Event()

        def report() -> None:
            while not is_done.wait(REPORT_SECONDS):
                self._say(f"  {what}: {time.monotonic() - started_at:.0f} s so far")

        reporter = threading.Thread(target=report, name="reporter", daemon=True)
        self._say(f"{what} …")
        reporter.start()
        try:
            yield
        finally:
            is_done.set()
            reporter.join()

    def stop(self) -> None:
        """Stop everything, in reverse order of starting. Safe to call twice."""
        self._stopping.set()
        if self._supervisor_thread is not None:
            self._supervisor_thread.join()
        self.close_calls()
        for job in self._jobs:
            children.stop_group(job)
        for service in reversed(self.services.values()):
            service.stop()
        if self._redis is not None:
            self._redis.stop()
        if self._held_port is not None:
            self._held_port.close()
        if self._lock is not None:
            self._lock.close()

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

    def start_manage(self, *arguments: str) -> subprocess.Popen[Any]:
        """Run `manage.py` in the background, as `start_job` does."""
        command = [sys.executable, str(ROOT / "manage.py"), *arguments]
        return self.start_job(arguments[0], command, umask=PRIVATE_UMASK)

    def start_job(self, name: str, command: list[str], **options: Any) -> subprocess.Popen[Any]:
        """Run a command that comes to an end; nothing restarts it, and it is stopped with the stack.

        Args:
            options: passed to `children.start`.
        """
        job = children.start(command, environment=self.environment, log=self._log_path(name), **options)
        self._jobs.append(job)
        return job

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
                umask=PRIVATE_UMASK,
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
        self._start_service("model", [str(python), str(serve), "--port", str(self.model_port)])
        self._wait_until("model", lambda: "ready" in self.log("model"), patience)

    def _commands(self) -> dict[str, list[str]]:
        web = ["--host", self._host, "--port", str(self.port), "--processes", str(self.web_processes)]
        standalone = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "warning"]
        worker = ["-P", "threads", "-c", str(self.worker_concurrency), "-Q", "turns,default,payouts", *standalone]
        collector = ["-P", "threads", "-c", str(COLLECTOR_THREADS), "-Q", "collections", *standalone]
        schedule = ["--schedule", str(self.data_dir / "beat-schedule"), "--pidfile", "", "--loglevel", "warning"]
        celery = [sys.executable, "-m", "celery", "-A", "config"]
        return {
            "web": [sys.executable, "-m", "config.serving", *web],
            "worker": [*celery, "worker", "-n", "turns@%h", *worker],
            "collector": [*celery, "worker", "-n", "collections@%h", *collector],
            "beat": [*celery, "beat", *schedule],
        }

    def _start_service(self, name: str, command: list[str]) -> None:
        log = self._log_path(name)
        log.parent.mkdir(exist_ok=True)
        with self._change:
            service = Service(name, command, environment=self.environment, log=log, umask=PRIVATE_UMASK)
            self.services[name] = service
            service.start()

    def _supervise(self) -> None:
        """Restart services that died, after longer waits the sooner they died."""
        while not self._stopping.wait(PROBE_SECONDS):
            with self._change:
                for service in self.services.values():
                    if ending := service.tend():
                        restarts.note(self.data_dir, service.name, ending)
                        self._say(f"{service.name} {ending}; restarting it. {self._log_path(service.name)}")

    def _wait_until(self, name: str, is_ready: Callable[[], bool], patience: float) -> None:
        deadline = time.monotonic() + patience
        while not is_ready():
            ending = self.services[name].ended()
            if not ending and time.monotonic() > deadline:
                ending = f"runs, but has not answered for {patience:.0f} s"
            if ending:
                lines = self.log(name).splitlines()[-LAST_LINES:] or ["(nothing)"]
                raise StackError("\n".join([f"{name} {ending}. Its last lines in {self._log_path(name)}:", *lines]))
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


def free_port(first_port: int = 0, host: str = HOST) -> int:
    """Return the first free port from `first_port` on; with 0, any below those that outgoing connections use."""
    candidates = range(first_port, first_port + 100) if first_port else random.sample(range(20_000, 30_000), 100)
    for port in candidates:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError:
                continue
            return port
    raise StackError(f"no free port from {first_port} on")


def hold_port(first_port: int = 0, host: str = HOST) -> tuple[int, socket.socket]:
    """Return a free port, and a socket that reserves it among stacks until it is closed.

    The web server binds its port only seconds later. Until then an abstract kernel socket name reserves
    the port; it disappears when the process ends, even after a crash.
    """
    while True:
        port = free_port(first_port, host)
        reservation = socket.socket(socket.AF_UNIX)
        try:
            reservation.bind(f"\0parley-port-{port}")
        except OSError:
            reservation.close()
            first_port = first_port and port + 1
            continue
        return port, reservation
