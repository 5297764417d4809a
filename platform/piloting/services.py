"""Start, stop and delete pilots; refuse actions that the current state does not allow."""

from __future__ import annotations

from random import Random

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import ProtectedError
from django.utils import timezone
from django.utils.translation import gettext as _

from games import registry
from llm_agents.agent import PROGRAM, parse_spec, spec_of
from llm_agents.errors import AgentError
from matches.models import Match
from opponents.listing import retired_problem
from participants.models import Enrolment
from piloting.enrolling import version_of
from piloting.errors import CannotPilot
from piloting.models import MAX_PEOPLE, Pilot, Walker
from plans.reading import BadPlan
from studies import launching
from studies.models import Study

Plan = Walker.Plan


@transaction.atomic
def begin(study: Study, *, people: int, failing: int = 0, player: str = "", by: User | None = None) -> Pilot:
    """Freeze the study as it is saved and create its simulated participants; nothing runs yet.

    Args:
        failing: number of participants who fail deliberately, so that the other endings are tested too.
        player: agent that plays for the participants ("script:NAME", "openai:MODEL", …); empty for the game's
            default script.

    Raises:
        CannotPilot: with the reason; nothing was started.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)
    if not 1 <= people <= MAX_PEOPLE or not 0 <= failing <= people:
        raise CannotPilot(
            _("Enter 1 to {most} participants, and at most as many who fail deliberately.").format(most=MAX_PEOPLE)
        )
    if study.pilots.filter(status=Pilot.Status.RUNNING).exists():
        raise CannotPilot(_("A pilot of this study is already running. Stop it or wait until it ends."))
    try:
        version = launching.version_of(study)
        launching.refuse_unplayable(study, version)
        game = registry.get(version.games[0])
        player = player.strip() or f"script:{game.default_script}"
        parse_spec(player, game)
    except AgentError as error:
        raise CannotPilot(str(error)) from None
    except (BadPlan, ValidationError) as error:
        reasons = " ".join(map(str, launching.faults_of(error)))
        raise CannotPilot(_("The study cannot be launched yet: ") + reasons) from None
    if spec_of(player).kind == PROGRAM:
        raise CannotPilot(_("A program plays as an agent of the study, not for its participants."))
    if problem := retired_problem([player]):
        raise CannotPilot(problem)
    latest = study.pilots.order_by("-number").first()
    pilot = Pilot.objects.create(
        study=study,
        number=latest.number + 1 if latest else 1,
        document=version.document,
        frozen=version.frozen,
        sha256=version.sha256,
        code_revision=version.code_revision,
        player=player,
        people=people,
        created_by=by,
    )
    plans = plans_for(pilot, failing)
    cells = cells_for(pilot)
    Walker.objects.bulk_create(
        Walker(pilot=pilot, number=i, cell=cell, plan=plan)
        for i, (cell, plan) in enumerate(zip(cells, plans, strict=True), start=1)
    )
    return pilot


def cells_for(pilot: Pilot) -> list[int]:
    """Return the number of each participant's cell: every cell once before any comes again, in a random order.

    Participants who play together are consecutive.
    """
    cells = version_of(pilot).planned_cells()
    chosen: list[int] = []
    while len(chosen) < pilot.people:
        Random(f"{pilot.seed}/{len(chosen)}").shuffle(cells)
        chosen += [cell.number for cell in cells for _person in range(cell.group_size)]
    return chosen[: pilot.people]


def plans_for(pilot: Pilot, failing: int) -> list[Walker.Plan]:
    """Return each participant's plan. Those who fail take turns among the failures possible in this study.

    Their positions among the participants are random.
    """
    games = version_of(pilot).plan.games()
    failures = [
        *([Plan.WRONG_CODE] if games[0].code_word else []),
        *([Plan.MISREADS] if any(game.comprehension and game.comprehension.failed == "end" for game in games) else []),
        Plan.SILENT,
        Plan.LEAVES,
        *([Plan.WRONG_QUIZ] if any(game.quiz for game in games) else []),
    ]
    plans = [Plan.FINISH] * (pilot.people - failing) + [failures[i % len(failures)] for i in range(failing)]
    Random(f"{pilot.seed}/plans").shuffle(plans)
    return plans


def stop(pilot: Pilot) -> None:
    """Stop the pilot; its results remain available.

    Raises:
        CannotPilot
    """
    running = Pilot.objects.filter(pk=pilot.pk, status=Pilot.Status.RUNNING)
    if not running.update(status=Pilot.Status.STOPPED, ended_at=timezone.now()):
        raise CannotPilot(_("This pilot is not running."))


@transaction.atomic
def delete(pilot: Pilot) -> None:
    """Delete a pilot with its participants and matches. Its model calls are kept, because their cost counts.

    Raises:
        CannotPilot: it is running, or other records depend on it.
    """
    pilot = Pilot.objects.select_for_update().get(pk=pilot.pk)
    if pilot.running or (pilot.until is not None and pilot.until > timezone.now()):
        raise CannotPilot(_("This pilot is still running. Stop it, then delete it a few seconds later."))
    enrolment_ids = list(pilot.walkers.exclude(enrolment=None).values_list("enrolment_id", flat=True))
    try:
        with transaction.atomic():
            pilot.walkers.all().delete()
            Match.objects.filter(seats__enrolment__in=enrolment_ids, purpose=Match.Purpose.PILOT).delete()
            Enrolment.objects.filter(pk__in=enrolment_ids).delete()
            pilot.delete()
    except ProtectedError:
        raise CannotPilot(_("This pilot cannot be deleted because other records depend on it.")) from None
