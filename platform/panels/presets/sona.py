from django.utils.translation import gettext_lazy as _

from panels.endings import Outcome
from panels.presets import Preset

PRESET = Preset(
    key="sona",
    title="SONA",
    about=_("A university's participant pool. SONA grants the credit automatically when a participant returns."),
    person="survey_code",
    hints={
        Outcome.COMPLETED: _(
            "The client-side completion URL from the study's page on SONA, with {person} in place of XXXX: "
            "https://yourschool.sona-systems.com/webstudy_credit.aspx?experiment_id=…&credit_token=…&survey_code={person}"
        ),
        Outcome.PARTIAL: _(
            "Leave empty for no automatic credit, or enter the same URL as above if this outcome also earns credit."
        ),
    },
    pays="panel",
    columns="survey_code = person\namount = amount",
    lasting=False,
    link="?survey_code=%SURVEY_CODE%",
    steps=(
        _("Create an Online External Study on SONA with the study URL shown here."),
        _("Enter your school's own SONA site below, such as https://yourschool.sona-systems.com."),
        _("Copy the completion URL that SONA then shows into the field for participants who completed."),
    ),
    source=_("SONA's documentation of survey codes and external credit granting, read on 2026-11-22"),
)
