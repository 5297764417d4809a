from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class OpponentsConfig(AppConfig):
    name = "opponents"
    verbose_name = _("opponents")
