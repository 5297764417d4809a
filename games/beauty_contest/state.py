"""The parameters of the beauty contest, its move, and who wins a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from pydantic import Field

from games.interface import Config, Move, Role
from games.sessions import Number, RunsConfig, SealedNumbers
from games.words import exact, gettext_noop

TIE = 1e-9
"""Distances that differ by less than this share of the upper limit count as equal."""


class _ContestConfig(Config):
    players: int = Field(5, ge=2, le=20, title="Players", description="Number of seats, from 2 to 20.")
    upper: float = Field(100, gt=0, title="Upper limit", description="The largest number allowed; above 0.")
    fraction: float = Field(
        2 / 3, gt=0, lt=1, title="Fraction", description="The target is this fraction of the mean; between 0 and 1."
    )
    prize: float = Field(
        1, gt=0, title="Prize", description="Won in each run and shared by the closest, in the game's own unit."
    )


class BeautyContestConfig(RunsConfig, _ContestConfig):
    """One treatment. Defaults: five seats, two thirds, one run; the paper names no prize."""


class Answer(Move):
    """A number from 0 to the upper limit."""

    answer: Number = Field(title=gettext_noop("Your number"))


@lru_cache(maxsize=1024)
def _closest_seats(
    run: tuple[float | None, ...], upper: float, fraction: float, *, every_number: bool
) -> tuple[int, ...]:
    """Return the winners' indices; cached, since every seat and page needs them.

    Args:
        every_number: numbers outside the limits count towards the mean, but cannot win.
    """
    valid = {seat: number for seat, number in enumerate(run) if number is not None and 0 <= number <= upper}
    counted = [number for number in run if number is not None] if every_number else list(valid.values())
    average = mean(counted)
    if average is None or not valid:
        return ()
    distances = {seat: abs(number - fraction * average) for seat, number in valid.items()}
    closest = min(distances.values()) + TIE * upper
    return tuple(seat for seat, distance in distances.items() if distance <= closest)


def mean(numbers: Sequence[float]) -> float | None:
    """Return the mean, without overflow; None for no numbers."""
    return math.fsum(number / len(numbers) for number in numbers) if numbers else None


class BeautyContestCore(SealedNumbers[BeautyContestConfig]):
    """What scripts and views ask of the game, besides the rules of all games of runs."""

    def limit(self) -> float:
        return self.config.upper

    def mean(self, run: Sequence[float | None]) -> float | None:
        """Return the mean of a run's valid numbers; None if there are none."""
        return mean([number for number in run if number is not None and self.valid(number)])

    def target(self, run: Sequence[float | None]) -> float | None:
        """Return the fraction times the mean of the valid numbers; None if there are none."""
        average = self.mean(run)
        return None if average is None else self.config.fraction * average

    def winners(self, run: Sequence[float | None]) -> tuple[Role, ...]:
        """Return the seats closest to the target, in order; empty if there is no target."""
        roles = self.roles()
        config = self.config
        closest = _closest_seats(tuple(run), config.upper, config.fraction, every_number=config.source == "program")
        return tuple(roles[seat] for seat in closest)

    def won(self, run: Sequence[float | None], role: Role) -> float:
        """Return what a seat won in this run, in the game's own unit."""
        winners = self.winners(run)
        return self.config.prize / len(winners) if role in winners else 0.0

    def fraction_in_words(self) -> str:
        """Return the fraction as people write it: 2/3 rather than 0.666…"""
        fraction = Fraction(self.config.fraction).limit_denominator(20)
        return str(fraction) if float(fraction) == self.config.fraction else exact(self.config.fraction)
