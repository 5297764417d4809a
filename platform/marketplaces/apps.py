from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class MarketplacesConfig(AppConfig):
    name = "marketplaces"
    verbose_name = _("marketplaces")

    def ready(self) -> None:
        from marketplaces import parts, recruiting, submissions  # noqa: F401  (submissions register a signal)
        from recruiters import authenticity
        from studies.recruiting import register

        parts.declare()
        register(recruiting.find)
        authenticity.register("submission")
