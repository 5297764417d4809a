"""Line-ups: who takes which seat of a match.

    {"name": "two models", "weight": 1, "seats": {"p1": "person", "p2": "gpt", "*": ["gpt", "rational"]}}

A seat is taken by a "person", by an agent (its label), or by one of a list of agents, drawn for each
match. "*" stands for all seats that are not named, so that one line-up fits configurations with
different numbers of seats. A line-up with weight 2 gets twice as many matches as one with weight 1.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from games.errors import GameError
from games.interface import Game, Json, Role
from games.words import gettext as _
from opponents.agents import PERSON, candidates, labels_in, people_in

OTHERS = "*"
"""All seats that a line-up does not name."""
MAX_LINEUPS = 200
Label = Annotated[str, Field(min_length=1, max_length=200)]


class BadLineup(GameError):
    """An invalid line-up; the message names it."""


class Lineup(BaseModel):
    """One line-up as entered by the researcher."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(max_length=60)] = ""
    weight: Annotated[int, Field(ge=1, le=1000)] = 1
    seats: Annotated[dict[str, Label | Annotated[list[Label], Field(min_length=1)]], Field(min_length=1)]

    def fitted(self, game: Game[Any, Any]) -> dict[Role, str | list[str]]:
        """Return who takes each seat of this configuration.

        Raises:
            BadLineup: it names unknown seats, leaves some empty, or puts people in seats closed to them.
        """
        roles = game.roles()
        if unknown := [role for role in self.seats if role not in roles and role != OTHERS]:
            raise self._error(
                _("there is no seat {seats}. The seats are {roles}.").format(
                    seats=", ".join(unknown), roles=", ".join(roles)
                )
            )
        player_of_others = self.seats.get(OTHERS)
        if unfilled := [role for role in roles if role not in self.seats and player_of_others is None]:
            raise self._error(
                _("these seats are empty: {seats}. Choose a participant or an agent for each.").format(
                    seats=", ".join(unfilled)
                )
            )
        seats = {role: self.seats.get(role, player_of_others) for role in roles}
        fitted = {role: player if isinstance(player, str) else list(player or ()) for role, player in seats.items()}
        if unplayable := [role for role in people_in(fitted) if role not in game.people()]:
            raise self._error(
                _("participants cannot play {roles} here. They can play {people}.").format(
                    roles=", ".join(unplayable), people=", ".join(game.people())
                )
            )
        if not people_in(fitted):
            raise self._error(_("no seat is for a participant. Choose “a participant” for at least one seat."))
        return fitted

    def _error(self, problem: str) -> BadLineup:
        return BadLineup(_("Line-up “{name}”: {problem}").format(name=self.name or _("unnamed"), problem=problem))


def lineups_of(descriptions: Sequence[Json], labels: Collection[str]) -> list[Lineup]:
    """Return the study's parsed line-ups.

    Args:
        labels: of the study's agents.

    Raises:
        BadLineup: one cannot be parsed, repeats a name, or mentions an unknown agent.
    """
    if not isinstance(descriptions, list) or len(descriptions) > MAX_LINEUPS:
        raise BadLineup(_("Line-ups must be a list of at most {most}.").format(most=MAX_LINEUPS))
    lineups = []
    for number, data in enumerate(descriptions, start=1):
        try:
            lineups.append(Lineup.model_validate(data))
        except ValidationError as error:
            problem = error.errors()[0]
            location = ".".join(str(part) for part in problem["loc"])
            raise BadLineup(
                _("Line-up {number}: {where}: {what}").format(number=number, where=location, what=problem["msg"])
            ) from None
    names = [lineup.name for lineup in lineups]
    for lineup in lineups:
        if names.count(lineup.name) > 1:
            raise lineup._error(_("another line-up has the same name. Rename one of them."))
        if any(PERSON in candidates(player) for player in lineup.seats.values() if not isinstance(player, str)):
            raise lineup._error(_("a seat is for a participant or for one of several agents, not both."))
        if unknown := [label for label in labels_in(lineup.seats) if label not in labels]:
            raise lineup._error(
                _("there is no agent “{unknown}”. The agents are {labels}.").format(
                    unknown="”, “".join(unknown), labels=", ".join(labels) or _("none")
                )
            )
    return lineups


def with_one_person(role: Role, label: str | None, *, name: str = "") -> Lineup:
    """Return a line-up with a person in one seat and the same agent in all others, if there are others."""
    return Lineup(name=name, seats={role: PERSON} if label is None else {role: PERSON, OTHERS: label})


def first_of_each_kind(game: Game[Any, Any], roles: Sequence[Role]) -> list[Role]:
    """Return the first seat of each kind; the others are equivalent."""
    first: dict[str, Role] = {}
    for role in roles:
        first.setdefault(game.kind(role), role)
    return list(first.values())


def default_lineups(game: Game[Any, Any], roles: Sequence[Role], agents: Sequence[str]) -> list[Lineup]:
    """Return the default line-ups: a person in each role against each agent."""
    opponents = agents if len(game.roles()) > 1 else [None]
    return [
        with_one_person(role, label, name=label if label is not None and len(opponents) > 1 else "")
        for role in roles
        for label in opponents
    ]
