from django.apps import AppConfig
from django.conf import settings
from django.utils import translation
from django.utils.translation import trans_real

from games.catalogues import LANGUAGES, SOURCE, translations
from games.words import translate_with
from outgoing.addresses import use_local_hosts


class ConfigApp(AppConfig):
    name = "config"
    verbose_name = "Parley"

    def ready(self) -> None:
        from config import celery  # noqa: F401  (tasks are sent through its app)

        for code in LANGUAGES:
            if code != SOURCE:
                trans_real.translation(code).merge(translations(code))
        connect()


def connect() -> None:
    """Let the rooms that know no Django translate, and call the hosts that the settings allow."""
    translate_with(translation)
    use_local_hosts(lambda: settings.LOCAL_HOSTS)
