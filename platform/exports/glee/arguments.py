"""Values of config.json in any of their spellings: 12, 12.0 or "12"."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from exports.published import UnreadableRecord
from games.interface import Json

LONGEST_KNOWN = 20
"""Number of rounds above which players did not know when the game would end (25 and 99 occur)."""

_BOOLEANS = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}


@dataclass(frozen=True)
class Arguments:
    """The game_args of a config.json, and each player's own arguments."""

    game: Mapping[str, Json]
    player_1: Mapping[str, Json]
    player_2: Mapping[str, Json]

    def number(self, key: str) -> int | float:
        """Return a number, as an integer if it is written as one.

        Raises:
            UnreadableRecord: with the name of the key.
        """
        return _number(key, self._value(key))

    def integer(self, key: str) -> int:
        """Return a whole number."""
        number = self.number(key)
        if number != int(number):
            raise UnreadableRecord(f"config.json: {key} is {number}, which is not a whole number.")
        return int(number)

    def boolean(self, key: str) -> bool:
        """Return a true or false value as a boolean."""
        value = self._value(key)
        boolean = _BOOLEANS.get(str(value).strip().lower())
        if boolean is None:
            raise UnreadableRecord(f"config.json: {key} is “{str(value)[:40]}”, neither true nor false.")
        return boolean

    def word(self, key: str) -> str:
        """Return a word in lower case."""
        return str(self._value(key)).strip().lower()

    def horizon(self, key: str) -> dict[str, Json]:
        """Return `rounds` and `cap`; more rounds than `LONGEST_KNOWN` mean an end unknown to the players."""
        rounds = self.integer(key)
        return {"rounds": None, "cap": rounds} if rounds > LONGEST_KNOWN else {"rounds": rounds}

    def discount(self, player: int) -> int | float:
        """Return a player's discount factor, from game_args or, in older files, from the player's own arguments."""
        key = f"delta_{player}"
        if key in self.game:
            return self.number(key)
        player_args = self.player_1 if player == 1 else self.player_2
        if "delta" not in player_args:
            raise UnreadableRecord(f"config.json: neither {key} in game_args nor delta in player_{player}_args.")
        return _number("delta", player_args["delta"])

    def _value(self, key: str) -> Json:
        if key not in self.game:
            raise UnreadableRecord(f"config.json: game_args has no {key}.")
        return self.game[key]


def _number(key: str, value: Any) -> int | float:
    number: Any = value
    if isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            number = None
    if isinstance(number, bool) or not isinstance(number, int | float) or not -math.inf < number < math.inf:
        raise UnreadableRecord(f"config.json: {key} is “{str(value)[:40]}”, which is not a number.")
    return number


def written_horizon(rounds: int | None, cap: int) -> int:
    """Return how a horizon is written: an unknown one as more rounds than `LONGEST_KNOWN`."""
    if rounds is not None:
        return rounds
    return cap if cap > LONGEST_KNOWN else 99
