"""Commands that need no database: they load no models, which would take most of a second."""

from __future__ import annotations

from logging.config import dictConfig

from django.apps import apps
from django.conf import settings
from django.core.management import load_command_class

COMMANDS = {
    "analyse": "reports",
    "replay": "matches",
    "show": "matches",
    "simulate": "matches",
    "told": "collecting",
    "verify_dataset": "exports",
}
"""The app whose folder holds each command."""


def run(arguments: list[str]) -> None:
    """Run a command of `COMMANDS` with a command line's arguments."""
    dictConfig(settings.LOGGING)
    apps.populate(settings.APPS_WITHOUT_MODELS)
    load_command_class(COMMANDS[arguments[1]], arguments[1]).run_from_argv(arguments)
