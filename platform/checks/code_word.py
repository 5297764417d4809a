"""The attention check: a code word hidden in the instructions."""

from __future__ import annotations

import re

from django.utils.translation import gettext as _

from participants.models import CODE_WORDS

_WORD = re.compile(r"\w+")
MOST_WORDS = 12
"""Longer answers fail: participants who paste the instructions have not read them."""
_MARKED = re.compile(r"\s*(?:[#\-+|>`~=\d]|\*(?!\*\w))|\s{4}")
"""The start of a heading, list, table, quotation or code line, as opposed to running text."""


def hide(instructions: str, word: str) -> str:
    """Return the instructions (Markdown) with a sentence about the code word in the middle of the text.

    The sentence ends a paragraph of running text, never one that leads into a list or table.
    """
    sentence = _(
        "To show that you are reading this, remember the word **{word}**: you will be asked for it below."
    ).format(word=word)
    paragraphs = [part for part in "\n".join(instructions.splitlines()).split("\n\n") if part.strip()]
    plain = [i for i in range(len(paragraphs)) if _stands_alone(paragraphs, i)]
    if not plain:
        return "\n\n".join([*paragraphs, sentence])
    where = plain[len(plain) // 2]
    paragraphs[where] = f"{paragraphs[where].rstrip()} {sentence}"
    return "\n\n".join(paragraphs)


def _stands_alone(paragraphs: list[str], number: int) -> bool:
    """Return whether the paragraph is running text that does not lead into a list or table."""
    here, following = paragraphs[number], paragraphs[number + 1] if number + 1 < len(paragraphs) else ""
    leads_on = here.rstrip().endswith(":") or (_is_marked(following) and not following.lstrip().startswith("#"))
    return not _is_marked(here) and not leads_on


def _is_marked(paragraph: str) -> bool:
    """Return whether any line is not running text: a sentence after a table's last row would not be shown."""
    return any(_MARKED.match(line) for line in paragraph.splitlines())


def matches(typed: str, word: str) -> bool:
    """Return whether the typed text contains the word, ignoring case, quotes, other words and one wrong letter.

    A different code word that is one letter away does not count.
    """
    words = [found.casefold() for found in _WORD.findall(typed.replace("_", " "))]
    wanted = word.casefold()
    if len(words) > MOST_WORDS:
        return False
    # Some participants put spaces between the letters.
    candidates = [*words, "".join(words)]
    return any(one == wanted or (one not in CODE_WORDS and _one_letter_apart(one, wanted)) for one in candidates)


def _one_letter_apart(one: str, other: str) -> bool:
    """Return whether one letter was mistyped, omitted, added or swapped with its neighbour."""
    if len(one) == len(other):
        wrong = [i for i, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
        if len(wrong) == 1:
            return True
        return (
            len(wrong) == 2
            and wrong[1] == wrong[0] + 1
            and one[wrong[0] : wrong[1] + 1][::-1] == other[wrong[0] : wrong[1] + 1]
        )
    shorter, longer = sorted((one, other), key=len)
    return len(longer) == len(shorter) + 1 and any(longer[:i] + longer[i + 1 :] == shorter for i in range(len(longer)))
