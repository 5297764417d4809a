from functools import lru_cache

from django.apps import AppConfig
from django.conf import settings
from django.utils.translation import get_language, gettext

from games.words import translate_with
from outgoing.addresses import use_local_hosts


@lru_cache(maxsize=4096)
def _translated(sentence: str, language: str | None) -> str:
    """Return a sentence of the games in the active language; a page asks for the same ones hundreds of times."""
    return gettext(sentence)


class ConfigApp(AppConfig):
    name = "config"
    verbose_name = "Parley"

    def ready(self) -> None:
        translate_with(lambda sentence: _translated(sentence, get_language()))
        use_local_hosts(lambda: settings.LOCAL_HOSTS)
