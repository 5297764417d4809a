"""Rules that make line-ups from a few agents, and a game's published collections.

A line-up gives the agent of every seat, by the agent's label. A rule is plain data and never lists its
line-ups: the i-th one is computed from i, so a plan of a million matches takes a few lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import comb
from random import Random
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from games.errors import BadLineup
from games.interface import Json, Role
from games.words import gettext as _

Label = Annotated[str, Field(min_length=1, max_length=200)]
Lineup = dict[Role, str]
"""An agent's label for every seat."""
Rule = Literal["product", "combinations", "subsets", "each", "together", "population", "listed"]


class Lineups(BaseModel):
    """Line-ups by a rule over a pool of agents, for the seats that are not fixed.

    Rules, for k free seats (labels in the pool's order, the last seat varying fastest):
        product: every ordered choice of k agents, repetitions included ("everybody against everybody").
        combinations: every unordered choice of k agents, repetitions included; for interchangeable seats.
        subsets: every choice of k different agents, in the pool's order.
        each: one agent in all k seats, one line-up per agent.
        together: one line-up, the whole pool in its order; as many agents as free seats.
        population: one line-up of m·n seats in m groups of n positions, each agent once in every
            position (seat j, from 0, has agent j div n); k must be a multiple of the pool's size m.
        listed: the line-ups written by hand in `listed`.

    Attributes:
        rule: see above.
        agents: the pool, each label once.
        fixed: agents that keep their seats throughout; the rule fills the others.
        same: False leaves out line-ups in which one agent has all free seats (product, combinations).
        listed: complete line-ups, for the rule of that name.
        rotate: in repetition r (from 0) each seat gets the agent that sits r seats after it, so that
            over n repetitions everybody has every seat.
        sample: play only so many of the line-ups, drawn without replacement; None plays all.
        sample_seed: decides the drawing.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    rule: Rule = "product"
    agents: tuple[Label, ...] = ()
    fixed: Mapping[Role, Label] = Field(default_factory=dict)
    same: bool = True
    listed: tuple[Mapping[Role, Label], ...] = ()
    rotate: bool = False
    sample: Annotated[int, Field(ge=1)] | None = None
    sample_seed: int = 0

    def count(self, roles: Sequence[Role]) -> int:
        """How many line-ups the rule makes for these seats.

        Raises:
            BadLineup: the rule does not fit the seats; names what is missing or unknown.
        """
        self._refuse_unfit(roles)
        size = self._size(len(self._free(roles)))
        if size < 1:
            raise BadLineup(_("Agents: a single agent that does not play against itself has no matches."))
        return size if self.sample is None else min(size, self.sample)

    def at(self, index: int, roles: Sequence[Role], *, repetition: int = 0) -> Lineup:
        """The line-up number `index` (from 0), as it sits in this repetition (from 0).

        Raises:
            BadLineup: the rule does not fit the seats.
            IndexError: there is no such line-up.
        """
        if not 0 <= index < self.count(roles):
            raise IndexError(index)
        return self.place(index, roles, repetition=repetition)

    def place(self, index: int, roles: Sequence[Role], *, repetition: int = 0) -> Lineup:
        """`at` for seats that `count` has accepted, and an index below it: for plans that ask many times."""
        free = self._free(roles)
        size = self._size(len(free))
        if self.sample is not None and self.sample < size:
            index = _shuffled(index, size, f"line-ups/{self.sample_seed}")
        if self.rule == "listed":
            lineup = dict(self.listed[index])
        else:
            seats = self._choose(index, len(free))
            lineup = {**self.fixed, **dict(zip(free, (self.agents[seat] for seat in seats), strict=True))}
        shift = repetition % len(roles) if self.rotate else 0
        turned = [*roles[shift:], *roles[:shift]]
        return {role: lineup[sits] for role, sits in zip(roles, turned, strict=True)}

    def labels(self) -> tuple[str, ...]:
        """Every agent that may be seated, each once."""
        named = [*self.agents, *self.fixed.values(), *(label for one in self.listed for label in one.values())]
        return tuple(dict.fromkeys(named))

    # ---- inside ------------------------------------------------------------------------------------

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
        free, pool = len(self._free(roles)), len(self.agents)
        if not pool and free:
            raise BadLineup(_("Agents: at least one is needed."))
        if self.rule == "subsets" and pool < free:
            raise BadLineup(
                _("Agents: the free seats need {seats} different ones; there are {agents}.").format(
                    seats=free, agents=pool
                )
            )
        if self.rule == "together" and pool != free:
            raise BadLineup(
                _("Agents: {agents} should play together, but there are {seats} free seats.").format(
                    agents=pool, seats=free
                )
            )
        if self.rule == "population" and (not free or free % pool):
            raise BadLineup(
                _("Agents: {seats} seats cannot be divided equally among {agents}.").format(agents=pool, seats=free)
            )

    def _refuse_unfit_list(self, roles: Sequence[Role]) -> None:
        if not self.listed:
            raise BadLineup(_("Line-ups: at least one is needed."))
        for number, lineup in enumerate(self.listed, start=1):
            wrong = [role for role in lineup if role not in roles] or [role for role in roles if role not in lineup]
            if wrong:
                raise BadLineup(
                    _("Line-up {number}: seat “{seat}” is missing or unknown; the seats are {seats}.").format(
                        number=number, seat=wrong[0], seats=", ".join(roles)
                    )
                )

    def _size(self, free: int) -> int:
        """How many line-ups there are before sampling."""
        pool = len(self.agents)
        if self.rule == "listed":
            return len(self.listed)
        if self.rule in ("together", "population") or not free:
            return 1
        if self.rule == "each":
            return pool
        if self.rule == "subsets":
            return comb(pool, free)
        return self._with_same(free) - (0 if self.same else pool)

    def _with_same(self, free: int) -> int:
        pool = len(self.agents)
        return pool**free if self.rule == "product" else comb(pool + free - 1, free)

    def _choose(self, index: int, free: int) -> list[int]:
        """The places in the pool of the agents in the free seats."""
        pool = len(self.agents)
        if self.rule == "each":
            return [index] * free
        if self.rule == "together":
            return list(range(free))
        if self.rule == "population":
            return [seat // (free // pool) for seat in range(free)]
        if self.rule == "subsets":
            return _subset(index, pool, free)
        if not self.same:
            for alike in self._alike(free):
                index += alike <= index
        if self.rule == "product":
            return [index // pool ** (free - 1 - seat) % pool for seat in range(free)]
        # A choice with repetitions is a choice of different things in which each step up was one more.
        return [place - seat for seat, place in enumerate(_subset(index, pool + free - 1, free))]

    def _alike(self, free: int) -> Iterator[int]:
        """The indexes of the line-ups of one agent alone, in order."""
        pool, size = len(self.agents), self._with_same(free)
        for agent in range(pool):
            if self.rule == "product":
                yield sum(agent * pool**seat for seat in range(free))
            else:
                yield size - comb(pool - agent + free - 1, free)


def _subset(index: int, pool: int, size: int) -> list[int]:
    """The subset number `index` of 0…pool-1 with `size` members, in lexicographic order."""
    chosen: list[int] = []
    first = 0
    for left in range(size, 0, -1):
        while index >= (beginning_here := comb(pool - first - 1, left - 1)):
            index -= beginning_here
            first += 1
        chosen.append(first)
        first += 1
    return chosen


def _shuffled(index: int, size: int, seed: str) -> int:
    """Where `index` goes in a permutation of 0…size-1 that follows from `seed`; no list is made.

    A Feistel network over the smallest even number of bits that holds `size`, walked until it is inside.
    """
    half = max(1, (max(size - 1, 1).bit_length() + 1) // 2)
    mask = (1 << half) - 1
    while True:
        left, right = index >> half, index & mask
        for turn in range(4):
            left, right = right, left ^ (Random(f"{seed}/{turn}/{right}").getrandbits(half) & mask)
        index = left << half | right
        if index < size:
            return index


# ---- published collections and studies ------------------------------------------------------------


@dataclass(frozen=True)
class Asked:
    """An agent of a preset: a model or script and how it is asked.

    Attributes:
        spec: "script:NAME", "ENDPOINT:MODEL", or a label that the researcher's collection defines.
        settings: how it is asked, by name of the platform's agent settings, on top of the preset's own:
            strategy, persona, temperature, tries_after_first, script (who moves in the end), …
        delay: seconds that a script waits before it answers.
    """

    spec: str
    settings: Mapping[str, Json] = field(default_factory=dict)
    delay: float = 0


@dataclass(frozen=True)
class Environment:
    """One collection of a preset: configurations × line-ups × repetitions.

    Attributes:
        name: "melee", "rational", "self": names the collection after its preset, and is exported.
        configurations: of the game; what is left out has its default.
        lineups: who sits where. Labels that `agents` does not name are specifications themselves.
        agents: agents asked in a way of their own, by label.
        repetitions: matches per configuration and line-up.
        cycle: so many configurations in a row are one treatment whose repetitions take them in turn:
            repetition r has the one number r mod `cycle`. 50 sessions, each with a limit of its own, are
            50 configurations, cycle 50, repetitions 50.
        seeds: "instance": from configuration and repetition, so that every line-up meets the same draws;
            "match": from the match's number in the collection.
        settings: for all agents of this collection, on top of the preset's.
        title: what people read; made from preset and name where it is empty.
    """

    name: str
    configurations: Sequence[Mapping[str, Json]]
    lineups: Lineups
    agents: Mapping[str, Asked] = field(default_factory=dict)
    repetitions: int = 1
    cycle: int = 1
    seeds: Literal["instance", "match"] = "instance"
    settings: Mapping[str, Json] = field(default_factory=dict)
    title: str = ""


@dataclass(frozen=True)
class CollectionPreset:
    """A game's published collections: `PRESETS` in its `published.py` holds them by name.

    Attributes:
        title, summary, source: for the researcher who chooses one.
        environments: (agents' specifications in the order named, seed) → the collections. Random draws of the
            preset itself (drawn limits) comes from `Random(f"…/{seed}")`.
        agents: how many agents have to be named at least; `most_agents`: at most, None for any number.
        settings: how all models are asked, by name of the platform's agent settings; those of an
            environment or agent go before. `script_counts` says that moves of the last resort `script`
            are data and not a failure.
    """

    title: str
    summary: str
    source: str
    environments: Callable[[Sequence[str], int], Iterable[Environment]]
    agents: int = 1
    most_agents: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def made(self, agents: Sequence[str], seed: int) -> list[Environment]:
        """The collections for these agents.

        Raises:
            BadLineup: too few or too many agents, or one twice.
        """
        if len(set(agents)) < len(agents):
            raise BadLineup(_("Agents: each must be listed only once."))
        if len(agents) < self.agents:
            raise BadLineup(
                _("Agents: at least {wanted} are needed, but {named} are given.").format(
                    wanted=self.agents, named=len(agents)
                )
            )
        if self.most_agents is not None and len(agents) > self.most_agents:
            raise BadLineup(
                _("Agents: at most {wanted} are allowed, but {named} are given.").format(
                    wanted=self.most_agents, named=len(agents)
                )
            )
        return list(self.environments(agents, seed))


AGENT, SECOND_AGENT = "agent", "second agent"
"""In a ready study's line-ups: the agent that the researcher names, and the second one, or again the first."""


@dataclass(frozen=True)
class StudyPreset:
    """A game's ready studies with people: `STUDIES` in its `published.py` holds them by name.

    Attributes:
        title, summary, source: for the researcher who chooses one.
        tables: one draft study each, by name: who takes which seat. A seat is for a "person", for `AGENT` or for
            `SECOND_AGENT`; "*" stands for all others.
        config: what differs from the game's defaults.
        minutes: that a person needs, with reading: base pay and announced average follow from it.
        fields: other fields of the study, by name: turn_seconds, on_timeout, lobby_after, …
        settings: how models are asked, by name of the platform's agent settings.
    """

    title: str
    summary: str
    source: str
    tables: Mapping[str, Mapping[Role, str]]
    config: Mapping[str, Json]
    minutes: int
    fields: Mapping[str, Json] = field(default_factory=dict)
    settings: Mapping[str, Json] = field(default_factory=dict)
