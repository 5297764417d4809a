"""Show a game's forms on pages, and read what a page sends as plain data."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from django.utils import formats
from django.utils.translation import gettext as _
from pydantic import BaseModel

from games.interface import Form, Role
from games.play import Play
from games.words import cached_by_language, number

Kind = Literal["number", "integer", "text", "choice", "boolean", "data"]
Shape = Literal["", "group", "slots", "several", "lines", "pairs"]
_TYPED = re.compile(r"([-+−]?)\s*[$€£]?\s*([-+−]?)\s*((?:\d|[.,]\d).*?)\s*[$€£]?")
"""A number as people type it: "4,860", "$4,860.00", "-$5,000", "5.000 €"."""
_DIGITS = {
    mark: re.compile(
        rf"(?=.*\d)(\d*|[1-9]\d{{0,2}}(?:([{thousands}\u00a0\u202f '’])\d{{3}}(?:\2\d{{3}})*))(?:{mark}(\d*))?"
    )
    for mark, thousands in ((r"\.", ","), (",", r"\."))
}
"""A number's digits by its decimal mark; the other mark, a space or an apostrophe may separate thousands."""
FORM = "!form"
"""Name of the control that says which form was sent."""
CONFIRMED = "!sure"
"""Name of the control that confirms a move after a warning; its value may name a pressed button for "none"."""
REPLACES = "!replaces"
"""Name of the control with the number of the event of the sealed answer that this one replaces."""
AGE = "!age"
"""How many milliseconds ago the participant made the move, if the page says so."""
SIGHT = "!sight"
"""How many milliseconds each block was in sight since the question was shown, as JSON, if the page says so."""
TRIES = "!tries"
"""What the participant tried since the question was shown, as JSON, if the page says so."""
_RESERVED = frozenset({"answering", "position", "csrfmiddlewaretoken", FORM, CONFIRMED, REPLACES, AGE, SIGHT, TRIES})
NONE = "!none"
"""Suffix of the control that chooses "none" for a field."""
NULL = "null"
"""Value that a button sends for "none"."""
MAX_SLOTS = 12
"""The longest list with one control per entry; longer ones are entered line by line."""
_NUMBERS = frozenset({"number", "integer"})
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
        unit: of a result (`games.results.in_unit`).
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
    unit: str = ""

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
            bounds = [_("from {low} to {high}").format(low=low, high=high)]
        else:
            least = _("more than {low}") if self.beyond_minimum else _("at least {low}")
            most = _("less than {high}") if self.below_maximum else _("at most {high}")
            bounds = [] if low is None else [least.format(low=low)]
            bounds += [] if high is None else [most.format(high=high)]
        number_kind = [_("a whole number")] if self.kind == "integer" else []
        limits_text = ", ".join([*number_kind, *bounds])
        return limits_text[:1].upper() + limits_text[1:]


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
        return tuple((str(choice), _(str(choice))) for choice in self.field.choices if choice is not None)


@dataclass(frozen=True)
class BoundForm:
    """A form for a template."""

    name: str
    title: str
    help: str
    fields: tuple[BoundField, ...] = ()
    warning: str = ""
    """A question to confirm before the move is sent."""
    ends_turn: bool = True

    @property
    def by_name(self) -> dict[str, BoundField]:
        return {bound.field.name: bound for bound in self.fields}

    @property
    def pressed(self) -> str:
        """Return the name of the control that chose "none" for a field; empty if none did."""
        return next((field.field.name + NONE for field in self.fields if field.none_chosen), "")

    @property
    def is_notepad(self) -> bool:
        """Return whether the form is a single text note, saved while it is typed."""
        return not self.ends_turn and len(self.fields) == 1 and self.fields[0].field.kind == "text"

    @property
    def buttons(self) -> BoundField | None:
        """Return the field of a form with a single choice, shown as a row of buttons; else None."""
        if len(self.fields) != 1:
            return None
        field = self.fields[0]
        return field if field.required and field.kind in ("choice", "boolean") else None


@lru_cache(maxsize=256)
def fields_of(model: type[BaseModel]) -> tuple[Field, ...]:
    """Return the fields of a pydantic model, read from its JSON schema."""
    schema = model.model_json_schema()
    return _parts(schema, schema.get("$defs", {}))


def _parts(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> tuple[Field, ...]:
    required = set(schema.get("required", ()))
    return tuple(
        _field(name, subschema, definitions, required=name in required)
        for name, subschema in schema["properties"].items()
    )


def _resolved(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Return a property with references resolved and "or null" separated.

    If a value may be a dictionary or a string, only the dictionary counts: the string is the same as JSON text.
    """
    resolved = dict(schema)
    if "$ref" in resolved:
        resolved = {**definitions[resolved.pop("$ref").rsplit("/", 1)[-1]], **resolved}
    options = resolved.pop("anyOf", None)
    if options:
        alternatives = [_resolved(option, definitions) for option in options if option.get("type") != "null"]
        if {option.get("type") for option in alternatives} == {"object", "string"} and len(alternatives) == 2:
            alternatives = [option for option in alternatives if option["type"] == "object"]
        nullable = any(option.get("type") == "null" for option in options)
        resolved = {**(alternatives[0] if len(alternatives) == 1 else {}), **resolved, "nullable": nullable}
    if None in resolved.get("enum", ()):
        resolved["nullable"] = True
    return resolved


_KINDS: Mapping[Any, Kind] = {"number": "number", "integer": "integer", "string": "text", "boolean": "boolean"}

_FORMATS: Mapping[Any, Kind] = {"role": "choice", "application/json": "data"}
"""The kinds of text that is not free (`games.results.Seat`, `JsonText`)."""


def _field(name: str, schema: Mapping[str, Any], definitions: Mapping[str, Any], *, required: bool = True) -> Field:
    resolved = _resolved(schema, definitions)
    choices = tuple(resolved.get("enum", ())) or ((resolved["const"],) if "const" in resolved else ())
    written = resolved.get("format") or resolved.get("contentMediaType")
    shape, parts = _shape(resolved, definitions)
    return Field(
        name=name,
        label=resolved.get("title", name),
        kind="choice" if choices else _FORMATS.get(written) or _KINDS.get(resolved.get("type"), "data"),
        help=resolved.get("description", ""),
        required=required,
        nullable=resolved.get("nullable", False),
        choices=choices,
        min_length=resolved.get("minLength"),
        max_length=resolved.get("maxLength"),
        minimum=resolved.get("minimum", resolved.get("exclusiveMinimum")),
        maximum=resolved.get("maximum", resolved.get("exclusiveMaximum")),
        beyond_minimum="exclusiveMinimum" in resolved,
        below_maximum="exclusiveMaximum" in resolved,
        default=resolved.get("default"),
        shape=shape,
        parts=parts,
        none=resolved.get("none", ""),
        unit=resolved.get("unit", ""),
    )


def _shape(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> tuple[Shape, tuple[Field, ...]]:
    """Return how a list or dictionary is entered, and its fields."""
    if schema.get("type") == "object":
        if "properties" in schema:
            return "group", _parts(schema, definitions)
        value_schema = schema.get("additionalProperties")
        if not isinstance(value_schema, Mapping):
            return "", ()
        keys = _resolved(schema.get("propertyNames", {}), definitions)
        if names := (*keys.get("enum", ()), *([keys["const"]] if "const" in keys else ())):
            schemas = {str(name): {**value_schema, "title": str(name)} for name in names}
            return "group", tuple(
                _field(name, subschema, definitions, required=False) for name, subschema in schemas.items()
            )
        value = _field("", value_schema, definitions)
        return ("pairs", (value,)) if value.kind in _SCALARS else ("", ())
    if schema.get("type") == "array":
        return _shape_of_list(schema, definitions)
    return "", ()


def _shape_of_list(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> tuple[Shape, tuple[Field, ...]]:
    least, most = schema.get("minItems", 0), schema.get("maxItems")
    items = schema.get("prefixItems") or [schema.get("items", {})] * (most or 0)
    if schema.get("uniqueItems"):
        element = _field("", schema.get("items", {}), definitions)
        if element.kind == "choice" and least == 0:
            return "several", (element,)
    if most is not None and 0 < len(items) <= MAX_SLOTS:
        slots = (
            _field(str(position), {"title": str(position), **item}, definitions, required=position <= least)
            for position, item in enumerate(items, start=1)
        )
        # an empty slot is not an entry, so "none" needs a control
        return "slots", tuple(replace(slot, default="") if slot.nullable else slot for slot in slots)
    element = _field("", schema.get("items", {}), definitions)
    return ("lines", (element,)) if element.kind in _SCALARS else ("", ())


def shown_forms(play: Play, role: Role) -> tuple[Form, ...]:
    """Return the forms on a participant's page; those on request only if the configuration shows them."""
    requested = play.game.on_pages()
    return tuple(form for form in play.forms(role) if not form.on_request or form.name in requested)


# ---- showing -----------------------------------------------------------------------------------


def bind(form: Form, posted: Mapping[str, str] | None = None, errors: Mapping[str, str] | None = None) -> BoundForm:
    """Return `form` to be shown, with the values entered before (or its initial ones) and the errors."""
    posted, errors = posted or {}, errors or {}
    if posted.get(FORM, form.name) != form.name:
        posted = {}
    if not posted and form.begins_with is not None:
        posted = as_posted(form.model, form.begins_with)
    about = (form.name, form.title, form.help, form.model, tuple(form.labels.items()), form.ends_turn)
    return _bound(posted, errors, *about) if posted or errors else _unfilled(*about)


@cached_by_language
def _unfilled(*about: Any) -> BoundForm:
    return _bound({}, {}, *about)


def _bound(
    posted: Mapping[str, str],
    errors: Mapping[str, str],
    name: str,
    title: str,
    help: str,
    model: type[BaseModel],
    labels: tuple[tuple[str, str], ...],
    ends_turn: bool,
) -> BoundForm:
    labelled = (replace(field, label=dict(labels).get(field.name, field.label)) for field in fields_of(model))
    fields = (_bind_field(field, field.name, posted, str(errors.get(field.name, ""))) for field in labelled)
    return BoundForm(name, _(title), _(help), tuple(fields), str(errors.get(CONFIRMED + name, "")), ends_turn)


def _bind_field(field: Field, name: str, posted: Mapping[str, str], error: str = "") -> BoundField:
    field = replace(field, label=_(field.label), help=_(field.help), none=_(field.none))
    value = posted.get(name, _text(field.default) if field.kind in ("choice", "boolean") else "")
    parts: Iterable[BoundField] = ()
    if field.shape == "several":
        parts = (
            BoundField(
                replace(field.parts[0], label=str(choice)),
                f"{name}:{choice}",
                "true" if posted.get(f"{name}:{choice}") else "",
            )
            for choice in field.parts[0].choices
        )
    elif field.shape in ("group", "slots"):
        parts = (_bind_field(part, f"{name}:{part.name}", posted) for part in field.parts)
    return BoundField(field, name, value, error, bool(posted.get(name + NONE)), tuple(parts))


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return typed(value)
    return "" if value is None else str(value)


def typed(value: float) -> str:
    """Return a number as typed in the page's language; a fourth decimal keeps three from looking like thousands."""
    text = str(value).removesuffix(".0")
    text += "0" if re.search(r"\.\d{3}$", text) else ""
    return text.replace(".", formats.get_format("DECIMAL_SEPARATOR"))


# ---- reading -----------------------------------------------------------------------------------


def read(model: type[BaseModel], posted: Mapping[str, str]) -> dict[str, Any]:
    """Return what a page sent as plain data, which the rules then check.

    Empty fields are omitted, numbers are read by the page's language (`doubts`: which could mean something else), and
    invalid values stay text, so that the rules refuse them with their own messages.
    """
    fields = fields_of(model)
    data = _read_all(fields, "", posted)
    field_names = {field.name for field in fields}
    return data | {name: posted[name] for name in posted.keys() - _RESERVED if _top_level_name(name) not in field_names}


def _top_level_name(name: str) -> str:
    """Return the field of the move that a control belongs to."""
    return name.partition(":")[0].removesuffix(NONE)


def _read_all(fields: Iterable[Field], prefix: str, posted: Mapping[str, str]) -> dict[str, Any]:
    values = {field.name: _read(field, prefix + field.name, posted) for field in fields}
    return {name: value for name, value in values.items() if value is not _ABSENT}


_ABSENT: Any = object()


def _read(field: Field, name: str, posted: Mapping[str, str]) -> Any:
    """Return the value of one field; `_ABSENT` if it was left empty."""
    if posted.get(name + NONE):
        return None
    text = posted.get(name, "")
    if field.shape in ("group", "slots", "several"):
        return _read_parts(field, name, posted)
    if field.kind == "text" and field.required and name in posted and not field.min_length:
        return text.replace("\r\n", "\n")
    if field.shape in ("lines", "pairs") and field.required and name in posted:
        return _read_lines(field, text)
    if not text.strip():
        return _ABSENT
    if field.offers_none and text == NULL and field.kind != "text":
        return None
    return _read_lines(field, text) if field.shape else _value(field, text)


def _read_parts(field: Field, name: str, posted: Mapping[str, str]) -> Any:
    if name in posted:  # a game's own page sends it as JSON
        return _value(field, posted[name])
    if field.shape == "several":
        chosen: Any = [choice for choice in field.parts[0].choices if posted.get(f"{name}:{choice}")]
    else:
        chosen = _read_all(field.parts, f"{name}:", posted)
        if field.shape == "slots":
            chosen = list(chosen.values())
    return chosen if chosen or field.required else _ABSENT


def _read_lines(field: Field, text: str) -> Any:
    """Return the entries of a list or dictionary, one per line; JSON is accepted too."""
    if text.strip()[:1] in ("[", "{") and not isinstance(data := _value(field, text), str):
        return data
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    entry_field = field.parts[0]
    if field.shape == "lines":
        return [_value(entry_field, line) for line in lines]
    pairs = [line.partition(":") for line in lines]
    return {key.strip(): _value(entry_field, value.strip()) for key, _colon, value in pairs}


def _value(field: Field, text: str) -> Any:
    if field.kind in ("number", "integer"):
        return _number(text.strip(), integer=field.kind == "integer")
    if field.kind == "choice":
        return next((choice for choice in field.choices if str(choice) == text), text)
    if field.kind == "boolean":
        return {"on": True, "true": True, "1": True, "false": False, "0": False}.get(text, text)
    if field.kind == "data":
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text.replace("\r\n", "\n")


def _number(text: str, *, integer: bool) -> float | int | str:
    readings = _readings(text)
    return next((value for value in (_as_value(reading, integer) for reading in readings) if value is not None), text)


def _as_value(reading: str, integer: bool) -> float | int | None:
    """Return the value of a number written with a point; None if there is none, or it is not whole but must be."""
    whole, _point, fraction = reading.partition(".")
    try:
        if integer or not _point:
            return int(whole) if not fraction.strip("0") else None
        return float(reading)
    except ValueError:
        return _float(reading) if not integer else None


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def controls(fields: Iterable[Field], prefix: str = "") -> Iterator[str]:
    """Yield the names of the controls of these fields, one for each part."""
    for field in fields:
        name = prefix + field.name
        if field.shape in ("group", "slots"):
            yield from controls(field.parts, f"{name}:")
        else:
            yield name


def _readings(text: str) -> list[str]:
    """Return what a typed number can mean, written with a point: by the page's decimal mark, then by the other.

    "5.000" is 5 on an English page and 5000 on a German one, and may have been meant either way; "12,5" and
    "1.234,50" can mean only one number on any page.
    """
    match = _TYPED.fullmatch(text.strip())
    if match is None or (match[1] and match[2]):
        return []
    sign, digits = "-" if {match[1], match[2]} & {"-", "−"} else "", match[3]
    marks = (r"\.", ",") if formats.get_format("DECIMAL_SEPARATOR") != "," else (",", r"\.")
    found = [parts for mark in marks if (parts := _DIGITS[mark].fullmatch(digits))]
    plain = [re.sub(r"\D", "", parts[1]) + ("" if parts[3] is None else f".{parts[3]}") for parts in found]
    return [sign + reading for reading in dict.fromkeys(plain or [digits])]


@dataclass(frozen=True)
class Doubt:
    """A typed number that can be read in two ways, which differ by a factor of a thousand.

    Attributes:
        name: of its control.
        value: how it is read.
        other: the other reading.
        is_foreign: the reading of another language than the page's, since the page's own fits no whole number.
    """

    name: str
    typed: str
    value: float
    other: float
    is_foreign: bool = False


def doubts(model: type[BaseModel], posted: Mapping[str, str]) -> list[Doubt]:
    """Return the typed numbers that can be read in two ways."""
    found = []
    for name, field, texts in _typed_numbers(fields_of(model), "", posted):
        for text in texts:
            values = [_as_value(reading, field.kind == "integer") for reading in _readings(text)]
            if len(values) < 2 or values[1] is None:
                continue
            is_foreign = values[0] is None
            if is_foreign:
                values = [values[1], _float(_readings(text)[0])]
            value, other = values
            if value is not None and other is not None and value != other:
                found.append(Doubt(name, text.strip(), value, other, is_foreign))
    return found


def otherwise(posted: Mapping[str, str], doubted: Iterable[Doubt]) -> dict[str, str]:
    """Return what was posted with the other reading of these numbers."""
    changed = dict(posted)
    for doubt in doubted:
        changed[doubt.name] = changed[doubt.name].replace(doubt.typed, typed(doubt.other))
    return changed


def _typed_numbers(
    fields: Iterable[Field], prefix: str, posted: Mapping[str, str]
) -> Iterator[tuple[str, Field, list[str]]]:
    """Yield the name of each posted control into which numbers were typed, what they are, and the numbers."""
    for field in fields:
        name = prefix + field.name
        entry = field.parts[0] if field.shape in ("lines", "pairs") else field
        if field.shape in ("group", "slots") and name not in posted:
            yield from _typed_numbers(field.parts, f"{name}:", posted)
        elif name in posted and entry.kind in _NUMBERS:
            lines = posted[name].splitlines() if field.shape else [posted[name]]
            yield name, entry, [line.partition(":")[2] if field.shape == "pairs" else line for line in lines]


def form_for(forms: tuple[Form, ...], posted: Mapping[str, str]) -> Form:
    """Return the form that a page sent: the one it names, or else the one whose fields match best."""
    named_form = next((form for form in forms if form.name == posted.get(FORM)), None)
    sent_names = {_top_level_name(name) for name in posted}
    return named_form or max(forms, key=lambda form: len({field.name for field in fields_of(form.model)} & sent_names))


def text_fields(forms: Sequence[Form]) -> tuple[str, ...]:
    """Return the names of these forms' free-text fields."""
    names = (field.name for form in forms for field in fields_of(form.model) if field.kind == "text")
    return tuple(dict.fromkeys(names))


# ---- filling in --------------------------------------------------------------------------------


def as_posted(model: type[BaseModel], move: Mapping[str, Any]) -> dict[str, str]:
    """Return what a participant enters on the generic page to make this move: the inverse of `read`."""
    posted: dict[str, str] = {}
    for field in fields_of(model):
        if field.name in move:
            _fill(field, field.name, move[field.name], posted)
    return posted


def _fill(field: Field, name: str, value: Any, posted: dict[str, str]) -> None:
    if value is None:
        if field.offers_none:
            posted[name + NONE] = "true"
    elif field.shape == "several" and isinstance(value, list):
        posted.update({f"{name}:{choice}": "true" for choice in value})
    elif field.shape in ("group", "slots") and isinstance(value, dict | list):
        entries = (
            value
            if isinstance(value, dict)
            else {str(position): element for position, element in enumerate(value, start=1)}
        )
        for part in field.parts:
            if part.name in entries:
                _fill(part, f"{name}:{part.name}", entries[part.name], posted)
    elif field.kind == "data":
        posted[name] = _as_lines(field, value)
    else:
        posted[name] = _text(value)


def _as_lines(field: Field, value: Any) -> str:
    is_simple = field.shape and field.parts[0].kind != "text"
    if is_simple and isinstance(value, list):
        return "\n".join(map(_text, value))
    if is_simple and isinstance(value, dict):
        return "\n".join(f"{key}: {_text(element)}" for key, element in value.items())
    return json.dumps(value)
