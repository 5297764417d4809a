"""The match that a group is formed for: the match step after the lobby step in each participant's path."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import games.play
from games import registry
from games.errors import GameError
from games.interface import Game, Role
from matches.models import Match
from opponents.agents import people_in
from participants.models import Enrolment
from plans.agents import PERSON
from plans.seats import Seats


@dataclass(frozen=True)
class Table:
    """A match to be opened, as described by the waiting participants' steps.

    Attributes:
        lobby: the lobby step {kind, hall, pool, limit, ready, after, fill, strangers, seed}.
        match: the match step (`matches.step.MatchStep`).
    """

    lobby: Mapping[str, Any]
    match: Mapping[str, Any]

    @classmethod
    def of(cls, enrolment: Enrolment, step: int) -> Table:
        """Return the table for the lobby step number `step`."""
        return cls(enrolment.steps[step], enrolment.steps[step + 1])

    @cached_property
    def game(self) -> Game[Any, Any]:
        return games.play.configure(registry.get(self.match["game"]), self.match["config"])

    @property
    def seats(self) -> dict[Role, str]:
        """The kind of each participant's seat, in order."""
        people = people_in(self.match["seats"])
        return {role: self.game.kind(role) for role in self.game.roles() if role in people}

    @property
    def reserved_kind(self) -> str:
        """The kind of the seat reserved for this participant."""
        return self.game.kind(self.match["role"])

    @property
    def needed(self) -> Mapping[str, int]:
        """How many participants are needed, by kind of seat."""
        return Counter(self.seats.values())

    @property
    def is_blind(self) -> bool:
        """Whether nothing may show participants which of the others are programs, or how many."""
        return Match(timers=self.match.get("timers") or {}).blind

    def lineup_for(self, seated: Mapping[Role, Any]) -> Seats:
        """Return the line-up with the study's agent in the empty seats."""
        seats = self.match["seats"]
        return {
            role: player if player != PERSON or role in seated else self.lobby["fill"] for role, player in seats.items()
        }

    def for_people(self, people: int) -> Table:
        """Return the table at which a group of this size plays: this one, or a smaller one where the study plays it."""
        smaller = self.smaller(people) if self.lobby["after"] == "fewer" and people < len(self.seats) else None
        return smaller or self

    def smaller(self, people: int) -> Table | None:
        """Return the same game with fewer seats; None if the rules don't allow it."""
        seats = self.match["seats"]
        agents = [player for player in seats.values() if player != PERSON]
        config = self.game.with_seats(people + len(agents))
        if config is None:
            return None
        try:
            smaller = games.play.configure(type(self.game), config)
        except GameError:
            return None
        lineup = [*([PERSON] * people), *agents]
        fitted = dict(zip(smaller.roles(), lineup, strict=True))
        return Table(self.lobby, {**self.match, "config": smaller.config.model_dump(mode="json"), "seats": fitted})
