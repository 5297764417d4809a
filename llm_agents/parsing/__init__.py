"""From a model's text to a move, and the JSON schema that a model's text can be held to.

Nothing is guessed: a number written as text is read where only a number can stand, a wrapper that
`answer_schema` itself asks for is taken off, and everything else is refused with what is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from games.interface import Form, Json
from games.play import expand, form_for
from games.words import quoted
from llm_agents.errors import BadAnswer
from llm_agents.parsing.fitting import fit
from llm_agents.parsing.objects import last_object
from llm_agents.parsing.schema import REASONING, schema_of, wrapper
from llm_agents.prompting import json_schema

__all__ = ["CHAIN_OF_THOUGHT", "REASONING", "answer_schema", "as_asked", "last_object", "read_move"]

CHAIN_OF_THOUGHT = "chain_of_thought"
"""The strategy under which a model writes its reasoning before its move."""


def read_move(text: str, forms: Sequence[Form], *, short: bool = False) -> dict[str, Json]:
    """The move in a model's answer, fitted to the form it fills in; not yet checked against the rules.

    A model's reasoning beside the move is left out.

    Args:
        text: the whole answer, whatever stands around its JSON object.
        forms: what the role may do now.
        short: the short forms were asked for, where there are any; the full move is returned.

    Raises:
        BadAnswer: there is no such move in it; says what is wrong, for the model.
        Refused: the values of a short form make no move that the rules allow.
    """
    asked = as_asked(forms) if short else forms
    move = _bare(last_object(text), asked)
    form = _form(asked, move)
    _keys_are_known(move, form)
    fitted = fit(move, form.model)
    full = forms[asked.index(form)]
    return fitted if form is full else dict(expand(full, fitted))


def answer_schema(forms: Sequence[Form], *, strategy: str | None = None, short: bool = False) -> dict[str, Json]:
    """The strict JSON schema that an answer to these forms fulfils; `read_move` takes whatever does.

    Args:
        strategy: with `CHAIN_OF_THOUGHT` the answer begins with a text called `REASONING`.
        short: of the short forms, where there are any.
    """
    return schema_of(as_asked(forms) if short else forms, reasoning=strategy == CHAIN_OF_THOUGHT)


def as_asked(forms: Sequence[Form]) -> list[Form]:
    """The forms with the short one in place of each that has one; its help speaks of the full one and goes."""
    return [form if form.short is None else replace(form, model=form.short, help="") for form in forms]


def _bare(answer: Mapping[str, Json], forms: Sequence[Form]) -> dict[str, Json]:
    """The move without what a schema puts around it: the reasoning, and the key that holds one of several moves."""
    move = dict(answer)
    if not any(REASONING in form.model.model_fields for form in forms):
        move.pop(REASONING, None)
    if len(forms) > 1 and list(move) == [wrapper(forms)] and isinstance(move[wrapper(forms)], dict):
        return dict(move[wrapper(forms)])
    return move


def _form(forms: Sequence[Form], move: Mapping[str, Json]) -> Form:
    """The form that is meant, also where its keys are misspelt."""
    if any(form.model.model_fields.keys() & move.keys() for form in forms):
        return form_for(forms, move)
    return max(forms, key=lambda form: sum(_meant(key, form) is not None for key in move))


def _keys_are_known(move: Mapping[str, Json], form: Form) -> None:
    """Refuse a key that is nearly a field's, and keys instead of those that are needed; the rules refuse other ones."""
    fields = form.model.model_fields
    lacking = any(field.is_required() and name not in move for name, field in fields.items())
    for key in move:
        if key in fields:
            continue
        if meant := _meant(key, form):
            raise BadAnswer(f'There is no key {quoted(key)}; the key is "{meant}", exactly as written here.')
        if lacking:
            names = ", ".join(f'"{name}"' for name in json_schema(form.model)["properties"])
            raise BadAnswer(f"There is no key {quoted(key)}; the keys are {names}.")


def _meant(key: str, form: Form) -> str | None:
    """The field whose name or title `key` is, but for case, spaces and signs."""
    for name, field in form.model.model_fields.items():
        if _letters(key) in (_letters(name), _letters(field.title or name)):
            return name
    return None


def _letters(words: str) -> str:
    return "".join(letter for letter in words.casefold() if letter.isalnum())
