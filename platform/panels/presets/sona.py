from django.utils.translation import gettext_lazy as _

from panels.endings import Outcome
from panels.presets import Preset

PRESET = Preset(
    key="sona",
    title="SONA",
    about=_("A university's pool of participants. SONA grants the credit itself as soon as somebody goes back."),
    person="survey_code",
    hints={
        Outcome.COMPLETED: _(
            "The client-side completion URL of the study's page at SONA, with {person} in place of XXXX: "
            "https://yourschool.sona-systems.com/webstudy_credit.aspx?experiment_id=…&credit_token=…&survey_code={person}"
        ),
        Outcome.PARTIAL: _("Empty: no credit by itself; or the same as above where part of it earns credit too."),
    },
    pays="panel",
    columns="survey_code = person\namount = amount",
    lasting=False,
    link="?survey_code=%SURVEY_CODE%",
    steps=(
        _("Make an Online External Study at SONA with the study URL that is shown here."),
        _("Type your school's own site at SONA below, such as https://yourschool.sona-systems.com."),
        _("Copy the completion URL that SONA shows then into the field for those who completed."),
    ),
    source=_("SONA's documentation of survey codes and external credit granting, read on 2026-11-22"),
)
