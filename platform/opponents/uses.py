"""Which studies and collections ask models of an endpoint; each app that names models registers how to find its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Model

from llm_agents.agent import is_scripted, spec_of
from opponents.agents import Agent
from rights.parts import may
from rights.roles import Role


@dataclass(frozen=True)
class Use:
    """One place that names an endpoint's models.

    Attributes:
        parent: the study or collection; users who may not see it don't learn its name.
        title: what names the models there, such as "version 2".
        url: its page in the admin.
    """

    parent: Model
    title: str
    url: str


Finder = Callable[[str], Iterable[Use]]
_finders: list[Finder] = []


def register(finder: Finder) -> None:
    """Add a function that returns the uses of the endpoint with a name."""
    _finders.append(finder)


def uses_of(endpoint: str) -> list[Use]:
    """Return everything that names a model of this endpoint, drafts and finished work included."""
    return [use for finder in _finders for use in finder(endpoint)]


def names_endpoint(specs: Iterable[str], endpoint: str) -> bool:
    """Return whether one of these models is at the endpoint."""
    return any(spec_of(spec).kind == endpoint for spec in specs if not is_scripted(spec))


def asks(agents: Iterable[Agent], endpoint: str) -> bool:
    """Return whether one of these agents may ask a model at the endpoint."""
    return any(names_endpoint(agent.specs, endpoint) for agent in agents)


def shown_to(user: Any, uses: Iterable[Use]) -> tuple[list[Use], int]:
    """Return the uses that the user may see by name, and the number of the others."""
    all_uses = list(uses)
    seen = {use.parent: may(user, use.parent, role=Role.VIEWER) for use in all_uses}
    named = [use for use in all_uses if seen[use.parent]]
    return named, len(all_uses) - len(named)
