from django.utils.translation import gettext_lazy as _

from panels.endings import Outcome
from panels.presets import Preset

PRESET = Preset(
    key="respondent",
    title="Respondent",
    about=_("Respondent pays the incentive once you mark somebody as attended; bonuses beside it are yours to pay."),
    person="respondent_user_id participant_id",
    task="respondent_project_id project_id",
    session="respondent_screener_response_id",
    sites="https://app.respondent.io",
    hints={
        Outcome.COMPLETED: _("The project's completion URL: https://app.respondent.io/complete?cc=…"),
        Outcome.SCREENED_OUT: _("Leave it empty: Respondent has no address for it. Mark the person at Respondent."),
    },
    pays="bonuses",
    columns="participant_id = person\nproject_id = task\nscreener_response_id = session\namount = amount",
    steps=(
        _("Create an unmoderated study or survey with this study's address. Respondent appends its IDs by itself."),
        _("Copy the completion URL of the project into the field below."),
        _("Mark as attended at Respondent anyone who is paid: that pays the incentive."),
    ),
    source=_("Respondent's developer documentation on URL parameters and the completion URL, read on 2026-11-22"),
)
