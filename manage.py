#!/usr/bin/env python
"""Django's command line, with the apps' folder `platform/` on the path."""

import os
import sys
from pathlib import Path


def main() -> None:
    root = Path(__file__).resolve().parent
    sys.path.insert(0, str(root / "platform"))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line
    from django.db import DatabaseError, InterfaceError

    from config import alone

    try:
        run = alone.run if alone.COMMANDS.keys() & sys.argv[1:2] else execute_from_command_line
        run(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    except (DatabaseError, InterfaceError):
        from config.management.commands.await_migrations import missing

        if problem := missing():
            sys.exit(problem)
        raise


if __name__ == "__main__":
    main()
