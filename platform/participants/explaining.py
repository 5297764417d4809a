"""Explanations on the last page: each check gives the correct answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from participants.models import Enrolment

Explainer = Callable[[Enrolment], list[dict[str, Any]]]
_explainers: list[Explainer] = []


def register(explainer: Explainer) -> Explainer:
    """Decorator: register a function that explains failed checks as rows {title, lines: [(label, text)]}."""
    _explainers.append(explainer)
    return explainer


def explanations(enrolment: Enrolment) -> list[dict[str, Any]]:
    """Return all explanations for this participant."""
    return [explanation for explainer in _explainers for explanation in explainer(enrolment)]
