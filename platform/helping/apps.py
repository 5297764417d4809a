from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class HelpingConfig(AppConfig):
    name = "helping"
    verbose_name = _("help while a study runs")

    def ready(self) -> None:
        from helping.models import Message
        from rights.parts import belongs
        from studies.models import Study

        belongs(Message, to=Study, by="enrolment__placement__version__study")
