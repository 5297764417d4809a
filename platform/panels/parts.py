"""Panels and their lists belong to studies."""

from __future__ import annotations

from panels.models import Panel, PaymentList
from rights.parts import belongs
from studies.models import Study


def declare() -> None:
    """Say so."""
    belongs(Panel, to=Study, by="study")
    belongs(PaymentList, to=Study, by="study")
