"""What earlier runs of the benchmark measured, kept in var/bench.jsonl: every row is compared with its last one.

Machines differ, and so does one machine from hour to hour. A loop of plain Python, timed beside every row, tells
how fast the machine was: a row that changed as the loop did has not changed.
"""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any

from config.supervisor import ROOT

FILE = ROOT / "var" / "bench.jsonl"
_NUMBER = re.compile(r"\d[\d,]*\.?\d*")
_LOOPS = 2_000_000


def calibration() -> float:
    """Return the CPU seconds of a loop that depends on nothing but the machine."""
    started_at, total = time.process_time(), 0
    for number in range(_LOOPS):
        total += number % 7
    return time.process_time() - started_at


def ratios(these: Sequence[float], those: Sequence[float]) -> str:
    return " ".join(f"{this / that:.2f}" if that else "-" for this, that in zip(these, those, strict=True))


class Rows:
    """The rows of one table, in this run and the last one.

    A row is known by its cells before the first measured one, or by its first cell if all are text.
    """

    def __init__(self, title: str, file: Path = FILE) -> None:
        self.title, self.file = title, file

    def compared(self, cells: Sequence[object], texts: Sequence[str]) -> str:
        """Keep a row and return how it compares with the last one; empty if there was none.

        Args:
            cells: what was measured.
            texts: the cells as printed; ratios are those of the numbers in them.
        """
        known = len(list(takewhile(lambda cell: not isinstance(cell, float), cells)))
        known = 1 if known == len(cells) else known
        numbers = [float(found.replace(",", "")) for text in texts[known:] for found in _NUMBER.findall(text)]
        row = {
            "table": self.title,
            "row": list(texts[:known]),
            "numbers": numbers,
            "calibration": calibration(),
            "revision": _revision(),
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        last = self._last(row)
        self.file.parent.mkdir(exist_ok=True)
        with self.file.open("a") as file:
            file.write(json.dumps(row) + "\n")
        if last is None or len(last["numbers"]) != len(numbers):
            return ""
        found, loop = ratios(numbers, last["numbers"]), row["calibration"] / last["calibration"]
        return f"× {last['at'][:10]} {last['revision']}: {found}; calibration loop {loop:.2f}"

    def _last(self, row: dict[str, Any]) -> dict[str, Any] | None:
        """Return the last row of the file with the same name in the same table."""
        lines = self.file.read_text().splitlines() if self.file.exists() else []
        rows = (json.loads(line) for line in reversed(lines))
        return next((each for each in rows if (each["table"], each["row"]) == (row["table"], row["row"])), None)


@cache
def _revision() -> str:
    told = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
    return told.stdout.strip()
