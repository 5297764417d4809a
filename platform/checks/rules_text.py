"""The part of a game's instructions that is about a question."""

from __future__ import annotations

import re
from collections import Counter

MIN_LETTERS = 4
"""Shorter words say little about what a paragraph is about."""
STEM_LETTERS = 5
"""Words with the same beginning count as one: divide, divided."""


def part_about(instructions: str, question: str, answer: str) -> str:
    """Return the paragraph of the instructions (Markdown) that is closest to the question and its right answer.

    Words, and the answer as a whole, count for less the more paragraphs they are in. The first of equally close
    paragraphs is returned, without headings.
    """
    paragraphs = [
        "\n".join(line for line in paragraph.splitlines() if not line.startswith("#")).strip()
        for paragraph in re.split(r"\n\s*\n", instructions)
    ]
    asked = _stems(question)
    shared = [_with_answer(asked & _stems(paragraph), paragraph, answer) for paragraph in paragraphs]
    frequency = Counter(stem for stems in shared for stem in stems)

    def closeness(number: int) -> float:
        return sum(1 / frequency[stem] for stem in shared[number])

    return paragraphs[max((n for n, text in enumerate(paragraphs) if text), key=closeness)]


def _with_answer(stems: set[str], paragraph: str, answer: str) -> set[str]:
    has_answer = re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", paragraph, re.IGNORECASE) is not None
    return stems | {answer} if has_answer else stems


def _stems(text: str) -> set[str]:
    return {word[:STEM_LETTERS] for word in re.findall(r"\w+", text.casefold()) if len(word) >= MIN_LETTERS}
