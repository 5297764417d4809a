"""The code word hidden in the instructions: whoever reads them can type it."""

from __future__ import annotations

import re

from django.utils.translation import gettext as _

_LETTERS = re.compile(r"[^\w]+")


def hide(instructions: str, word: str) -> str:
    """The instructions (Markdown) with a sentence about the word in the middle of their text."""
    sentence = _("To show that you are reading this, remember the word **{word}**: you will be asked for it below.").format(
        word=word
    )
    paragraphs = instructions.split("\n\n")
    plain = [i for i, part in enumerate(paragraphs) if part.strip() and part.lstrip()[0] not in "#-*|>0123456789"]
    where = plain[len(plain) // 2] if plain else len(paragraphs) - 1
    paragraphs[where] = f"{paragraphs[where].rstrip()} {sentence}"
    return "\n\n".join(paragraphs)


def matches(typed: str, word: str) -> bool:
    """Whether somebody typed the word; capitals, quotes and blanks do not matter."""
    return _LETTERS.sub("", typed).casefold() == word.casefold()
