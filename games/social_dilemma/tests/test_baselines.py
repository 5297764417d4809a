"""The moves of the scripted players."""

from __future__ import annotations

import pytest

from games.play import configure, script_move, start, submit
from games.social_dilemma.rules import SocialDilemma
from games.tests.kit import finished


def match(scripts: list[str], seed: int = 1, **config):
    return finished(configure(SocialDilemma, config), *scripts, seed=seed)


def actions(play, role: str) -> str:
    return "".join("C" if play.game.cooperated(role, r.actions[role]) else "D" for r in play.state.rounds)


@pytest.mark.parametrize("base", ["prisoners_dilemma", "public_goods", "travelers_dilemma", "trust"])
@pytest.mark.parametrize("mechanism", ["mediation", "contract"])
def test_cooperators_sustain_the_standard_design(base, mechanism):
    seats = 3 if base == "public_goods" else 2
    play = match(["always_cooperate"] * seats, base_game=base, mechanism=mechanism)
    metrics = play.metrics()
    assert metrics["cooperation_rate"] == 1
    assert metrics["design_nash"] is True
    assert match(["nash"] * seats, base_game=base, mechanism=mechanism).metrics()["cooperation_rate"] == 1


def test_tit_for_tat_repeats_the_last_round():
    play = match(["tit_for_tat", "always_defect"], mechanism="repetition", rounds=4)
    assert actions(play, "p1") == "CDDD"
    play = match(["tit_for_tat", "tit_for_tat"], mechanism="repetition", rounds=4)
    assert play.metrics()["cooperation_rate"] == 1


def test_grim_never_forgives():
    game = configure(SocialDilemma, {"mechanism": "repetition", "rounds": 5, "history_depth": 1})
    play, _events = start(game, 1)
    for action in ("A0", "A1", "A0", "A0", "A0"):
        play, _events = submit(play, "p1", script_move(play, "p1", "grim"))
        play, _events = submit(play, "p2", {"action": action})
    assert actions(play, "p1") == "CCDDD"


def test_nash_mixes_without_a_pure_equilibrium():
    play, _events = start(configure(SocialDilemma, {"base_game": "matching_pennies"}), 1)
    assert script_move(play, "p1", "nash") == {"percentages": {"A0": 50, "A1": 50}}


def test_default_move_does_not_cooperate():
    game = configure(SocialDilemma, {"mechanism": "contract"})
    play, _events = start(game, 1)
    while not play.over:
        for role in play.waiting_for():
            play, _events = submit(play, role, game.default(play.state, role))
    metrics = play.metrics()
    assert (metrics["cooperation_rate"], metrics["signatures"], metrics["approval_rate"]) == (0, 0, 0)
