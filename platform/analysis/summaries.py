"""Results in a line, or side by side in a small table, for the report."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from analysis.results import Outcome
from analysis.tables import Column, Table, formatted, text

MOST_IN_A_LINE, MOST_ROWS = 2, 12
OVERALL = ("All", "All matches")
"""How tables of groups name the row of all observations."""
SMALL = 0.05
"""The q-value below which effects are counted."""
ROBUSTNESS = "robustness"
"""The table of an analysis with its estimates under other assumptions; its last text before them names each."""
_COUNTED = re.compile(r"(?<=without )\d+ (?=values)")
Row = Mapping[str, Any]


def in_short(outcome: Outcome) -> str:
    """Return an analysis's first estimates and how many more there are: of all observations, if a table has them."""
    tables = [(table, _labels(table), _estimates(table)) for table in outcome.tables.values()]
    overall = [(table, labels, found) for table, labels, rows in tables
               if (found := [row for row in rows if any(row[label.name] in OVERALL for label in labels)])]  # fmt: skip
    for table, labels, rows in overall or tables:
        if not rows:
            continue
        shown = [f"{table.names(_named(row, labels))}: {_interval(row, table)}".removeprefix(": ")
                 for row in rows[:MOST_IN_A_LINE]]  # fmt: skip
        more = [f"{len(rows) - len(shown):,} more"] if len(rows) > len(shown) else []
        small = sum((row["q"] or 1) < SMALL for row in rows) if table.column("q") else None
        counted = f"{small:,} of {len(rows):,} with q < .05. " if small is not None else ""
        return counted + "; ".join([*shown, *more])
    return ""


def side_by_side(outcome: Outcome) -> Table | None:
    """Return an analysis's estimates with a column for each of the assumptions of its table of robustness, if any."""
    table = outcome.tables.get(ROBUSTNESS)
    if table is None:
        return None
    *keys, check = _labels(table)
    rows: dict[tuple[Any, ...], dict[str, str]] = {}
    for row in table.records:
        if " × " not in str(row.get("factor")) and (row["estimate"] is not None or row.get("lee")):
            own = rows.setdefault(tuple(row[key.name] for key in keys), {})
            own[_COUNTED.sub("", row[check.name])] = _interval(row, table)
    main = next((other for other in outcome.tables.values() if other is not table
                 and all(other.column(name) for name in ("estimate", *(key.name for key in keys)))), None)  # fmt: skip
    for row in _estimates(main) if main else ():
        if own := rows.get(tuple(row[key.name] for key in keys), {}):
            own[""] = _interval(row, table)
    checks = sorted(dict.fromkeys(name for own in rows.values() for name in own), key=bool)
    heading = {name: name[:1].upper() + name[1:] or "As above" for name in checks}
    more = f"The first {MOST_ROWS} of {len(rows):,} rows; {outcome.analysis.id}.{ROBUSTNESS}.csv has all. "
    return Table(
        ROBUSTNESS, table.title, [*keys, *(text(name or "main", heading[name]) for name in checks)],
        [{key.name: value for key, value in zip(keys, names, strict=True)}
         | {name or "main": own.get(name) for name in checks} for names, own in [*rows.items()][:MOST_ROWS]],
        note=(more if len(rows) > MOST_ROWS else "") + table.note, names=table.names,
    )  # fmt: skip


def _estimates(table: Table) -> list[dict[str, Any]]:
    """Return the rows with an estimate that is not a regression's intercept."""
    if not table.column("estimate"):
        return []
    labels = _labels(table)
    return [row for row in table.records
            if row["estimate"] is not None and "Intercept" not in [row[label.name] for label in labels]]  # fmt: skip


def _labels(table: Table) -> list[Column]:
    """Return the columns of text before the estimate."""
    names = [column.name for column in table.columns]
    before = table.columns[: names.index("estimate")] if "estimate" in names else ()
    return [column for column in before if column.kind == "text" and column.name not in ("reference", "measure")]


def _named(row: Row, labels: Sequence[Column]) -> str:
    names = [formatted(row[label.name], "text") for label in labels if row[label.name]]
    return ", ".join(name for name in names if name not in OVERALL) or ", ".join(names)


def _interval(row: Row, table: Table) -> str:
    """Return an estimate with its interval in brackets, if it has one; without estimate, bounds with theirs."""
    kind = next(column.kind for column in table.columns if column.name == "estimate")
    estimate = row["lee"] if row["estimate"] is None else formatted(row["estimate"], kind)
    if row.get("low") is None or row.get("high") is None:
        return str(estimate)
    return f"{estimate} [{formatted(row['low'], kind)}, {formatted(row['high'], kind)}]"
