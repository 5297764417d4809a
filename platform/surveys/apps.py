from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class SurveysConfig(AppConfig):
    name = "surveys"
    verbose_name = _("surveys")

    def ready(self) -> None:
        from participants.written_text import register_written_fields
        from surveys import steps  # noqa: F401  (registers its steps)
        from surveys.models import Response

        register_written_fields(Response, "answers")
