"""EconEvals (sections 4 and 5, appendices A to F): benchmarks and litmus tests from a dataset of one of its games."""

from analysis.published.econevals import benchmarks, litmus
from analysis.published.econevals.measures import duopoly, duopoly_litmus, implied_rate, scheduling_score
from games.scheduling.blocking import expected_blocking
from games.task_allocation.litmus import task_allocation

ANALYSES = [
    benchmarks.scores, benchmarks.tests, benchmarks.runs, benchmarks.exploration, benchmarks.learning, litmus.litmus,
    litmus.equality, litmus.patience, litmus.collusion,
]  # fmt: skip

__all__ = [
    "ANALYSES", "duopoly", "duopoly_litmus", "expected_blocking", "implied_rate", "scheduling_score", "task_allocation",
]  # fmt: skip
