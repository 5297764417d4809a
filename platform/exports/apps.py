from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ExportsConfig(AppConfig):
    name = "exports"
    verbose_name = _("exports")

    def ready(self) -> None:
        from exports.models import Dataset
        from rights.parts import belongs
        from studies.models import Study

        belongs(Dataset, to=Study, by="study")
