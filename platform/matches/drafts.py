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

from games.interface import MESSAGE_LIMIT
from matches import channels

log = logging.getLogger(__name__)
INTERVAL = 1 / 15
"""Seconds between two messages about one draft."""
SEND_SECONDS = 2.0
"""Seconds that sending one message may take."""

_SPACE = " \t\n\r"
_PLAIN = re.compile(r'[^"\\\x00-\x1f]+')
_ESCAPED = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HEX = frozenset("0123456789abcdefABCDEF")
_UNREADABLE = "\ufffd"


class AnswerParser:
    """Parses an answer while it is written; gives the text so far of the fields `shows` in its last JSON object.

    Strings are read as by a strict JSON parser. Text that turns out not to be an object is skipped without
    searching it for nested objects: this can show less than the answer contains, but never more.
    """

    def __init__(self, shows: Collection[str]):
        self._shows = frozenset(shows)
        self._texts: dict[str, _String] = {}
        self._complete: dict[str, _String] = {}
        self._depth = 0
        self._key = ""
        self._string = _String()
        self._escaped = False
        self._read = self._outside

    @property
    def text(self) -> str | None:
        """Return the text so far, up to a message's limit; None before it begins."""
        if not self._texts:
            return None
        return "\n\n".join(string.text for string in self._texts.values())[:MESSAGE_LIMIT]

    def feed(self, chunk: str) -> None:
        """Parse the next part."""
        index = 0
        while index < len(chunk):
            index = self._read(chunk, index)

    # Each of the following reads from `index` and returns where to continue.

    def _outside(self, chunk: str, index: int) -> int:
        start = chunk.find("{", index)
        if start < 0:
            return len(chunk)
        self._texts = {}
        self._read = self._first_key
        return start + 1

    def _first_key(self, chunk: str, index: int) -> int:
        if chunk[index] == "}":
            return self._finish(index)
        return self._next_key(chunk, index)

    def _next_key(self, chunk: str, index: int) -> int:
        if chunk[index] in _SPACE:
            return index + 1
        if chunk[index] != '"':
            return self._abandon(index)
        self._string = _String()
        self._read = self._key_text
        return index + 1

    def _key_text(self, chunk: str, index: int) -> int:
        index = self._string.feed(chunk, index)
        if self._string.broken:
            return self._abandon(index)
        if self._string.closed:
            self._key = self._string.text
            self._read = self._colon
        return index

    def _colon(self, chunk: str, index: int) -> int:
        if chunk[index] in _SPACE:
            return index + 1
        if chunk[index] != ":":
            return self._abandon(index)
        self._texts.pop(self._key, None)
        self._read = self._value
        return index + 1

    def _value(self, chunk: str, index: int) -> int:
        character = chunk[index]
        if character in _SPACE:
            return index + 1
        if character == '"':
            self._string = _String()
            if self._key in self._shows:
                self._texts[self._key] = self._string
            self._read = self._value_text
            return index + 1
        if character in "{[":
            self._depth = 1
            self._escaped = False
            self._read = self._nested
            return index + 1
        if character in ",}:]":
            return self._abandon(index)
        self._read = self._literal
        return index + 1

    def _value_text(self, chunk: str, index: int) -> int:
        index = self._string.feed(chunk, index)
        if self._string.broken:
            return self._abandon(index)
        if self._string.closed:
            self._read = self._after_value
        return index

    def _literal(self, chunk: str, index: int) -> int:
        """Read a number, true, false or null."""
        character = chunk[index]
        if character in '"{[:]':
            return self._abandon(index)
        if character in ",}" or character in _SPACE:
            self._read = self._after_value
            return index
        return index + 1

    def _nested(self, chunk: str, index: int) -> int:
        character = chunk[index]
        if character == '"':
            self._read = self._nested_text
        elif character in "{[":
            self._depth += 1
        elif character in "}]":
            self._depth -= 1
            if self._depth == 0:
                self._read = self._after_value
        return index + 1

    def _nested_text(self, chunk: str, index: int) -> int:
        if self._escaped:
            self._escaped = False
        elif chunk[index] == "\\":
            self._escaped = True
        elif chunk[index] == '"':
            self._read = self._nested
        return index + 1

    def _after_value(self, chunk: str, index: int) -> int:
        character = chunk[index]
        if character in _SPACE:
            return index + 1
        if character == ",":
            self._read = self._next_key
            return index + 1
        return self._finish(index) if character == "}" else self._abandon(index)

    def _finish(self, index: int) -> int:
        self._complete = self._texts
        self._read = self._outside
        return index + 1

    def _abandon(self, index: int) -> int:
        """Abandon what turned out not to be an object; the one before it counts."""
        self._texts = self._complete
        self._read = self._outside
        return index


class _String:
    """Parses a JSON string after its opening quotation mark."""

    def __init__(self) -> None:
        self.closed = False
        self.broken = False
        self._parts: list[str] = []
        self._length = 0
        self._escape = ""
        self._half = ""

    @property
    def text(self) -> str:
        """Return the text so far without an incomplete escape, cut at a message's limit."""
        return "".join(self._parts)

    def feed(self, chunk: str, index: int) -> int:
        """Read the string from `index`; return where it ended."""
        while index < len(chunk) and not self.closed and not self.broken:
            if self._escape:
                self._unescape(chunk[index])
                index += 1
            elif plain := _PLAIN.match(chunk, index):
                self._add(plain[0])
                index = plain.end()
            else:
                character = chunk[index]
                index += 1
                if character == "\\":
                    self._escape = character
                elif character == '"':
                    self._add("")
                    self.closed = True
                else:
                    self.broken = True
        return index

    def _unescape(self, character: str) -> None:
        self._escape += character
        if len(self._escape) == 2:
            if character in _ESCAPED:
                self._escape = ""
                self._add(_ESCAPED[character])
            elif character != "u":
                self.broken = True
        elif character not in _HEX:
            self.broken = True
        elif len(self._escape) == 6:
            unit = int(self._escape[2:], 16)
            self._escape = ""
            self._add_unit(unit)

    def _add_unit(self, unit: int) -> None:
        """Add a UTF-16 unit; characters beyond the first plane consist of two."""
        if self._half and 0xDC00 <= unit <= 0xDFFF:
            high, self._half = ord(self._half), ""
            self._add(chr(0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00)))
        elif 0xD800 <= unit <= 0xDBFF:
            self._add("")
            self._half = chr(unit)
        else:
            self._add(_UNREADABLE if 0xDC00 <= unit <= 0xDFFF else chr(unit))

    def _add(self, text: str) -> None:
        if self._half:
            self._half, text = "", _UNREADABLE + text
        text = text[: max(0, MESSAGE_LIMIT - self._length)]
        if text:
            self._parts.append(text)
            self._length += len(text)


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
