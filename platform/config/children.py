"""Child processes that never outlive this one: started in one place, stopped by their own id."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
PR_SET_PDEATHSIG = 1

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
        identity = {"user": user, "group": _group_of(user), "extra_groups": []} if user else {}
        try:
            return subprocess.Popen(
                list(command),
                env=dict(environment) if environment is not None else None,
                start_new_session=True,
                preexec_fn=die_with_parent_in_child,
                **{"cwd": ROOT, **streams, **identity, **options},
            )
        finally:
            if log:
                output.close()

    return _starter.submit(spawn).result()


def die_with_parent() -> None:
    """Let the kernel kill this process when its parent dies: for the web server's own processes."""
    _libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL))


def stop(process: subprocess.Popen[Any], *, stop_signal: signal.Signals = signal.SIGTERM, patience: float = 5) -> None:
    """Ask a process to stop; kill it after `patience` seconds."""
    if process.poll() is None:
        process.send_signal(stop_signal)
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
    process.wait()


def _group_of(user: str) -> int:
    import pwd

    return pwd.getpwnam(user).pw_gid
