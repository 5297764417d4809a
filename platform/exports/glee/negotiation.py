"""Negotiation in the published layout: Jhon is the outside party with whom a player who walks away trades."""

from __future__ import annotations

from collections.abc import Sequence

from exports.glee import alternating
from exports.glee.adapters import Adapter, Config, Moves, Reading
from exports.glee.arguments import Arguments, written_horizon
from exports.glee.cells import Row
from exports.glee.published import ALICE
from games.interface import Json, Role

_DECISIONS = {
    "acceptoffer": "accept",
    "rejectoffer": "reject",
    "selltojhon": "walk_away",
    "buyfromjhon": "walk_away",
    "accept": "accept",
    "reject": "reject",
}


def config(args: Arguments) -> dict[str, Json]:
    return {
        "scale": args.number("product_price_order"),
        "seller_factor": args.number("seller_value"),
        "buyer_factor": args.number("buyer_value"),
        **args.horizon("max_rounds"),
        "complete_information": args.boolean("complete_information"),
        "messages_allowed": args.boolean("messages_allowed"),
    }


def read(rows: Sequence[Row], config: Config) -> Reading:
    return alternating.read(rows, ("product_price",), lambda row: {"price": row.amount("product_price")}, _DECISIONS)


def game_args(config: Config) -> dict[str, Json]:
    return {
        "seller_value": config["seller_factor"],
        "buyer_value": config["buyer_factor"],
        "product_price_order": config["scale"],
        "max_rounds": written_horizon(config["rounds"], config["cap"]),
        "complete_information": config["complete_information"],
        "messages_allowed": config["messages_allowed"],
    }


def columns(config: Config, moves: Moves) -> tuple[str, ...]:
    message_column = ("message",) if alternating.has_messages(config, moves) else ()
    return (*message_column, "product_price", "player", "round", "decision")


def write(config: Config, moves: Moves) -> list[dict[str, str]]:
    return alternating.write(moves, lambda move: {"product_price": repr(move["price"])}, _decision)


def _decision(role: Role, answer: str) -> str:
    if answer == "walk_away":
        return "SellToJhon" if role == ALICE else "BuyFromJhon"
    return {"accept": "AcceptOffer", "reject": "RejectOffer"}[answer]


ADAPTER = Adapter("negotiation", ("product_price", "round", "decision"), config, read, game_args, columns, write)
