"""How models are asked to play: plain data and pure functions, so that games bring their own.

A game's own strategies stand in the `STRATEGIES` of its `strategies.py` (or beside its rules) and are
found by themselves; one with the name of a usual strategy replaces it for that game. Whoever asks
models (`llm_agents`) carries them out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal

from games.interface import Game, Role, View

Purpose = Literal["move", "plan", "belief", "replan", "look", "note", "judge"]
"""What a call of a model is for."""
Words = Callable[[Any, Any, Role], str]
"""(game, state, role) → text for the model; pure, and nothing that the role may not know."""


@dataclass(frozen=True)
class Remark:
    """A key that a model is to write beside its move.

    Remarks are taken off before the move is checked, kept with the call, exported, and shown to
    nobody. One that is missing makes no move illegal. In a replayed move they are unknown keys.

    Attributes:
        key: in the answer's JSON object; no field of the form has this name.
        description: what is to stand there, in words for the model.
        kind: what the answer's schema asks for.
        first: it stands before the move's own keys.
    """

    key: str
    description: str
    kind: Literal["text", "number"] = "text"
    first: bool = False


@dataclass(frozen=True)
class Question:
    """One call: what is shown and asked, and which earlier calls stand before it.

    Attributes:
        purpose: kept with the call.
        form: name of the form that the answer fills in; empty: the forms that end the turn.
        when: (game, state, role) → whether it is asked now. Asked again at the next turn where it stays true:
            the state must say when it is done, or the turn be the one at which it belongs.
        words: stands before the form's own description.
        view: (game, state, role) → what is shown; None: all of the game's view.
        recalls: the latest answered call of any of these purposes stands before it, question and answer.
        keeps: (game, earlier state, present state, role) → whether the own move made at the earlier state
            stands before it, with the answer that led to it; None: no earlier move does.
    """

    purpose: Purpose = "move"
    form: str = ""
    when: Callable[[Any, Any, Role], bool] | None = None
    words: Words | None = None
    view: Callable[[Any, Any, Role], View] | None = None
    recalls: tuple[Purpose, ...] = ()
    keeps: Callable[[Any, Any, Any, Role], bool] | None = None


MOVE = Question()


@dataclass(frozen=True)
class Strategy:
    """A way of asking a model for its moves.

    Attributes:
        title: one line for the researcher who chooses it.
        layout: "conversation" over the whole match, "fresh" at every turn, "tools": one conversation for each
            turn, in which the model looks, notes and submits by calling tools; None: a conversation, unless
            the game says that the role does not remember.
        reasons: the model is asked to reason step by step before its move.
        remarks: (game, state, role) → the keys beside its move.
        modules: calls before the move, in this order, each where its `when` holds; their answers fill in forms
            that leave the turn open. One that stays unreadable after the tries is skipped.
        move: how the move itself is asked for.
        shows: names of the forms on request that the model is offered beside the others.
        opening: with "tools": what the conversation of a turn begins with, after the rules; None: the usual words.
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
    PLAIN: Strategy("Plain: as a conversation, or all in one message where the role does not remember."),
    CHAIN_OF_THOUGHT: Strategy("Chain of thought: so too, to think step by step first.", reasons=True),
    "conversation": Strategy("A conversation over the match, whatever the game says.", layout="conversation"),
    "fresh": Strategy("All in one message at every turn, whatever the game says.", layout="fresh"),
    TOOLS: Strategy("Tools: it looks at data, notes and submits by calling tools.", layout="tools"),
}
"""Strategies that every game has."""


def of(game: Game[Any, Any] | type[Game[Any, Any]]) -> Mapping[str, Strategy]:
    """All strategies of a game by name: the usual ones, and its own."""
    return _of(game if isinstance(game, type) else type(game))


@cache
def _of(game: type[Game[Any, Any]]) -> Mapping[str, Strategy]:
    folder, _dot, module = game.__module__.rpartition(".")
    beside = f"{folder}.strategies"
    home = beside if module == "rules" and find_spec(beside) is not None else game.__module__
    own: Mapping[str, Strategy] = getattr(import_module(home), "STRATEGIES", {})
    return {**USUAL, **own}
