from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class PanelsConfig(AppConfig):
    name = "panels"
    verbose_name = _("panels")

    def ready(self) -> None:
        from panels import leaving, parts, paying, recruiting  # noqa: F401  (some register themselves)
        from panels.arriving import arrive
        from panels.models import KIND
        from recruiters import arrivals
        from studies.recruiting import register

        parts.declare()
        register(recruiting.find)
        arrivals.register(KIND, _("a panel, described without code"), arrive, leaving.to_panel)
