"""Child processes that never outlive this one: started in one place, stopped by their own id."""

from __future__ import annotations

import ctypes
import os
import pwd
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
PR_SET_PDEATHSIG = 1
FIRST_DELAY, MAX_DELAY = 0.3, 30.0
"""Seconds before a dead service is restarted: doubled each time, reset once it has run for STABLE_SECONDS."""
STABLE_SECONDS = 10.0
PROBE_SECONDS = 0.1
"""Seconds between two looks at whether services still run."""

_libc = ctypes.CDLL(None, use_errno=True)
# The kernel sends the death signal when the starting *thread* ends, so one thread that lives as long as
# the process starts them all.
_starter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="starter")


def start(
    command: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    log: Path | None = None,
    user: str | None = None,
    death_signal: signal.Signals = signal.SIGKILL,
    **options: Any,
) -> subprocess.Popen[Any]:
    """Start `command` in its own session; it gets `death_signal` when this process dies, for whatever reason.

    Its output is appended to the file `log`, or discarded. `user` drops root privileges to that user.
    """
    parent = os.getpid()

    def die_with_parent_in_child() -> None:
        _libc.prctl(PR_SET_PDEATHSIG, int(death_signal))
        if os.getppid() != parent:
            os._exit(1)

    def spawn() -> subprocess.Popen[Any]:
        output = log.open("ab") if log else subprocess.DEVNULL
        streams = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output}
        identity = {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []} if user else {}
        try:
            return subprocess.Popen(
                list(command),
                env=dict(environment) if environment is not None else None,
                start_new_session=True,
                preexec_fn=die_with_parent_in_child,
                **{"cwd": ROOT, **streams, **identity, **options},
            )
        finally:
            if not isinstance(output, int):
                output.close()

    return _starter.submit(spawn).result()


def stop(process: subprocess.Popen[Any], *, stop_signal: signal.Signals = signal.SIGTERM, patience: float = 5) -> None:
    """Ask a process to stop; kill it after `patience` seconds."""
    if process.poll() is None:
        process.send_signal(stop_signal)
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
    process.wait()


def stop_group(process: subprocess.Popen[Any]) -> None:
    """Stop a process, and those that it started and that have not left its session."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGTERM)
    stop(process)


class Service:
    """One child process that should be running.

    Args:
        options: passed to `start`.
    """

    def __init__(
        self, name: str, command: Sequence[str], *, stop_signal: signal.Signals = signal.SIGTERM, **options: Any
    ) -> None:
        self.name = name
        self.process: subprocess.Popen[Any] | None = None
        self._command = command
        self._stop_signal = stop_signal
        self._options = options
        self._should_run = False
        self._started_at = 0.0
        self._wait = FIRST_DELAY
        self._restart_at: float | None = None

    @property
    def runs(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def start(self) -> None:
        self.process = start(self._command, **self._options)
        self._started_at = time.monotonic()
        self._restart_at = None
        self._should_run = True

    def ended(self) -> str:
        """Return how the process ended, such as "was killed by SIGKILL"; empty if it runs."""
        code = self.process.poll() if self.process else None
        if code is None:
            return ""
        return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"

    def tend(self) -> str:
        """Restart the process if it has ended, after longer waits the sooner it ended; on the first call say how."""
        if not self._should_run or not (ending := self.ended()):
            return ""
        now = time.monotonic()
        is_news = self._restart_at is None
        if self._restart_at is None:
            if now - self._started_at > STABLE_SECONDS:
                self._wait = FIRST_DELAY
            self._restart_at = now + self._wait
            self._wait = min(2 * self._wait, MAX_DELAY)
        if now >= self._restart_at:
            self.start()
        return ending if is_news else ""

    def stop(self) -> None:
        """Stop the process, and do not restart it."""
        self._should_run = False
        if self.process is not None:
            stop(self.process, stop_signal=self._stop_signal)
