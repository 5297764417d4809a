from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class MonitoringConfig(AppConfig):
    name = "monitoring"
    verbose_name = _("monitoring")

    def ready(self) -> None:
        from monitoring.models import CellTally, HandEnding, OutcomeTally, TimeTally
        from rights.parts import belongs
        from studies.models import Study

        belongs(CellTally, to=Study, by="version__study")
        belongs(OutcomeTally, to=Study, by="cell__version__study")
        belongs(TimeTally, to=Study, by="study")
        belongs(HandEnding, to=Study, by="match__seats__enrolment__placement__version__study")
