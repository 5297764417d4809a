"""Read moves from models' texts, and build JSON schemas that can be enforced on such texts.

Nothing is guessed: a number written as text is read where only a number is allowed, a wrapper that
`schema_of` itself asks for is removed, and everything else is refused with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import ConfigDict, Field, create_model

from games.interface import Form, Json
from games.play import expand, form_for
from games.strategies import Remark
from games.words import quoted
from llm_agents.errors import BadAnswer
from llm_agents.parsing.fitting import fit
from llm_agents.parsing.objects import around_object, last_object
from llm_agents.parsing.schema import REASONING, object_of, schema_of, strict, wrapper_key
from llm_agents.prompting import json_schema

__all__ = [
    "REASONING", "around_object", "last_object", "object_of",
    "read_answer", "read_move", "schema_of", "shortened_forms", "strict", "with_remarks",
]  # fmt: skip


def read_move(text: str, forms: Sequence[Form], *, short: bool = False) -> dict[str, Json]:
    """Return the move in a model's answer, fitted to its form; not yet checked against the rules.

    A model's reasoning beside the move is dropped.

    Args:
        text: the whole answer, including any text around its JSON object.
        forms: what the role may do now.
        short: the short forms were asked for, where there are any; the full move is returned.

    Raises:
        BadAnswer: it contains no such move; the message tells the model what is wrong.
        Refused: the values of a short form give no move that the rules allow.
    """
    return read_answer(text, forms, short=short)[0]


def read_answer(
    text: str, forms: Sequence[Form], *, short: bool = False, remarks: Sequence[Remark] = ()
) -> tuple[dict[str, Json], dict[str, Json]]:
    """Return the move in a model's answer, and its remarks; arguments and errors as for `read_move`.

    Args:
        remarks: keys that are removed before the move is read.
    """
    requested_forms = shortened_forms(forms) if short else forms
    remark_keys = {remark.key for remark in remarks}
    move = _without_wrapper(last_object(text), requested_forms, remark_keys)
    remark_values = {key: move.pop(key) for key in list(move) if key in remark_keys}
    form = _intended_form(requested_forms, move)
    _refuse_unknown_keys(move, form)
    fitted = fit(move, form.model)
    full_form = forms[list(requested_forms).index(form)]
    return (fitted if form is full_form else dict(expand(full_form, fitted))), remark_values


def with_remarks(forms: Sequence[Form], remarks: Sequence[Remark]) -> list[Form]:
    """Return the forms as they are worded and enforced when keys are asked for beside a move."""
    if not remarks:
        return list(forms)
    return [replace(form, model=_model_with_remarks(form.model, tuple(remarks))) for form in forms]


def _model_with_remarks(model: type[Any], remarks: tuple[Remark, ...]) -> type[Any]:
    added: dict[str, Any] = {
        remark.key: (str if remark.kind == "text" else float, Field(description=remark.description))
        for remark in remarks
    }
    leading_keys = [remark.key for remark in remarks if remark.first]

    def in_order(schema: dict[str, Any]) -> None:
        properties = schema["properties"]
        schema["properties"] = {
            key: properties[key] for key in (*leading_keys, *(key for key in properties if key not in leading_keys))
        }

    ordered = type(model.__name__, (model,), {"model_config": ConfigDict(json_schema_extra=in_order)})
    extended: type[Any] = create_model(model.__name__, __base__=ordered, **added)
    return extended


def shortened_forms(forms: Sequence[Form]) -> list[Form]:
    """Return the forms, each replaced by its short one if it has one, without help that describes the full one."""
    return [form if form.short is None else replace(form, model=form.short, help="") for form in forms]


def _without_wrapper(answer: Mapping[str, Json], forms: Sequence[Form], remark_keys: set[str]) -> dict[str, Json]:
    """Return the move without what a schema adds: the reasoning, and the key that wraps one of several moves."""
    move = dict(answer)
    if REASONING not in remark_keys and not any(REASONING in form.model.model_fields for form in forms):
        move.pop(REASONING, None)
    if len(forms) > 1 and list(move) == [wrapper_key(forms)] and isinstance(move[wrapper_key(forms)], dict):
        return dict(move[wrapper_key(forms)])
    return move


def _intended_form(forms: Sequence[Form], move: Mapping[str, Json]) -> Form:
    """Return the form that is meant, even if its keys are misspelt."""
    if any(form.model.model_fields.keys() & move.keys() for form in forms):
        return form_for(forms, move)
    return max(forms, key=lambda form: sum(_matching_field(key, form) is not None for key in move))


def _refuse_unknown_keys(move: Mapping[str, Json], form: Form) -> None:
    """Refuse keys that nearly match a field, and keys in place of required ones; the rules refuse the rest."""
    fields = form.model.model_fields
    incomplete = any(field.is_required() and name not in move for name, field in fields.items())
    for key in move:
        if key in fields:
            continue
        if match := _matching_field(key, form):
            raise BadAnswer(f'There is no key {quoted(key)}; the key is "{match}", exactly as written here.')
        if incomplete:
            names = ", ".join(f'"{name}"' for name in json_schema(form.model)["properties"])
            raise BadAnswer(f"There is no key {quoted(key)}; the keys are {names}.")


def _matching_field(key: str, form: Form) -> str | None:
    """Return the field whose name or title matches `key`, ignoring case, spaces and punctuation."""
    for name, field in form.model.model_fields.items():
        if _normalized(key) in (_normalized(name), _normalized(field.title or name)):
            return name
    return None


def _normalized(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())
