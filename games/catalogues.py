"""Catalogues of translations: gettext's PO files, read as they are, so that nothing has to be compiled."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from gettext import GNUTranslations
from io import BytesIO
from pathlib import Path
from struct import pack

SOURCE = "en"
"""The language of the sentences in the code."""
LANGUAGES = ("en", "de", "es")
"""The languages of everything that participants and models read."""


@dataclass(frozen=True)
class Message:
    """A sentence of a catalogue: the English one, its plural (or none), and the translations, one per plural form."""

    id: str
    plural: str
    translations: tuple[str, ...]


def files(language: str) -> list[Path]:
    """Return the catalogues of a language: the games' own, and one for the rest of the code."""
    games = Path(__file__).parent
    return sorted([*games.glob(f"*/texts/{language}.po"), *games.parent.glob(f"locale/{language}.po")])


def read(path: Path) -> list[Message]:
    """Return the messages of a PO file; the first one, of the empty sentence, holds its header."""
    return [_message(entry) for entry in _entries(path.read_text(encoding="utf-8").splitlines())]


def _entries(lines: Iterable[str]) -> Iterator[list[str]]:
    """Yield the lines of each entry, without comments."""
    entry: list[str] = []
    for line in lines:
        if line.startswith("msgid ") and entry:
            yield entry
            entry = []
        if line and not line.startswith("#"):
            entry.append(line)
    if entry:
        yield entry


def _message(lines: Iterable[str]) -> Message:
    parts: dict[str, str] = {}
    for line in lines:
        if not line.startswith('"'):
            keyword, line = line.split(" ", 1)
            parts[keyword] = ""
        parts[keyword] += ast.literal_eval(line)
    translations = tuple(text for keyword, text in parts.items() if keyword.startswith("msgstr"))
    return Message(parts["msgid"], parts.get("msgid_plural", ""), translations)


def translations(language: str) -> GNUTranslations:
    """Return the translations of a language; messages without one stay English."""
    texts = {}
    for path in files(language):
        for message in read(path):
            if all(message.translations):
                texts[message.id.encode()] = message.translations[0].encode()
            if all(message.translations) and message.plural:
                texts[f"{message.id}\0{message.plural}".encode()] = "\0".join(message.translations).encode()
    return GNUTranslations(BytesIO(_compiled(texts)))


def _compiled(texts: dict[bytes, bytes]) -> bytes:
    """Return messages in gettext's binary format: a header of seven numbers, two tables of places, the texts."""
    ordered = sorted(texts.items())
    count, header = len(ordered), 28
    at, places, data = header + 16 * count, [], b""
    for column in (0, 1):
        for pair in ordered:
            places += [len(pair[column]), at + len(data)]
            data += pair[column] + b"\0"
    return (
        pack("<7I", 0x950412DE, 0, count, header, header + 8 * count, 0, 0) + pack(f"<{len(places)}I", *places) + data
    )
