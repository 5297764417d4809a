"""Plans as text: YAML 1.2 or JSON."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer
from ruamel.yaml.constructor import DuplicateKeyError, SafeConstructor
from ruamel.yaml.error import YAMLError
from ruamel.yaml.events import AliasEvent

from games.interface import Json
from games.words import gettext as _
from plans.plan import Document
from plans.reading import BadPlan, Fault
from plans.varying import factor_of, is_varied, level_key

MAX_BYTES = 4_000_000
MAX_DEPTH = 60
WIDTH = 110
ROLE = "role"
"""The factor that needs no declaration: participants' seats as cells."""


class _Constructor(SafeConstructor):
    """Reads dates as the words that were written."""


_Constructor.add_constructor("tag:yaml.org,2002:timestamp", SafeConstructor.construct_yaml_str)


class _Composer(Composer):
    """Refuses references, which make small files huge, and deep nesting, which takes long to read."""

    depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.parser.check_event(AliasEvent):
            raise ValueError(_("References (*name) are not allowed in a plan."))
        if self.depth > MAX_DEPTH:
            raise ValueError(_("A plan is not nested deeper than {most} levels.").format(most=MAX_DEPTH))
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


def loads(text: str) -> dict[str, Json]:
    """Return the document in a YAML or JSON text; keys that are numbers or truth values become level keys.

    Raises:
        BadPlan: it cannot be read; the fault names the line.
    """
    if len(text.encode(errors="replace")) > MAX_BYTES:
        raise _bad(_("The file is too large: at most {most} MB.").format(most=MAX_BYTES // 1_000_000))
    text = text.removeprefix("\ufeff")
    try:
        is_json = re.match(r'\s*\{\s*["}]', text)
        data = json.loads(text, object_pairs_hook=_refuse_twice) if is_json else _yaml(text)
        if not isinstance(data, dict):
            raise ValueError(_("A plan is a list of named parts, such as “title: …”."))
        document: dict[str, Json] = _plain(data)
    except DuplicateKeyError as error:
        raise _bad(_at_line(error, _("A key is written twice."))) from None
    except YAMLError as error:
        raise _bad(_at_line(error, str(getattr(error, "problem", None) or error).partition("\n")[0])) from None
    except RecursionError:
        raise _bad(_("A plan is not nested deeper than {most} levels.").format(most=MAX_DEPTH)) from None
    except (ValueError, TypeError, AssertionError) as error:
        raise _bad(str(error)) from None
    return _with_roles(_with_level_keys(document))


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
    yaml.dump(_copied(document), stream)
    return stream.getvalue()


def _represent_text(representer: Any, text: str) -> Any:
    style = "|" if "\n" in text and not any(line != line.rstrip() for line in text.split("\n")) else None
    return representer.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _copied(value: Json) -> Json:
    """Return equal data in which nothing occurs twice, since YAML would write references."""
    if isinstance(value, Mapping):
        return {key: _copied(child) for key, child in value.items()}
    return [_copied(child) for child in value] if isinstance(value, list | tuple) else value


def _yaml(text: str) -> Any:
    if (version := re.match(r"\s*%YAML\s+(\S+)", text)) and version[1] != "1.2":
        raise ValueError(_("A plan is YAML 1.2."))
    yaml = YAML(typ="safe", pure=True)
    yaml.Composer, yaml.Constructor = _Composer, _Constructor
    return yaml.load(text)


def _refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        keys = [key for key, _value in pairs]
        raise ValueError(_twice(next(key for key in data if keys.count(key) > 1)))
    return data


def _twice(key: str) -> str:
    return _("The key “{key}” is written twice.").format(key=key)


def _plain(value: Any, depth: int = 0) -> Json:
    """Return data as JSON has them.

    Raises:
        ValueError: something cannot be in a plan.
    """
    if depth > MAX_DEPTH:
        raise ValueError(_("A plan is not nested deeper than {most} levels.").format(most=MAX_DEPTH))
    if isinstance(value, dict):
        found: dict[str, Json] = {}
        for key, child in value.items():
            if not isinstance(key, str | int | float):
                raise ValueError(_("The name of a part is a word or a number."))
            if (name := str(_plain(level_key(key)))) in found:
                raise ValueError(_twice(name))
            found[name] = _plain(child, depth + 1)
        return found
    if isinstance(value, list):
        return [_plain(child, depth + 1) for child in value]
    if isinstance(value, str):
        if "\0" in value or value.encode(errors="ignore").decode() != value:
            raise ValueError(_("A text has characters that cannot be stored."))
        return value
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise ValueError(_("A plan has only texts, finite numbers, truth values, lists and named parts."))


# ---- ways to write the same ------------------------------------------------------------------------------------


def _with_level_keys(document: dict[str, Json]) -> dict[str, Json]:
    """Return a document whose values have their levels' keys: "100" where “100.0” is written for the number 100."""
    words = {node for node in _nodes(document.get("factors")) if isinstance(node, str)}

    def walk(node: Json) -> Json:
        if isinstance(node, list):
            return [walk(child) for child in node]
        if not isinstance(node, dict):
            return node
        node = {key: walk(child) for key, child in node.items()}
        if is_varied(node) and isinstance(values := node.get("values"), dict):
            keys = {key: key if key in words else _number_key(key) for key in values}
            if len(set(keys.values())) == len(keys):
                return {**node, "values": {keys[key]: child for key, child in values.items()}}
        return node

    return {name: part if name == "factors" else walk(part) for name, part in document.items()}


def _number_key(key: str) -> str:
    """Return the level key of a number that a key writes; other keys as they are."""
    if not re.fullmatch(r"-?\d+(\.\d+)?([eE][-+]?\d+)?", key, re.ASCII):
        return key
    number = float(key)
    return level_key(number) if math.isfinite(number) and ("." in key or "e" in key.lower()) else key


def _with_roles(document: dict[str, Json]) -> dict[str, Json]:
    """Return a document with the factor of roles, whose levels are the seats that `by: role` gives values for."""
    factors = document.get("factors", {})
    if not isinstance(factors, dict) or ROLE in factors:
        return document
    nodes = [node for node in _nodes(document.get("journey")) if is_varied(node) and factor_of(node) == (ROLE, ())]
    seats = [seat for node in nodes if isinstance(node.get("values"), dict) for seat in node["values"]]
    return {**document, "factors": {**factors, ROLE: {"levels": list(dict.fromkeys(seats))}}} if seats else document


def _nodes(node: Json) -> Iterator[Any]:
    yield node
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _nodes(child)


def _at_line(error: Any, what: str) -> str:
    mark = getattr(error, "problem_mark", None)
    return what if mark is None else _("Line {line}: {what}").format(line=mark.line + 1, what=what)


def _bad(what: str) -> BadPlan:
    return BadPlan([Fault("", what)])
