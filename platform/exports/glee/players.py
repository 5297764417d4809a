"""The players: people, models, and the names that people chose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from exports.published import UnreadableRecord
from games.interface import Json

HUMAN = "human"
PERSON, OPPONENT = "otree", "otree_LLM"
"""Types of people, and of the models they played with, in games with people."""
OPPONENT_MODEL = "gemini-1.5-flash"

_ROLE_NAMES = frozenset({"", "alice", "bob", "nature", "buyer", "the buyer", "seller", "the seller", "none", "nan"})


def player(config: Mapping[str, Json], number: int, override: Json = None) -> str:
    """Return the player: "human" or a model's name.

    Args:
        config: the whole config.json.
        number: 1 or 2.
        override: the name under `parley`, which takes precedence.

    Raises:
        UnreadableRecord: config.json gives neither a type nor a model.
    """
    candidates = [_text(arguments(config, number).get("model_name")), _text(config.get(f"player_{number}_type"))]
    if _text(override):
        return _text(override)
    if OPPONENT in candidates:
        return OPPONENT_MODEL
    if PERSON in candidates:
        return HUMAN
    for name in candidates:
        if name:
            return name
    raise UnreadableRecord(f"config.json: neither model_name nor type of player {number} is given.")


def arguments(config: Mapping[str, Json], number: int) -> Mapping[str, Json]:
    """Return a player's own arguments; empty if there are none."""
    player_args = config.get(f"player_{number}_args")
    return player_args if isinstance(player_args, Mapping) else {}


def names(config: Mapping[str, Json], player_cells: Iterable[str]) -> tuple[str, ...]:
    """Return names that people chose: public names, and player cells that are not a role's own name."""
    candidates = [_text(arguments(config, number).get("public_name")) for number in (1, 2)]
    candidates += map(_text, player_cells)
    return tuple(dict.fromkeys(name for name in candidates if name.lower() not in _ROLE_NAMES))


def player_config(name: str, title: str) -> tuple[str, dict[str, Json]]:
    """Return a player in the form of config.json: type and arguments.

    Args:
        name: "human" or a model's name.
        title: the name that the others use for the player: Alice or Bob.
    """
    if name == HUMAN:
        return PERSON, {"public_name": title, "model_name": PERSON}
    return "litellm", {"public_name": title, "model_name": name}


def _text(value: Json) -> str:
    """Return a string without characters that no database stores: null characters and lone surrogates."""
    return value.encode("utf-8", "replace").decode().replace("\x00", "").strip() if isinstance(value, str) else ""
