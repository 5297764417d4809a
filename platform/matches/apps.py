from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class MatchesConfig(AppConfig):
    name = "matches"
    verbose_name = _("matches")

    def ready(self) -> None:
        from matches import step  # noqa: F401  (registers itself)
