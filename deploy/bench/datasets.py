"""Time and memory to import, write, verify and analyse games of the published size, in the published layout."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from deploy.bench.collecting import status_of
from deploy.bench.kit import Table, Usage, command, stack_on
from exports.glee.tests.sample import write_sample

GAMES = 80_000
SHARES = {"bargaining": 0.47, "negotiation": 0.434, "persuasion": 0.096}
"""Shares of the families among the games, as in the published data."""
STEPS = ("imported", "tables", "all", "verified", "analysed")


def report(options: argparse.Namespace) -> None:
    """Print a row for each family, and the totals, for each database."""
    for database in options.database:
        with stack_on(database) as (stack, _pids), tempfile.TemporaryDirectory(prefix="parley-bench-export-") as folder:
            table = Table(f"dataset on {database}|decisions|{'|'.join(f'{step} in s|CPU s|MB' for step in STEPS)}")
            rows, total = [], 0
            for family, share in SHARES.items():
                games, few, whole, analysed = (f"{folder}/{family}-{name}" for name in ("games", *STEPS[1:4]))
                write_sample(Path(games), round(options.exported * share), seed=1, families=[family])
                slug = f"{family}-{family}"
                rows.append(
                    [
                        command(stack, "import_glee", games, "--name", family),
                        command(stack, "export_dataset", slug, "--to", few, "--formats", "csv,parquet"),
                        command(stack, "export_dataset", slug, "--to", whole, "--formats", "csv,parquet,jsonl"),
                        command(stack, "verify_dataset", whole),
                        command(stack, "analyse", few, "--to", analysed),
                    ]
                )
                decisions = status_of(stack, slug)["decisions"]
                total += decisions
                table.row(family, decisions, *(cell for usage in rows[-1] for cell in _cells([usage])))
            columns = zip(*rows, strict=True)
            table.row("all", total, *(cell for column in columns for cell in _cells(column)))


def _cells(usages: Sequence[Usage]) -> tuple[float, float, float]:
    """Return the sums of seconds and CPU seconds, and the largest memory."""
    seconds, cpu, memory = zip(*usages, strict=True)
    return sum(seconds), sum(cpu), max(memory)
