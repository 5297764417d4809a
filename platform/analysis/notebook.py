"""Datasets in a notebook: `load` them, and `run` analyses by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from analysis import data
from analysis.options import Options
from analysis.registry import get_analysis
from analysis.results import Outcome
from analysis.running import run_analysis


class Data(data.Data):
    """Datasets that run analyses."""

    def run(self, name: str, **options: Any) -> Outcome:
        """Run one analysis; return its `.tables`, `.figures`, `.numbers`, `.status` and `.reason`.

        Raises:
            DataError: no analysis has this name.
        """
        return run_analysis(get_analysis(name), self, Options(**options))


def load(*folders: str | Path, allow_modified: bool = False) -> Data:
    """Read datasets of one game that are analysed together; see `data.load`."""
    return Data(data.load(*folders, allow_modified=allow_modified).folders)
