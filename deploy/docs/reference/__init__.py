"""The reference, generated from the code: commands, settings, plans, columns, the API and the games."""

from __future__ import annotations

import os

import django
from django.apps import apps


def pages() -> dict[str, str]:
    """Return every page of the reference as Markdown and the files they link to, by their path in the folder `reference`."""
    if not apps.ready:
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        os.environ.setdefault("SECRET_KEY", "documentation")
        django.setup()  # nothing connects to a database
    from deploy.docs.reference import api, columns, commands, games, plan, settings

    return {
        "commands.md": commands.page(),
        "settings.md": settings.page(),
        "plan.md": plan.page(),
        plan.SCHEMA: plan.schema(),
        "columns.md": columns.page(),
        "api.md": api.page(),
        **games.pages(),
    }
