"""A finished study in which simulated participants play in groups of four: guessing a fraction of the mean.

Two treatments: the target is 0.5 or 0.7 of the mean of all numbers. Known behaviour: in the first round, a participant
of level k chooses about 50 times the fraction to the power of k (level 0: any number); `LEVELS` says how many are of
which level. Afterwards they choose about the last mean times the fraction, level 0 the last mean. So numbers fall
towards 0 in both treatments, and faster with the smaller fraction.

One participant vanishes before the lobby, the next waits there without finding a group, and one stops answering in the
middle of a match, whose seat a script takes over.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

from games.interface import MoveData, Role
from games.play import Play
from plans.files import loads
from showcase.samples.person import Person, Plan, chance
from studies.models import Study

SLUG, GAME = "sample-group", "beauty_contest"
PLAN = loads(Path(__file__).with_suffix(".yaml").read_text("utf-8"))
TITLE = str(PLAN["title"])
GROUPS = 6
LEVELS: Mapping[int, float] = {0: 0.15, 1: 0.4, 2: 0.3, 3: 0.15}
NOISE = 0.12
"""Standard deviation of the logarithm of a number around what its level says."""
THOUGHTS = PLAN["journey"][-1]["items"][0]["options"]
"""Answers by level."""
PLANS: Mapping[int, Plan] = {9: Plan.VANISHES, 17: Plan.SILENT}
"""Participants, by number, who do not finish. The tenth finds no group."""
SESSIONS = ((1, 4), (5, 8), (9, 10), (11, 14), (15, 18), (19, 22), (23, 26))
"""The first and last participant of each session, in which people arrive shortly after each other."""
DESCRIPTION = (
    "Simulated: 26 scripts with known behaviour took the place of people. Groups of four choose numbers from 0 to 100 "
    "five times; the closest to 0.5 or to 0.7 of the mean wins. Known behaviour: numbers fall towards 0 with every "
    "round, faster with 0.5. One participant finds no group, one vanishes, and a script takes over one seat."
)


def people(study: Study) -> list[Person]:
    """Return the participants in the order of their arrival."""
    numbers = range(1, SESSIONS[-1][1] + 1)
    return [Guesser(study, number, PLANS.get(number, Plan.FINISH), stops_before=3) for number in numbers]


class Guesser(Person):
    """A participant who reasons a few steps ahead."""

    @cached_property
    def level(self) -> int:
        return int(chance(LEVELS, Random(f"{self.study.slug}/{self.number}/level")))

    def answer(self, name: str) -> str:
        return str(THOUGHTS[min(self.level, 2)])

    def move(self, play: Play, role: Role) -> MoveData:
        game: Any = play.game
        runs = play.state.runs
        if not runs and self.level == 0:
            return {"answer": float(self.rng.randint(5, 95))}
        mean = game.mean(runs[-1]) if runs else 0.5 * game.config.upper
        steps = min(self.level, 1) if runs else self.level
        number = mean * game.config.fraction**steps * math.exp(self.rng.gauss(0, NOISE))
        return {"answer": float(round(min(game.config.upper, number), 1 if number < 10 else 0))}

    def thinking(self, move: MoveData) -> float:
        return 13
