"""Collections for tests, as plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from collecting import driver, services
from collecting.models import Collection
from collecting.planning import make_collection
from games.lineups import Lineups
from plans.library import agent_like
from plans.starting import collection_for
from studies.tests.kit import plain


def document(
    game: str = "bargaining",
    *,
    configurations: Sequence[Mapping[str, Any]] = ({},),
    agents: Mapping[str, Any] | Sequence[str] | None = None,
    lineups: Lineups | None = None,
    same: bool = True,
    asking: Mapping[str, Any] | None = None,
    fallback: str | Sequence[str] = (),
    delay: float = 0,
    **parts: Any,
) -> dict[str, Any]:
    """Return a plan in which every agent plays against every agent.

    Args:
        agents: by label, or specifications; those of the line-ups, or two scripts, by default.
        asking: how models are asked; `fallback` names their fallback agents by specification.
        delay: seconds that scripts wait.
    """
    if agents is None:
        agents = lineups.labels() if lineups else ("script:fair", "script:haggler")
    others = [fallback] if isinstance(fallback, str) else list(fallback)
    how = {**(asking or {}), **({"fallback": others} if others else {})}
    by_label = dict(agents) if isinstance(agents, Mapping) else {spec: agent_like(how, spec) for spec in agents}
    by_label = {**{spec: agent_like(asking or {}, spec) for spec in others}, **by_label}
    if delay:
        by_label = {
            label: {**agent, "delay": delay} if "script" in agent else agent for label, agent in by_label.items()
        }
    rule = lineups or Lineups(agents=tuple(agents), same=same)
    seats = rule.model_dump(mode="json", exclude_defaults=True)
    return collection_for(game, configurations=configurations, agents=by_label, seats=seats, **plain(parts))


def new_collection(slug: str = "scripts", *, seed: int | None = None, by: Any = None, **parts: Any) -> Collection:
    """Return a collection that is ready to start; `document` says what the other arguments do."""
    plan = parts.pop("plan", None) or document(**parts)
    return make_collection(plan, slug=slug, seed=seed, by=by)


def drive(collection: Collection) -> Collection:
    """Start a collection, and play its matches."""
    services.start(collection)
    driver.drive(collection, slot=0)
    collection.refresh_from_db()
    return collection
