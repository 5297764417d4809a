from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ChecksConfig(AppConfig):
    name = "checks"
    verbose_name = _("checks")

    def ready(self) -> None:
        from checks import steps  # noqa: F401  (registers its steps)
