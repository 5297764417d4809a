"""The code word is readable in instructions of any form."""

from __future__ import annotations

import re

import pytest

from checks import code_word
from games import registry
from games.examples import cases
from games.tests.ours import OURS
from participants.markdown import to_html
from participants.models import CODE_WORDS, new_code_word

TEXTS = {
    "plain": "One.\n\nTwo.\n\nThree.",
    "one line": "Play well.",
    "empty": "",
    "only a heading": "# The game",
    "only a list": "- one\n- two",
    "only a table": "| a | b |\n|---|---|\n| 1 | 2 |",
    "a table below a line of text": "What you get:\n| a | b |\n|---|---|\n| 1 | 2 |",
    "typed in a browser": "# The game\r\n\r\nRead this.\r\n\r\n| a | b |\r\n|---|---|\r\n| 1 | 2 |",
    "code": "```\nuntouched\n```",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_word_appears_once(text):
    html = to_html(code_word.hide(text, "zebra"))
    assert html.count("<strong>zebra</strong>") == 1
    assert html.count("<table>") == to_html(text.replace("\r\n", "\n")).count("<table>")


@pytest.mark.parametrize("game", OURS)
def test_word_is_inside_running_text_of_every_games_instructions(game):
    from games.play import configure

    configured = configure(registry.get(game), {})
    for role in configured.people():
        html = to_html(code_word.hide(configured.instructions(role), "zebra"))
        (paragraph,) = re.findall(r"<p>(?:(?!</p>).)*<strong>zebra</strong>.*?</p>", html, flags=re.DOTALL)
        assert not paragraph.startswith("<p>To show that")


@pytest.mark.parametrize(
    "typed",
    [
        "zebra", "ZEBRA", " zebra ", "“zebra”", "zebra.", "the word is zebra", "Remember: “Zebra”!", "zebras", "zebr",
        "zebrq", "zerba", "z e b r a", "zebra zebra",
    ],
)  # fmt: skip
def test_word_matches_in_any_spelling(typed):
    assert code_word.matches(typed, "zebra")


@pytest.mark.parametrize("typed", ["", "horse", ".", "zeb", "zxbrq", "one two three " * 5 + "zebra"])
def test_other_words_do_not_match(typed):
    assert not code_word.matches(typed, "zebra")


def test_other_code_word_one_letter_away_does_not_match():
    assert not code_word.matches("paddle", "saddle")


@pytest.mark.parametrize("language", ["en", "de", "es"])
def test_each_language_has_words_of_its_own_that_cannot_be_mistaken(language):
    assert new_code_word(language) in CODE_WORDS[language]
    words = [word.casefold() for word in CODE_WORDS[language]]
    assert len(set(words)) == len(words) >= 50
    assert all(code_word.matches(word.upper(), word) for word in words)


def test_sentence_does_not_interrupt_a_list():
    rules = ["Rules.", "There are two answers:", "- yes", "- no", "It goes like this:", "1. You ask.", "2. They say."]
    text = "\n\n".join([*rules, "That is all."])
    hidden = code_word.hide(text, "zebra").split("\n\n")
    (index,) = (i for i, paragraph in enumerate(hidden) if "zebra" in paragraph)
    assert hidden[index].startswith(("Rules.", "That is all."))


@pytest.mark.parametrize("game", registry.keys())
def test_sentence_does_not_precede_a_list_in_any_games_instructions(game):
    from games.play import configure

    configured = configure(registry.get(game), {})
    for role in configured.people():
        paragraphs = code_word.hide(configured.instructions(role), "zebra").split("\n\n")
        (index,) = (i for i, paragraph in enumerate(paragraphs) if "**zebra**" in paragraph)
        following = paragraphs[index + 1].lstrip() if index + 1 < len(paragraphs) else ""
        assert not following.startswith(("- ", "* ", "1.", "|"))


@pytest.mark.every_case
@pytest.mark.parametrize("game", registry.keys())
def test_word_is_found_early_in_every_games_instructions(game):
    """The first third, unless the first paragraph of running text alone is longer."""
    for case in cases(game):
        for role in case.game.people():
            html = to_html(code_word.hide(case.game.instructions(role), "zebra"))
            assert html.index("zebra") < 0.5 * len(html)


def test_word_precedes_the_only_paragraph():
    assert code_word.hide("# Rules\n\nAll is said.", "zebra").split("\n\n")[2] == "All is said."
    assert "zebra" in code_word.hide("", "zebra")
