"""How people go back to the experiment in oTree that sent them."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from participants import farewells
from participants.farewells import Farewell
from participants.models import Enrolment


@farewells.register
def to_experiment(enrolment: Enrolment) -> Farewell | None:
    """The button back to the page that they came from."""
    if not enrolment.return_to:
        return None
    return Farewell(
        _("The experiment that brought you here goes on."), enrolment.return_to, _("Back to the experiment")
    )
