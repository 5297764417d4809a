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
from games.errors import BadText
from games.words import exact, in_amounts, number, percent
from games.words import gettext as _


@pass_context
def _money(context: Any, amount: float) -> str:
    """A game's amount in the reader's unit: the variable `amounts` says which ("points" or "dollars")."""
    return in_amounts(amount, context.get("amounts", "dollars"))


_environment = BoundedEnvironment({"money": _money, "percent": percent, "number": number, "exact": exact})
NAMELESS = "<template>"
"""What Jinja calls a template without a file in tracebacks."""


@cache
def read(game: str, name: str) -> str:
    """The text file `name` of the folder `games/<game>/texts`."""
    return (Path(__file__).parent / game / "texts" / name).read_text(encoding="utf-8")


@lru_cache(maxsize=256)
def _compile(template: str) -> Any:
    return _environment.bounded(template)


def render(template: str, variables: Mapping[str, Any]) -> str:
    """`template` with `variables` filled in.

    Raises:
        BadText: it does not parse, or names a variable that there is not.
    """
    try:
        text = _environment.written(_compile(template), variables)
    except (TemplateError, TypeError, ValueError, ArithmeticError) as error:
        raise BadText(_("This text cannot be shown: {reason}").format(reason=error)) from None
    return text.strip() + "\n"


@lru_cache(maxsize=256)
def mentioned(template: str) -> frozenset[str]:
    """The variables that a template mentions; none where it does not parse."""
    try:
        return frozenset(meta.find_undeclared_variables(_environment.parse(template)))
    except TemplateSyntaxError:
        return frozenset()


def check(template: str, sample: Mapping[str, Any], *, verbatim: Collection[str] = ()) -> None:
    """Refuse a template that cannot be rendered, before anybody is to read it.

    Args:
        sample: a value for every variable that there is.
        verbatim: variables that may only be written out whole, or asked whether they are empty.

    Raises:
        BadText: naming the line, and the variable that there is not.
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
        whole = {id(name) for name in _written_or_asked(parsed)}
        for name in parsed.find_all(nodes.Name):
            if name.name in verbatim and id(name) not in whole:
                raise BadText(
                    _(
                        "Line {line}: “{name}” can only be written out as it stands, or asked whether it is empty."
                    ).format(line=name.lineno, name=name.name)
                )
        _environment.written(compiled, sample)
    except TemplateSyntaxError as error:
        raise BadText(_("Line {line}: {reason}").format(line=error.lineno, reason=error.message)) from None
    except (TemplateError, TypeError, ValueError, ArithmeticError) as error:
        line = max(
            (frame.lineno or 0 for frame in extract_tb(error.__traceback__) if frame.filename == NAMELESS), default=1
        )
        raise BadText(_("Line {line}: {reason}").format(line=line, reason=error)) from None


def _written_or_asked(parsed: nodes.Template) -> Iterator[nodes.Node]:
    """The names that stand alone in {{ … }}, or alone (perhaps negated) in an if."""
    for output in parsed.find_all(nodes.Output):
        yield from output.nodes
    for branch in parsed.find_all(nodes.If):
        yield branch.test.node if isinstance(branch.test, nodes.Not) else branch.test
