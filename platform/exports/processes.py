"""Processes beside the one that writes or checks a dataset. Nothing here needs Django before it is set up."""

from __future__ import annotations

import gc
import os


def prepare(settings_module: str, database: str | None) -> None:
    """Set Django up in a new process, with the database that the asking process uses, if any is needed."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", settings_module)
    import django
    from django.conf import settings

    # The admin without its pages, which nobody asks for here: a second less, and less memory.
    pages = {"django.contrib.admin": "django.contrib.admin.apps.SimpleAdminConfig"}
    settings.INSTALLED_APPS = [pages.get(app, app) for app in settings.INSTALLED_APPS]
    django.setup()
    from django.db import connections

    if database is not None:
        connections["default"].settings_dict["NAME"] = database
    settle()


def settle() -> None:
    """Tell the garbage collector that what was loaded by now stays, and that rows form no cycles."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
