"""Collections for tests, as plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from collecting.models import Collection
from collecting.planning import make_collection
from games.lineups import Lineups
from plans.library import agent_like
from plans.starting_collections import collection_for


def document(
    game: str = "bargaining",
    *,
    configurations: Sequence[Mapping[str, Any]] = ({},),
    agents: Mapping[str, Any] | Sequence[str] = ("script:fair", "script:haggler"),
    lineups: Lineups | None = None,
    same: bool = True,
    asking: Mapping[str, Any] | None = None,
    delay: float = 0,
    **parts: Any,
) -> dict[str, Any]:
    """Return a plan in which every agent plays against every agent.

    Args:
        asking: how models are asked; a fallback is named by its specification.
        delay: seconds that scripts wait.
    """
    asking = asking or {}
    by_label = dict(agents) if isinstance(agents, Mapping) else {spec: agent_like(asking, spec) for spec in agents}
    if fallback := asking.get("fallback"):
        by_label.setdefault(fallback, agent_like({}, fallback))
    if delay:
        by_label = {
            label: {**agent, "delay": delay} if "script" in agent else agent for label, agent in by_label.items()
        }
    rule = lineups or Lineups(agents=tuple(agents), same=same)
    seats = rule.model_dump(mode="json", exclude_defaults=True)
    return collection_for(game, configurations=configurations, agents=by_label, seats=seats, **parts)


def new_collection(slug: str = "scripts", *, seed: int | None = None, by: Any = None, **parts: Any) -> Collection:
    """Return a collection that is ready to start; `document` says what the other arguments do."""
    plan = parts.pop("plan", None) or document(**parts)
    return make_collection(plan, slug=slug, seed=seed, by=by)
