"""Hidden information in the published tables' configurations (384 + 576 + 360): both roles, several turns.

Usual runs check every seventh configuration; runs with the slow tests check all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

import pytest

from games import registry
from games.contract import seen
from games.errors import Refused
from games.examples import Case, examples_of, script_answer
from games.grids import table
from games.interface import Json, Role
from games.play import Play, applied_moves, configure, learnt, start, submit

FAMILIES = ("bargaining", "negotiation", "persuasion")
PARTS = [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, 7))]
"""Seven parts of each table: 7 divides no parameter's number of values, so every part contains all of them."""
MOVES = 5
"""The number of turns checked in each match: two rounds and the beginning of a third."""


def parallel_plays(true: Play, shadow: Play, rng: Random) -> Iterator[tuple[Play, Play, tuple[Any, Any], Role | None]]:
    """Yield the two plays after each identical move, with each role's latest notices as (true, shadow)."""
    yield true, shadow, ({}, {}), None
    for _number in range(MOVES):
        if true.over or shadow.over:
            return
        mover = rng.choice(true.waiting_for())
        move = script_answer(true, mover, "random", rng.random())
        try:
            after = submit(true, mover, move)[0], submit(shadow, mover, move)[0]
        except Refused:
            return
        roles = true.game.roles()
        notices = (
            {role: learnt(true, mover, move, after[0], role) for role in roles},
            {role: learnt(shadow, mover, move, after[1], role) for role in roles},
        )
        if after[0].over != after[1].over:
            return
        true, shadow = after
        yield true, shadow, notices, mover


def leaks(config: Mapping[str, Json], key: str, seed: int) -> list[str]:
    """Return what a role can see of a parameter that it must not know."""
    case = Case(registry.get(key), config, seed, examples_of(key))
    game = case.game
    problems = []
    for role in game.roles():
        for secret in sorted(game.secrets(role)):
            rng = Random(f"{seed}/{role}/{secret}")
            shadow = case.alternatives(secret, most=1)[0]
            for true_play, shadow_play, notices, _mover in parallel_plays(
                start(game, seed)[0], start(shadow, seed)[0], rng
            ):
                if seen(true_play, role) != seen(shadow_play, role) or notices[0].get(role) != notices[1].get(role):
                    problems.append(f"{role} can see {secret} in {dict(config)}")
    return problems


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("key", FAMILIES)
def test_no_role_sees_a_secret_parameter(key, part):
    configs = table(key, "glee")[part :: len(PARTS)]
    assert [leak for i, config in enumerate(configs) for leak in leaks(config, key, seed=i)] == []


@pytest.mark.parametrize("part", PARTS)
def test_no_buyer_sees_an_unrevealed_quality(part):
    reveals = examples_of("persuasion").reveals
    for i, config in enumerate(table("persuasion", "glee")[part :: len(PARTS)]):
        game = configure(registry.get("persuasion"), config)
        true, shadow = (start(game, i, redraw_unknown_to=unknown_to)[0] for unknown_to in (None, "bob"))
        rng = Random(i)
        for _number in range(MOVES):
            assert seen(true, "bob") == seen(shadow, "bob"), config
            mover = true.waiting_for()[0]
            move = script_answer(true, mover, "random", rng.random())
            before, (true, _new_events) = true, submit(true, mover, move)
            shadow_before, (shadow, _new_events) = shadow, submit(shadow, mover, move)
            if before.state != shadow_before.state and reveals(
                game, before.state, applied_moves(before, mover, move), true.state, "bob"
            ):
                break


def test_comparison_can_fail():
    """Under complete information, a role sees the other's parameter."""
    config = {"complete_information": True}
    game = configure(registry.get("bargaining"), config)
    shadow = configure(registry.get("bargaining"), {**config, "delta_bob": 0.8})
    assert seen(start(game, 1)[0], "alice") != seen(start(shadow, 1)[0], "alice")
