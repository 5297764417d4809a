"""EconEvals (sections 4 and 5, appendices A to F): benchmarks and litmus tests from a dataset of one of its games."""

from analysis.measures.econevals import (
    duopoly,
    duopoly_litmus,
    expected_blocking,
    implied_rate,
    scheduling_score,
    task_allocation,
)
from analysis.published.econevals import benchmarks, litmus

ANALYSES = [*benchmarks.ANALYSES, *litmus.ANALYSES]

__all__ = [
    "ANALYSES", "duopoly", "duopoly_litmus", "expected_blocking", "implied_rate", "scheduling_score", "task_allocation",
]  # fmt: skip
