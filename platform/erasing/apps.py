from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ErasingConfig(AppConfig):
    name = "erasing"
    verbose_name = _("Erasing")
