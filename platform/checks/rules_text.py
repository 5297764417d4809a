"""The part of a game's instructions that is about a question."""

from __future__ import annotations

import re

MIN_LETTERS = 4
"""Shorter words say little about what a paragraph is about."""
OF_ANSWER = 3
"""How many shared words it counts that a paragraph contains the right answer."""


def part_about(instructions: str, question: str, answer: str) -> str:
    """Return the paragraph of the instructions (Markdown) that is closest to the question and its right answer.

    The first of equally close ones; the heading is not part of it.
    """
    paragraphs = [
        "\n".join(line for line in paragraph.splitlines() if not line.startswith("#")).strip()
        for paragraph in re.split(r"\n\s*\n", instructions)
    ]
    asked = _words(question)

    def closeness(paragraph: str) -> int:
        has_answer = re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", paragraph, re.IGNORECASE) is not None
        return len(asked & _words(paragraph)) + OF_ANSWER * has_answer

    return max(filter(None, paragraphs), key=closeness, default="")


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.casefold()) if len(word) >= MIN_LETTERS}
