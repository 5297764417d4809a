from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class PaydeskConfig(AppConfig):
    name = "paydesk"
    verbose_name = _("pay desk")
