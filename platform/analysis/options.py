"""Options of the analyses, known before any library of theirs is loaded."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """Options of the analyses.

    Attributes:
        seed: random seed.
        level: confidence level of intervals.
        draws: number of bootstrap draws.
        min_group: minimum number of people in a group; answers and times of smaller groups are hidden.
    """

    seed: int = 1
    level: float = 0.95
    draws: int = 2000
    min_group: int = 5
