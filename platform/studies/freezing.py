"""Launch a study: freeze its settings as an immutable, hashed version."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from games import registry
from opponents.agents import people_in
from plans.questions import questions_of
from studies import texts
from studies.design import plan_cells
from studies.forecast import minutes_of
from studies.formats import FORMAT
from studies.lineups import lineups_of
from studies.models import Cell, Study, Version


@transaction.atomic
def launch(study: Study) -> Version:
    """Freeze the current settings and open the study; identical content reuses the existing version.

    Raises:
        ValidationError: the study is not playable; nothing was launched.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)
    study.full_clean()
    content = content_of(study)
    if problem := missing_cap(study):
        raise ValidationError({"agents": problem})
    digest = sha256_of(content)
    latest = study.latest_version()
    study.status = Study.Status.LAUNCHED
    study.save()
    if latest is not None and latest.sha256 == digest:
        return latest
    version = Version.objects.create(
        study=study,
        number=latest.number + 1 if latest else 1,
        content=content,
        sha256=digest,
        code_revision=code_revision(),
    )
    Cell.objects.bulk_create(version.planned_cells())
    return version


def missing_cap(study: Study) -> str:
    """Return what an open study's agents need before launch, since anyone may play it as often as they like.

    Empty if every model has a spending limit.
    """
    agents = study.agents_by_label()
    for other in study.other_game_studies():
        agents |= other.agents_by_label()
    unlimited = [label for label, agent in agents.items() if not agent.scripted and agent.settings.cap_study is None]
    if study.entry != study.Entry.OPEN or not unlimited:
        return ""
    return _(
        "Anyone with the link can play, so set a spending limit: enter “Spend per study”, such as 5, in the model "
        "settings of {labels}."
    ).format(labels=", ".join(f"“{label}”" for label in unlimited))


def content_of(study: Study) -> dict[str, Any]:
    """Return everything that a participant's steps, match and pay depend on, as plain data."""
    agents = study.agents_by_label()
    game = registry.get(study.game)
    others = study.other_game_studies()
    part = _game_part(study)
    content = {
        "format": FORMAT,
        "game": study.game,
        "rules_version": game.rules_version,
        "configurations": part["configurations"],
        "agents": {
            label: agent.frozen() for source in (study, *others) for label, agent in source.agents_by_label().items()
        },
        "lineups": [lineup.model_dump(mode="json") for lineup in lineups_of(study.lineups, list(agents))],
        "cells": part["cells"],
        "purpose": study.purpose,
        "texts": {"consent": study.consent or texts.default_consent(study), **part["texts"]},
        "told": {"others": study.discloses},
        "checks": {
            "code_word": study.asks_code_word,
            "code_word_again": study.code_word_again,
            "quiz": study.asks_quiz,
        },
        "timers": part["timers"],
        "pay": study.pay().model_dump(mode="json"),
        "entry": study.entry,
        "about_minutes": minutes_of(study),
        "participations": {"most": study.most_participations, "rest_hours": study.rest_hours},
    }
    if study.counts_behaviour:
        content["behaviour"] = texts.behaviour_counted()
    if surveys := surveys_of(study):
        content["surveys"] = surveys
    if "lobby" in part:
        content["lobby"] = part["lobby"]
    further = [_game_part(other) for other in others]
    if study.whole_groups and any("lobby" in game_part for game_part in (part, *further)):
        content["checks"]["whole_groups"] = True
    if further:
        content["further"] = further
    meets_partners_again = study.session_partners == "any" and study.most_participations != 1
    if study.session_matches > 1 or meets_partners_again:
        content["session"] = study.session().model_dump()
    if study.debriefing:
        content["texts"]["debriefing"] = study.debriefing
    return content


def _game_part(study: Study) -> dict[str, Any]:
    """Return what concerns the study's game: its configurations and cells, texts and timers."""
    agents = study.agents_by_label()
    configurations: list[Mapping[str, Any]] = []
    cells = []
    for planned in plan_cells(study):
        if not configurations or configurations[-1] != planned.config:
            configurations.append(planned.config)
        cells.append(
            {
                "configuration": len(configurations) - 1,
                "kind": planned.kind,
                "lineup": planned.lineup,
                "seats": dict(planned.seats),
                "quota": planned.quota,
                "announced_average": None if planned.average is None else str(planned.average),
            }
        )
    game = registry.get(study.game)
    part = {
        "game": study.game,
        "rules_version": game.rules_version,
        "configurations": configurations,
        "cells": cells,
        "texts": {"instructions": study.instructions or game.instruction_template(), "amounts": study.amounts},
        "timers": {
            "turn_seconds": study.turn_seconds,
            "extension_seconds": study.extension_seconds,
            "report_seconds": study.report_seconds,
            "on_timeout": study.on_timeout,
            "absence": study.absence_seconds,
            "grace": study.grace_seconds,
            "returns": study.returns,
            "minutes": study.minutes,
        },
    }
    if any(len(people_in(cell["seats"])) > 1 for cell in cells):
        part["lobby"] = {
            "limit": study.lobby_seconds,
            "ready": study.ready_seconds,
            "after": study.lobby_after,
            "fill": study.fills_in,
        }
    if study.on_timeout == "agent":
        part["timers"]["standin"] = agents[study.fills_in].frozen()
    return part


def surveys_of(study: Study) -> dict[str, list[dict[str, Any]]]:
    """Return the study's questions by survey, without empty surveys."""
    surveys = {"before": study.survey_before, "after": study.survey_after}
    return {
        name: [question.as_data() for question in questions_of(questions)]
        for name, questions in surveys.items()
        if questions
    }


def sha256_of(content: Any) -> str:
    """Return the hash of plain data, independent of key order."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def parts_of(content: Mapping[str, Any]) -> dict[str, str]:
    """Return the hash of each part of a version's content by name: configurations, texts, pay and so on."""
    return {name: sha256_of(part) for name, part in content.items()}


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
