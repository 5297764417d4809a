"""Who takes which seat of a configuration: a plan's seats, fitted to the game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from games.errors import BadLineup
from games.interface import Game, Role
from games.words import gettext as _
from plans.agents import PERSON

OTHERS = "*"
"""All seats that are not named."""
Seats = Mapping[Role, str | Sequence[str]]


def fitted(seats: Seats, game: Game[Any, Any]) -> dict[Role, str | list[str]]:
    """Return who takes each seat of this configuration: `PERSON`, an agent's label, or a list of labels.

    Raises:
        BadLineup: unknown or empty seats, or people in seats that are closed to them.
    """
    roles = game.roles()
    if unknown := [role for role in seats if role not in roles and role != OTHERS]:
        raise BadLineup(
            _("There is no seat {seats}. The seats are {roles}.").format(
                seats=", ".join(unknown), roles=", ".join(roles)
            )
        )
    player_of_others = seats.get(OTHERS)
    if unfilled := [role for role in roles if not seats.get(role, player_of_others)]:
        raise BadLineup(
            _("These seats are empty: {seats}. Choose a participant or an agent for each.").format(
                seats=", ".join(unfilled)
            )
        )
    chosen = {role: seats.get(role, player_of_others) for role in roles}
    complete = {role: player if isinstance(player, str) else list(player or ()) for role, player in chosen.items()}
    if any(not isinstance(player, str) and PERSON in player for player in complete.values()):
        raise BadLineup(_("A seat is for a participant or for one of several agents, not both."))
    people = [role for role, player in complete.items() if player == PERSON]
    if unplayable := [role for role in people if role not in game.people()]:
        raise BadLineup(
            _("Participants cannot play {roles} here. They can play {people}.").format(
                roles=", ".join(unplayable), people=", ".join(game.people())
            )
        )
    if not people:
        raise BadLineup(_("No seat is for a participant. Choose “person” for at least one seat."))
    return complete
