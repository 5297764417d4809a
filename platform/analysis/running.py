"""Run analyses: check what they need, and keep a failure from stopping the others."""

from __future__ import annotations

import traceback
from fnmatch import fnmatch
from pathlib import Path

from analysis.data import HUMAN, Data
from analysis.errors import DataError, SkippedError
from analysis.options import Options
from analysis.readers import names_of
from analysis.results import Analysis, Outcome, Result
from analysis.toolbox.dependence import ALWAYS_THE_SAME

FEW_UNITS = 20
"""With fewer independent units, every analysis warns."""


def run_analysis(analysis: Analysis, data: Data, options: Options) -> Outcome:
    """Run an analysis and return its outcome: skipped if its needs are not met, failed if it raises an exception.

    Linear algebra runs in one thread. The matrices are small, so several threads would mostly wait for each other,
    and adding in a fixed order gives the same digits on every machine.
    """
    from threadpoolctl import threadpool_limits

    try:
        if reason := reason_to_skip(analysis, data):
            return Outcome(analysis, "skipped", reason)
        data.used_columns.clear()
        with threadpool_limits(1):
            result = analysis.run(data, options)
            _complete(result, data)
            result.draw(names_of(data))
    except SkippedError as reason:
        return Outcome(analysis, "skipped", str(reason))
    except Exception as problem:  # noqa: BLE001 - the report names it, and the other analyses continue
        return Outcome(analysis, "failed", _location(problem))
    return Outcome(analysis, "done", "", result)


def reason_to_skip(analysis: Analysis, data: Data) -> str:
    """Return why an analysis does not apply to the data; empty if it does."""
    if analysis.games and not set(analysis.games) & set(data.games):
        return f"For {', '.join(analysis.games).replace('_', ' ')} only."
    for table, columns in analysis.columns.items():
        if not data.has(table):
            return f"The dataset has no table {table}."
        names = {*data.names(table), "dataset"}
        missing = [name for name in columns if not any(fnmatch(existing, name) for existing in names)]
        if missing:
            return f"The table {table} has no column {', '.join(missing)}."
    if analysis.needs != "any":
        people = HUMAN in data.players or (data.has("participants") and len(data.participants) > 0)
        agents = any(player != HUMAN for player in data.players)
        if analysis.needs in ("people", "both") and not people:
            return "No people took part."
        if analysis.needs in ("agents", "both") and not agents:
            return "No agents took part."
    return (analysis.applies and analysis.applies(data)) or ""


def _complete(result: Result, data: Data) -> None:
    """Add missing counts, and warnings about unusable values and too few clusters."""
    matches = data.column("matches", "match") if data.has("matches", "match") else ()
    result.n.setdefault("matches", len(matches))
    if "decisions" not in result.n:
        result.n["decisions"] = (
            int(data.column("matches", "decisions").sum()) if data.has("matches", "decisions") else 0
        )
    if "people" not in result.n:
        result.n["people"] = people(data)
    result.n.setdefault("clusters", int(data.clusters.nunique()) if len(matches) else 0)
    for table, column in sorted(data.used_columns & set(data.invalid_values)):
        number = data.invalid_values[table, column]
        result.warnings.append(
            f"{table}.{column}: {number:,} {'value was' if number == 1 else 'values were'} infinite, unreadable or a "
            "negative time, and left out."
        )
    if len(matches) and data.replays.notna().all():
        result.warnings.append(f"{ALWAYS_THE_SAME[0].upper()}{ALWAYS_THE_SAME[1:]}. Differences are exact.")
    elif 0 < result.n["clusters"] < FEW_UNITS:
        result.warnings.append(
            f"Only {result.n['clusters']} independent {'unit' if result.n['clusters'] == 1 else 'units'}: intervals "
            "and tests are approximate."
        )


def people(data: Data) -> int:
    """Return the number of people who played in the dataset's matches."""
    try:
        columns = [f"participant_{role}" for role in data.roles if data.has("matches", f"participant_{role}")]
        return len({name for column in columns for name in data.column("matches", column).dropna().unique()})
    except DataError:
        return 0


def _location(problem: Exception) -> str:
    """Return the type and location of an exception, without paths or data."""
    frames = traceback.extract_tb(problem.__traceback__)
    relevant = [frame for frame in frames if "/analysis/" in frame.filename or "/games/" in frame.filename] or frames
    last = relevant[-1]
    return f"{type(problem).__name__} in {Path(last.filename).stem}.{last.name}, line {last.lineno}"
