"""Check a collection's plan: every configuration can be played, by every line-up."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import games.play
from games import registry
from games.errors import GameError
from games.interface import Game
from games.words import gettext as _
from plans.checking import (
    MAX_FAULTS,
    Checked,
    Faults,
    agent_problems,
    config_problems,
    player_problems,
    template_problems,
)
from plans.collection import MAX_MATCHES, CollectionPlan, CollectionReader
from plans.plan import Document
from plans.reading import BadPlan, Fault
from plans.schedule import Schedule
from plans.varying import Levels, Path

GAME: Path = ("journey", 0)
Problems = list[tuple[Path, str]]


def check_collection(document: Document) -> Checked:
    """Read and check a collection's plan in every configuration. Agents with endpoints are checked for form only."""
    try:
        reader = CollectionReader(document)
    except BadPlan as error:
        return Checked(faults=error.faults)
    faults, plans, played = Faults(), [], []
    for cell in reader.cells:
        try:
            plan = reader.collection(cell.factors)
            if not plan.journey:
                raise BadPlan([Fault("journey", _("A collection's journey is one game."))])
        except BadPlan as error:
            faults.add(error.faults)
        else:
            game, problems = _problems(plan, cell.factors)
            faults.add([reader.fault(path, what, cell.factors) for path, what in problems])
            plans.append(plan)
            played.append(game)
        if len(faults.found) >= MAX_FAULTS:
            break
    if faults.found:
        return Checked(reader.cells, None, list(faults.found.values())[:MAX_FAULTS])
    try:
        total = schedule_of(plans, played).total
        if total > MAX_MATCHES:
            what = _("This plan has {matches} matches; the maximum is {most}.")
            raise BadPlan([Fault("", what.format(matches=f"{total:,}", most=f"{MAX_MATCHES:,}"))])
    except BadPlan as error:
        return Checked(reader.cells, None, error.faults)
    except GameError as error:
        return Checked(reader.cells, None, [Fault("journey.0.seats", str(error))])
    return Checked(reader.cells, total)


def schedule_of(plans: Sequence[CollectionPlan], played: Sequence[Game[Any, Any]]) -> Schedule:
    """Return the matches of a collection, given each configuration's plan and game.

    Raises:
        BadPlan: configurations are the same, or cannot be taken in turn.
        BadLineup: the line-ups do not fit some of the seats.
    """
    cycle = plans[0].cycle
    if len(plans) % cycle:
        what = _("{configurations} configurations cannot be divided into groups of {cycle}.")
        raise BadPlan([Fault("cycle", what.format(configurations=len(plans), cycle=cycle))])
    if len({game.key for game in played}) > 1:
        raise BadPlan([Fault("journey.0.game", _("A collection plays one game."))])
    seats = [game.roles() for game in played]
    for first in range(0, len(seats), cycle):
        if len(set(seats[first : first + cycle])) > 1:
            raise BadPlan([Fault("cycle", _("Configurations that are taken in turn must have the same seats."))])
    if cycle == 1:
        _refuse_same(plans, played)
    treatments = [(plan.lineups, roles) for plan, roles in zip(plans[::cycle], seats[::cycle], strict=True)]
    return Schedule(treatments, repetitions=plans[0].repetitions, cycle=cycle)


def _refuse_same(plans: Sequence[CollectionPlan], played: Sequence[Game[Any, Any]]) -> None:
    seen: dict[str, int] = {}
    for number, (plan, game) in enumerate(zip(plans, played, strict=True), start=1):
        whole = [game.config.model_dump(mode="json"), plan.model_dump(mode="json", include={"agents", "journey"})]
        earlier = seen.setdefault(json.dumps(whole, sort_keys=True), number)
        if earlier != number:
            what = _("Configuration {number} is the same as {earlier}. Use repetitions to play it more often.")
            raise BadPlan([Fault("cells", what.format(number=number, earlier=earlier))])


def _problems(plan: CollectionPlan, levels: Levels) -> tuple[Any, Problems]:
    """Return the configured game, if its parameters are valid, and what does not fit together."""
    stage = plan.game
    problems: Problems = [(("title",), _("Please give the collection a title."))] if not plan.title.strip() else []
    problems += agent_problems(plan)
    if stage.game not in registry.keys():
        what = _("There is no game “{game}”. The games are {games}.")
        return None, [*problems, ((*GAME, "game"), what.format(game=stage.game, games=", ".join(registry.keys())))]
    kind = registry.get(stage.game)
    try:
        game = games.play.configure(kind, stage.config)
    except GameError as error:
        return None, [*problems, *config_problems(kind, stage, GAME, str(error))]
    if plan.stages > 1 and kind.stage_configurations.__func__ is Game.stage_configurations.__func__:  # type: ignore[attr-defined]
        problems.append((("stages",), _("This game makes no configurations from earlier results. Use 1.")))
    for label in plan.lineups.labels():
        problems += player_problems(label, (*GAME, "seats"), plan, kind, game)
    problems += template_problems(stage.instructions, (*GAME, "instructions"), game, game.roles(), levels)
    return game, problems + _lineup_problems(plan, game)


def _lineup_problems(plan: CollectionPlan, game: Game[Any, Any]) -> Problems:
    try:
        plan.lineups.count(game.roles())
    except GameError as error:
        return [((*GAME, "seats"), str(error))]
    return []
