"""Published tables made again from published data, with each printed value beside ours."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.core.management import call_command

from analysis.data import Data, load
from analysis.errors import DataError
from analysis.formulas import encoded
from analysis.options import Options
from analysis.registry import get_analysis
from analysis.results import Result
from analysis.running import run_analysis
from analysis.tables import records
from exports.dataset import export
from exports.importing import ImportResult, import_matches
from exports.published import Comparison, System

COLUMNS = ("table", "what", "printed", "here", "agrees", "cause")
UNEXPLAINED = "unexplained"
MISSING = "not in the data"


def reproduced(system: System, root: Path, to: Path) -> tuple[ImportResult, list[Comparison]]:
    """Import published data into the current, empty database, write datasets to `to`, and compare the tables.

    Raises:
        OSError: `root` cannot be read.
    """
    call_command("migrate", verbosity=0)
    result = import_matches(system, root, name=system.key)
    for key, collection in result.collections.items():
        export(collection, to / key, ("csv", "jsonl", "parquet"), overwrite=True)
    analyses = Analyses({key: to / key for key in result.collections})
    return result, list(system.compared(root, analyses))


class Analyses:
    """The analyses of the games' datasets, each run when it is first asked for."""

    def __init__(self, datasets: Mapping[str, Path]):
        self._datasets = datasets
        self._data: dict[str, Data] = {}
        self._found: dict[tuple[str, str], Result | None] = {}

    def data(self, game: str) -> Data | None:
        if game in self._datasets and game not in self._data:
            self._data[game] = load(self._datasets[game])
        return self._data.get(game)

    def rows(self, analysis: str, game: str, table: str) -> list[dict[str, Any]]:
        result = self._result(analysis, game)
        return records(result.tables[table].frame) if result else []

    def number(self, analysis: str, game: str, name: str, key: str = "estimate") -> float | None:
        result = self._result(analysis, game)
        value = (result.numbers if result else {}).get(name, {}).get(key)
        return None if value is None else float(value)

    def _result(self, analysis: str, game: str) -> Result | None:
        data, key = self.data(game), (analysis, game)
        if data is not None and key not in self._found:
            outcome = run_analysis(get_analysis(analysis), data, Options())
            if outcome.status == "failed":
                raise DataError(f"{analysis}: {outcome.reason}")
            self._found[key] = outcome.result if outcome.status == "done" else None
        return self._found.get(key)


def rows(compared: Sequence[Comparison]) -> list[dict[str, str]]:
    """Return the comparisons as texts by column."""
    return [
        {
            "table": one.table,
            "what": one.what,
            "printed": _text(one.printed, one.decimals),
            "here": _text(one.here, None if one.decimals is None else one.decimals + 1),
            "agrees": "yes" if one.agrees else "no",
            "cause": "" if one.agrees else one.cause or (MISSING if one.here is None else UNEXPLAINED),
        }
        for one in compared
    ]


def _text(value: float | str | None, decimals: int | None) -> str:
    if value is None or isinstance(value, str):
        return value or "–"
    return f"{value:.10g}" if decimals is None else f"{value:.{max(decimals, 0)}f}"


def as_csv(compared: Sequence[Comparison]) -> bytes:
    """Return the comparisons as a CSV file."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS)
    writer.writeheader()
    writer.writerows(rows(compared))
    return encoded(text.getvalue())


def summary(compared: Sequence[Comparison]) -> Iterator[str]:
    """Yield for each table how many of its values agree, and in lines of their own how many differ by each cause."""
    tables = _by_table(compared)
    width = max((len(f"{len(of_table):,}") for of_table in tables.values()), default=0)
    for table, of_table in tables.items():
        agreeing = sum(one.agrees for one in of_table)
        yield f"{agreeing:>{width},} of {len(of_table):>{width},} agree  {table}"
        causes = Counter(row["cause"] for row in rows(of_table) if row["agrees"] == "no")
        for cause, count in causes.items():
            yield f"{count:>{2 * width + 4},} differ  {cause}"


def _by_table(compared: Sequence[Comparison]) -> dict[str, list[Comparison]]:
    tables: dict[str, list[Comparison]] = {}
    for one in compared:
        tables.setdefault(one.table, []).append(one)
    return tables


def as_markdown(system: System, compared: Sequence[Comparison]) -> str:
    """Return the comparisons as a page: a summary, and a table for each published one."""
    lines = [f"# {system.title}: printed values and ours", "", "```text", *summary(compared), "```", ""]
    for table, of_table in _by_table(compared).items():
        lines += [f"## {table}", "", "| Value | Printed | Here | Agrees | Cause |", "| --- | --- | --- | --- | --- |"]
        lines += ["| {what} | {printed} | {here} | {agrees} | {cause} |".format_map(row) for row in rows(of_table)]
        lines.append("")
    return "\n".join(lines)
