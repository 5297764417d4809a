"""Bargaining in the published layout."""

from __future__ import annotations

from collections.abc import Sequence

from exports.glee import alternating
from exports.glee.adapters import Adapter, Config, Moves, Reading
from exports.glee.arguments import Arguments, written_horizon
from exports.glee.cells import Row
from games.interface import Json

_DECISIONS = {"accept": "accept", "reject": "reject"}
_GAINS = ("alice_gain", "bob_gain")


def config(args: Arguments) -> dict[str, Json]:
    return {
        "money": args.number("money_to_divide"),
        "delta_alice": args.discount(1),
        "delta_bob": args.discount(2),
        **args.horizon("max_rounds"),
        "complete_information": args.boolean("complete_information"),
        "messages_allowed": args.boolean("messages_allowed"),
    }


def read(rows: Sequence[Row], config: Config) -> Reading:
    return alternating.read(rows, _GAINS, lambda row: {gain: row.amount(gain) for gain in _GAINS}, _DECISIONS)


def game_args(config: Config) -> dict[str, Json]:
    return {
        "money_to_divide": config["money"],
        "max_rounds": written_horizon(config["rounds"], config["cap"]),
        "complete_information": config["complete_information"],
        "messages_allowed": config["messages_allowed"],
        "delta_1": config["delta_alice"],
        "delta_2": config["delta_bob"],
    }


def columns(config: Config, moves: Moves) -> tuple[str, ...]:
    message_column = ("message",) if alternating.has_messages(config, moves) else ()
    return (*_GAINS, *message_column, "player", "round", "decision")


def write(config: Config, moves: Moves) -> list[dict[str, str]]:
    return alternating.write(
        moves, lambda move: {gain: repr(move[gain]) for gain in _GAINS}, lambda role, answer: answer
    )


ADAPTER = Adapter("bargaining", (*_GAINS, "round", "decision"), config, read, game_args, columns, write)
