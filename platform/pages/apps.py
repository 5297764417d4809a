from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class PagesConfig(AppConfig):
    name = "pages"
    verbose_name = _("pages")

    def ready(self) -> None:
        from pages import steps  # noqa: F401  (registers its step)
