from django.utils.translation import gettext_lazy as _

from panels.endings import Outcome
from panels.presets import Preset

PRESET = Preset(
    key="external_question",
    title=_("External question"),
    about=_("Sites that show a study in their own page and hand in by a form, as Mechanical Turk does."),
    person="workerId",
    task="hitId",
    session="assignmentId",
    hints={
        Outcome.COMPLETED: _(
            "The site's own address for handing in, posted: "
            "POST https://workers.example.org/mturk/externalSubmit?assignmentId={session}&done=yes"
        ),
    },
    columns="WorkerId = person\nAssignmentId = session\nBonusAmount = amount",
    link="",
    steps=(
        _("Give the site this study's address as the external question; it appends its IDs by itself."),
        _("Type the site's address below, and the one by which an assignment is handed in."),
    ),
    source=_("Amazon's documentation of the ExternalQuestion data structure, read on 2026-11-22"),
)
