"""A game's forms as things a page can show, and what a page sends back as plain data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel

from games.interface import Form

Kind = Literal["number", "integer", "text", "choice", "boolean", "data"]
_GROUPED = re.compile(r"^-?\d{1,3}(?:,\d{3})+(?:\.\d+)?$")
_RESERVED = frozenset({"answering", "position"})


@dataclass(frozen=True)
class Field:
    """One blank of a form. `nullable` numbers may be left empty, which means "none"."""

    name: str
    label: str
    kind: Kind
    help: str = ""
    required: bool = True
    nullable: bool = False
    choices: tuple[Any, ...] = ()
    max_length: int | None = None
    minimum: float | None = None
    maximum: float | None = None
    default: Any = None


@dataclass(frozen=True)
class BoundField:
    """A blank with what was typed into it and what was wrong with that."""

    field: Field
    value: str = ""
    error: str = ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.field, name)


@dataclass(frozen=True)
class BoundForm:
    """A form as a template shows it."""

    name: str
    title: str
    help: str
    fields: tuple[BoundField, ...] = field(default=())

    @property
    def by_name(self) -> dict[str, BoundField]:
        return {blank.field.name: blank for blank in self.fields}

    @property
    def buttons(self) -> BoundField | None:
        """The one choice of a form that asks nothing else: shown as a row of buttons."""
        only = self.fields[0] if len(self.fields) == 1 else None
        return only if only is not None and only.field.kind == "choice" else None


@lru_cache(maxsize=256)
def fields_of(model: type[BaseModel]) -> tuple[Field, ...]:
    """The blanks of a pydantic model, read from its JSON schema."""
    schema = model.model_json_schema()
    required = set(schema.get("required", ()))
    definitions = schema.get("$defs", {})
    return tuple(
        _field(name, _resolved(part, definitions), name in required) for name, part in schema["properties"].items()
    )


def _resolved(part: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """A property with references followed and "or null" taken apart."""
    flat = dict(part)
    if "$ref" in flat:
        flat = {**definitions[flat.pop("$ref").rsplit("/", 1)[-1]], **flat}
    options = flat.pop("anyOf", None)
    if options:
        real = [option for option in options if option.get("type") != "null"]
        flat = {**(real[0] if len(real) == 1 else {}), **flat, "nullable": len(real) < len(options)}
    return flat


def _field(name: str, part: Mapping[str, Any], required: bool) -> Field:
    kinds: dict[Any, Kind] = {"number": "number", "integer": "integer", "string": "text", "boolean": "boolean"}
    choices = tuple(part.get("enum", ())) or ((part["const"],) if "const" in part else ())
    return Field(
        name=name,
        label=part.get("title", name),
        kind="choice" if choices else kinds.get(part.get("type"), "data"),
        help=part.get("description", ""),
        required=required,
        nullable=part.get("nullable", False),
        choices=choices,
        max_length=part.get("maxLength"),
        minimum=part.get("minimum", part.get("exclusiveMinimum")),
        maximum=part.get("maximum", part.get("exclusiveMaximum")),
        default=part.get("default"),
    )


def bind(form: Form, posted: Mapping[str, str] | None = None, errors: Mapping[str, str] | None = None) -> BoundForm:
    """`form` ready to be shown, with what was typed before and why it was refused."""
    posted, errors = posted or {}, errors or {}
    blanks = (
        BoundField(blank, value=posted.get(blank.name, ""), error=str(errors.get(blank.name, "")))
        for blank in fields_of(form.model)
    )
    return BoundForm(form.name, form.title, form.help, tuple(blanks))


def read(model: type[BaseModel], posted: Mapping[str, str]) -> dict[str, Any]:
    """What a page sent, as plain data for the rules to judge.

    Empty blanks are left out, numbers typed with thousands separators are read, and what does not
    read as the blank's kind stays text, so that the rules refuse it in their own words.
    """
    kinds = {blank.name: blank for blank in fields_of(model)}
    data: dict[str, Any] = {}
    for name, text in posted.items():
        if name in _RESERVED:
            continue
        blank = kinds.get(name)
        if blank is None:
            data[name] = text
        elif text.strip():
            data[name] = _value(blank, text)
    return data


def _value(blank: Field, text: str) -> Any:
    if blank.kind in ("number", "integer"):
        return _number(text.strip(), whole=blank.kind == "integer")
    if blank.kind == "choice":
        return next((choice for choice in blank.choices if str(choice) == text), text)
    if blank.kind == "boolean":
        return text in ("on", "true", "1")
    return text.replace("\r\n", "\n")


def _number(text: str, *, whole: bool) -> float | int | str:
    plain = text.lstrip("$ ")
    if _GROUPED.match(plain):
        plain = plain.replace(",", "")
    try:
        if whole or plain.lstrip("-").isdecimal():
            return int(plain)
        return float(plain)
    except ValueError:
        return text


def form_for(forms: tuple[Form, ...], posted: Mapping[str, str]) -> Form:
    """The form that a page's answer fills in: the one whose blanks it names best."""
    return max(forms, key=lambda form: len({blank.name for blank in fields_of(form.model)} & set(posted)))
