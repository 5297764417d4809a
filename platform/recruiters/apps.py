from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class RecruitersConfig(AppConfig):
    name = "recruiters"
    verbose_name = _("recruiters")

    def ready(self) -> None:
        from recruiters import leaving, owing  # noqa: F401  (register handlers)
