from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class RecruitersConfig(AppConfig):
    name = "recruiters"
    verbose_name = _("recruiters")

    def ready(self) -> None:
        from recruiters import owing  # noqa: F401  (registers itself)
