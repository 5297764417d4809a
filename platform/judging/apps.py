from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class JudgingConfig(AppConfig):
    name = "judging"
    verbose_name = _("judging")

    def ready(self) -> None:
        from collecting.models import Collection
        from judging import uses
        from judging.models import JudgingRun
        from opponents.uses import register
        from rights.parts import belongs

        belongs(JudgingRun, to=Collection, by="collection")
        register(uses.uses_of)
