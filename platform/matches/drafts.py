"""Drafts: what participants see of a model's answer while it is being written.

Drafts contain only text meant for the participants, never a number or a decision before it is committed. They
are hints over the channel layer; the move's own frame follows, so losing any of them is harmless.
"""

from __future__ import annotations

import asyncio
import logging
import re
import threading
import time
from collections.abc import Collection
from types import TracebackType
from typing import Any

from pydantic_core import from_json

from games.interface import MESSAGE_LIMIT
from matches import channels

log = logging.getLogger(__name__)
INTERVAL = 1 / 15
"""Seconds between two messages about one draft."""
SEND_SECONDS = 2.0
"""Seconds that sending one message may take."""

_FAULT = re.compile(r"(.+) at line 1 column (\d+)")
_UNREADABLE = "\ufffd".encode()


class AnswerParser:
    """Parses an answer while it is written; gives the text so far of the fields `shows` in its last JSON object.

    Text that turns out not to be an object is skipped without searching it for nested objects: this can show less
    than the answer contains, but never more.
    """

    def __init__(self, shows: Collection[str]):
        self._shows = frozenset(shows)
        self._unread = b""
        self._complete: dict[str, Any] = {}
        self._current: dict[str, Any] = {}

    @property
    def text(self) -> str | None:
        """Return the text so far, up to a message's limit; None before it begins."""
        texts = [text for key, text in self._current.items() if key in self._shows and isinstance(text, str)]
        return "\n\n".join(texts)[:MESSAGE_LIMIT] if texts else None

    def feed(self, chunk: str) -> None:
        """Parse the next part."""
        # On one line, the column of a fault is its position; a tab is wherever JSON allows and forbids a line break.
        self._unread += chunk.encode(errors="replace").replace(b"\n", b"\t")
        while (start := self._unread.find(b"{")) >= 0:
            self._unread = self._unread[start:]
            if not self._read_object():
                return
        self._unread = b""

    def _read_object(self) -> bool:
        """Read the object with which the unread text begins; return whether there is more to read."""
        try:
            self._complete = self._current = from_json(self._unread)
            self._unread = b""
            return True
        except ValueError as error:
            fault, column = _FAULT.fullmatch(str(error)).groups()  # type: ignore[union-attr]
        end = int(column) - 1
        if fault.startswith("EOF"):
            self._current = from_json(self._unread, allow_partial="trailing-strings")
            return False
        if fault.endswith("hex escape"):  # half of a character
            half = self._unread.lower().rindex(b"\\ud", 0, end)
            self._unread = self._unread[:half] + _UNREADABLE + self._unread[half + 6 :]
            return True
        if fault == "trailing characters":
            self._complete = from_json(self._unread[:end])
        self._current = self._complete
        self._unread = self._unread[max(1, end) :]
        return True


class Draft:
    """An agent's answer while it is written, sent to the participants who wait for it.

    Can be used from any thread and event loop; nothing here waits or fails. As a context manager, it is closed at
    the end, and retracted if there was no answer.
    """

    def __init__(
        self,
        match_id: int,
        role: str,
        answering: int,
        *,
        people: Collection[str],
        shows: Collection[str] = ("message",),
    ):
        """Create a draft of `role`'s answer to the question opened by event `answering`.

        Args:
            people: the roles whose pages may show it.
            shows: the fields that are free text (`text_fields`).
        """
        self._match_id = match_id
        self._role = role
        self._answering = answering
        self._people = sorted(set(people) - {role})
        self._shows = tuple(shows)
        self._parser = AnswerParser(self._shows)
        self._lock = threading.Lock()
        self._announced: str | None = None
        self._number = 0
        self._announcing = False
        self._closed = not (self._people and self._shows)

    def add(self, chunk: str) -> None:
        """Add text that the model has written."""
        with self._lock:
            if not self._closed:
                self._parser.feed(chunk)
                self._announce_soon()

    def retract(self) -> None:
        """Discard the text so far; a new answer follows."""
        with self._lock:
            if not self._closed:
                self._parser = AnswerParser(self._shows)
                self._announce_soon()

    def close(self) -> None:
        """Close the draft. Text that was not sent yet is still sent."""
        with self._lock:
            self._closed = True

    def __enter__(self) -> Draft:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self.retract()
        self.close()

    def _announce_soon(self) -> None:
        if not self._announcing and self._parser.text != self._announced:
            self._announcing = True
            asyncio.run_coroutine_threadsafe(self._announce(), channels.background_loop())

    async def _announce(self) -> None:
        """Send changes, one message at a time, until there are none."""
        while True:
            with self._lock:
                text = self._parser.text
                if text == self._announced:
                    self._announcing = False
                    return
                self._announced = text
                # Another worker may write this answer later: its numbers must be higher, so they are based on the time.
                number = self._number = max(self._number + 1, time.time_ns() // 1_000_000)
            try:
                sending = channels.send_draft(
                    self._match_id, self._role, self._answering, people=self._people, text=text, number=number
                )
                await asyncio.wait_for(sending, SEND_SECONDS)
            except Exception as error:  # noqa: BLE001  (any failure of the channel layer: a hint is lost)
                log.debug("a draft was not announced: %s", type(error).__name__)
            await asyncio.sleep(INTERVAL)
