"""The attention check: a code word hidden in the instructions."""

from __future__ import annotations

import re
from itertools import accumulate

from django.utils.translation import gettext as _

from participants.models import CODE_WORDS

_WORD = re.compile(r"\w+")
EARLY = 1 / 3
"""The share of the text in which the code word is found: further down, it is missed by people who read enough."""
_OTHERS = {word.casefold() for words in CODE_WORDS.values() for word in words}
MAX_WORDS = 12
"""Longer answers fail: participants who paste the instructions have not read them."""
_MARKED = re.compile(r"\s*(?:[#\-+|>`~=\d]|\*(?!\*\w))|\s{4}")
"""The start of a heading, list, table, quotation or code line, as opposed to running text."""


def hide(instructions: str, word: str) -> str:
    """Return the instructions (Markdown) with a sentence about the code word early in the text.

    The sentence ends the last paragraph of running text within the first third, or else the first such paragraph;
    never one that leads into a list or table. If that is where the text ends, the sentence comes before it.
    """
    sentence = _(
        "To show that you are reading this, remember the word **{word}**: you will be asked for it below."
    ).format(word=word)
    paragraphs = [paragraph for paragraph in "\n".join(instructions.splitlines()).split("\n\n") if paragraph.strip()]
    ends = list(accumulate(map(len, paragraphs)))
    plain = [i for i in range(len(paragraphs)) if _is_standalone(paragraphs, i)]
    chosen = max((i for i in plain if ends[i] <= EARLY * ends[-1]), default=plain[0] if plain else 0)
    if plain and chosen < len(paragraphs) - 1:
        paragraphs[chosen] = f"{paragraphs[chosen].rstrip()} {sentence}"
    else:
        paragraphs.insert(chosen + paragraphs[chosen].startswith("#") if paragraphs else 0, sentence)
    return "\n\n".join(paragraphs)


def _is_standalone(paragraphs: list[str], number: int) -> bool:
    """Return whether the paragraph is running text that does not lead into a list or table."""
    paragraph, following = paragraphs[number], paragraphs[number + 1] if number + 1 < len(paragraphs) else ""
    introduces_block = paragraph.rstrip().endswith(":") or (
        _is_marked(following) and not following.lstrip().startswith("#")
    )
    return not _is_marked(paragraph) and not introduces_block


def _is_marked(paragraph: str) -> bool:
    """Return whether any line is not running text: a sentence after a table's last row would not be shown."""
    return any(_MARKED.match(line) for line in paragraph.splitlines())


def matches(typed: str, word: str) -> bool:
    """Return whether the typed text contains the word, ignoring case, quotes, other words and one wrong letter.

    A different code word that is one letter away does not count.
    """
    words = [match.casefold() for match in _WORD.findall(typed.replace("_", " "))]
    target_word = word.casefold()
    if len(words) > MAX_WORDS:
        return False
    # Some participants put spaces between the letters.
    candidates = [*words, "".join(words)]
    return any(
        candidate == target_word or (candidate not in _OTHERS and _one_letter_apart(candidate, target_word))
        for candidate in candidates
    )


def _one_letter_apart(first: str, second: str) -> bool:
    """Return whether one letter was mistyped, omitted, added or swapped with its neighbour."""
    if len(first) == len(second):
        differing = [i for i, (a, b) in enumerate(zip(first, second, strict=True)) if a != b]
        if len(differing) == 1:
            return True
        return (
            len(differing) == 2
            and differing[1] == differing[0] + 1
            and first[differing[0] : differing[1] + 1][::-1] == second[differing[0] : differing[1] + 1]
        )
    shorter, longer = sorted((first, second), key=len)
    return len(longer) == len(shorter) + 1 and any(longer[:i] + longer[i + 1 :] == shorter for i in range(len(longer)))
