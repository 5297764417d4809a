"""The reference, made from code: commands, settings, columns, the API and the games. No page is kept by hand."""

from __future__ import annotations

import os

import django
from django.apps import apps


def pages() -> dict[str, str]:
    """Every page of the reference as Markdown, by its path in the folder `reference`."""
    if not apps.ready:
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        os.environ.setdefault("SECRET_KEY", "documentation")
        django.setup()  # nothing connects to a database
    from deploy.docs.reference import api, columns, commands, games, settings

    return {
        "commands.md": commands.page(),
        "settings.md": settings.page(),
        "columns.md": columns.page(),
        "api.md": api.page(),
        **games.pages(),
    }
