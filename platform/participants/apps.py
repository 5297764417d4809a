from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ParticipantsConfig(AppConfig):
    name = "participants"
    verbose_name = _("participants")

    def ready(self) -> None:
        from participants import consent  # noqa: F401  (registers its steps)
