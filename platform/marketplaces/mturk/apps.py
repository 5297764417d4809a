from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class MturkConfig(AppConfig):
    name = "marketplaces.mturk"
    label = "mturk"
    verbose_name = _("Mechanical Turk")

    def ready(self) -> None:
        from marketplaces.models import Account
        from marketplaces.mturk import models
        from rights.parts import belongs

        belongs(models.Qualification, to=Account, by="account")
        belongs(models.Granted, to=Account, by="qualification__account")
