"""The code word hidden in the instructions: whoever reads them can type it."""

from __future__ import annotations

import re

from django.utils.translation import gettext as _

_LETTERS = re.compile(r"[^\w]+")
_MARKED = re.compile(r"\s*[#\-*+|>`~=\d]|\s{4}")
"""A line of a heading, list, table, quotation or code."""


def hide(instructions: str, word: str) -> str:
    """The instructions (Markdown) with a sentence about the word in the middle of their text."""
    sentence = _(
        "To show that you are reading this, remember the word **{word}**: you will be asked for it below."
    ).format(word=word)
    paragraphs = "\n".join(instructions.splitlines()).split("\n\n")
    plain = [i for i, paragraph in enumerate(paragraphs) if _is_plain(paragraph)]
    if not plain:
        return "\n\n".join([*paragraphs, sentence])
    where = plain[len(plain) // 2]
    paragraphs[where] = f"{paragraphs[where].rstrip()} {sentence}"
    return "\n\n".join(paragraphs)


def _is_plain(paragraph: str) -> bool:
    """Whether all of it is running text: a sentence behind a table's last row would not be shown."""
    return bool(paragraph.strip()) and not any(_MARKED.match(line) for line in paragraph.splitlines())


def matches(typed: str, word: str) -> bool:
    """Whether somebody typed the word; capitals, quotes and blanks do not matter."""
    return _LETTERS.sub("", typed).casefold() == word.casefold()
