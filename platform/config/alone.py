"""Commands that need no database: they load no app, which would take most of a second."""

from __future__ import annotations

from logging.config import dictConfig

from django.apps import apps
from django.conf import settings
from django.core.management import load_command_class

from config.apps import connect

COMMANDS = {"told": "collecting", "replay": "matches", "simulate": "matches", "analyse": "reports"}
"""The app whose folder holds each command."""


def run(arguments: list[str]) -> None:
    """Run a command of `COMMANDS` with a command line's arguments."""
    dictConfig(settings.LOGGING)
    apps.populate([])
    connect()
    load_command_class(COMMANDS[arguments[1]], arguments[1]).run_from_argv(arguments)
