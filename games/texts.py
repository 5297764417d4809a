"""Instruction texts: one Jinja template per game, read by people and models alike.

Researchers edit these templates, so they render in a bounded sandbox (`games.bounded`) and see only the
variables that the game gives for the reader's role.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from traceback import extract_tb
from typing import Any

from jinja2 import TemplateError, TemplateSyntaxError, meta, nodes, pass_context

from games.bounded import BoundedEnvironment
from games.catalogues import SOURCE
from games.errors import BadText
from games.words import exact, in_amounts, language, number, percent
from games.words import gettext as _


@pass_context
def _money(context: Any, amount: float) -> str:
    """Return a game's amount in the reader's unit: the variable `amounts` says which ("points" or "dollars")."""
    return in_amounts(+amount, context.get("amounts", "dollars"))


def _number(value: float) -> str:
    """Return `number`; the sign's operator names an unknown variable, which `round` does not (`_money`, too)."""
    return number(+value)


_environment = BoundedEnvironment({"money": _money, "percent": percent, "number": _number, "exact": exact})
NO_FILE = "<template>"
"""Jinja's name in tracebacks for a template without a file."""


def read(game: str, name: str) -> str:
    """Return the text file `name` in the folder `games/<game>/texts`, in the reader's language if it exists."""
    translated = _translated(name, language())
    return _read(game, translated if exists(game, translated) else name)


@cache
def _read(game: str, name: str) -> str:
    return _file(game, name).read_text(encoding="utf-8")


def _translated(name: str, code: str) -> str:
    """Return the name of a file in a language: instructions.md is instructions.de.md in German."""
    return name if code == SOURCE else f"{Path(name).stem}.{code}{Path(name).suffix}"


def lacks(game: str, code: str) -> str:
    """Return the first file that a game needs in a language and does not have; empty if there is none."""
    needed = [] if code == SOURCE else [f"{code}.po", _translated("instructions.md", code)]
    return next((name for name in needed if not exists(game, name)), "")


@cache
def exists(game: str, name: str) -> bool:
    """Return whether there is such a file."""
    return _file(game, name).is_file()


def _file(game: str, name: str) -> Path:
    return Path(__file__).parent / game / "texts" / name


@lru_cache(maxsize=256)
def _compile(template: str) -> Any:
    return _environment.compiled_bounded(template)


class _Key(str):
    """Variables as a cache's key, their repr: 1, 1.0 and True are equal but look different."""

    variables: Mapping[str, Any]


def render(template: str, variables: Mapping[str, Any]) -> str:
    """Return `template` with `variables` filled in; everyone in a seat reads the same.

    Raises:
        BadText: it does not parse or uses an unknown variable.
    """
    key = _Key(variables)
    key.variables = variables
    return _rendered(template, key, language())


@lru_cache(maxsize=512)
def _rendered(template: str, key: _Key, language: str) -> str:
    variables = key.variables
    try:
        text = _environment.rendered(_compile(template), variables)
    except (TemplateError, TypeError, ValueError, ArithmeticError) as error:
        check(template, variables)  # names the line and the variables that there are
        raise BadText(_("This text cannot be shown: {reason}").format(reason=error)) from None
    return text.strip() + "\n"


@lru_cache(maxsize=256)
def used_variables(template: str) -> frozenset[str]:
    """Return the variables that a template uses; none if it does not parse."""
    try:
        return frozenset(meta.find_undeclared_variables(_environment.parse(template)))
    except TemplateSyntaxError:
        return frozenset()


def check(template: str, sample: Mapping[str, Any], *, verbatim: Collection[str] = ()) -> None:
    """Refuse a template that cannot be rendered, before anyone reads it.

    Args:
        sample: a value for every known variable.
        verbatim: variables that may only be printed unchanged or tested for emptiness.

    Raises:
        BadText: naming the line and the unknown variable.
    """
    try:
        compiled = _compile(template)
        parsed = _environment.parse(template)
        unknown = meta.find_undeclared_variables(parsed) - sample.keys()
        for name in parsed.find_all(nodes.Name):
            if name.name in unknown and name.ctx == "load":
                raise BadText(
                    _("Line {line}: there is no variable “{name}”; there are {names}.").format(
                        line=name.lineno, name=name.name, names=", ".join(sample)
                    )
                )
        unchanged = {id(name) for name in _printed_or_tested(parsed)}
        for name in parsed.find_all(nodes.Name):
            if name.name in verbatim and id(name) not in unchanged:
                raise BadText(
                    _("Line {line}: “{name}” can only be printed unchanged or tested for being empty.").format(
                        line=name.lineno, name=name.name
                    )
                )
        _environment.rendered(compiled, sample)
    except TemplateSyntaxError as error:
        raise BadText(_("Line {line}: {reason}").format(line=error.lineno, reason=error.message)) from None
    except (TemplateError, TypeError, ValueError, ArithmeticError) as error:
        line = max(
            (frame.lineno or 0 for frame in extract_tb(error.__traceback__) if frame.filename == NO_FILE), default=1
        )
        raise BadText(_("Line {line}: {reason}").format(line=line, reason=error)) from None


def _printed_or_tested(parsed: nodes.Template) -> Iterator[nodes.Node]:
    """Yield the names that are alone in {{ … }}, or alone (possibly negated) in an if."""
    for output in parsed.find_all(nodes.Output):
        yield from output.nodes
    for branch in parsed.find_all(nodes.If):
        yield branch.test.node if isinstance(branch.test, nodes.Not) else branch.test
