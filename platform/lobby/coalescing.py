"""Work that covers every request made before it began: of many requests at once, a process runs it only twice."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable


class Coalesced:
    """Runs a function of its arguments once at a time in this process.

    A call that finds another one waiting for its turn returns at once, since that one has yet to begin and will see
    all that the caller has committed. A call from inside the function returns, too: the function checks at its end.
    """

    def __init__(self, work: Callable[..., None]):
        self._work = work
        self._state = threading.Lock()
        self._turns: dict[Hashable, threading.Lock] = {}
        self._waiting: set[Hashable] = set()
        self._running: dict[Hashable, int] = {}

    def __call__(self, *arguments: Hashable) -> None:
        with self._state:
            if arguments in self._waiting or self._running.get(arguments) == threading.get_ident():
                return
            self._waiting.add(arguments)
            turn = self._turns.setdefault(arguments, threading.Lock())
        with turn:
            with self._state:
                self._waiting.remove(arguments)
                self._running[arguments] = threading.get_ident()
            try:
                self._work(*arguments)
            finally:
                with self._state:
                    del self._running[arguments]
