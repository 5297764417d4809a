"""Launching a study: what it is becomes an immutable, hashed version."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.db import transaction

import games.play
from games import registry
from matches.agent_settings import settings_of
from studies import texts
from studies.design import cells_wanted
from studies.models import Cell, Study, Version
from surveys.questions import questions_of


@transaction.atomic
def launch(study: Study) -> Version:
    """Freeze the study as it stands and let people in; the same content is the same version.

    Raises:
        ValidationError: the study is not playable; nothing was launched.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)
    study.full_clean()
    content = content_of(study)
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
    Cell.objects.bulk_create(
        Cell(version=version, number=i, **cell) for i, cell in enumerate(content["cells"], start=1)
    )
    return version


def content_of(study: Study) -> dict[str, Any]:
    """Everything that a participant's way, match and pay depend on, as plain data."""
    settings = settings_of(study.asking).model_dump(mode="json")
    agent = {"agent": study.agent, "delay": study.agent_delay, "settings": settings}
    game = registry.get(study.game)
    configurations: list[Mapping[str, Any]] = []
    cells = []
    for wanted in cells_wanted(study):
        if not configurations or configurations[-1] != wanted.config:
            configurations.append(wanted.config)
            roles = games.play.configure(game, wanted.config).roles()
        cells.append(
            {
                "configuration": len(configurations) - 1,
                "kind": wanted.kind,
                "role": wanted.role,
                "agents": {other: agent for other in roles if other != wanted.role},
                "quota": wanted.quota,
                "announced_average": None if wanted.average is None else str(wanted.average),
            }
        )
    content = {
        "game": study.game,
        "rules_version": game.rules_version,
        "configurations": configurations,
        "cells": cells,
        "purpose": study.purpose,
        "texts": {
            "consent": study.consent or texts.default_consent(study),
            "instructions": study.instructions or game.instruction_template(),
        },
        "tells_opponent": study.tells_opponent,
        "checks": {"code_word": study.asks_code_word, "quiz": study.asks_quiz},
        "timers": {
            "turn_seconds": study.turn_seconds,
            "extension_seconds": study.extension_seconds,
            "on_timeout": study.on_timeout,
            "minutes": study.minutes,
            "agent_limit_seconds": settings["limit_seconds"],
            "after_limit": "script" if settings["script"] else "end",
        },
        "pay": study.pay().model_dump(mode="json"),
        "entry": study.entry,
        "participations": {"most": study.most_participations, "rest_hours": study.rest_hours},
    }
    if surveys := surveys_of(study):
        content["surveys"] = surveys
    if study.debriefing:
        content["texts"]["debriefing"] = study.debriefing
    return content


def surveys_of(study: Study) -> dict[str, list[dict[str, Any]]]:
    """The study's questions by survey; surveys without questions are left out."""
    written = {"before": study.survey_before, "after": study.survey_after}
    return {name: [one.kept() for one in questions_of(asked)] for name, asked in written.items() if asked}


def sha256_of(content: Any) -> str:
    """The hash of plain data, independent of the order of keys."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def parts_of(content: Mapping[str, Any]) -> dict[str, str]:
    """The hash of each part of a version's content, by its name: configurations, texts, pay and so on."""
    return {name: sha256_of(part) for name, part in content.items()}


@lru_cache(maxsize=1)
def code_revision() -> str:
    """The commit this code was checked out from; empty where there is no repository."""
    try:
        found = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=settings.BASE_DIR, capture_output=True, text=True, timeout=5, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return found.stdout.strip()
