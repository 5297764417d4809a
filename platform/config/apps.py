from django.apps import AppConfig
from django.utils.translation import gettext

from games.words import translate_with


class ConfigApp(AppConfig):
    name = "config"
    verbose_name = "Parley"

    def ready(self) -> None:
        translate_with(gettext)
