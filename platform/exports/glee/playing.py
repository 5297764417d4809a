"""Published games, replayed under our rules."""

from __future__ import annotations

from exports.glee.published import PublishedGame
from exports.published import Imported, UnreadableRecord, imported
from games import registry
from games.errors import BadConfig, Refused
from games.play import configure, record_moves
from games.words import gettext as _

SEED = 0
"""Random seed of every replayed game; its configuration already contains all draws."""


def replay_game(game: PublishedGame) -> Imported:
    """Return `game` replayed under our rules, with results by the paper's formulas.

    A move beyond one of our limits (a wrong sum, a message that is too long) is kept as it is.

    Raises:
        UnreadableRecord: the configuration is invalid, a move is out of turn, or the game is not over.
    """
    if game.family not in registry.keys():
        raise UnreadableRecord(_("Parley has no game “{family}”.").format(family=game.family))
    try:
        play, events, refusal = record_moves(configure(registry.get(game.family), game.config), SEED, game.moves)
        unverified = refusal or next(iter(game.remarks), None)
        return imported(game.game_id, play, events, game.players, seed=SEED, unverified=unverified, names=game.names)
    except (BadConfig, Refused) as error:
        raise UnreadableRecord(str(error)) from None
    except ArithmeticError:
        raise UnreadableRecord(_("The amounts in this game are too large or too small to compute with.")) from None
