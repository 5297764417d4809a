"""The game of the tutorial "Your first game" is complete: as printed, it passes every contract check."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from games import contract, texts
from games.examples import Examples, cases_of
from games.interface import Game
from games.play import configure, replay_moves
from tests.examples import ROOT, blocks

PAGE = ROOT / "docs" / "tutorials" / "first-game.md"


def block(language: str) -> str:
    """Return the first code block in this language."""
    return blocks(PAGE, language)[0].code


@pytest.fixture(scope="module", name="game")
def tutorial_game():
    module = ModuleType("games.public_goods.rules")
    read_text = texts.read
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, module.__name__, module)
        exec(compile(block("python"), "rules.py", "exec"), module.__dict__)
        patch.setattr(
            texts, "read", lambda key, name: block("markdown") if key == "public_goods" else read_text(key, name)
        )
        yield module.PublicGoods


@pytest.mark.parametrize("check", contract.CHECKS)
def test_example_game_passes_check(game: type[Game], check: str) -> None:
    for case in cases_of(game, Examples()):
        contract.CHECKS[check](case)


def test_payoffs_match_the_tutorial(game: type[Game]) -> None:
    configured = configure(game, {"players": 2, "rounds": 1})
    play, _events = replay_moves(configured, 1, [("p1", {"amount": 20}), ("p2", {"amount": 0})])
    assert play.payoffs() == {"p1": 16.0, "p2": 36.0}
    assert play.metrics() == {"contributed": 0.5, "p1_contributed": 1.0, "p2_contributed": 0.0}


def test_tutorial_game_is_short() -> None:
    assert len(block("python").splitlines()) <= 112
    assert sum(len(each.code.splitlines()) for each in blocks(PAGE) if each.saved_as) <= 150
