"""Published systems whose data can be imported: each module here that assigns `SYSTEM` is one, found by its name."""

from __future__ import annotations

import importlib
import pkgutil

from exports.errors import UnknownSource
from exports.published import System


def keys() -> list[str]:
    """Return the names of all systems."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def system_named(key: str) -> System:
    """Return a system.

    Raises:
        UnknownSource: listing the existing ones.
    """
    if key not in keys():
        raise UnknownSource(f"No published system is called “{key}”; use one of {', '.join(keys())}.")
    system: System = importlib.import_module(f"{__name__}.{key}").SYSTEM
    return system
