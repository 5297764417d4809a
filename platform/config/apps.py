from django.apps import AppConfig
from django.conf import settings
from django.utils.translation import gettext

from games.words import translate_with
from outgoing.addresses import use_local_hosts


class ConfigApp(AppConfig):
    name = "config"
    verbose_name = "Parley"

    def ready(self) -> None:
        from config import celery  # noqa: F401  (tasks are sent through its app)

        connect()


def connect() -> None:
    """Let the rooms that know no Django translate, and call the hosts that the settings allow."""
    translate_with(gettext)
    use_local_hosts(lambda: settings.LOCAL_HOSTS)
