from django.utils.translation import gettext_lazy as _

from panels.endings import Outcome
from panels.presets import Preset

PRESET = Preset(
    key="respondent",
    title="Respondent",
    about=_("Respondent pays the incentive once you mark a participant as attended. You pay bonuses yourself."),
    person="respondent_user_id participant_id",
    task="respondent_project_id project_id",
    session="respondent_screener_response_id",
    sites="https://app.respondent.io",
    hints={
        Outcome.COMPLETED: _("The project's completion URL: https://app.respondent.io/complete?cc=…"),
        Outcome.SCREENED_OUT: _(
            "Leave this empty: Respondent has no address for it. Mark the participant on Respondent."
        ),
    },
    pays="bonuses",
    columns="participant_id = person\nproject_id = task\nscreener_response_id = session\namount = amount",
    steps=(
        _("Create an unmoderated study or survey with this study's address. Respondent appends its IDs automatically."),
        _("Copy the completion URL of the project into the field below."),
        _("On Respondent, mark everyone who should be paid as attended. This pays the incentive."),
    ),
    source=_("Respondent's developer documentation on URL parameters and the completion URL, read on 2026-11-22"),
)
