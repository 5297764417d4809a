"""The tables that are derived from the transcripts: matches, seats, rounds, decisions, messages, chat.

A function of one transcript alone makes the rows of each: the export writes them, and the verification makes them again
and compares every column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from exports.columns import Design, Row, column, spread
from exports.designs import factors
from exports.shape import MONEY, moves, parameters, payoffs, players, results

Transcript = Mapping[str, Any]
"""A line of transcripts.jsonl; the codebook says what its keys mean. Times may be text or times."""
SAME_IN_ALL = "The match, the same in every file."


def _games(design: Design) -> str:
    return ", ".join(design.shape.games)


def _roles(design: Design) -> str:
    return ", ".join(design.shape.roles)


class Matches:
    """One row per match in the dataset."""

    match = column.identifier(SAME_IN_ALL)
    game = column.choice("The game that was played.", values=_games)
    rules_version = column.integer("Version of the game's rules.")
    version = column.integer("Version of the study, as in the manifest.")
    cell = column.integer(
        "Number of the cell within the version, or of the configuration in a collection; see cells.csv."
    )
    factors = spread(factors, "factor_")
    cell_kind = column.choice(
        "Kind of the published row that the configuration is.",
        values="such as main, variant, random; empty for other configurations",
    )
    purpose = column.choice("Purpose of the match.", values="study, demo, collection, imported, simulated")
    source = column.choice(
        "Where the match was played.", values="parley: here; glee, coopeval, …: imported from published records"
    )
    name = column.identifier("Name of an imported game in its source.")
    unverified = column.text(
        "Why an imported game breaks the rules; its results are still computed by the formulas.",
        values="empty if every move is legal",
    )
    seed = column.integer("Random seed of the match.")
    started_at = column.time("When the match was opened.", "UTC")
    ended_at = column.time("Time of its last move.", "UTC", values="empty for imported matches, as are all their times")
    seconds = column.number("Time from opening to last move.", "seconds")
    session = column.integer(
        "Position of the match in its first participant's enrolment, from 1; empty outside studies."
    )
    stage = column.choice("Name of its stage in the study's plan.")
    pass_ = column.choice(
        "Levels of the pass through the plan's blocks, joined by dots.",
        values="empty without factors within participants",
    )
    repeat = column.integer("Number of the match within its stage and pass, from 1.")
    cluster = column.identifier(
        "The same for all matches of a cohort, or of a group that was formed once: they depend on each other.",
        values="empty if people meet freely",
    )
    repetition = column.integer("Repetition of its configuration and line-up, from 1; empty outside collections.")
    environment = column.choice("The rule that made the line-up; may be empty.")
    ended_how = column.choice(
        "How it ended under the game's rules, or the state that ended it early.",
        values="such as accepted, walked away, last round, cap; finished if there is only one way",
    )
    decisions = column.integer("Moves in the match, each a row of decisions.csv.")
    messages = column.integer("Messages in the match, each a row of messages.csv.")
    of_seats = spread(players)
    information = column.choice(
        "What its players were told about the game.",
        values="published: what the authors' program tells; explained: what people are told; both, joined by a plus; "
        "empty if only scripts play",
    )
    disclosure = column.choice(
        "What its participants' pages told about the other players during the match.",
        values="none: nothing (blind); counts: how many are people and how many are programs; seats: also who is "
        "which; empty without people",
    )
    told_of_players = column.choice(
        "What its participants were told beforehand about the other players; see seats.csv for each of them and the "
        "wording.",
        values="told, either, nothing; empty without people or if not recorded",
    )
    config = spread(parameters, "config_")
    payoffs = spread(payoffs, "payoffs_")
    metrics = spread(results("metrics"), "metric_", "")
    in_dataset = column.boolean(
        "Whether the match is included: nothing excludes it.",
        values="true; false only in datasets exported with excluded matches",
    )
    reason = column.choice("The reason for exclusion that is counted in the flow.")
    reasons = column.choice("Every reason, separated by semicolons.")


class Seats:
    """One row per seat of the matches in the dataset."""

    match = Matches.match
    role = column.choice("The seat.", values=_roles)
    kind = column.choice("Seats of one kind are interchangeable.")
    factors = Matches.factors
    player = column.choice("Who played in the seat.", values="human, or the agent")
    agent = column.choice("The study's or collection's label of the agent; empty for a person.")
    agent_hash = column.identifier(
        "Hash (12 digits) of everything that affects the agent's behaviour; empty for a person."
    )
    information = column.choice(
        "What the seat was told about the game.",
        values="published: what the authors' program tells; explained: what people are told; empty for a script",
    )
    participant = column.identifier("Pseudonym of the person; empty for an agent.")
    fills_in = column.boolean("Whether an agent took the seat because no person arrived in time.")
    left_at = column.time(
        "When the person stopped playing while the others continued; empty if the person stayed.", "UTC"
    )
    told_of_players = column.choice(
        "What the person was told about the other players before agreeing to take part.",
        values="told: who they are; either: that they may be people or programs; nothing; empty for an agent or if "
        "not recorded",
    )
    told_words = column.text("The wording used.")
    told_at = column.time("When the person agreed after reading it.", "UTC")
    payoff = column.number("Payoff; empty for a match without a result.", MONEY)
    decisions = column.integer("Moves made in this seat.")
    substituted = column.integer("Of these, moves made by someone other than the seat's player.")
    unanswered = column.integer("Of these, moves made by the clock because the turn was not answered.")
    left_open_seconds = column.number(
        "How long this seat's last turn was open, if it was never answered and ended the match early.",
        "seconds",
        values="empty if the match did not end this way",
    )
    metrics = spread(results("seat_metrics"), "metric_", "")
    in_dataset = column.boolean("Whether the seat is in the dataset.")
    reason = column.choice("The reason for exclusion.")
    reasons = Matches.reasons


class Rounds:
    """The game's own records, such as one per round and seat; empty for games without any."""

    match = Matches.match
    row = column.integer("Number of the row within the match, from 1.")
    record = spread(results("records"), "record_", "")


class Decisions:
    """One row per move of the matches in the dataset."""

    match = Matches.match
    move_number = column.integer("Number of the move within the match, from 1.")
    number = column.integer("Number of the event in the transcript.")
    role = column.choice("Who moved.", values=_roles)
    round = column.integer("Round by the game's own count, from 1; 0 in practice; empty if it has none.")
    phase = column.choice("The game's name for this part of the round; may be empty.")
    player = column.choice("Who plays that role.", values="human, or the agent")
    by = column.choice(
        "Who made the move, if not the role's player.",
        values="rules: the rules' move after an unusable answer; clock; script:NAME; script:NAME:away if NAME's moves "
        "for unusable answers count as data and there was no answer; otherwise empty",
    )
    move = column.json("The whole move, with names replaced by markers.")
    fields = spread(moves, "move_field_", "move_", of="move")
    asked_at = column.time("When the question was asked.", "UTC")
    shown_at = column.time("When the question first appeared on the person's screen; empty for agents.", "UTC")
    answered_at = column.time("When the move was accepted.", "UTC")
    seconds = column.number("Time from shown_at, or asked_at if nothing was shown, to answered_at.", "seconds")
    refused = column.integer("Illegal attempts before it, by people or models; empty for imported matches.", "attempts")
    sight = column.json(
        "Milliseconds that each part of the person's screen was in sight, at least half of it or half of the window, "
        "before the move, by the key of the part; empty for agents. What models looked up: tool_calls.csv.",
        "milliseconds",
    )
    tries = column.json(
        "What the person tried before the move in a form that shows what would follow, in order, at most 200 entries: "
        "[milliseconds since the question or the last note, what, number]. What: a field of the form, with the number "
        "typed into it (null: none) or that of the option chosen (0: none); !copy, with the period copied into the "
        "form; !clear; !undo; !compare and !with, with the period chosen for comparing (null: none, or the form).",
        "milliseconds",
    )
    warned = column.json(
        "The warnings that the person's page showed in the turn before the move, and whether this move was sent "
        "despite the last one; empty if there were none.",
        values="shown [text], confirmed true or false",
    )
    changed = column.boolean(
        "Whether it replaced an earlier answer to the same question, which is in the transcript.", values="true, false"
    )
    answered = column.boolean(
        "Whether the turn was answered; if not, the clock moved, and seconds is how long the turn was open.",
        values="true, false",
    )


class Messages:
    """One row per message sent in the matches in the dataset."""

    match = Matches.match
    number = Decisions.number
    role = column.choice("Who wrote.", values=_roles)
    player = Decisions.player
    text = column.text(
        "The message, with names and identifiers replaced by markers, and an apostrophe before anything that a "
        "spreadsheet would read as a formula (the transcript has none).",
        values="[name], [identifier], [code word], [e-mail], [address], [key] (or ▮ if a message would become too "
        "long)",
    )
    characters = column.integer("Length of the text, markers included.", "characters")
    words = column.integer("Words in the text, separated by spaces.", "words")


class Chat:
    """One row per message in the chats beside the games of the matches in the dataset."""

    match = Matches.match
    number = column.integer("Number of the message within the match's chat, from 1.")
    role = column.choice("Who wrote: a seat, or mediator.")
    player = column.choice("Who wrote it.", values="human, or the agent")
    to = column.choice("The seat that the message was for; empty for the group.", values=_roles)
    readers = column.choice("The seats that could read it besides the writer, separated by semicolons.")
    text = Messages.text
    characters = Messages.characters
    words = Messages.words
    at = column.time("When the server stored it.", "UTC")
    after = column.integer("Number of the newest event of the match at that time.")


# ---- rows of one transcript --------------------------------------------------------------------------------


def match_rows(line: Transcript) -> Iterator[Row]:
    """Yield the row of matches.csv."""
    seats, own = line["seats"], counted_moves(line)
    told = [seat["told"] for seat in seats.values() if seat["told"]]
    of_seats: dict[str, Any] = {}
    for role, seat in seats.items():
        of_seats[f"player_{role}"] = line["players"][role]
        of_seats |= {f"{name}_{role}": seat[name] for name in ("agent", "participant")}
        of_seats[f"agent_{role}_hash"] = seat["agent_hash"]
    counts = {
        "decisions": len(own),
        "messages": sum(move["move"].get("message") is not None for move in own),
        "of_seats": of_seats,
        "information": "+".join(sorted({seat["information"] for seat in seats.values() if seat["information"]}))
        or None,
        "disclosure": told[0]["others"] if told else None,
        "told_of_players": "; ".join(sorted({one["told"] for one in told})) or None,
    }
    yield Row(**{**line, **counts, **_reasons(line["reasons"])})


def seat_rows(line: Transcript) -> Iterator[Row]:
    """Yield the rows of seats.csv."""
    for role, seat in line["seats"].items():
        own = [move for move in counted_moves(line) if move["role"] == role]
        told, begin = seat["told"], f"{role}_"
        yield Row(
            **{**seat, **_reasons(seat["reasons"])},
            match=line["match"],
            role=role,
            factors=line["factors"],
            player=line["players"][role],
            told_of_players=told.get("told"),
            told_words=told.get("words") or None,
            told_at=told.get("at"),
            payoff=line["payoffs"].get(role),
            decisions=len(own),
            substituted=sum(move.get("by") is not None for move in own),
            unanswered=sum(move.get("by") == "clock" for move in own),
            metrics={n.removeprefix(begin): value for n, value in line["metrics"].items() if n.startswith(begin)},
            in_dataset=not seat["reasons"],
        )


def round_rows(line: Transcript) -> Iterator[Row]:
    """Yield the rows of rounds.csv."""
    for place, record in enumerate(line["rounds"], start=1):
        yield Row(match=line["match"], row=place, record=record)


def decision_rows(line: Transcript) -> Iterator[Row]:
    """Yield the rows of decisions.csv."""
    match, players = line["match"], line["players"]
    for place, event in enumerate(counted_moves(line), start=1):
        role, by = event["role"], event.get("by")
        yield Row(
            match=match,
            move_number=place,
            number=event["number"],
            role=role,
            player=players[role],
            by=by,
            move=event["move"],
            changed="replaces" in event,
            answered=by != "clock",
            **_NO_TURN | event["turn"],
        )


def message_rows(line: Transcript) -> Iterator[Row]:
    """Yield the rows of messages.csv."""
    for event in counted_moves(line):
        if (words := event["move"].get("message")) is not None:
            yield Row(
                match=line["match"],
                number=event["number"],
                role=event["role"],
                player=line["players"][event["role"]],
                text=words,
                characters=len(words),
                words=len(words.split()),
            )


def chat_rows(line: Transcript) -> Iterator[Row]:
    """Yield the rows of chat.csv."""
    for said in line.get("chat", ()):
        text = said["text"]
        yield Row(
            **{**said, "to": said["to"] or None, "readers": ";".join(said["readers"]) or None},
            match=line["match"],
            characters=len(text),
            words=len(text.split()),
        )


_NO_TURN = dict.fromkeys(
    ("round", "phase", "asked_at", "shown_at", "answered_at", "seconds", "refused", "sight", "tries", "warned")
)
"""What a turn does not say has no value."""


def counted_moves(line: Transcript) -> list[Mapping[str, Any]]:
    """Return the moves of a transcript without those that were replaced (`games.play.moves_that_count`)."""
    replaced = {event.get("replaces") for event in line["events"]}
    return [event for event in line["events"] if event["kind"] == "move" and event["number"] not in replaced]


def _reasons(reasons: list[str]) -> dict[str, str | None]:
    return {"reason": next(iter(reasons), None), "reasons": ";".join(reasons) or None}


ROWS: Mapping[str, tuple[type, Callable[[Transcript], Iterator[Row]]]] = {
    "matches": (Matches, match_rows),
    "seats": (Seats, seat_rows),
    "rounds": (Rounds, round_rows),
    "decisions": (Decisions, decision_rows),
    "messages": (Messages, message_rows),
    "chat": (Chat, chat_rows),
}
"""Every derived table: its class, and what yields the rows of a transcript."""
