from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class CollectingConfig(AppConfig):
    name = "collecting"
    verbose_name = _("collections")

    def ready(self) -> None:
        from collecting import parts, uses
        from opponents.uses import register

        parts.declare()
        register(uses.uses_of)
