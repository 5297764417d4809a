from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ProlificConfig(AppConfig):
    name = "marketplaces.prolific"
    label = "prolific"
    verbose_name = _("Prolific")

    def ready(self) -> None:
        from marketplaces.prolific.publishing import stated
        from recruiters import terms

        terms.register("prolific", stated)
