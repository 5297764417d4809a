from django.apps import AppConfig
from django.conf import settings
from django.utils.translation import gettext

from games.words import translate_with
from outgoing.addresses import use_local_hosts


class ConfigApp(AppConfig):
    name = "config"
    verbose_name = "Parley"

    def ready(self) -> None:
        translate_with(gettext)
        use_local_hosts(lambda: settings.LOCAL_HOSTS)
