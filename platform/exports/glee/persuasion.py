"""Persuasion in the published layout: three rows per round with Nature's draw, Alice's message, the buyer's choice."""

from __future__ import annotations

from collections.abc import Sequence

from exports.glee.adapters import Adapter, Config, Moves, Reading
from exports.glee.arguments import Arguments
from exports.glee.cells import Row
from exports.glee.errors import UnreadableGame
from exports.glee.published import ALICE, BOB
from games.interface import Json, MoveData, Role
from games.words import gettext as _

PLACEHOLDER = "…"
"""Placeholder for a missing message: our seller must send one; the published seller need not."""

_QUALITIES = {"high-quality": "high", "low-quality": "low", "high": "high", "low": "low"}
_YES_NO = {"yes": "yes", "no": "no"}


def config(args: Arguments) -> dict[str, Json]:
    return {
        "price": args.number("product_price"),
        "prior": args.number("p"),
        "high_value": args.number("v"),
        "low_value": args.number("c"),
        "rounds": args.integer("total_rounds"),
        "complete_information": args.boolean("is_seller_know_cv"),
        "message_type": args.word("seller_message_type"),
        "buyer_type": "myopic" if args.boolean("is_myopic") else "long_living",
    }


def read(rows: Sequence[Row], config: Config) -> Reading:
    """Return moves, and the qualities that were drawn.

    Raises:
        UnreadableGame: a row is not the expected one, or there are fewer rounds than in the configuration.
    """
    moves: list[tuple[Role, MoveData]] = []
    qualities: list[str] = []
    remarks: list[str] = []
    if config["message_type"] == "text" and not any("message" in row.cells for row in rows):
        raise UnreadableGame(_("game.csv has no column {columns}.").format(columns="message"))
    for turn, row in enumerate(rows):
        number, position = turn // 3 + 1, turn % 3
        row.check_round(number)
        if row.has("round_quality") != (position == 0):
            due = (_("Nature's row"), _("the seller's row"), _("the buyer's row"))[position]
            raise row.problem(_("{due} is due in round {round}, but this row is not it").format(due=due, round=number))
        if position == 0:
            qualities.append(row.choice("round_quality", _QUALITIES))
        elif position == 1:
            moves.append((ALICE, _seller_move(row, config, remarks)))
        else:
            moves.append((BOB, {"decision": row.choice("decision", _YES_NO)}))
            if row.words("message") is not None:
                remarks.append(_("Row {number}: the message beside an answer was left out.").format(number=row.number))
    rounds, known_qualities = config["rounds"], config.get("qualities")
    if known_qualities is not None and (
        not isinstance(known_qualities, list) or known_qualities[: len(qualities)] != qualities
    ):
        raise UnreadableGame(_("config.json: the qualities under parley are not those of game.csv."))
    if isinstance(rounds, int) and len(qualities) < rounds:
        raise UnreadableGame(
            _("The game is not over: game.csv has {played} of {rounds} rounds.").format(
                played=len(qualities), rounds=rounds
            )
        )
    return Reading(moves, {"qualities": qualities}, tuple(remarks))


def _seller_move(row: Row, config: Config, remarks: list[str]) -> dict[str, Json]:
    if config["message_type"] == "binary":
        return {"recommendation": row.choice("decision", _YES_NO)}
    message = row.words("message")
    if message is None or not message.strip():
        remarks.append(
            _("Row {number}: the seller sent no message; “{mark}” stands for it.").format(
                number=row.number, mark=PLACEHOLDER
            )
        )
        return {"message": PLACEHOLDER}
    return {"message": message}


def game_args(config: Config) -> dict[str, Json]:
    return {
        "p": config["prior"],
        "v": config["high_value"],
        "c": config["low_value"],
        "product_price": config["price"],
        "total_rounds": config["cap"] if config["rounds"] is None else config["rounds"],
        "is_seller_know_cv": config["complete_information"],
        "is_buyer_know_p": True,
        "seller_message_type": config["message_type"],
        "is_myopic": config["buyer_type"] == "myopic",
    }


def columns(config: Config, moves: Moves) -> tuple[str, ...]:
    return ("round_quality", "product_worth", "player", "round", "message", "decision")


def write(config: Config, moves: Moves) -> list[dict[str, str]]:
    """Return rows of the rounds played.

    Raises:
        ValueError: the configuration's `qualities` do not give the draw of each round.
    """
    if len(config["qualities"] or ()) < len(moves) // 2:
        raise ValueError("qualities: fewer than there are rounds")
    buyer = "the buyer" if config["buyer_type"] == "myopic" else "Bob"
    lines = []
    for turn, (role, move) in enumerate(moves):
        number = str(turn // 2 + 1)
        if role == ALICE:
            high = config["qualities"][turn // 2] == "high"
            lines.append(
                {
                    "round_quality": "high-quality" if high else "low-quality",
                    "product_worth": repr(float(config["price"] * config["high_value" if high else "low_value"])),
                    "player": "Nature",
                    "round": number,
                }
            )
        answer = move.get("decision") or move.get("recommendation") or ""
        lines.append(
            {
                "player": "Alice" if role == ALICE else buyer,
                "round": number,
                "message": move.get("message") or "",
                "decision": answer,
            }
        )
    return lines


ADAPTER = Adapter("persuasion", ("round_quality", "round", "decision"), config, read, game_args, columns, write)
