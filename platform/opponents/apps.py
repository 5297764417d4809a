from django.apps import AppConfig
from django.core.signals import request_started
from django.db.models.signals import post_delete, post_save
from django.utils.translation import gettext_lazy as _


class OpponentsConfig(AppConfig):
    name = "opponents"
    verbose_name = _("opponents")

    def ready(self) -> None:
        from opponents import circuits, endpoints, spending

        spending.cap_per_day()
        endpoints.use_stored_endpoints()
        circuits.share_changes()
        for signal in (post_save, post_delete):
            signal.connect(endpoints.expire_memory, sender="opponents.Endpoint")
        request_started.connect(endpoints.refresh_for_admin_page)
