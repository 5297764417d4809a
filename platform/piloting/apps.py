from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class PilotingConfig(AppConfig):
    name = "piloting"
    verbose_name = _("pilots")

    def ready(self) -> None:
        from opponents.uses import register
        from piloting import earnings, uses  # noqa: F401  (earnings register themselves)
        from piloting.models import Pilot, Walker
        from rights.parts import belongs
        from studies.models import Study
        from studies.parts import declare_enrolments

        belongs(Pilot, to=Study, by="study")
        belongs(Walker, to=Study, by="pilot__study")
        declare_enrolments("walker__pilot__study")
        register(uses.uses_of)
