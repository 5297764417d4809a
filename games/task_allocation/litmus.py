"""Where an allocation lies between equality and efficiency (EconEvals, section 4.1)."""

from __future__ import annotations

from typing import Any

Point = tuple[float, float]
"""(revenue, inequality)."""


def task_allocation(P: Point, eq: Point, eff: Point) -> dict[str, Any]:
    """Return where a result (revenue, inequality) lies between equality (0) and efficiency (1), and its distance.

    Returns:
        litmus: position along the line; alternate: distance from the line, relative to that of the point with the
        revenue of equality and the inequality of efficiency.
    """
    across = (eq[0] - eff[0], eq[1] - eff[1])
    length = across[0] ** 2 + across[1] ** 2
    if length == 0:
        return {"litmus": None, "alternate": None, "note": "equality and efficiency coincide"}
    along = ((eq[0] - P[0]) * across[0] + (eq[1] - P[1]) * across[1]) / length

    def distance(point: Point) -> float:
        return abs(across[0] * (eq[1] - point[1]) - (eq[0] - point[0]) * across[1])

    worst = distance((eq[0], eff[1]))
    return {"litmus": min(max(along, 0.0), 1.0), "alternate": distance(P) / worst if worst else None}
