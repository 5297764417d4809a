"""Plans as text: YAML 1.2 or JSON."""

from __future__ import annotations

import io
import json
import math
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.constructor import DuplicateKeyError, SafeConstructor
from ruamel.yaml.error import YAMLError
from ruamel.yaml.events import AliasEvent

from games.interface import Json
from games.words import gettext as _
from plans.plan import Document
from plans.reading import BadPlan, Fault

MAX_BYTES = 4_000_000
MAX_DEPTH = 60
WIDTH = 110


class _Constructor(SafeConstructor):
    """Reads dates as the words that were written."""


_Constructor.add_constructor("tag:yaml.org,2002:timestamp", SafeConstructor.construct_yaml_str)


def loads(text: str) -> dict[str, Json]:
    """Return the document in a YAML or JSON text.

    Raises:
        BadPlan: it cannot be read; the fault names the line.
    """
    if len(text.encode()) > MAX_BYTES:
        raise _bad(_("The file is too large: at most {most} MB.").format(most=MAX_BYTES // 1_000_000))
    try:
        data = _json(text) if text.lstrip().startswith("{") else _yaml(text)
    except DuplicateKeyError as error:
        raise _bad(_at_line(error, _("A key is written twice."))) from None
    except YAMLError as error:
        raise _bad(_at_line(error, str(getattr(error, "problem", error)))) from None
    except (ValueError, RecursionError) as error:
        raise _bad(str(error)) from None
    if not isinstance(data, dict):
        raise _bad(_("A plan is a list of named parts, such as “title: …”."))
    if not _is_plain(data, 0):
        raise _bad(_("A plan has only texts, finite numbers, lists and named parts, not nested too deeply."))
    return data


def dumps(document: Document) -> str:
    """Return a document as YAML, in its own order."""
    yaml = YAML(pure=True)
    yaml.version = None
    yaml.width = WIDTH
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.representer.add_representer(str, _represent_text)
    yaml.representer.add_representer(
        type(None), lambda representer, _value: representer.represent_scalar("tag:yaml.org,2002:null", "null")
    )
    stream = io.StringIO()
    yaml.dump(_plain(document), stream)
    return stream.getvalue()


def _represent_text(representer: Any, text: str) -> Any:
    style = "|" if "\n" in text and not any(line != line.rstrip() for line in text.split("\n")) else None
    return representer.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _plain(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _plain(child) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(child) for child in value]
    return value


def _yaml(text: str) -> Any:
    yaml = YAML(typ="safe", pure=True)
    if any(isinstance(event, AliasEvent) for event in yaml.parse(text)):
        raise ValueError(_("References (*name) are not allowed in a plan."))
    yaml = YAML(typ="safe", pure=True)
    yaml.Constructor = _Constructor
    return yaml.load(text)


def _json(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_refuse_twice)


def _refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _value in pairs]
    for key in keys:
        if keys.count(key) > 1:
            raise ValueError(_("The key “{key}” is written twice.").format(key=key))
    return dict(pairs)


def _is_plain(value: Any, depth: int) -> bool:
    if depth > MAX_DEPTH:
        return False
    if isinstance(value, dict):
        return all(isinstance(key, str | int | float) for key in value) and all(
            _is_plain(child, depth + 1) for child in value.values()
        )
    if isinstance(value, list):
        return all(_is_plain(child, depth + 1) for child in value)
    return value is None or isinstance(value, str | bool | int) or (isinstance(value, float) and math.isfinite(value))


def _at_line(error: Any, what: str) -> str:
    mark = getattr(error, "problem_mark", None)
    return what if mark is None else _("Line {line}: {what}").format(line=mark.line + 1, what=what)


def _bad(what: str) -> BadPlan:
    return BadPlan([Fault("", what)])
