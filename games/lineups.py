"""Rules that make line-ups from a few agents.

A line-up names the agent in every seat, by its label. A rule is plain data and never stores its
line-ups: the i-th one is computed from i, so a plan of a million matches takes a few lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import comb
from random import Random
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from games.errors import BadLineup
from games.interface import Role
from games.words import gettext as _

Label = Annotated[str, Field(min_length=1, max_length=200, json_schema_extra={"agent": True})]
Lineup = dict[Role, str]
"""An agent's label for every seat."""
Rule = Literal["product", "combinations", "subsets", "each", "together", "population", "listed"]


class Lineups(BaseModel):
    """The line-ups that a rule makes from a pool of agents, for the seats that are not fixed.

    Rules, for k free seats (labels in the pool's order; the last seat varies fastest):
        product: every ordered choice of k agents, with repetition ("everybody against everybody").
        combinations: every unordered choice of k agents, with repetition; for interchangeable seats.
        subsets: every choice of k different agents, in the pool's order.
        each: one agent in all k seats, one line-up per agent.
        together: one line-up, the whole pool in its order; needs as many agents as free seats.
        population: one line-up of m·n seats in m groups of n positions, with each agent once in every
            position (seat j, from 0, has agent j div n); k must be a multiple of the pool's size m.
        listed: the line-ups given in `listed`.

    Attributes:
        rule: see above.
        agents: the pool; each label occurs once.
        fixed: agents that keep their seats throughout; the rule fills the other seats.
        same: False leaves out line-ups in which one agent takes all free seats (product, combinations).
        listed: complete line-ups, for the rule "listed".
        rotate: in repetition r (from 0) each seat gets the agent that is r seats after it, so that
            every agent takes every seat over n repetitions.
        sample: the number of line-ups to play, drawn without replacement; None plays all.
        sample_seed: the seed of that draw.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    rule: Rule = Field(
        "product",
        title="Rule",
        description="product: every agent against every other, in every order. combinations: the same, ignoring the "
        "order of seats. subsets: every choice of different agents. each: each agent alone in all free seats. "
        "together: all agents together, one per seat. population: all agents together, each once in every position. "
        "listed: your own line-ups.",
    )
    agents: tuple[Label, ...] = Field(
        (),
        title="Agents in the free seats",
        description="All agents without a fixed seat if empty.",
        json_schema_extra={"agents": True},
    )
    fixed: Mapping[Role, Label] = Field(
        default_factory=dict, title="Fixed seats", description="An agent chosen here has this seat in every match."
    )
    same: bool = Field(True, title="Also against itself")
    listed: tuple[Mapping[Role, Label], ...] = Field(
        (), title="Own line-ups", description="Each is played in every configuration."
    )
    rotate: bool = Field(False, title="Rotate seats with each repetition")
    sample: Annotated[int, Field(ge=1)] | None = Field(
        None, title="Number of line-ups drawn", description="Draws this many at random; all if empty."
    )
    sample_seed: int = Field(0, title="Seed of that draw")

    def count(self, roles: Sequence[Role]) -> int:
        """Return the number of line-ups that the rule makes for these seats.

        Raises:
            BadLineup: the rule does not fit the seats; the message says what is missing or unknown.
        """
        self._refuse_unfit(roles)
        size = self._size(len(self._free(roles)))
        if size < 1:
            raise BadLineup(_("Agents: a single agent that does not play against itself has no matches."))
        return size if self.sample is None else min(size, self.sample)

    def at(self, index: int, roles: Sequence[Role], *, repetition: int = 0) -> Lineup:
        """Return line-up `index` (from 0), with its seats as in repetition `repetition` (from 0).

        Raises:
            BadLineup: the rule does not fit the seats.
            IndexError: there is no such line-up.
        """
        if not 0 <= index < self.count(roles):
            raise IndexError(index)
        return self.at_unchecked(index, roles, repetition=repetition)

    def at_unchecked(self, index: int, roles: Sequence[Role], *, repetition: int = 0) -> Lineup:
        """Return what `at` returns, without its checks; for plans that call it often.

        The rule fits the seats (`count` accepted them), and the index is in range.
        """
        free_roles = self._free(roles)
        size = self._size(len(free_roles))
        if self.sample is not None and self.sample < size:
            index = _shuffled(index, size, f"line-ups/{self.sample_seed}")
        if self.rule == "listed":
            lineup = dict(self.listed[index])
        else:
            seats = self._choose(index, len(free_roles))
            lineup = {**self.fixed, **dict(zip(free_roles, (self.agents[seat] for seat in seats), strict=True))}
        shift = repetition % len(roles) if self.rotate else 0
        rotated = [*roles[shift:], *roles[:shift]]
        return {role: lineup[seat_of] for role, seat_of in zip(roles, rotated, strict=True)}

    def labels(self) -> tuple[str, ...]:
        """Return every agent that may be seated, each once."""
        labels = [*self.agents, *self.fixed.values(), *(label for lineup in self.listed for label in lineup.values())]
        return tuple(dict.fromkeys(labels))

    # ---- helpers -----------------------------------------------------------------------------------

    def _free(self, roles: Sequence[Role]) -> list[Role]:
        return [role for role in roles if role not in self.fixed]

    def _refuse_unfit(self, roles: Sequence[Role]) -> None:
        if self.rule == "listed":
            self._refuse_unfit_list(roles)
            return
        if unknown := [role for role in self.fixed if role not in roles]:
            raise BadLineup(
                _("Fixed seats: there is no seat “{seat}”; there are {seats}.").format(
                    seat=unknown[0], seats=", ".join(roles)
                )
            )
        if len(set(self.agents)) < len(self.agents):
            raise BadLineup(_("Agents: each must be listed only once."))
        free_count, pool_size = len(self._free(roles)), len(self.agents)
        if not pool_size and free_count:
            raise BadLineup(_("Agents: at least one is needed."))
        if self.rule == "subsets" and pool_size < free_count:
            raise BadLineup(
                _("Agents: the free seats need {seats} different ones; there are {agents}.").format(
                    seats=free_count, agents=pool_size
                )
            )
        if self.rule == "together" and pool_size != free_count:
            raise BadLineup(
                _("Agents: {agents} should play together, but there are {seats} free seats.").format(
                    agents=pool_size, seats=free_count
                )
            )
        if self.rule == "population" and (not free_count or free_count % pool_size):
            raise BadLineup(
                _("Agents: {seats} seats cannot be divided equally among {agents}.").format(
                    agents=pool_size, seats=free_count
                )
            )

    def _refuse_unfit_list(self, roles: Sequence[Role]) -> None:
        if not self.listed:
            raise BadLineup(_("Line-ups: at least one is needed."))
        for number, lineup in enumerate(self.listed, start=1):
            unfit = [role for role in lineup if role not in roles] or [role for role in roles if role not in lineup]
            if unfit:
                raise BadLineup(
                    _("Line-up {number}: seat “{seat}” is missing or unknown; the seats are {seats}.").format(
                        number=number, seat=unfit[0], seats=", ".join(roles)
                    )
                )

    def _size(self, free_count: int) -> int:
        """Return the number of line-ups before sampling."""
        pool_size = len(self.agents)
        if self.rule == "listed":
            return len(self.listed)
        if self.rule in ("together", "population") or not free_count:
            return 1
        if self.rule == "each":
            return pool_size
        if self.rule == "subsets":
            return comb(pool_size, free_count)
        return self._with_same(free_count) - (0 if self.same else pool_size)

    def _with_same(self, free_count: int) -> int:
        pool_size = len(self.agents)
        return pool_size**free_count if self.rule == "product" else comb(pool_size + free_count - 1, free_count)

    def _choose(self, index: int, free_count: int) -> list[int]:
        """Return the positions in the pool of the agents in the free seats."""
        pool_size = len(self.agents)
        if self.rule == "each":
            return [index] * free_count
        if self.rule == "together":
            return list(range(free_count))
        if self.rule == "population":
            return [seat // (free_count // pool_size) for seat in range(free_count)]
        if self.rule == "subsets":
            return _subset(index, pool_size, free_count)
        if not self.same:
            for same_agent in self._same_agent_indices(free_count):
                index += same_agent <= index
        if self.rule == "product":
            return [index // pool_size ** (free_count - 1 - seat) % pool_size for seat in range(free_count)]
        # Adding 0, 1, 2… to the sorted positions maps choices with repetition one-to-one to subsets.
        return [position - seat for seat, position in enumerate(_subset(index, pool_size + free_count - 1, free_count))]

    def _same_agent_indices(self, free_count: int) -> Iterator[int]:
        """Return the indices of the line-ups in which one agent takes all free seats, in order."""
        pool_size, size = len(self.agents), self._with_same(free_count)
        for agent in range(pool_size):
            if self.rule == "product":
                yield sum(agent * pool_size**seat for seat in range(free_count))
            else:
                yield size - comb(pool_size - agent + free_count - 1, free_count)


def _subset(index: int, pool_size: int, size: int) -> list[int]:
    """Return subset `index` of 0…pool-1 with `size` members, in lexicographic order."""
    chosen: list[int] = []
    first = 0
    for remaining in range(size, 0, -1):
        while index >= (count_from_first := comb(pool_size - first - 1, remaining - 1)):
            index -= count_from_first
            first += 1
        chosen.append(first)
        first += 1
    return chosen


def _shuffled(index: int, size: int, seed: str) -> int:
    """Return the image of `index` under a permutation of 0…size-1 determined by `seed`, without making a list.

    This is a Feistel network over the smallest even number of bits that can hold `size`, applied until the result is
    below `size`.
    """
    half = max(1, (max(size - 1, 1).bit_length() + 1) // 2)
    mask = (1 << half) - 1
    while True:
        left, right = index >> half, index & mask
        for round_number in range(4):
            left, right = right, left ^ (Random(f"{seed}/{round_number}/{right}").getrandbits(half) & mask)
        index = left << half | right
        if index < size:
            return index
