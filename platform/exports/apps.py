from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ExportsConfig(AppConfig):
    name = "exports"
    verbose_name = _("exports")

    def ready(self) -> None:
        from collecting.models import Collection
        from exports.models import Dataset, Publication
        from rights.parts import belongs
        from studies.models import Study

        for model in (Dataset, Publication):
            belongs(model, to=Study, by="study")
            belongs(model, to=Collection, by="collection")
