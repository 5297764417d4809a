from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class MturkConfig(AppConfig):
    name = "marketplaces.mturk"
    label = "mturk"
    verbose_name = _("Mechanical Turk")

    def ready(self) -> None:
        from marketplaces.mturk import arriving, parts, paying, returning  # noqa: F401  ("returning" registers itself)

        arriving.declare()
        parts.declare()
        paying.declare()
