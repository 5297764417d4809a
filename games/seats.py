"""Shared by games of n equal seats: roles p1…pn, their titles, and what players are told about the others."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import ClassVar, Literal, TypeVar

from pydantic import Field

from games.interface import Config, Game, Json, Role
from games.words import gettext as _
from games.words import gettext_noop

C = TypeVar("C", bound=Config)
S = TypeVar("S")


@lru_cache(maxsize=64)
def numbered_roles(seats: int) -> tuple[Role, ...]:
    """Return the roles of n equal seats: p1, p2, … in order."""
    return tuple(f"p{number}" for number in range(1, seats + 1))


def number_of(role: Role) -> int:
    """Return the number of a seat, from 1: "p3" → 3."""
    return int(role.removeprefix("p"))


class AboutOthersConfig(Config):
    """What players are told about how the others think (Economics Arena's environments)."""

    told_of_others: Literal["nothing", "rational", "similar"] = Field(
        "nothing",
        title="Told about the others",
        description="nothing; rational: all others are perfectly rational; similar: all players reason alike.",
    )

    def about_others(self) -> str:
        """Return a sentence that tells a player how the others think."""
        return {
            "nothing": _("You know nothing about how the others think: the situation is unpredictable."),
            "rational": _("All other players are perfectly rational."),
            "similar": _("All players reason alike: the others think just as you do."),
        }[self.told_of_others]


class EqualSeats(Game[C, S]):
    """A game whose seats differ only by their number."""

    seat_title: ClassVar[str] = gettext_noop("Player")
    """The word before a seat's number."""

    def seats(self) -> int:
        """Return the number of seats: the configuration's `players`, unless a game overrides it."""
        players: int = self.config.players  # type: ignore[attr-defined]
        return players

    def roles(self) -> tuple[Role, ...]:
        return numbered_roles(self.seats())

    def with_seats(self, seats: int) -> Mapping[str, Json] | None:
        return {**self.config.model_dump(mode="json"), "players": seats}

    def kind(self, role: Role) -> str:
        return "p"

    def role_title(self, role: Role) -> str:
        return _("{title} {number}").format(title=_(self.seat_title), number=number_of(role))
