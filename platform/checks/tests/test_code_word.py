"""The code word can be read by whoever reads, whatever the instructions look like."""

from __future__ import annotations

import re

import pytest

from checks import code_word
from games import registry
from participants.markdown import to_html

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
def test_the_word_is_on_the_page_once(text):
    html = to_html(code_word.hide(text, "zebra"))
    assert html.count("<strong>zebra</strong>") == 1
    assert html.count("<table>") == to_html(text.replace("\r\n", "\n")).count("<table>")


@pytest.mark.parametrize("game", registry.keys())
def test_the_word_stands_inside_the_running_text_of_every_games_instructions(game):
    from games.play import configure

    configured = configure(registry.get(game), {})
    for role in configured.people():
        html = to_html(code_word.hide(configured.instructions(role), "zebra"))
        (paragraph,) = re.findall(r"<p>(?:(?!</p>).)*<strong>zebra</strong>.*?</p>", html, flags=re.DOTALL)
        assert not paragraph.startswith("<p>To show that")


@pytest.mark.parametrize("typed", ["zebra", "ZEBRA", " zebra ", "“zebra”", "zebra."])
def test_the_word_counts_however_it_is_written(typed):
    assert code_word.matches(typed, "zebra")


@pytest.mark.parametrize("typed", ["", "zebras", "horse", "zebra zebra", "."])
def test_another_word_does_not(typed):
    assert not code_word.matches(typed, "zebra")
