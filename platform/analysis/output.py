"""Output: the report, tables, figures and numbers, written to a temporary folder that is then renamed."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from analysis import charts
from analysis.data import Data, plain
from analysis.errors import DataError
from analysis.options import Options
from analysis.planned import methods
from analysis.planned.replicate import PYTHON, R, scripts
from analysis.report import render_report
from analysis.results import Outcome
from analysis.tables import csv_bytes, html_page, latex_table
from analysis.toolbox.numbers import finite

FORMAT, FORMAT_VERSION = "parley-analysis", 2
REPORT, RESULTS = "report.html", "results.json"
ENDINGS = {"tables": {".csv", ".html", ".tex"}, "figures": {".svg", ".png", ".json"}}
LIBRARIES = ("pandas", "numpy", "scipy", "statsmodels", "scikit-learn", "altair", "vl-convert-python")


def check_target(to: Path, *, replace: bool) -> None:
    """Raise an error if the folder is not empty, unless it holds only an earlier analysis that may be replaced.

    Raises:
        DataError: with a sentence for the user.
    """
    if not to.exists():
        return
    if not to.is_dir():
        raise DataError(f"{to} is not a folder.")
    existing = sorted(path for path in to.rglob("*") if not path.is_dir())
    if not existing and not any(to.iterdir()):
        return
    if not replace:
        raise DataError(f"{to} is not empty: choose another folder, or use --replace to replace an earlier analysis.")
    foreign = [str(path.relative_to(to)) for path in existing if not _is_output(path.relative_to(to))]
    if foreign or not _is_analysis(to / RESULTS):
        problem = f"it contains {', '.join(foreign[:3])}" if foreign else f"it has no {RESULTS}"
        raise DataError(f"{to} is not just the output of an analysis ({problem}); nothing was replaced.")


def _is_output(path: Path) -> bool:
    if len(path.parts) == 1:
        return path.name in (REPORT, RESULTS, PYTHON, R, methods.FILE)
    return len(path.parts) == 2 and path.suffix in ENDINGS.get(path.parts[0], ())


def _is_analysis(file: Path) -> bool:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and content.get("format") == FORMAT


@contextmanager
def folder(to: Path, *, replace: bool = False) -> Iterator[Path]:
    """Yield an empty folder next to `to` that replaces it at the end, unless an exception is raised.

    Raises:
        DataError: the folder cannot be written.
    """
    check_target(to, replace=replace)
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        directory = Path(tempfile.mkdtemp(dir=to.parent, prefix=f".{to.name}."))
    except OSError as problem:
        raise DataError(f"Cannot write {to}: {problem.strerror}.") from None
    try:
        for subfolder in ENDINGS:
            (directory / subfolder).mkdir()
        yield directory
        directory.chmod(0o755)
        _move_into_place(directory, to)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _move_into_place(directory: Path, to: Path) -> None:
    """Move the finished folder into place, and only then delete the old one."""
    if not to.exists():
        directory.rename(to)
        return
    old = Path(tempfile.mkdtemp(dir=to.parent, prefix=f".{to.name}."))
    to.rename(old / "old")
    directory.rename(to)
    shutil.rmtree(old)


def write_files(outcome: Outcome, warning: str, directory: Path) -> dict[str, str]:
    """Write an analysis's tables and figures; return the figures as SVG by name, for the report.

    Args:
        warning: the warning shown on every page, if any (see `report.stamp`).
    """
    drawings = {}
    for name, table in outcome.tables.items():
        file = directory / "tables" / f"{outcome.analysis.id}.{name}"
        _file(file, ".csv").write_bytes(csv_bytes(table))
        _file(file, ".html").write_text(html_page(table, warning), encoding="utf-8", newline="\n")
        _file(file, ".tex").write_text(latex_table(table), encoding="utf-8", newline="\n")
    for name, figure in outcome.figures.items():
        file = directory / "figures" / f"{outcome.analysis.id}.{name}"
        svg = drawings[name] = figure.svg()
        _file(file, ".svg").write_text(svg, encoding="utf-8", newline="\n")
        _file(file, ".png").write_bytes(charts.png(svg))
        spec = json.dumps(figure.spec, ensure_ascii=False, indent=1)
        _file(file, ".json").write_text(spec + "\n", encoding="utf-8", newline="\n")
    return drawings


def write_report(
    data: Data, finished: Sequence[tuple[Outcome, dict[str, str]]], options: Options, directory: Path
) -> None:
    """Write the report and the numbers of all analyses; each comes with its figures as SVG by name."""
    outcomes = [outcome for outcome, _drawings in finished]
    drawings = {(outcome.analysis.id, name): svg for outcome, svgs in finished for name, svg in svgs.items()}
    software = ", ".join(f"{name} {number}" for name, number in versions().items())
    page = render_report(data, outcomes, options, drawings, software)
    (directory / REPORT).write_text(page, encoding="utf-8", newline="\n")
    draft = methods.methods(data, outcomes, options, versions())
    for name, text in {methods.FILE: draft, **scripts(data, outcomes, options)}.items():
        (directory / name).write_text(text, encoding="utf-8", newline="\n")
    results = json.dumps(_results(data, outcomes, options), ensure_ascii=False, indent=1, allow_nan=False)
    (directory / RESULTS).write_text(results + "\n", encoding="utf-8", newline="\n")


def _file(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _results(data: Data, outcomes: Sequence[Outcome], options: Options) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "dataset": {
            "sha256": data.sha256,
            "folders": [
                {"name": folder.name, "sha256": folder.manifest.get("sha256"), "cutoff": folder.manifest.get("cutoff")}
                for folder in data.folders
            ],
            "demonstration": data.demonstration,
            "simulated": data.simulated,
            "modified": data.modified,
        },
        "libraries": versions(),
        "options": vars(options),
        "analyses": [_result(outcome) for outcome in outcomes],
    }


def _result(outcome: Outcome) -> dict[str, Any]:
    name = outcome.analysis.id
    return {
        "id": name,
        "status": outcome.status,
        "reason": outcome.reason,
        "n": outcome.result.n,
        "numbers": _clean(outcome.numbers),
        "tables": [
            {"name": table.name, "title": table.title, "rows": len(table.frame), "file": f"tables/{name}.{key}.csv"}
            for key, table in outcome.tables.items()
        ],
        "figures": [
            {"name": figure.name, "title": figure.title, "alt": figure.alt, "file": f"figures/{name}.{key}.svg"}
            for key, figure in outcome.figures.items()
        ],
        "warnings": list(dict.fromkeys(outcome.result.warnings)),
    }


def _clean(value: Any) -> Any:
    """Return plain data without NaN or infinities, for JSON."""
    if isinstance(value, Mapping):
        return {str(key): _clean(item) for key, item in value.items()}
    if isinstance(value, str | bool) or value is None:
        return value
    if isinstance(value, Iterable):
        return [_clean(item) for item in value]
    value = plain(value)
    if isinstance(value, int):
        return value
    return finite(value) if isinstance(value, float) else value if value is None else str(value)


def versions() -> dict[str, str]:
    """Return the versions of the libraries that compute and draw."""
    installed = {}
    for name in LIBRARIES:
        try:
            installed[name] = version(name)
        except PackageNotFoundError:
            installed[name] = "not installed"
    return installed
