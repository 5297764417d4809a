"""All analyses, discovered automatically: general ones, those of published systems, and those of games.

A module that declares the list `ANALYSES` is found in `analysis/general/`, `analysis/planned/`, `analysis/published/`,
and as `games/<game>/analyses.py`. The package imports nothing else from the platform.
"""

from __future__ import annotations

import ast
import copyreg
import importlib
import importlib.util
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

from analysis.errors import DataError
from analysis.results import Analysis

HERE = Path(__file__).parent
LIST_NAME = "ANALYSES"


@cache
def analyses() -> tuple[Analysis, ...]:
    """Return all analyses: general ones in the order of the report, then the others by system.

    Raises:
        ValueError: two analyses have the same id.
    """
    from analysis.general import ORDER

    declared = [analysis for module in _modules() for analysis in getattr(importlib.import_module(module), LIST_NAME)]
    ids = [analysis.id for analysis in declared]
    if duplicates := {name for name in ids if ids.count(name) > 1}:
        raise ValueError(f"two analyses are called {', '.join(sorted(duplicates))}")
    position = {name: index for index, name in enumerate(ORDER)}
    general = sorted(
        (analysis for analysis in declared if analysis.system == "general"),
        key=lambda analysis: (position.get(analysis.id, len(position)), analysis.id),
    )
    return (*general, *(analysis for analysis in declared if analysis.system != "general"))


def get_analysis(name: str) -> Analysis:
    """Return the analysis with this id."""
    for analysis in analyses():
        if analysis.id == name:
            return analysis
    raise DataError(f"No analysis is called {name}: see --list.")


# Only the id, because `run` may be a function that cannot be pickled.
copyreg.pickle(Analysis, lambda analysis: (get_analysis, (analysis.id,)))


def select_analyses(only: list[str] | None = None, system: str = "") -> list[Analysis]:
    """Return the analyses with these ids ("general.flow", "glee.*") or of this system; by default all.

    Raises:
        DataError: an id or system does not exist.
    """
    every_analysis = analyses()
    if system and system not in {analysis.system for analysis in every_analysis}:
        raise DataError(f"No system is called {system}: see --list.")
    for pattern in only or ():
        if not any(fnmatch(analysis.id, pattern) for analysis in every_analysis):
            raise DataError(f"No analysis is called {pattern}: see --list.")
    return [
        analysis
        for analysis in every_analysis
        if (not only or any(fnmatch(analysis.id, pattern) for pattern in only))
        and (not system or analysis.system == system)
    ]


def _modules() -> Iterator[str]:
    for package in ("general", "planned", "published"):
        for path in sorted((HERE / package).iterdir()):
            name = path.stem
            source = path / "__init__.py" if path.is_dir() else path
            if not name.startswith("_") and source.suffix == ".py" and source.exists() and _declares(source):
                yield f"analysis.{package}.{name}"
    games = importlib.util.find_spec("games")
    for folder in sorted(games.submodule_search_locations or ()) if games else ():
        for path in sorted(Path(folder).glob("*/analyses.py")):
            if _declares(path):
                yield f"games.{path.parent.name}.analyses"


def _declares(path: Path) -> bool:
    """Return whether a module assigns the list, without importing it, because a module may need a server's settings."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    targets = [target for node in body if isinstance(node, ast.Assign) for target in node.targets]
    targets += [node.target for node in body if isinstance(node, ast.AnnAssign)]
    return any(isinstance(target, ast.Name) and target.id == LIST_NAME for target in targets)
