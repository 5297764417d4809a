from django.utils.translation import gettext_lazy as _

from panels.endings import Outcome
from panels.presets import Preset

PRESET = Preset(
    key="external_question",
    title=_("External question"),
    about=_("Sites that frame a study in their own page and submit through a form, as Mechanical Turk does."),
    person="workerId",
    task="hitId",
    session="assignmentId",
    hints={
        Outcome.COMPLETED: _(
            "The site's own address for submitting, as a POST request: POST "
            "https://workers.example.org/mturk/externalSubmit?assignmentId={session}&done=yes"
        ),
    },
    columns="WorkerId = person\nAssignmentId = session\nBonusAmount = amount",
    link="",
    steps=(
        _("Enter this study's address as the external question. The site appends its IDs automatically."),
        _("Enter the site's address below, and the address to which assignments are submitted."),
    ),
    source=_("Amazon's documentation of the ExternalQuestion data structure, read on 2026-11-22"),
)
