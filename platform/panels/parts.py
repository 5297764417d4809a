"""Link panels and their payment lists to studies."""

from __future__ import annotations

from panels.models import Panel, PaymentList
from rights.parts import belongs
from studies.models import Study


def declare() -> None:
    """Declare that panels and payment lists belong to studies."""
    belongs(Panel, to=Study, by="study")
    belongs(PaymentList, to=Study, by="study")
