from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class StudiesConfig(AppConfig):
    name = "studies"
    verbose_name = _("studies")

    def ready(self) -> None:
        from studies import endings, parts  # noqa: F401  (endings register themselves)

        parts.declare()
