"""Instruction texts: one Jinja template per game, read by people and models alike.

Researchers edit these templates, so they render in Jinja's sandbox and see only the variables
that the game gives for the reader's role.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from games.errors import BadText
from games.words import gettext as _
from games.words import money, number, percent

_environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
_environment.filters.update(money=money, percent=percent, number=number)


@cache
def read(game: str, name: str) -> str:
    """The text file `name` of the folder `games/<game>/texts`."""
    return (Path(__file__).parent / game / "texts" / name).read_text(encoding="utf-8")


@lru_cache(maxsize=256)
def _compile(template: str) -> Any:
    return _environment.from_string(template)


def render(template: str, variables: Mapping[str, Any]) -> str:
    """`template` with `variables` filled in.

    Raises:
        BadText: it does not parse, or names a variable that there is not.
    """
    try:
        text: str = _compile(template).render(variables)
    except (TemplateError, TypeError, ValueError, ArithmeticError) as error:
        raise BadText(_("This text cannot be shown: {reason}").format(reason=error)) from None
    return text.strip() + "\n"
