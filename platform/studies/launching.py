"""Launch a study: check its plan, freeze it as a hashed version, and apply what the hash leaves out."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from games import registry
from games.interface import Game
from games.words import in_language
from opponents.agents import agent_problem, problems_in
from opponents.endpoints import refresh_if_old
from opponents.listing import retired_problem
from pages.models import Media
from plans.canonical import OUTSIDE_HASH, canonical, version_hash
from plans.checking import check
from plans.plan import Entry
from plans.reading import BadPlan, Fault
from recruiters import arrivals
from studies import opening, planned
from studies.forecast import minutes_of
from studies.journeys import media_in
from studies.models import Cell, LogEntry, Study, Version, agents_of, configured


@transaction.atomic
def launch(study: Study, *, by: User | None = None) -> Version:
    """Freeze the draft and open the study; what its hash covers reuses the latest version if that has the same hash.

    What the hash leaves out (title, quotas, weights, entry, analysis) takes effect at once, and changes are logged.

    Raises:
        BadPlan: the plan has faults; nothing was launched.
        ValidationError: something that it needs is missing here, such as an endpoint; nothing was launched.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)
    new = version_of(study)
    refuse_unplayable(study, new)
    latest = study.latest_version()
    reused = latest is not None and (latest.sha256, latest.frozen) == (new.sha256, new.frozen)
    if latest is not None and reused:
        version = latest
    else:
        new.number = latest.number + 1 if latest else 1
        new.save()
        Cell.objects.bulk_create(new.planned_cells())
        version = new
    _apply(study, new, version, by=by)
    study.status = Study.Status.LAUNCHED
    study.save(update_fields=["status"])
    return version


def version_of(study: Study) -> Version:
    """Return the version that launching the draft would make, unsaved.

    Raises:
        BadPlan: the plan has faults.
    """
    if faults := check(study.draft).faults:
        raise BadPlan(faults)
    return draft_version(study)


def draft_version(study: Study) -> Version:
    """Return the draft as a version, unsaved, without checking that everything in it fits together.

    Raises:
        BadPlan: it cannot be read.
    """
    document = canonical(study.draft)
    version = Version(
        study=study, number=0, document=document, sha256=version_hash(document), code_revision=code_revision()
    )
    kinds = [registry.get(game) for game in version.games]
    files = Media.objects.filter(study=study.slug, name__in=media_in(version.reader)).defer("data")
    version.frozen = {
        "rules_versions": {kind.key: kind.rules_version for kind in kinds},
        "instructions": _instructions(kinds, version.languages[0]),
        "published": {kind.key: kind.template_told("published") for kind in kinds if kind.is_published()},
        "about_minutes": minutes_of(version.reader),
        "media": {file.name: file.as_shown() for file in files},
    }
    if others := version.languages[1:]:
        version.frozen["instructions_in"] = {language: _instructions(kinds, language) for language in others}
    return version


def _instructions(kinds: Iterable[type[Game[Any, Any]]], language: str) -> dict[str, str]:
    with in_language(language):
        return {kind.key: kind.instruction_template() for kind in kinds}


def refuse_unplayable(study: Study, version: Version) -> None:
    """Raise ValidationError, by part of the plan, for what is missing in this installation."""
    refresh_if_old()
    problems = {
        "agents": [*_agent_problems(study, version), *filter(None, [missing_cap(version)])],
        "entry": [] if version.plan.entry.via in arrivals.KINDS else [arrivals.unknown(version.plan.entry.via)],
    }
    launched = study.in_force("entry")
    entry = opening.past_times(version.plan.entry, launched and Entry.model_validate(launched))
    problems |= {f"entry.{field}": [problem] for field, problem in entry.items()}
    missing = sorted(media_in(version.reader) - version.frozen["media"].keys())
    problems["journey"] = [_("This study has no file “{name}”. Add it first.").format(name=name) for name in missing]
    if any(problems.values()):
        raise ValidationError({name: messages for name, messages in problems.items() if messages})


def _agent_problems(study: Study, version: Version) -> list[str]:
    """Return one sentence per problem of the agents with their endpoints and games."""
    agents = version.agents()
    problems: dict[str, None] = {}
    seen = set()
    for cell in version.reader.cells:
        plan = version.reader.plan(cell.factors)
        for stage in plan.games():
            seated = {label: plan.agents[label] for label in stage.agent_labels() if label in plan.agents}
            if (key := (stage.game, *map(id, seated.values()))) not in seen:
                seen.add(key)
                problems |= dict.fromkeys(problems_in(agents_of(plan, only=seated), configured(stage)))
    retired = {label: agent for label, agent in agents.items() if retired_problem(agent.specs)}
    latest = study.latest_version() if retired else None
    launched = {spec for agent in (latest.agents() if latest else {}).values() for spec in agent.specs}
    for label, agent in retired.items():
        if problem := retired_problem(set(agent.specs) - launched):
            problems[agent_problem(label, problem)] = None
    return list(problems)


def missing_cap(version: Version) -> str:
    """Return what an open study's agents need before launch, since anyone may play it as often as they like.

    Empty if every model has a spending limit.
    """
    unlimited = [
        label for label, agent in version.agents().items() if agent.is_model and agent.settings.cap_study is None
    ]
    if version.plan.entry.via != Study.Entry.OPEN or not unlimited:
        return ""
    return _(
        "Anyone with the link can play, so set a spending limit: enter “Spend per study”, such as 5, in the model "
        "settings of {labels}."
    ).format(labels=", ".join(f"“{label}”" for label in unlimited))


def _apply(study: Study, launched: Version, version: Version, *, by: User | None) -> None:
    """Let what the hash leaves out take effect, and log what changes.

    Args:
        launched: the version as its draft says now.
        version: the stored one, the same but for what the hash leaves out.
    """
    entries = [
        LogEntry(study=study, by=by, path=path, before=before, after=after)
        for path in OUTSIDE_HASH
        if (before := study.in_force(path)) != (after := launched.document.get(path))
    ]
    for entry in entries:
        if entry.path == planned.PATH and entry.before is not None:
            entry.ended = planned.ended_in(study)
    cells = {cell.number: cell for cell in version.cells.all()} if version is not launched else {}
    changed = []
    for planned_cell in launched.reader.cells:
        cell = cells.get(planned_cell.number)
        for name in ("quota", "weight"):
            before, after = getattr(cell, name, None), getattr(planned_cell, name)
            if cell is not None and before != after:
                entries.append(
                    LogEntry(study=study, by=by, path=f"cells.{cell.number}.{name}", before=before, after=after)
                )
                setattr(cell, name, after)
                changed.append(cell)
    Cell.objects.bulk_update(changed, ["quota", "weight"])
    LogEntry.objects.bulk_create(entries)


def faults_of(error: BadPlan | ValidationError) -> list[Fault]:
    """Return why a study cannot be launched, as faults of its plan."""
    if isinstance(error, BadPlan):
        return error.faults
    return [Fault(part, message) for part, messages in error.message_dict.items() for message in messages]


@lru_cache(maxsize=1)
def code_revision() -> str:
    """Return the commit this code was checked out from; empty without a repository."""
    try:
        result = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=settings.BASE_DIR, capture_output=True, text=True, timeout=5, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return result.stdout.strip()
