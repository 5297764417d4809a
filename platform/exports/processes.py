"""Setup of additional processes that write or check a dataset. This module can be imported before Django is set up."""

from __future__ import annotations

import gc
import os
from logging.config import dictConfig


def prepare(settings_module: str, database: str | None) -> None:
    """Set up Django in a new process, with the calling process's database if one is needed."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", settings_module)
    import django
    from django.apps import apps
    from django.conf import settings

    if database is None:
        dictConfig(settings.LOGGING)
        apps.populate(settings.APPS_WITHOUT_MODELS)
        settle()
        return
    # Load the admin without its pages, which are not needed here: this saves a second and some memory.
    pages = {"django.contrib.admin": "django.contrib.admin.apps.SimpleAdminConfig"}
    settings.INSTALLED_APPS = [pages.get(app, app) for app in settings.INSTALLED_APPS]
    django.setup()
    from django.db import connections

    connections["default"].settings_dict["NAME"] = database
    settle()


def settle() -> None:
    """Exempt everything loaded so far from garbage collection, and collect rarely, because rows form no cycles."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
