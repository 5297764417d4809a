from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class LobbyConfig(AppConfig):
    name = "lobby"
    verbose_name = _("lobby")

    def ready(self) -> None:
        from lobby import step  # noqa: F401  (registers itself)
