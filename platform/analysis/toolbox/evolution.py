"""Replicator dynamics and pure equilibria."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from analysis.toolbox.numbers import Result
from games.social_dilemma.evolution import replicator_path

TIE_TOLERANCE = 1e-9


def replicator(U: Sequence[Any], eta: float = 0.1, steps: int = 1000, tolerance: float = 1e-6) -> Result:
    """Run discrete replicator dynamics x_i ← x_i·exp(η(f_i - f̄))/Z from the uniform population.

    Args:
        U: payoffs U[own, other, …] of a symmetric game; f_i is the mean against co-players drawn from x.

    Returns:
        population, fitness (by type), average (f̄), and the number of steps.
    """
    path = list(replicator_path(U, eta, steps, tolerance))
    x, fitness = path[-1]
    return {
        "population": [float(share) for share in x],
        "fitness": [float(value) for value in fitness],
        "average": float(x @ fitness),
        "steps": len(path) - 1,
    }


def pure_nash(A: Sequence[Sequence[float]], B: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Return the pure equilibria of a bimatrix game as (row, column) from 0; gains within 1e-9 are ties."""
    rows, columns = len(A), len(A[0])
    return [
        (i, j)
        for i, j in product(range(rows), range(columns))
        if all(A[other][j] <= A[i][j] + TIE_TOLERANCE for other in range(rows))
        and all(B[i][other] <= B[i][j] + TIE_TOLERANCE for other in range(columns))
    ]
