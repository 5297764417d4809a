"""Earlier submissions on pages: the best first, and every entry with a control into which it can be copied."""

from __future__ import annotations

import re
from html import unescape

import pytest

from games import registry
from games.interface import Attempt
from games.play import Play, configure, script_move, start, submit
from matches.screens import render_screen
from matches.templatetags.play import common, folded

ENTRY = re.compile(r"(\d+) × (?P<unit>.+)|(?P<line>.+?)(?:–|: )(.+)")
"""As attempts.js reads them."""


def after_periods(key: str, number: int, **config: object) -> Play:
    play, _events = start(configure(registry.get(key), config), 1)
    for _period in range(number):
        play, _events = submit(play, "agent", script_move(play, "agent", "random"))
    return play


def names_in(screen: str) -> set[str]:
    entries = [unescape(text) for text in re.findall(r"data-entries>([^<]+)<", screen)]
    matches = [ENTRY.fullmatch(entry) for text in entries if text != "nothing" for entry in text.split(", ")]
    return {match["unit"] or match["line"] for match in matches if match}


@pytest.mark.parametrize("practice", [False, True])
@pytest.mark.parametrize("key", ["procurement", "scheduling", "task_allocation"])
def test_every_entry_of_an_attempt_has_a_control_or_an_option(key, practice):
    play = after_periods(key, 2, practice=practice)
    screen = render_screen(play, "agent")
    controls = set(re.findall(r'data-entry="([^"]+)"', screen)) | set(re.findall(r"<option[^>]*>([^<]+)<", screen))
    assert len(re.findall(r"data-attempt=", screen)) == 2
    assert names_in(screen)
    assert names_in(screen) <= controls


def test_a_page_shows_the_best_and_the_newest_and_folds_the_earlier_ones():
    attempts = [Attempt(str(number), "", (), ("best",) if number == 2 else ()) for number in range(1, 9)]
    periods = {key: [attempt.period for attempt in some] for key, some in folded(attempts).items()}
    assert periods == {"shown": ["2", "8", "7", "6"], "earlier": ["5", "4", "3", "1"]}


def test_after_the_last_period_nothing_can_be_copied():
    screen = render_screen(after_periods("procurement", 2, level="small", periods=2), "agent")
    assert "data-attempt=" in screen
    assert "data-copy" not in screen


@pytest.mark.parametrize(
    ("names", "shown"), [("A1, A2, A10", "A"), ("Drill_1, Drill_2", "Drill"), ("1, 2", "1 …"), ("Saw, Axe", "Saw …")]
)
def test_a_category_is_called_by_what_its_products_share(names, shown):
    assert common(names) == shown
