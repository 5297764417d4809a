"""Show a game's forms on pages, and read what a page sends as plain data."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal

from django.utils.translation import gettext as _
from pydantic import BaseModel

from games.interface import Form, Role
from games.play import Play
from games.words import number

Kind = Literal["number", "integer", "text", "choice", "boolean", "data"]
Shape = Literal["", "group", "slots", "several", "lines", "pairs"]
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d*)?")
_NO_CENTS = re.compile(r"\d+\.0*")
_TYPED = re.compile(r"([-+−]?)\s*[$€£]?\s*([-+−]?)\s*(\d{1,3}(?:,\d{3})+(?:\.\d*)?|\d.*|\.\d.*)\s*")
"""A number as people type it: "4,860", "$4,860.00", "-$5,000"; a comma only where it separates thousands."""
_RESERVED = frozenset({"answering", "position", "csrfmiddlewaretoken"})
FORM = "!form"
"""Name of the control that says which form was sent."""
CONFIRMED = "!sure"
"""Name of the control that confirms a move after a warning."""
NONE = "!none"
"""Suffix of the control that chooses "none" for a field."""
NULL = "null"
"""Value that a button sends for "none"."""
MAX_SLOTS = 12
"""The longest list with one control per entry; longer ones are entered line by line."""
_SCALARS = frozenset({"number", "integer", "text", "choice", "boolean"})


@dataclass(frozen=True)
class Field:
    """One field of a form.

    Attributes:
        kind: "data" is anything but a single value: a list, a dictionary, or other JSON.
        shape: how "data" is entered: "group" has a control per key, "slots" one per entry, "several" a check
            box per choice, "lines" a line per entry, "pairs" a line "key: value" per entry; "" is JSON.
        parts: the fields of a group or of slots, or the one field of every line.
        nullable: whether null is a valid value.
        none: the label of "none", if it is offered (`json_schema_extra={"none": "Drop out"}`).
    """

    name: str
    label: str
    kind: Kind
    help: str = ""
    required: bool = True
    nullable: bool = False
    choices: tuple[Any, ...] = ()
    min_length: int | None = None
    max_length: int | None = None
    minimum: float | None = None
    maximum: float | None = None
    beyond_minimum: bool = False
    below_maximum: bool = False
    default: Any = None
    shape: Shape = ""
    parts: tuple[Field, ...] = ()
    none: str = ""

    @property
    def none_title(self) -> str:
        return self.none or _("None")

    @property
    def offers_none(self) -> bool:
        """Return whether "none" needs a control: it is a valid value, but not what an empty field means."""
        return self.nullable and (self.required or self.default is not None)

    @property
    def limits(self) -> str:
        """Return a number's limits as shown beside its field; empty if there are none."""
        if self.kind not in ("number", "integer"):
            return ""
        low, high = (None if limit is None else number(limit) for limit in (self.minimum, self.maximum))
        if low is not None and high is not None and not self.beyond_minimum and not self.below_maximum:
            words = [_("from {low} to {high}").format(low=low, high=high)]
        else:
            least = _("more than {low}") if self.beyond_minimum else _("at least {low}")
            most = _("less than {high}") if self.below_maximum else _("at most {high}")
            words = [] if low is None else [least.format(low=low)]
            words += [] if high is None else [most.format(high=high)]
        whole = [_("a whole number")] if self.kind == "integer" else []
        sentence = ", ".join([*whole, *words])
        return sentence[:1].upper() + sentence[1:]


@dataclass(frozen=True)
class BoundField:
    """A field with the value entered and its error; `name` is that of the control."""

    field: Field
    name: str
    value: str = ""
    error: str = ""
    none_chosen: bool = False
    parts: tuple[BoundField, ...] = ()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.field, name)

    @property
    def options(self) -> tuple[tuple[str, str], ...]:
        """Return (value, label) of each choice; yes and no for a boolean."""
        if self.field.kind == "boolean":
            return ("true", _("Yes")), ("false", _("No"))
        return tuple((str(choice), str(choice)) for choice in self.field.choices if choice is not None)


@dataclass(frozen=True)
class BoundForm:
    """A form for a template."""

    name: str
    title: str
    help: str
    fields: tuple[BoundField, ...] = field(default=())
    warning: str = ""
    """A question to confirm before the move is sent."""
    ends_turn: bool = True

    @property
    def by_name(self) -> dict[str, BoundField]:
        return {bound.field.name: bound for bound in self.fields}

    @property
    def is_notepad(self) -> bool:
        """Return whether the form is a single text note, saved while it is typed."""
        return not self.ends_turn and len(self.fields) == 1 and self.fields[0].field.kind == "text"

    @property
    def buttons(self) -> BoundField | None:
        """Return the field of a form with a single choice, shown as a row of buttons; else None."""
        only = self.fields[0] if len(self.fields) == 1 else None
        return only if only is not None and only.required and only.field.kind in ("choice", "boolean") else None


@lru_cache(maxsize=256)
def fields_of(model: type[BaseModel]) -> tuple[Field, ...]:
    """Return the fields of a pydantic model, read from its JSON schema."""
    schema = model.model_json_schema()
    return _parts(schema, schema.get("$defs", {}))


def _parts(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> tuple[Field, ...]:
    required = set(schema.get("required", ()))
    return tuple(
        _field(name, part, definitions, required=name in required) for name, part in schema["properties"].items()
    )


def _resolved(part: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Return a property with references resolved and "or null" separated.

    If a value may be a dictionary or a string, only the dictionary counts: the string is the same as JSON text.
    """
    flat = dict(part)
    if "$ref" in flat:
        flat = {**definitions[flat.pop("$ref").rsplit("/", 1)[-1]], **flat}
    options = flat.pop("anyOf", None)
    if options:
        real = [_resolved(option, definitions) for option in options if option.get("type") != "null"]
        if {option.get("type") for option in real} == {"object", "string"} and len(real) == 2:
            real = [option for option in real if option["type"] == "object"]
        nullable = any(option.get("type") == "null" for option in options)
        flat = {**(real[0] if len(real) == 1 else {}), **flat, "nullable": nullable}
    if None in flat.get("enum", ()):
        flat["nullable"] = True
    return flat


_KINDS: Mapping[Any, Kind] = {"number": "number", "integer": "integer", "string": "text", "boolean": "boolean"}


def _field(name: str, schema: Mapping[str, Any], definitions: Mapping[str, Any], *, required: bool = True) -> Field:
    part = _resolved(schema, definitions)
    choices = tuple(part.get("enum", ())) or ((part["const"],) if "const" in part else ())
    shape, parts = _shape(part, definitions)
    return Field(
        name=name,
        label=part.get("title", name),
        kind="choice" if choices else _KINDS.get(part.get("type"), "data"),
        help=part.get("description", ""),
        required=required,
        nullable=part.get("nullable", False),
        choices=choices,
        min_length=part.get("minLength"),
        max_length=part.get("maxLength"),
        minimum=part.get("minimum", part.get("exclusiveMinimum")),
        maximum=part.get("maximum", part.get("exclusiveMaximum")),
        beyond_minimum="exclusiveMinimum" in part,
        below_maximum="exclusiveMaximum" in part,
        default=part.get("default"),
        shape=shape,
        parts=parts,
        none=part.get("none", ""),
    )


def _shape(part: Mapping[str, Any], definitions: Mapping[str, Any]) -> tuple[Shape, tuple[Field, ...]]:
    """Return how a list or dictionary is entered, and its fields."""
    if part.get("type") == "object":
        if "properties" in part:
            return "group", _parts(part, definitions)
        inner = part.get("additionalProperties")
        if not isinstance(inner, Mapping):
            return "", ()
        keys = _resolved(part.get("propertyNames", {}), definitions)
        if names := (*keys.get("enum", ()), *([keys["const"]] if "const" in keys else ())):
            named = (_field(str(key), {**inner, "title": str(key)}, definitions, required=False) for key in names)
            return "group", tuple(named)
        value = _field("", inner, definitions)
        return ("pairs", (value,)) if value.kind in _SCALARS else ("", ())
    if part.get("type") == "array":
        return _shape_of_list(part, definitions)
    return "", ()


def _shape_of_list(part: Mapping[str, Any], definitions: Mapping[str, Any]) -> tuple[Shape, tuple[Field, ...]]:
    least, most = part.get("minItems", 0), part.get("maxItems")
    items = part.get("prefixItems") or [part.get("items", {})] * (most or 0)
    if part.get("uniqueItems"):
        entry = _field("", part.get("items", {}), definitions)
        if entry.kind == "choice" and least == 0:
            return "several", (entry,)
    if most is not None and 0 < len(items) <= MAX_SLOTS:
        slots = (
            _field(str(at), {"title": str(at), **entry}, definitions, required=at <= least)
            for at, entry in enumerate(items, start=1)
        )
        # an empty slot is not an entry, so "none" needs a control
        return "slots", tuple(replace(slot, default="") if slot.nullable else slot for slot in slots)
    entry = _field("", part.get("items", {}), definitions)
    return ("lines", (entry,)) if entry.kind in _SCALARS else ("", ())


def shown_forms(play: Play, role: Role) -> tuple[Form, ...]:
    """Return the forms on a participant's page; those on request only if the configuration shows them."""
    asked = play.game.on_pages()
    return tuple(form for form in play.forms(role) if not form.on_request or form.name in asked)


# ---- showing -----------------------------------------------------------------------------------


def bind(form: Form, posted: Mapping[str, str] | None = None, errors: Mapping[str, str] | None = None) -> BoundForm:
    """Return `form` to be shown, with the values entered before (or its initial ones) and the errors."""
    posted, errors = posted or {}, errors or {}
    if posted.get(FORM, form.name) != form.name:
        posted = {}
    if not posted and form.begins_with is not None:
        posted = as_posted(form.model, form.begins_with)
    parts = (replace(part, label=form.labels.get(part.name, part.label)) for part in fields_of(form.model))
    fields = (_bind_field(part, part.name, posted, str(errors.get(part.name, ""))) for part in parts)
    warning = str(errors.get(CONFIRMED + form.name, ""))
    return BoundForm(form.name, form.title, form.help, tuple(fields), warning, form.ends_turn)


def _bind_field(part: Field, name: str, posted: Mapping[str, str], error: str = "") -> BoundField:
    value = posted.get(name, _text(part.default) if part.kind in ("choice", "boolean") else "")
    inner: Iterable[BoundField] = ()
    if part.shape == "several":
        inner = (
            BoundField(
                replace(part.parts[0], label=str(choice)),
                f"{name}:{choice}",
                "true" if posted.get(f"{name}:{choice}") else "",
            )
            for choice in part.parts[0].choices
        )
    elif part.shape in ("group", "slots"):
        inner = (_bind_field(each, f"{name}:{each.name}", posted) for each in part.parts)
    return BoundField(part, name, value, error, bool(posted.get(name + NONE)), tuple(inner))


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


# ---- reading -----------------------------------------------------------------------------------


def read(model: type[BaseModel], posted: Mapping[str, str]) -> dict[str, Any]:
    """Return what a page sent as plain data, which the rules then check.

    Empty fields are omitted, numbers may have thousands separators, and invalid values stay text, so that the
    rules refuse them with their own messages.
    """
    parts = fields_of(model)
    data = _read_all(parts, "", posted)
    known = {part.name for part in parts}
    unknown = {name for name in posted if name not in _RESERVED and name not in (FORM, CONFIRMED)}
    return data | {name: posted[name] for name in unknown if _top_level_name(name) not in known}


def _top_level_name(name: str) -> str:
    """Return the field of the move that a control belongs to."""
    return name.partition(":")[0].removesuffix(NONE)


def _read_all(parts: Iterable[Field], prefix: str, posted: Mapping[str, str]) -> dict[str, Any]:
    found = {part.name: _read(part, prefix + part.name, posted) for part in parts}
    return {name: value for name, value in found.items() if value is not _ABSENT}


_ABSENT: Any = object()


def _read(part: Field, name: str, posted: Mapping[str, str]) -> Any:
    """Return the value of one field; `_ABSENT` if it was left empty."""
    if posted.get(name + NONE):
        return None
    text = posted.get(name, "")
    if part.shape in ("group", "slots", "several"):
        return _read_parts(part, name, posted)
    if part.kind == "text" and part.required and name in posted and not part.min_length:
        return text.replace("\r\n", "\n")
    if part.shape in ("lines", "pairs") and part.required and name in posted:
        return _read_lines(part, text)
    if not text.strip():
        return _ABSENT
    if part.offers_none and text == NULL and part.kind != "text":
        return None
    return _read_lines(part, text) if part.shape else _value(part, text)


def _read_parts(part: Field, name: str, posted: Mapping[str, str]) -> Any:
    if name in posted:  # a game's own page sends it as JSON
        return _value(part, posted[name])
    if part.shape == "several":
        chosen: Any = [choice for choice in part.parts[0].choices if posted.get(f"{name}:{choice}")]
    else:
        chosen = _read_all(part.parts, f"{name}:", posted)
        if part.shape == "slots":
            chosen = list(chosen.values())
    return chosen if chosen or part.required else _ABSENT


def _read_lines(part: Field, text: str) -> Any:
    """Return the entries of a list or dictionary, one per line; JSON is accepted too."""
    if text.strip()[:1] in ("[", "{") and not isinstance(whole := _value(part, text), str):
        return whole
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    inner = part.parts[0]
    if part.shape == "lines":
        return [_value(inner, line) for line in lines]
    pairs = [line.partition(":") for line in lines]
    return {key.strip(): _value(inner, value.strip()) for key, _colon, value in pairs}


def _value(part: Field, text: str) -> Any:
    if part.kind in ("number", "integer"):
        return _number(text.strip(), whole=part.kind == "integer")
    if part.kind == "choice":
        return next((choice for choice in part.choices if str(choice) == text), text)
    if part.kind == "boolean":
        return {"on": True, "true": True, "1": True, "false": False, "0": False}.get(text, text)
    if part.kind == "data":
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text.replace("\r\n", "\n")


def _number(text: str, *, whole: bool) -> float | int | str:
    typed = _TYPED.fullmatch(text)
    if typed is None or (typed[1] and typed[2]):
        return text
    digits = typed[3].strip()
    plain = digits.replace(",", "") if _GROUPED.fullmatch(digits) else digits
    sign = "-" if {typed[1], typed[2]} & {"-", "−"} else ""
    try:
        if whole and _NO_CENTS.fullmatch(plain):
            plain = plain.partition(".")[0]
        return int(sign + plain) if whole or plain.isdecimal() else float(sign + plain)
    except ValueError:
        return text


def form_for(forms: tuple[Form, ...], posted: Mapping[str, str]) -> Form:
    """Return the form that a page sent: the one it names, or else the one whose fields match best."""
    named = next((form for form in forms if form.name == posted.get(FORM)), None)
    sent = {_top_level_name(name) for name in posted}
    return named or max(forms, key=lambda form: len({part.name for part in fields_of(form.model)} & sent))


def text_fields(forms: Sequence[Form]) -> tuple[str, ...]:
    """Return the names of these forms' free-text fields."""
    found = (part.name for form in forms for part in fields_of(form.model) if part.kind == "text")
    return tuple(dict.fromkeys(found))


# ---- filling in --------------------------------------------------------------------------------


def as_posted(model: type[BaseModel], move: Mapping[str, Any]) -> dict[str, str]:
    """Return what a participant enters on the generic page to make this move: the inverse of `read`."""
    posted: dict[str, str] = {}
    for part in fields_of(model):
        if part.name in move:
            _fill(part, part.name, move[part.name], posted)
    return posted


def _fill(part: Field, name: str, value: Any, posted: dict[str, str]) -> None:
    if value is None:
        if part.offers_none:
            posted[name + NONE] = "true"
    elif part.shape == "several" and isinstance(value, list):
        posted.update({f"{name}:{choice}": "true" for choice in value})
    elif part.shape in ("group", "slots") and isinstance(value, dict | list):
        entries = value if isinstance(value, dict) else {str(at): element for at, element in enumerate(value, start=1)}
        for each in part.parts:
            if each.name in entries:
                _fill(each, f"{name}:{each.name}", entries[each.name], posted)
    elif part.kind == "data":
        posted[name] = _as_lines(part, value)
    else:
        posted[name] = _text(value)


def _as_lines(part: Field, value: Any) -> str:
    simple = part.shape and part.parts[0].kind != "text"
    if simple and isinstance(value, list):
        return "\n".join(map(_text, value))
    if simple and isinstance(value, dict):
        return "\n".join(f"{key}: {_text(element)}" for key, element in value.items())
    return json.dumps(value)
