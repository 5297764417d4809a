from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class WalkingConfig(AppConfig):
    name = "walking"
    verbose_name = _("walks through")

    def ready(self) -> None:
        from rights.parts import belongs
        from studies.models import Study
        from walking import endings, models  # noqa: F401  (endings register themselves)

        belongs(models.Walk, to=Study, by="study")
        belongs(models.Link, to=Study, by="study")
