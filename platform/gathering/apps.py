from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class GatheringConfig(AppConfig):
    name = "gathering"
    verbose_name = _("scheduled sessions")

    def ready(self) -> None:
        from gathering import door  # noqa: F401  (receives arrivals)
        from gathering.models import Attendance, Session
        from rights.parts import belongs
        from studies.models import Study

        belongs(Session, to=Study, by="study")
        belongs(Attendance, to=Study, by="session__study")
