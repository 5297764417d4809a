"""Ready-made plans of published systems, studies and collections: load, review, then launch or start them."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from collecting.models import Collection
from collecting.planning import make_collection
from games.errors import GameError
from llm_agents.errors import AgentError
from plans.library import Folder, ready_made
from plans.reading import BadPlan, Fault
from studies.drafting import unused_slug
from studies.models import Study


def names() -> list[str]:
    """Return the names of all ready-made plans."""
    return [*ready_made("studies"), *ready_made("collections")]


def load(
    name: str, *, agents: Sequence[str] = (), seed: int | None = None, by: User | None = None
) -> Collection | Study:
    """Create the collection or the draft of a ready-made plan, without starting or launching it.

    A draft has the plan's name or, if that is taken, the name with the first free number.

    Args:
        agents: take the places of its models.
        seed: of what it draws, and of the collection; collections have 1 by default.

    Raises:
        BadPlan: there is no such plan, it exists already as a collection, or an agent does not exist.
    """
    folder: Folder = "studies" if name in ready_made("studies") else "collections"
    if name not in ready_made(folder):
        what = _("There is no ready-made plan “{name}”. There are: {known}.")
        raise BadPlan([Fault("", what.format(name=name, known=", ".join(names())))])
    try:
        document = ready_made(folder)[name].adapted(agents, seed)
    except (AgentError, GameError) as error:
        raise BadPlan([Fault("agents", str(error))]) from None
    if folder == "studies":
        return Study.objects.create(slug=unused_slug(name), draft=document, created_by=by)
    return make_collection(document, slug=name, seed=1 if seed is None else seed, by=by)
