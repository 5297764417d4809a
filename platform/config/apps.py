from contextvars import ContextVar
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
    default = True
    verbose_name = "Parley"

    def ready(self) -> None:
        from config import celery  # noqa: F401  (tasks are sent through its app)

        trans_real.DjangoTranslation = Translation  # type: ignore[misc]
        # Django's models have loaded English before, as what this replaces.
        trans_real._translations.clear()  # type: ignore[attr-defined]
        trans_real._default = None  # type: ignore[attr-defined]
        connect()


class UnconnectedConfig(AppConfig):
    """The app for code that uses neither models nor tasks."""

    name = "config"

    def ready(self) -> None:
        connect()


class Translation(trans_real.DjangoTranslation):
    """Django's translations into a language, and ours, read when somebody first needs them.

    Each sentence is looked up once: a page needs a hundred, and one that is not there is sought in every part.
    """

    def __init__(self, language: str, *arguments: Any, **options: Any) -> None:
        super().__init__(language, *arguments, **options)
        if language in LANGUAGES and language != SOURCE:
            self.merge(translations(language))
        self.gettext = lru_cache(maxsize=8192)(self.gettext)  # type: ignore[method-assign]
        self.ngettext = lru_cache(maxsize=8192)(self.ngettext)  # type: ignore[method-assign]


_reading: ContextVar[Any] = ContextVar("translation", default=None)
"""The translations into the reader's language in this thread or task."""


class ActiveLanguage:
    """Where Django keeps `_reading`: a page asks for it a hundred times, and Django's own place takes a lock."""

    @property
    def value(self) -> Any:
        if (translation := _reading.get()) is None:
            raise AttributeError("value")
        return translation

    @value.setter
    def value(self, translation: Any) -> None:
        _reading.set(translation)

    @value.deleter
    def value(self) -> None:
        _reading.set(None)


class Translator:
    """Django's translations without its search for line breaks of other systems, which no sentence of ours has."""

    ngettext = staticmethod(translation.ngettext)
    override = staticmethod(translation.override)

    def gettext(self, message: str) -> str:
        catalogue = _reading.get() or trans_real.catalog()
        translated: str = catalogue.gettext(message) if message else ""
        return translated

    def get_language(self) -> str | None:
        catalogue = _reading.get()
        return translation.get_language() if catalogue is None else catalogue.to_language()


def connect() -> None:
    """Let the rooms that know no Django translate, and call the hosts that the settings allow."""
    trans_real._active = ActiveLanguage()  # type: ignore[attr-defined]
    translate_with(Translator())
    use_local_hosts(lambda: settings.LOCAL_HOSTS)
