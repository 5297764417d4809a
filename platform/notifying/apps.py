from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class NotifyingConfig(AppConfig):
    name = "notifying"
    verbose_name = _("notices of alerts")

    def ready(self) -> None:
        from notifying.models import Recipient
        from rights.parts import belongs
        from studies.models import Study

        belongs(Recipient, to=Study, by="study")
