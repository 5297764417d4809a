"""Begin a walk, jump to a stage, and delete everything when it is over."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from games import registry
from games.errors import GameError
from games.interface import Role
from matches.models import Match
from participants.models import Enrolment
from participants.services import expiry_after
from piloting.enrolling import without_delays
from piloting.errors import Stuck
from piloting.person import Interrupted, Person
from plans.agents import PERSON
from plans.reading import BadPlan, Fault
from studies.journeys import steps_of
from studies.launching import draft_version
from studies.models import Cell, Study
from walking.models import Link, Walk, forget

HOURS = 1
"""A walk is deleted after this time, whatever happens."""
LEFT_SECONDS = 30
"""A walk whose page was closed is deleted after this time; a page that is only loaded again calls before."""
MAX_WALKS = 40
"""Walks of one study at the same time; the oldest makes room for another."""
LOBBY_SECONDS = 5
"""The lobby's page is shown for so long; nobody has to arrive."""
JUMP_SECONDS = 25
"""The simulated participant stops on the way to a stage after this time."""
STAND_IN = "walk through"
"""The label of the scripts in the other participants' seats."""


class CannotWalk(Exception):
    """The draft cannot be walked through; `faults` says why."""

    def __init__(self, faults: list[Fault]):
        super().__init__("\n".join(map(str, faults)))
        self.faults = faults


def begin(study: Study, *, cell: int = 1, role: Role = "", link: Link | None = None, real_models: bool = False) -> Walk:
    """Begin a walk through the draft as it is now.

    Raises:
        CannotWalk: the draft has faults; what participants are told at the beginning depends on all cells.
    """
    try:
        version = draft_version(study)
        cells = version.reader.cells
        chosen = cells[min(max(cell, 1), len(cells)) - 1]
        with transaction.atomic():
            crowd = Walk.objects.filter(study=study).order_by("-began_at").values_list("pk", flat=True)
            Walk.objects.filter(pk__in=list(crowd[MAX_WALKS - 1 :])).delete()
            walk = Walk.objects.create(
                study=study,
                link=link,
                document=version.document,
                frozen=version.frozen,
                cell=chosen.number,
                role=role if role in Cell.planned(version, chosen.number).people else "",
                real_models=real_models,
            )
            _enrol(walk)
    except BadPlan as error:
        raise CannotWalk(error.faults) from None
    except (GameError, ValueError, LookupError) as error:
        raise CannotWalk([Fault("", str(error))]) from None
    return walk


def jump(walk: Walk, position: int) -> str:
    """Bring the walk to the step at a position; return why it did not get there, empty if it did.

    The simulated participant answers what lies before. Going back begins again.
    """
    if walk.enrolment is None or walk.enrolment.ended or position <= walk.enrolment.position:
        with transaction.atomic():
            _enrol(walk, skipped=position)
    else:
        _skip_lobbies(walk.enrolment, position)
    assert walk.enrolment is not None
    deadline = time.monotonic() + JUMP_SECONDS
    person = Person(walk.enrolment, lambda: time.monotonic() < deadline, player=_player(walk), seed=f"{walk.seed}/walk")
    try:
        person.walk(until=position)
    except Interrupted:
        return _("The way to this stage takes too long. You can play on from here.")
    except Stuck as stuck:
        return str(stuck)
    finally:
        walk.enrolment.refresh_from_db()
    if walk.enrolment.position > position:
        return _("This stage is not shown to this participant: its condition is false.")
    return ""


def note_left(walk: Walk) -> None:
    """Note that the page was closed; the walk is deleted unless the page calls again."""
    Walk.objects.filter(pk=walk.pk).update(left_at=timezone.now())


def delete_old() -> None:
    """Delete walks that were left or have lasted too long."""
    now = timezone.now()
    over = Q(left_at__lt=now - timedelta(seconds=LEFT_SECONDS)) | Q(began_at__lt=now - timedelta(hours=HOURS))
    for walk in Walk.objects.filter(over):
        walk.delete()


def _enrol(walk: Walk, *, skipped: int = 0) -> None:
    """Give the walk a new enrolment at the first step, and delete an earlier one."""
    cell, earlier = walk.planned_cell, walk.enrolment
    steps = steps_of(cell.version, cell, walk.role or cell.people[0])
    walk.enrolment = Enrolment.objects.create(
        steps=[_for_walk(step, walk, quick=number < skipped) for number, step in enumerate(steps)],
        seed=walk.seed,
        language=cell.version.language,
        expires_at=expiry_after(HOURS * 60),
    )
    walk.save(update_fields=["enrolment"])
    forget(earlier, walk.hall)


def _for_walk(step: dict[str, Any], walk: Walk, *, quick: bool) -> dict[str, Any]:
    """Return a step as a walk uses it: scripts take the other seats, and the lobby passes at once.

    Args:
        quick: pass the lobby at once.
    """
    if step["kind"] == "lobby":
        limit = 0 if quick else min(step["limit"], LOBBY_SECONDS)
        return {**step, "hall": walk.hall, "limit": limit, "ready": 0, "after": "agents", "fill": STAND_IN}
    if step["kind"] != "match":
        return step
    script = f"script:{registry.get(step['game']).default_script}"
    agents = {label: _agent(agent, script, walk) for label, agent in step["agents"].items()}
    others = [role for role, player in step["seats"].items() if player == PERSON and role != step["role"]]
    told = {**step["timers"].get("told", {}), "stand_ins": others}
    return {
        **step,
        "purpose": Match.Purpose.PILOT if walk.real_models else Match.Purpose.WALK,
        "budget_of": f"walk:{walk.study.slug}",
        "timers": {**step["timers"], "told": told},
        "agents": {**agents, STAND_IN: {"spec": script}},
    }


def _agent(agent: Mapping[str, Any], script: str, walk: Walk) -> dict[str, Any]:
    is_model = not agent["spec"].startswith("script:")
    return {"spec": script} if is_model and not walk.real_models else without_delays(dict(agent))


def _skip_lobbies(enrolment: Enrolment, position: int) -> None:
    enrolment.refresh_from_db()
    enrolment.steps = [
        {**step, "limit": 0} if step["kind"] == "lobby" and number < position else step
        for number, step in enumerate(enrolment.steps)
    ]
    enrolment.save(update_fields=["steps"])


def _player(walk: Walk) -> str:
    game = walk.planned_cell.game.game
    return f"script:{registry.get(game).default_script}"
