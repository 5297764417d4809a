from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class RightsConfig(AppConfig):
    name = "rights"
    verbose_name = _("Rights")
