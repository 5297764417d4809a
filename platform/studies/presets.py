"""Ready-made studies of published systems: the games' plan files, loaded as drafts."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from llm_agents.errors import AgentError
from plans.library import ReadyMade, ready_made
from plans.reading import BadPlan, Fault
from studies.copying import unused_slug
from studies.models import Study


def all_presets() -> tuple[ReadyMade, ...]:
    """Return every ready-made study, game by game."""
    return tuple(ready_made("studies").values())


def find(name: str) -> ReadyMade | None:
    """Return the ready-made study of this name."""
    return ready_made("studies").get(name)


def load(name: str, *, agents: Sequence[str] = (), seed: int | None = None, by: User | None = None) -> Study:
    """Create a draft from a ready-made study, under its name or, if that is taken, with the first free number.

    Args:
        agents: take the places of the study's models, in order.
        seed: of what its published rows draw; the file's own by default.

    Raises:
        BadPlan: there is no such study, or an agent does not exist; nothing was created.
    """
    preset = find(name)
    if preset is None:
        known = ", ".join(ready_made("studies"))
        raise BadPlan(
            [Fault("", _("There is no ready-made study “{name}”. There are: {known}.").format(name=name, known=known))]
        )
    try:
        document = preset.adapted(agents, seed)
    except AgentError as error:
        raise BadPlan([Fault("agents", str(error))]) from None
    return Study.objects.create(slug=unused_slug(name), draft=document, created_by=by)
