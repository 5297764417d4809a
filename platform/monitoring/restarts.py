"""How often processes of this installation ended unasked and were restarted: lines in a file of the data folder.

Supervisors write it without Django; readiness reads it, also while the database or Redis is unavailable.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

FILE = "restarts.log"
KEPT = 500
"""Maximum number of lines in the file."""


def note(folder: Path, process: str, reason: str) -> None:
    """Add a restart of a process with its reason, one line of text."""
    lines = [*_lines(folder), f"{time.time():.0f} {process}: {reason}"][-KEPT:]
    new = folder / f"{FILE}.{os.getpid()}"
    with contextlib.suppress(OSError):  # a full disk must not stop the supervisor
        new.write_text("".join(f"{line}\n" for line in lines))
        new.replace(folder / FILE)


def recent(folder: Path, seconds: float = 86400) -> list[str]:
    """Return the restarts in the last `seconds` as "process: reason", oldest first."""
    since = time.time() - seconds
    parts = (line.partition(" ") for line in _lines(folder))
    return [restart for at, _, restart in parts if float(at) >= since]


def _lines(folder: Path) -> list[str]:
    try:
        return (folder / FILE).read_text().splitlines()
    except OSError:
        return []
