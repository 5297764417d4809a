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
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    sys.stdout = sys.stderr
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from django.db import close_old_connections

    for line in sys.stdin:
        close_old_connections()
        answer(line, answers)


def answer(line: str, answers: TextIO) -> None:
    """Call what the line names and write its result, or the traceback of its exception."""
    from django.utils.module_loading import import_string

    name, positional, named = json.loads(line)
    try:
        said = json.dumps({"result": import_string(name)(*positional, **named)}, default=plain)
    except Exception:  # noqa: BLE001  (the caller gets to see it)
        said = json.dumps({"error": traceback.format_exc()})
    answers.write(said + "\n")
    answers.flush()


def plain(value: Any) -> Any:
    """Return dataclasses as dictionaries and anything else as text."""
    return dataclasses.asdict(value) if dataclasses.is_dataclass(value) and not isinstance(value, type) else str(value)


if __name__ == "__main__":
    main()
