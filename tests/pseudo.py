"""A pseudo-language that shows what is not translated: each sentence of a catalogue is longer and between ⟦ and ⟧."""

from __future__ import annotations

import re
from collections.abc import Iterator
from gettext import NullTranslations
from html import unescape

from games.catalogues import files, read

OPEN, CLOSE = "⟦", "⟧"
PADDING = " ~~~"
_HIDDEN = re.compile(r"(?s)<(script|style|textarea|bdi)\b.*?</\1>")
_TAG = re.compile(r"(?s)<[^>]*>")
_WORDED = re.compile(
    r'\b(?:aria-label|alt|title|placeholder|data-(?!columns|whatif|entry|setback)[a-z-]+)="([^"]*[A-Za-z]{2,} [^"]*)"'
)
_WORD = re.compile(r"[^\W\d_]{2,}")


class Pseudo(NullTranslations):
    """Translations of what the German catalogues translate, longer by about a third."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self._language = language
        messages = [message for path in files("de") for message in read(path)]
        self._known = {text for message in messages for text in (message.id, message.plural)}

    def to_language(self) -> str:
        return self._language

    def gettext(self, message: str) -> str:
        is_words = message in self._known and _WORD.search(message)
        return f"{OPEN}{message}{PADDING * (1 + len(message) // 12)}{CLOSE}" if is_words else message

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return self.gettext(msgid1 if n == 1 else msgid2)


def untranslated(html: str) -> Iterator[str]:
    """Yield the words of a page that stand outside translated sentences, also those of labels and scripts' texts."""
    shown = _TAG.sub("\n", _HIDDEN.sub(" ", html))
    for text in (shown, *_WORDED.findall(html)):
        yield from filter(_WORD.search, map(str.strip, _outside(unescape(text)).split("\n")))


def _outside(text: str) -> str:
    kept, depth = [], 0
    for character in text:
        depth += character == OPEN
        if not depth or character == "\n":
            kept.append(character)
        depth -= character == CLOSE
    return "".join(kept)
