from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class PilotingConfig(AppConfig):
    name = "piloting"
    verbose_name = _("pilots")

    def ready(self) -> None:
        from opponents.uses import register
        from piloting import earnings, parts, uses  # noqa: F401  (earnings register themselves)

        parts.declare()
        register(uses.uses_of)
