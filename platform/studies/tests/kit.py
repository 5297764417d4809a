"""Worlds for tests: studies as plans, their participants, and users of the admin."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from copy import deepcopy
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.utils import timezone

from games import registry
from games.play import configure
from llm_agents.standins import OpenAIStandIn
from matches import services as matches
from matches.models import Match
from pages.files import store
from participants import services as people
from participants.models import Enrolment
from plans.plan import Plan
from plans.stages import Game, Lobby, Timing
from plans.starting import plan_for
from recruiters.arrivals import Arrival
from rights.members import give
from rights.roles import Role
from studies.enrolling import enrol
from studies.launching import launch
from studies.models import Study

_ENTRY = ("via", "time_zone", "opens", "closes", "participations", "rest_hours", "contact", "listing")
_LEAVES: dict[str, tuple[str, ...]] = {
    "pay": ("currency", "base", "waiting_rate", "endings", "failure_cap", "pause_on_failure"),
    "bonus": ("rule", "of", "average", "rate", "cap"),
    "entry": _ENTRY,
    "cells": ("quota", "listed", "strata", "crossed", "rows", "unit"),
    "told": ("others",),
    "checks": ("behaviour", "whole_groups"),
    "help": ("asking", "pauses_clock", "longest_pause"),
}
"""The leaves of a plan's sections; their names say where they belong."""


def new_study(slug: str = "study", *, game: str = "bargaining", plan: Mapping[str, Any] | None = None, **parts: Any):
    """Return a saved draft, from a whole `plan` or from what `document` takes."""
    return Study.objects.create(slug=slug, draft=document(game, **parts) if plan is None else plain(plan))


def launched(slug: str = "study", **parts: Any) -> Study:
    """Return a launched study."""
    return launch_again(new_study(slug, **parts))


def launch_again(study: Study, **parts: Any) -> Study:
    """Launch a study after changing these parts of its plan."""
    study.draft = changed(study.draft, **parts)
    study.save(update_fields=["draft"])
    launch(study)
    study.refresh_from_db()
    return study


def document(
    game: str = "bargaining",
    *,
    config: Mapping[str, Any] | None = None,
    roles: Sequence[str] | None = None,
    agents: Mapping[str, Any] | Sequence[str] | str | None = None,
    **parts: Any,
) -> dict[str, Any]:
    """Return a plan: by default, one person in the game's first seat plays against the game's default script.

    Args:
        config: the game's parameters, where they differ from its defaults.
        roles: the participant's seats, each a cell: the factor `seat` if there are several; [] for all of them.
        agents: agents by label, or specifications such as "script:fair" as their own labels: the factor `opponent` if
            there are several.
        parts: as for `changed`; `seats` says who plays and replaces both factors.
    """
    possible = configure(registry.get(game), dict(config or {})).people()
    chosen = possible[:1] if roles is None else list(roles) or possible
    own = {"stage": {"seats": parts.pop("seats")}} if "seats" in parts else {}
    made = plan_for(game, config=dict(config or {}), roles=chosen, agents=agents_of(agents), **own)
    if "agents" in made:
        made["agents"] = _with_fallbacks(made["agents"])
    return changed(made, **{"quota": 20, "via": "codes", **parts})


def changed(
    document: Mapping[str, Any],
    *,
    before: Sequence[Mapping[str, Any]] | None = None,
    after: Sequence[Mapping[str, Any]] | None = None,
    grid: Mapping[str, Sequence[Any]] | None = None,
    **parts: Any,
) -> dict[str, Any]:
    """Return a plan with these parts changed.

    Args:
        before, after: the questions before and after the game.
        grid: parameters of the game that are factors of the same names, with their values.
        parts: sections of the plan (`agents`, `factors`, `journey`, `minutes`, …); settings of its first game
            (`seats`, `repeats`, `quiz`, …), of its timing (`turn`, `on_timeout`, …) and lobby (`wait`, `fill`, …);
            leaves of other sections (`base`, `average`, `via`, `quota`, `others`, …); `consent` and `debriefing`
            texts. `draw` is the rule of assignment, `own_pay` the game's own bonus.
    """
    plan = deepcopy(dict(document))
    journey = plan["journey"]
    game = next(node for node in _nodes(journey) if node["stage"] == "game")
    for name, value in parts.items():
        if name == "agents":
            plan["agents"] = _with_fallbacks(agents_of(value) or {})
        elif name == "config":
            game["config"] = {**game.get("config", {}), **value}
        elif name in ("consent", "debriefing"):
            _set_text(journey, name, value)
        elif name == "draw":
            plan.setdefault("cells", {})["rule"] = value
        elif name == "own_pay":
            game["pay"] = value
        elif name in Plan.model_fields and name != "quota":
            plan[name] = value
        elif (section := next((key for key, names in _LEAVES.items() if name in names), None)) is not None:
            target = plan.setdefault("pay", {}).setdefault("bonus", {}) if section == "bonus" else plan
            (target if section == "bonus" else target.setdefault(section, {}))[name] = value
        elif name in Timing.model_fields:
            game.setdefault("timing", {})[name] = value
        elif name in Lobby.model_fields:
            game.setdefault("lobby", {})[name] = value
        elif name in Game.model_fields:
            game[name] = value
        else:
            raise TypeError(f"a plan has no part {name!r}")
    for name, values in (grid or {}).items():
        levels: Any = list(values) if None not in values else {f"level_{i}": v for i, v in enumerate(values, 1)}
        plan.setdefault("factors", {})[name] = {"levels": levels}
        game["config"] = {**game.get("config", {}), name: {"by": name}}
    for name, items in (("before", before), ("after", after)):
        if items is not None:
            journey[:] = [node for node in journey if node.get("name") != f"{name}_game"]
            place = 1 if name == "before" else len(journey) - (journey[-1]["stage"] == "debriefing")
            if items:
                journey.insert(place, {"stage": "questions", "name": f"{name}_game", "items": list(items)})
    return plain(plan)


def agents_of(agents: Mapping[str, Any] | Sequence[str] | str | None) -> dict[str, Any] | None:
    """Return agents by label; specifications become labels, and agents of `opponents.agents` become a plan's."""
    if agents is None:
        return None
    if isinstance(agents, Mapping):
        return {label: _planned(data) for label, data in agents.items()}
    return {spec: agent(spec) for spec in ([agents] if isinstance(agents, str) else agents)}


def _planned(data: Mapping[str, Any]) -> dict[str, Any]:
    if "spec" not in data:
        return dict(data)
    settings = dict(data.get("settings", {}))
    fallbacks = [*settings.pop("fallbacks", ())]
    if script := settings.pop("script", ""):
        fallbacks.append(f"script:{script}")
    own = {"delay": data["delay"]} if "delay" in data else {}
    return agent(data["spec"], **own, **settings, **({"fallback": fallbacks} if fallbacks else {}))


def _with_fallbacks(agents: Mapping[str, Any]) -> dict[str, Any]:
    """Return the agents, and those that they name as fallbacks by specification."""
    named = [spec for each in agents.values() for spec in each.get("fallback") or () if ":" in spec]
    return {**{spec: agent(spec) for spec in named}, **agents}


def agent(spec: str, **settings: Any) -> dict[str, Any]:
    """Return an agent of a plan: "script:NAME", "program:NAME" or "ENDPOINT:MODEL", with settings."""
    kind, _separator, name = spec.partition(":")
    named = {kind: name} if kind in ("script", "program") else {"endpoint": kind, "model": name}
    return {**named, **settings}


def varied(by: str, **values: Any) -> dict[str, Any]:
    """Return a value that depends on a factor."""
    return {"by": by, "values": values}


def lineups(**seats: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a plan whose cells differ in who takes which seat: the factor `lineup`."""
    return {"factors": {"lineup": {"levels": list(seats)}}, "seats": varied("lineup", **seats)}


def plain(node: Any) -> Any:
    """Return plain data: amounts as texts, words as texts, lists instead of tuples."""
    if isinstance(node, Mapping):
        return {str(key): plain(value) for key, value in node.items()}
    if isinstance(node, list | tuple):
        return [plain(value) for value in node]
    return str(node) if isinstance(node, Decimal | str) else node


def _nodes(journey: Sequence[Any]) -> list[dict[str, Any]]:
    return [each for node in journey for each in (node, *_nodes(node.get("of", [])))]


def _set_text(journey: list[Any], stage: str, text: str) -> None:
    node = next((node for node in journey if node["stage"] == stage), None)
    if node is None:
        node = {"stage": stage}
        journey.append(node)
    node["text"] = text


# ---- users of the admin ------------------------------------------------------------------


def administrator(client: Client) -> User:
    """Return a superuser, who has signed in with this client."""
    user = User.objects.create_superuser("boss")
    client.force_login(user)
    return user


def staff(client: Client, *things: Any, role: str = "", may: Iterable[str] = (), name: str = "staff") -> User:
    """Return a user of the admin with a role in these studies or collections, and with permissions, signed in."""
    user = User.objects.create_user(name, is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=may))
    for thing in things if role else ():
        give(thing, user=user, role=Role(role), by=None)
    client.force_login(user)
    return user


# ---- participants of groups ------------------------------------------------------------


THREE_PEOPLE = {"p1": "person", "p2": "person", "p3": "person", "p4": "script:rational"}


def contest(slug: str = "together", **parts: object) -> Study:
    """Return a launched contest of three participants and a script, without questions."""
    defaults: dict[str, object] = {
        "game": "beauty_contest", "config": {"players": 4, "runs": 1}, "via": "open",
        "agents": ["script:rational", "script:random"], "seats": THREE_PEOPLE, "code_word": None, "ready": 0,
    }  # fmt: skip
    return launched(slug, **{**defaults, "factors": {}, **parts})


def arrive(study: Study, number: int = 1) -> list[Enrolment]:
    """Let this many participants arrive and continue until they wait for others or play."""
    return [walk_to_lobby(enrol(study, Arrival(recruiter="open", proof="", worker=""))) for _arrival in range(number)]


def walk_to_lobby(enrolment: Enrolment) -> Enrolment:
    enrolment.refresh_from_db()
    while not enrolment.ended and enrolment.step["kind"] not in ("lobby", "match"):
        answers = {"consent": "yes", "agree": "yes", "name": "Kim", "display_name": "Kim"}
        people.answer_step(enrolment_id=enrolment.pk, position=enrolment.position, data=answers)
        enrolment.refresh_from_db()
    people.show_step(enrolment_id=enrolment.pk)
    enrolment.refresh_from_db()
    return enrolment


def states(enrolments: list[Enrolment]) -> Counter[str]:
    for enrolment in enrolments:
        enrolment.refresh_from_db()
    return Counter(enrolment.state for enrolment in enrolments)


def play(match: Match, answers: dict[str, float]) -> None:
    match.refresh_from_db()
    for role, turn in match.open_turns().items():
        move = {"answer": answers.get(role, 50)}
        matches.submit_move(match_id=match.pk, role=role, move=move, answering=turn.answering)
    match.refresh_from_db()


def leave_match_page(enrolment: Enrolment) -> Enrolment:
    """Leave the last page of a match."""
    enrolment.refresh_from_db()
    people.answer_step(enrolment_id=enrolment.pk, position=enrolment.position, data={})
    return walk_to_lobby(enrolment)


def play_all_but(match: Match, role: str) -> None:
    """Let everyone answer except one, whose time runs out."""
    match.refresh_from_db()
    for other_role, turn in match.open_turns().items():
        if other_role != role:
            matches.submit_move(match_id=match.pk, role=other_role, move={"answer": 10}, answering=turn.answering)
    match.refresh_from_db()
    expired = timezone.now() - timedelta(seconds=1)
    turns = {seat: {**turn, "deadline": expired.isoformat()} for seat, turn in match.turns.items()}
    Match.objects.filter(pk=match.pk).update(turns=turns, deadline=expired)
    matches.handle_time_outs(match_id=match.pk)


def at_once(actions: Sequence[Callable[[], Any]], *refusals: type[Exception]) -> list[Any]:
    """Run these at the same moment, each in a thread; return their results, or the refusals that they raise."""
    barrier = threading.Barrier(len(actions))

    def run(action: Callable[[], Any]) -> Any:
        barrier.wait()
        try:
            return action()
        except refusals as refusal:
            return refusal
        finally:
            connection.close()

    with ThreadPoolExecutor(len(actions)) as pool:
        return list(pool.map(run, actions))


# ---- files and models ------------------------------------------------------------


PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)


def with_image() -> Study:
    study = new_study("pictured")
    page = {"stage": "page", "name": "picture", "image": "dot.png"}
    study.draft["journey"].insert(1, page)
    study.save()
    store(study.slug, "dot.png", PNG)
    return study


def use_standin(monkeypatch: pytest.MonkeyPatch, *standins: Any) -> None:
    """Let models be called at these stand-in servers."""
    for standin in standins:
        for name, value in standin.environment.items():
            monkeypatch.setenv(name, value)


@contextmanager
def answering(monkeypatch: pytest.MonkeyPatch, answers: Any, **options: Any) -> Iterator[OpenAIStandIn]:
    """Let models of OpenAI be called at a stand-in server that gives these answers."""
    with OpenAIStandIn(answers, **options) as standin:
        use_standin(monkeypatch, standin)
        yield standin
