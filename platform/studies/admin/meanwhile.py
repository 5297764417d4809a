"""What others saved in a study while someone edited its form, field by field.

The form carries a digest of each field as it was opened. When it is sent, fields that others have changed since then
are shown once with both values. Fields that this person left alone take the others' value; where both changed a
field, they choose.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django import forms
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import ValidationError
from django.db.models import Model
from django.forms.boundfield import BoundField
from django.http import QueryDict
from django.utils.translation import gettext as _

from studies.admin.entry_fields import EntryField

OPENED = "opened_with"
"""The form field with the digests of the other fields' values as they were opened."""
THEIRS = "take_theirs"
"""The names of the fields whose value the person gives up for the stored one."""


@dataclass(frozen=True)
class Row:
    """A field that others changed meanwhile.

    Attributes:
        taken: whether the form now has the others' value, because this person had not changed the field.
        lines: the difference between both values, if one has several lines.
    """

    name: str
    label: str
    theirs: str
    mine: str
    taken: bool
    lines: tuple[Line, ...]


def opened_with(form: forms.ModelForm) -> str:
    """Return the digests of the stored values of all fields, for the hidden field `OPENED`."""
    return json.dumps({bound.name: _digest(bound, bound.initial) for bound in _compared(form)})


def merge(form: forms.ModelForm) -> list[Row]:
    """Put others' values into the form's data where they are chosen or uncontested; return what others changed.

    Afterwards the form's data is based on what is stored now.
    """
    form.data = data = form.data.copy()
    opened = _read_digests(data.get(OPENED, ""))
    if not opened:
        return []
    rows = []
    for bound in _compared(form):
        if bound.name in data.getlist(THEIRS):
            _put_stored(data, bound)
        theirs, mine, base = _digest(bound, bound.initial), _digest(bound, bound.data), opened.get(bound.name)
        if base is None or theirs in (base, mine):
            continue
        texts = _shown(bound, bound.initial), _shown(bound, bound.data)
        lines = difference(texts[1], texts[0]) if any("\n" in text for text in texts) else ()
        rows.append(Row(bound.name, str(bound.label), *texts, mine == base, lines))
        if mine == base:
            _put_stored(data, bound)
    data[OPENED] = opened_with(form)
    return rows


def without_base(data: QueryDict) -> QueryDict:
    """Return form data for a preview, which overwrites nothing and so needs no comparison."""
    copied = data.copy()
    copied.pop(OPENED, None)
    return copied


def last_change(row: Model) -> LogEntry | None:
    """Return the latest entry in the row's history."""
    entries = LogEntry.objects.filter(content_type=ContentType.objects.get_for_model(row), object_id=str(row.pk))
    return entries.select_related("user").order_by("-action_time").first()


def _compared(form: forms.ModelForm) -> Iterator[BoundField]:
    return (form[name] for name, field in form.fields.items() if name not in (OPENED, "game") and not field.disabled)


def _read_digests(text: str) -> Mapping[str, str]:
    try:
        digests = json.loads(text)
    except ValueError:
        return {}
    return digests if isinstance(digests, dict) else {}


def _digest(bound: BoundField, value: Any) -> str:
    text = json.dumps(_plain(bound, value) or None, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _plain(bound: BoundField, value: Any) -> Any:
    """Return a stored or posted value in the same form, so that both can be compared."""
    if isinstance(bound.field, EntryField):
        related = bound.field.widget.entry.related
        return {key: str(entry) for key, entry in (value or {}).items() if key not in related}
    with suppress(ValidationError):  # an invalid value is compared as typed
        value = bound.field.to_python(value)
    if isinstance(value, str):
        return value.replace("\r\n", "\n").strip()
    if isinstance(value, Decimal | float):
        return str(Decimal(str(value)).normalize())
    return sorted(value) if isinstance(bound.field, forms.MultipleChoiceField) else value


def _shown(bound: BoundField, value: Any) -> str:
    plain = _plain(bound, value)
    if isinstance(plain, bool):
        return _("yes") if plain else _("no")
    choices = {str(key): str(title) for key, title in getattr(bound.field, "choices", ())}
    if isinstance(plain, list) and choices:
        return ", ".join(choices.get(str(entry), str(entry)) for entry in plain)
    if isinstance(plain, dict | list):
        return json.dumps(plain, ensure_ascii=False, indent=1, default=str) if plain else _("none")
    return choices.get(str(plain), str(plain)) if plain not in (None, "") else _("none")


def _put_stored(data: QueryDict, bound: BoundField) -> None:
    """Put the field's stored value into posted data, as a browser would send it."""
    name, value = bound.html_name, bound.field.prepare_value(bound.initial)
    for key in [key for key in data if key == name or key.startswith(f"{name}:")]:
        del data[key]
    if isinstance(bound.field, EntryField):
        data.update({f"{name}:{key}": entry for key, entry in value.items()})
    elif isinstance(value, list | tuple):
        data.setlist(name, [str(entry) for entry in value])
    elif value is not None and value is not False:
        data[name] = "on" if value is True else str(value)
