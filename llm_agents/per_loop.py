"""Things that belong to one event loop and one endpoint: connections, and slots for calls."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


class PerLoop(Generic[T]):
    """One thing for each event loop and endpoint name; replaced when what it was made for has changed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loops: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, tuple[Any, T]]] = WeakKeyDictionary()

    def get(self, name: str, made_for: Any, make: Callable[[], T]) -> T:
        """Return the running loop's thing of that name, made now if there is none for `made_for`."""
        things = self._things()
        if name not in things or things[name][0] != made_for:
            things[name] = (made_for, make())
        return things[name][1]

    def pop(self, name: str) -> T | None:
        """Forget and return the running loop's thing of that name."""
        return self._things().pop(name, (None, None))[1]

    def _things(self) -> dict[str, tuple[Any, T]]:
        with self._lock:
            return self._loops.setdefault(asyncio.get_running_loop(), {})
