"""Tables of families in which players alternate offers: one row per offer, one per answer.

The mover follows from the round and the turn. The player column may hold a person's chosen name and
is not used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from exports.glee.adapters import Moves, Reading
from exports.glee.cells import Row
from exports.glee.published import ALICE, BOB
from games.interface import Json, MoveData, Role
from games.words import gettext as _


def read(
    rows: Sequence[Row],
    offer_columns: Sequence[str],
    offer: Callable[[Row], dict[str, Json]],
    decisions: Mapping[str, str],
) -> Reading:
    """Return rows as moves.

    Args:
        rows: rows of one game, in order.
        offer_columns: columns filled in an offer's row and empty in an answer's.
        offer: returns an offer's row as a move, without its message.
        decisions: lower-case text → the answer it stands for.

    Raises:
        UnreadableGame: a row is not the expected one.
    """
    moves: list[tuple[Role, MoveData]] = []
    remarks: list[str] = []
    for turn, row in enumerate(rows):
        number, answering = turn // 2 + 1, turn % 2 == 1
        row.check_round(number)
        offers = any(row.has(column) for column in offer_columns)
        if offers == answering:
            due = _("an answer") if answering else _("an offer")
            raise row.problem(_("{due} is due in round {round}, but this row is not one").format(due=due, round=number))
        message = row.words("message")
        if not answering:
            move = offer(row)
            if message is not None:
                move["message"] = message
        else:
            move = {"decision": row.choice("decision", decisions)}
            if message is not None:
                remarks.append(_("Row {number}: the message beside an answer was left out.").format(number=row.number))
        moves.append((mover(turn), move))
    return Reading(moves, remarks=tuple(remarks))


def mover(turn: int) -> Role:
    """Return who makes move `turn`, from 0: alice offers in odd rounds and answers in even ones."""
    return ALICE if turn % 4 in (0, 3) else BOB


def write(
    moves: Moves, offer: Callable[[MoveData], dict[str, str]], decision: Callable[[Role, str], str]
) -> list[dict[str, str]]:
    """Return moves as rows.

    Args:
        moves: moves of one game, in order.
        offer: returns an offer's own cells.
        decision: (role, answer) → the layout's name for it.
    """
    lines = []
    for turn, (role, move) in enumerate(moves):
        cells = {"player": role.capitalize(), "round": str(turn // 2 + 1)}
        if "decision" in move:
            cells["decision"] = decision(role, move["decision"])
        else:
            cells |= offer(move) | {"message": move.get("message") or ""}
        lines.append(cells)
    return lines


def has_messages(config: Mapping[str, Json], moves: Moves) -> bool:
    """Return whether the table needs a column for messages."""
    return config["messages_allowed"] is not False or any(move.get("message") for _role, move in moves)
