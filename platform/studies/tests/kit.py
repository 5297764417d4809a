"""Studies for tests, as plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from games import registry
from games.play import configure
from plans.seats import OTHERS
from plans.starting import plan_for
from studies.launching import launch
from studies.models import Study

GAME = {"amounts", "instructions", "examples", "comprehension", "repeats", "partners", "quiz", "timing", "pay_game"}
TIMING = {"turn", "extension", "report", "absence", "grace", "on_timeout", "on_absence", "stand_in", "returns"}
LOBBY = {"wait", "ready", "otherwise", "fill"}
PAY = {"currency", "base", "waiting_rate", "endings", "failure_cap", "pause_on_failure"}
BONUS = {"rule", "of", "average", "rate", "cap"}
ENTRY = {"via", "participations", "rest_hours", "listing"}
CELLS = {"quota", "listed", "strata", "crossed", "rows"}
TOLD = {"others"}


def document(
    game: str = "bargaining",
    *,
    config: Mapping[str, Any] | None = None,
    seats: Any = None,
    roles: Sequence[str] | None = None,
    agents: Mapping[str, Any] | Sequence[str] | str | None = None,
    before: Sequence[Mapping[str, Any]] = (),
    after: Sequence[Mapping[str, Any]] = (),
    **parts: Any,
) -> dict[str, Any]:
    """Return a plan in which a person plays the game against its default script.

    Args:
        roles: the participant's seats, each a cell; the first seat by default.
        agents: agents by label, or specifications such as "script:fair", which become labels; several are a factor.
        before, after: questions before and after the game.
        parts: sections of the plan, settings of its game's stage, or leaves of its sections (`turn`, `base`, `quota`,
            `via`, …). `rule` is the bonus rule; the draw's is `draw`.
    """
    found = {name: {} for name in ("game", "timing", "lobby", "pay", "bonus", "entry", "cells", "told")}
    sections = [(found[name], names) for name, names in zip(found, _NAMES, strict=True)]
    plan: dict[str, Any] = {}
    for name, value in parts.items():
        if name == "draw":
            found["cells"]["rule"] = value
        elif name == "game_pay":
            found["game"]["pay"] = value
        elif name in ("rotate", "code_word"):
            found["game"][{"rotate": "roles"}.get(name, name)] = value
        else:
            section = next((section for section, names in sections if name in names), plan)
            section[name] = value
    stage = dict(found["game"])
    for name in ("timing", "lobby"):
        if found[name] or name in plan:
            stage[name] = {**plan.pop(name, {}), **found[name]}
    if seats is not None:
        stage["seats"] = seats
    pay = {**plan.pop("pay", {}), **found["pay"]}
    if found["bonus"]:
        pay["bonus"] = {**pay.get("bonus", {}), **found["bonus"]}
    for name, section in (("pay", pay), *((name, found[name]) for name in ("entry", "cells", "told"))):
        if section or name in plan:
            plan[name] = {**plan.get(name, {}), **section}
    chosen = dict(config) if config is not None else None
    kind = registry.get(game)
    if roles is None:
        roles = configure(kind, {} if chosen is None else chosen).people()[:1]
    made = plan_for(game, config=chosen or {}, roles=roles, agents=agents_of(agents), stage=stage, **_amounts(plan))
    for name, questions, index in (("before", before, 1), ("after", after, len(made["journey"]) + bool(before))):
        if questions:
            made["journey"].insert(index, {"stage": "questions", "name": f"{name}_game", "items": list(questions)})
    return made


_NAMES = (GAME, TIMING, LOBBY, PAY, BONUS, ENTRY, CELLS, TOLD)


def agents_of(agents: Mapping[str, Any] | Sequence[str] | str | None) -> dict[str, Any] | None:
    """Return agents by label; specifications become labels."""
    if agents is None or isinstance(agents, Mapping):
        return None if agents is None else dict(agents)
    return {spec: agent(spec) for spec in ([agents] if isinstance(agents, str) else agents)}


def agent(spec: str, **settings: Any) -> dict[str, Any]:
    """Return an agent of a plan: "script:NAME" or "ENDPOINT:MODEL", with settings."""
    kind, _separator, name = spec.partition(":")
    own = {"script": name} if kind == "script" else {"endpoint": kind, "model": name}
    return {**own, **settings}


def _amounts(plan: dict[str, Any]) -> dict[str, Any]:
    """Return the plan as plain data: amounts are written as texts."""
    from decimal import Decimal

    def plain(node: Any) -> Any:
        if isinstance(node, Mapping):
            return {str(key): plain(value) for key, value in node.items()}
        if isinstance(node, list | tuple):
            return [plain(value) for value in node]
        return str(node) if isinstance(node, Decimal) else node

    return {name: plain(value) for name, value in plan.items()}


def new_study(slug: str = "study", *, game: str = "bargaining", **parts: Any) -> Study:
    """Return a saved draft; `document` says what the arguments do."""
    plan = parts.pop("plan", None)
    if plan is None:
        plan = document(game, **{"quota": 20, "via": "codes", **parts})
    return Study.objects.create(slug=slug, draft=plan)


def launched(slug: str = "study", **parts: Any) -> Study:
    """Return a launched study."""
    study = new_study(slug, **parts)
    launch(study)
    study.refresh_from_db()
    return study


__all__ = ["OTHERS", "agent", "agents_of", "document", "launched", "new_study"]
