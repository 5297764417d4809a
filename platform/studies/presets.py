"""Ready-made studies of published systems: the games' plan files, loaded as drafts."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from llm_agents.errors import AgentError
from plans.library import ready_made
from plans.reading import BadPlan, Fault
from studies.drafting import unused_slug
from studies.models import Study


def load(name: str, *, agents: Sequence[str] = (), seed: int | None = None, by: User | None = None) -> Study:
    """Create a draft from a ready-made study, under its name or, if that is taken, with the first free number.

    Args:
        agents: take the places of the study's models, in order.
        seed: of what its published rows draw; the file's own by default.

    Raises:
        BadPlan: there is no such study, or an agent does not exist; nothing was created.
    """
    presets = ready_made("studies")
    if name not in presets:
        what = _("There is no ready-made study “{name}”. There are: {known}.")
        raise BadPlan([Fault("", what.format(name=name, known=", ".join(presets)))])
    try:
        document = presets[name].adapted(agents, seed)
    except AgentError as error:
        raise BadPlan([Fault("agents", str(error))]) from None
    return Study.objects.create(slug=unused_slug(name), draft=document, created_by=by)
