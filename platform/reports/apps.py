from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ReportsConfig(AppConfig):
    name = "reports"
    verbose_name = _("reports")

    def ready(self) -> None:
        from django.db.models.signals import post_delete

        from reports.models import Report, delete_file

        post_delete.connect(delete_file, sender=Report)
