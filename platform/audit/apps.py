from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class AuditConfig(AppConfig):
    name = "audit"
    verbose_name = _("Audit")

    def ready(self) -> None:
        from audit import guard

        guard.register("audit_record", "audit records are never changed", "UPDATE", "DELETE")
        post_migrate.connect(guard.install_after_migrating, sender=self)
