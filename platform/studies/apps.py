from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class StudiesConfig(AppConfig):
    name = "studies"
    verbose_name = _("studies")

    def ready(self) -> None:
        from studies import endings  # noqa: F401  (registers itself)
        from studies.frozen import put_trigger

        post_migrate.connect(put_trigger, sender=self, dispatch_uid="studies.frozen")
