"""Run functions by name inside a stack's environment: a line of JSON in, a line of JSON out.

`Stack.call` keeps one such process, so that tests and the demo reach the database of their stack
without sharing their own process's settings.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
import traceback
from typing import Any, TextIO


def main() -> None:
    stream = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    sys.stdout = sys.stderr
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from django.db import close_old_connections

    for line in sys.stdin:
        close_old_connections()
        answer(line, stream)


def answer(line: str, stream: TextIO) -> None:
    """Call the function that the line names; write its result, or its exception's message or traceback."""
    from django.core.management.base import CommandError
    from django.utils.module_loading import import_string

    name, arguments, keywords = json.loads(line)
    try:
        output = json.dumps({"result": import_string(name)(*arguments, **keywords)}, default=plain)
    except CommandError as error:
        output = json.dumps({"error": str(error)})
    except Exception:  # noqa: BLE001  (the caller receives the traceback)
        output = json.dumps({"error": traceback.format_exc()})
    stream.write(output + "\n")
    stream.flush()


def plain(value: Any) -> Any:
    """Return dataclasses as dictionaries and anything else as text."""
    return dataclasses.asdict(value) if dataclasses.is_dataclass(value) and not isinstance(value, type) else str(value)


if __name__ == "__main__":
    main()
