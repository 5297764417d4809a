from django.utils.translation import gettext_lazy as _

from panels.endings import Outcome
from panels.presets import Preset

_PARTIAL = _("One of the project's redirect URLs for partial completes; Connect pays the amount that you set for it.")

PRESET = Preset(
    key="cloudresearch_connect",
    title="CloudResearch Connect",
    about=_("Connect pays the reward and partial completes. You pay bonuses through a list that you upload there."),
    person="participantId",
    task="projectId",
    session="assignmentId",
    sites="https://connect.cloudresearch.com",
    hints={
        Outcome.COMPLETED: _("The redirect URL that Connect shows at the end of “Create a Study”."),
        Outcome.PARTIAL: _PARTIAL,
        Outcome.SCREENED_OUT: _PARTIAL,
        Outcome.OVER_QUOTA: _("Leave this empty. Participants are asked to return the project."),
        Outcome.WITHDREW: _("Leave this empty. Participants are asked to return the project."),
    },
    pays="bonuses",
    columns="participantId = person\namount = amount",
    link="?participantId={{participantId}}&assignmentId={{assignmentId}}&projectId={{projectId}}",
    steps=(
        _("Create a project with this study's address as its external link, and set Connect to append its three IDs."),
        _("Copy the redirect URL of the project, and of its partial completes if you pay any, into the fields below."),
        _("Approve participants on Connect (Manage Participants). Then upload the list of bonuses there."),
    ),
    source=_("CloudResearch's help pages on project completion and managing participants, read on 2026-11-22"),
)
