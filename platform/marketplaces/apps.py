from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class MarketplacesConfig(AppConfig):
    name = "marketplaces"
    verbose_name = _("marketplaces")

    def ready(self) -> None:
        from marketplaces import modules, parts, paying, recruiting
        from marketplaces.kinds import every
        from recruiters import arrivals
        from studies.recruiting import register

        parts.declare()
        register(recruiting.find)
        for kind in every():
            visiting = modules.visiting(kind.key)
            arrivals.register(kind.key, kind.title, visiting.arrive, visiting.leave)
            paying.register(kind)
