"""The families in the published layout: each family's arguments, columns and spellings, as data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from exports.glee.arguments import Arguments, written_horizon
from exports.glee.cells import Row
from exports.glee.published import ALICE, BOB, ROLES
from exports.published import UnreadableRecord
from games.interface import Json, MoveData, Role

Moves = Sequence[tuple[Role, MoveData]]
Config = Mapping[str, Json]

PLACEHOLDER = "…"
"""Placeholder for a missing message: our seller must send one; the published seller need not."""

_OPTIONAL_COLUMNS = frozenset({"message", "player", "product_worth"})
_QUALITIES = {"high-quality": "high", "low-quality": "low", "high": "high", "low": "low"}
_YES_NO = {"yes": "yes", "no": "no"}


@dataclass(frozen=True)
class Reading:
    """The contents of a table.

    Attributes:
        moves: (role, move), in order.
        config: configuration keys that only the table contains.
        remarks: what our rules do not cover, as sentences.
    """

    moves: Moves
    config: Config = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Argument:
    """One of the game_args: its name, how it gives our configuration keys, and how they give it."""

    name: str
    read: Callable[[Arguments], dict[str, Json]]
    write: Callable[[Config], Json]


def _same(name: str, ours: str, read: Callable[[Arguments, str], Json]) -> Argument:
    return Argument(name, lambda args: {ours: read(args, name)}, lambda config: config[ours])


def _discount(player: int) -> Argument:
    key = f"delta_{ROLES[player - 1]}"
    return Argument(f"delta_{player}", lambda args: {key: args.discount(player)}, lambda config: config[key])


_HORIZON = Argument(
    "max_rounds",
    lambda args: args.horizon("max_rounds"),
    lambda config: written_horizon(config["rounds"], config["cap"]),
)
_COMPLETE = _same("complete_information", "complete_information", Arguments.boolean)
_MESSAGES = _same("messages_allowed", "messages_allowed", Arguments.boolean)


@dataclass(frozen=True)
class Adapter(ABC):
    """One family in the published layout.

    Attributes:
        family: key of the game.
        all_columns: columns in the order of writing.
        arguments: in the order of writing.
    """

    family: str
    all_columns: tuple[str, ...]
    arguments: tuple[Argument, ...]

    @property
    def required_columns(self) -> tuple[str, ...]:
        """Columns without which a table cannot be read."""
        return tuple(column for column in self.all_columns if column not in _OPTIONAL_COLUMNS)

    def config(self, args: Arguments) -> dict[str, Json]:
        """Return our configuration keys."""
        return {key: value for argument in self.arguments for key, value in argument.read(args).items()}

    def game_args(self, config: Config) -> dict[str, Json]:
        return {argument.name: argument.write(config) for argument in self.arguments}

    def columns(self, config: Config, moves: Moves) -> tuple[str, ...]:
        """Return the table's columns; there is none for messages if none were allowed or sent."""
        has_messages = config.get("messages_allowed") is not False or any(move.get("message") for _role, move in moves)
        return tuple(column for column in self.all_columns if column != "message" or has_messages)

    @abstractmethod
    def read(self, rows: Sequence[Row], config: Config) -> Reading:
        """Return the rows of one game, in order, as moves.

        Raises:
            UnreadableRecord: a row is not the expected one.
        """

    @abstractmethod
    def write(self, config: Config, moves: Moves) -> list[dict[str, str]]:
        """Return the table's rows, with all cells as text and messages unchanged."""


@dataclass(frozen=True)
class Alternating(Adapter):
    """A family in which players alternate offers: one row per offer, one per answer.

    The mover follows from the round and the turn: the player column may hold a person's chosen name and is not used.

    Attributes:
        offer: column → key of the move; filled in an offer's row and empty in an answer's.
        answers: by role, our answer → the layout's name for it. Our own names are read as well.
    """

    offer: Mapping[str, str]
    answers: Mapping[Role, Mapping[str, str]]

    def read(self, rows: Sequence[Row], config: Config) -> Reading:
        spellings = {name.lower(): answer for role in ROLES for answer, name in self.answers[role].items()}
        spellings |= {"accept": "accept", "reject": "reject"}
        moves: list[tuple[Role, MoveData]] = []
        remarks: list[str] = []
        for turn, row in enumerate(rows):
            number, answering = turn // 2 + 1, turn % 2 == 1
            row.check_round(number)
            if any(row.has(column) for column in self.offer) == answering:
                due = "an answer" if answering else "an offer"
                raise row.problem(f"{due} is due in round {number}, but this row is not one")
            message = row.words("message")
            move: dict[str, Json]
            if answering:
                move = {"decision": row.choice("decision", spellings)}
                if message is not None:
                    remarks.append(_left_out(row))
            else:
                move = {key: row.amount(column) for column, key in self.offer.items()}
                move |= {} if message is None else {"message": message}
            # Alice offers in odd rounds and answers in even ones.
            moves.append((ALICE if turn % 4 in (0, 3) else BOB, move))
        return Reading(moves, remarks=tuple(remarks))

    def write(self, config: Config, moves: Moves) -> list[dict[str, str]]:
        lines = []
        for turn, (role, move) in enumerate(moves):
            cells = {"player": role.capitalize(), "round": str(turn // 2 + 1)}
            if "decision" in move:
                cells["decision"] = self.answers[role][move["decision"]]
            else:
                cells |= {column: repr(move[key]) for column, key in self.offer.items()}
                cells["message"] = move.get("message") or ""
            lines.append(cells)
        return lines


class Persuasion(Adapter):
    """Three rows per round: Nature's draw, Alice's message, the buyer's choice."""

    def read(self, rows: Sequence[Row], config: Config) -> Reading:
        """Return moves, and the qualities that were drawn.

        Raises:
            UnreadableRecord: a row is not the expected one, or there are fewer rounds than in the configuration.
        """
        moves: list[tuple[Role, MoveData]] = []
        qualities: list[str] = []
        remarks: list[str] = []
        if config["message_type"] == "text" and not any("message" in row.cells for row in rows):
            raise UnreadableRecord("game.csv has no column message.")
        for turn, row in enumerate(rows):
            number, position = turn // 3 + 1, turn % 3
            row.check_round(number)
            if row.has("round_quality") != (position == 0):
                due = ("Nature's row", "the seller's row", "the buyer's row")[position]
                raise row.problem(f"{due} is due in round {number}, but this row is not it")
            if position == 0:
                qualities.append(row.choice("round_quality", _QUALITIES))
            elif position == 1:
                moves.append((ALICE, _seller_move(row, config, remarks)))
            else:
                moves.append((BOB, {"decision": row.choice("decision", _YES_NO)}))
                if row.words("message") is not None:
                    remarks.append(_left_out(row))
        rounds, known_qualities = config["rounds"], config.get("qualities")
        if known_qualities is not None and (
            not isinstance(known_qualities, list) or known_qualities[: len(qualities)] != qualities
        ):
            raise UnreadableRecord("config.json: the qualities under parley are not those of game.csv.")
        if isinstance(rounds, int) and len(qualities) < rounds:
            raise UnreadableRecord(f"The game is not over: game.csv has {len(qualities)} of {rounds} rounds.")
        return Reading(moves, {"qualities": qualities}, tuple(remarks))

    def write(self, config: Config, moves: Moves) -> list[dict[str, str]]:
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
                quality = config["qualities"][turn // 2]
                worth = repr(float(config["price"] * config[f"{quality}_value"]))
                drawn = {"round_quality": f"{quality}-quality", "product_worth": worth}
                lines.append({**drawn, "player": "Nature", "round": number})
            lines.append(
                {
                    "player": "Alice" if role == ALICE else buyer,
                    "round": number,
                    "message": move.get("message") or "",
                    "decision": move.get("decision") or move.get("recommendation") or "",
                }
            )
        return lines


def _seller_move(row: Row, config: Config, remarks: list[str]) -> dict[str, Json]:
    if config["message_type"] == "binary":
        return {"recommendation": row.choice("decision", _YES_NO)}
    message = row.words("message")
    if message is None or not message.strip():
        remarks.append(f"Row {row.number}: the seller sent no message; “{PLACEHOLDER}” stands for it.")
        return {"message": PLACEHOLDER}
    return {"message": message}


def _left_out(row: Row) -> str:
    return f"Row {row.number}: the message beside an answer was left out."


_TRADE = {"accept": "AcceptOffer", "reject": "RejectOffer"}
_SPLIT = {"accept": "accept", "reject": "reject"}

ADAPTERS: Mapping[str, Adapter] = {
    adapter.family: adapter
    for adapter in (
        Alternating(
            "bargaining",
            ("alice_gain", "bob_gain", "message", "player", "round", "decision"),
            (
                _same("money_to_divide", "money", Arguments.number),
                _HORIZON,
                _COMPLETE,
                _MESSAGES,
                _discount(1),
                _discount(2),
            ),
            offer={"alice_gain": "alice_gain", "bob_gain": "bob_gain"},
            answers={ALICE: _SPLIT, BOB: _SPLIT},
        ),
        Alternating(
            "negotiation",
            ("message", "product_price", "player", "round", "decision"),
            (
                _same("seller_value", "seller_factor", Arguments.number),
                _same("buyer_value", "buyer_factor", Arguments.number),
                _same("product_price_order", "scale", Arguments.number),
                _HORIZON,
                _COMPLETE,
                _MESSAGES,
            ),
            offer={"product_price": "price"},
            # Jhon is the outside party with whom a player who walks away trades.
            answers={ALICE: {**_TRADE, "walk_away": "SellToJhon"}, BOB: {**_TRADE, "walk_away": "BuyFromJhon"}},
        ),
        Persuasion(
            "persuasion",
            ("round_quality", "product_worth", "player", "round", "message", "decision"),
            (
                _same("p", "prior", Arguments.number),
                _same("v", "high_value", Arguments.number),
                _same("c", "low_value", Arguments.number),
                _same("product_price", "price", Arguments.number),
                Argument(
                    "total_rounds",
                    lambda args: {"rounds": args.integer("total_rounds")},
                    lambda config: config["cap"] if config["rounds"] is None else config["rounds"],
                ),
                _same("is_seller_know_cv", "complete_information", Arguments.boolean),
                Argument("is_buyer_know_p", lambda args: {}, lambda config: True),
                _same("seller_message_type", "message_type", Arguments.word),
                Argument(
                    "is_myopic",
                    lambda args: {"buyer_type": "myopic" if args.boolean("is_myopic") else "long_living"},
                    lambda config: config["buyer_type"] == "myopic",
                ),
            ),
        ),
    )
}
