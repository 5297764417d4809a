"""How models are asked to play: plain data and pure functions, so that games can define their own.

A game's own strategies are in `STRATEGIES` of its `strategies.py`, or of the module of its class or a base class, and
are found automatically; one with the name of a usual strategy replaces it for that game. `llm_agents` carries them out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal

from games.interface import Game, Role, View

Purpose = Literal["move", "plan", "belief", "replan", "look", "note", "judge", "chat"]
"""The purpose of a call to a model."""
Words = Callable[[Any, Any, Role], str]
"""(game, state, role) → text for the model; a pure function that reveals nothing the role may not know."""


@dataclass(frozen=True)
class Remark:
    """A key that a model should write in addition to its move.

    Remarks are removed before the move is checked, stored with the call, exported, and never shown to
    players. A missing remark does not make a move illegal. In a replayed move, remarks are unknown keys.

    Attributes:
        key: in the answer's JSON object; not the name of a field of the form.
        description: what the model should write there.
        kind: its type in the answer's schema.
        first: whether it comes before the move's own keys.
    """

    key: str
    description: str
    kind: Literal["text", "number"] = "text"
    first: bool = False


@dataclass(frozen=True)
class Question:
    """One call: what is shown and asked, and which earlier calls precede it.

    Attributes:
        purpose: stored with the call.
        form: name of the form that the answer fills in; empty: the forms that end the turn.
        when: (game, state, role) → whether to ask now. Asked again on the next turn if still true, so the state
            must record when it is done.
        words: precedes the form's own description.
        view: (game, state, role) → what is shown; None: the game's whole view.
        recalls: the latest answered call of any of these purposes precedes it, with question and answer.
        keeps: (game, earlier state, current state, role) → whether the role's move at the earlier state precedes
            it, with the answer that led to it; None: no earlier move does.
        check: (game, state, role, move) → what is factually wrong with a legal answer; it is pointed out up to
            `MAX_CORRECTIONS` times, and then accepted.
        reports: the latest answer of any of these purposes is shown as what the model itself reported.
    """

    purpose: Purpose = "move"
    form: str = ""
    when: Callable[[Any, Any, Role], bool] | None = None
    words: Words | None = None
    view: Callable[[Any, Any, Role], View] | None = None
    recalls: tuple[Purpose, ...] = ()
    keeps: Callable[[Any, Any, Any, Role], bool] | None = None
    check: Callable[[Any, Any, Role, Any], str] | None = None
    reports: tuple[Purpose, ...] = ()


MAX_CORRECTIONS = 4
MOVE = Question()


@dataclass(frozen=True)
class Strategy:
    """A way of asking a model for its moves.

    Attributes:
        title: one line for researchers choosing a strategy.
        layout: "conversation" over the whole match, "fresh" at every turn, "tools": one conversation per turn, in
            which the model reads data, writes notes and submits by calling tools; None: a conversation, unless
            the role does not remember.
        reasons: whether the model is asked to reason step by step before its move.
        remarks: (game, state, role) → additional keys in its answer.
        modules: calls before the move, in this order, each if its `when` is true; their answers fill in forms
            that leave the turn open. A call whose answers all stay unreadable is skipped.
        move: how the move itself is asked for.
        shows: names of the forms on request that are offered to the model.
        opening: with "tools": the start of a turn's conversation, after the rules; None: the usual text.
    """

    title: str
    layout: Literal["conversation", "fresh", "tools"] | None = None
    reasons: bool = False
    remarks: Callable[[Any, Any, Role], tuple[Remark, ...]] | None = None
    modules: tuple[Question, ...] = ()
    move: Question = MOVE
    shows: frozenset[str] = frozenset()
    opening: Words | None = None


PLAIN, CHAIN_OF_THOUGHT, TOOLS = "plain", "chain_of_thought", "tools"
USUAL: Mapping[str, Strategy] = {
    PLAIN: Strategy("Plain: one conversation, or one message per turn if the role does not remember."),
    CHAIN_OF_THOUGHT: Strategy("Chain of thought: as plain, but thinking step by step first.", reasons=True),
    "conversation": Strategy("Conversation: one conversation over the match in every game.", layout="conversation"),
    "fresh": Strategy("Fresh: everything in one message per turn in every game.", layout="fresh"),
    TOOLS: Strategy("Tools: the model reads data, writes notes and submits by calling tools.", layout="tools"),
}
"""Strategies that every game has."""


def of(game: Game[Any, Any] | type[Game[Any, Any]]) -> Mapping[str, Strategy]:
    """Return all strategies of a game by name: the usual ones and its own."""
    return _of(game if isinstance(game, type) else type(game))


@cache
def _of(game: type[Game[Any, Any]]) -> Mapping[str, Strategy]:
    folder, _dot, module = game.__module__.rpartition(".")
    own_module = f"{folder}.strategies"
    homes = [own_module] if module == "rules" and find_spec(own_module) is not None else []
    homes += [base.__module__ for base in game.__mro__]
    found = (getattr(import_module(home), "STRATEGIES", None) for home in homes)
    return {**USUAL, **next((strategies for strategies in found if strategies is not None), {})}
