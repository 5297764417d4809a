from functools import lru_cache
from typing import Any

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
            catalogue = trans_real.translation(code)
            if code != SOURCE:
                catalogue.merge(translations(code))
            _remember(catalogue)
        connect()


def _remember(catalogue: Any) -> None:
    """Look up each sentence once: a page needs a hundred, and a sentence that is not there is sought in every part."""
    catalogue.gettext = lru_cache(maxsize=8192)(catalogue.gettext)
    catalogue.ngettext = lru_cache(maxsize=8192)(catalogue.ngettext)


def connect() -> None:
    """Let the rooms that know no Django translate, and call the hosts that the settings allow."""
    translate_with(translation)
    use_local_hosts(lambda: settings.LOCAL_HOSTS)
