from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class UptimeConfig(AppConfig):
    name = "uptime"
    verbose_name = _("uptime")
