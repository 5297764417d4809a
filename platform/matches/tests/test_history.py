"""A game's depth of history applies to every page and prompt with every strategy."""

from __future__ import annotations

from typing import Any

import pytest

from games import registry, strategies
from games.play import configure, start, submit
from llm_agents.settings import bare
from llm_agents.strategies import asking, messages
from matches.screens import render_screen

RUNS = 5
SECRET = 77.125
"""A number that occurs only in runs beyond the depth."""
GAMES = {"beauty_contest": "answer", "sealed_auction": "bid"}


@pytest.mark.parametrize("depth", [0, 1, 3])
@pytest.mark.parametrize("key", GAMES)
class TestDepth:
    @pytest.fixture
    def runs(self, key: str, depth: int) -> list[tuple[Any, list[Any], dict[int, str]]]:
        """Yield the play before each run, its log, and the first seat's raw answers."""
        game = configure(registry.get(key), {"players": 2, "runs": RUNS, "history_depth": depth})
        play, events = start(game, 1)
        answers: dict[int, str] = {}
        runs_so_far = []
        for run in range(RUNS):
            runs_so_far.append((play, list(events), dict(answers)))
            for role in ("p1", "p2"):
                number = SECRET if run < RUNS - 1 - depth else 10.5 + run
                play, new_events = submit(play, role, {GAMES[key]: number})
                events = [*events, *new_events]
                if role == "p1":
                    answers[new_events[0].number] = f'{{"{GAMES[key]}": {number}}}'
        return runs_so_far

    def test_no_prompt_exceeds_the_depth(self, runs, key: str, depth: int):
        play, events, answers = runs[-1]
        for name in strategies.of(play.game):
            for role in ("p1", "p2"):
                prompt = messages(asking(play, role, bare(strategy=name)), events, answers)
                text = "\n".join(message["content"] for message in prompt)
                assert "77.125" not in text, name
                assert text.count("13.5") >= min(depth, 1), "the last run is included, unless the depth is 0"

    def test_no_page_exceeds_the_depth(self, runs, key: str, depth: int):
        play = runs[-1][0]
        for role in ("p1", "p2"):
            page = render_screen(play, role)
            assert "77.125" not in page
            assert ("13.5" in page) == (depth > 0)


def test_long_numbers_stay_on_one_line():
    game = configure(registry.get("beauty_contest"), {"players": 2, "upper": 1e12, "runs": 2, "history_depth": 1})
    play, _events = start(game, 1)
    for role, number in (("p1", 1e12 / 3), ("p2", 40)):
        play, _events = submit(play, role, {"answer": number})
    page = render_screen(play, "p1")
    assert ' class="long-number">333333333333.33</td>' in page
    assert '"Player 2">40</td>' in page
