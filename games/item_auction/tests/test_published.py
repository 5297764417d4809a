"""The matches of AucArena's collections."""

from __future__ import annotations

from collections import Counter

import pytest

from games.item_auction.published import PRESETS, REPETITIONS
from games.item_auction.rules import ItemAuction
from games.play import configure

ROLES = ("p1", "p2", "p3")


def environments_of(name: str, *agents: str):
    return PRESETS[name].environments_for(agents, 1)


def matches(environment) -> int:
    seats = configure(ItemAuction, environment.configurations[0]).roles()
    return len(environment.configurations) * environment.lineups.count(seats) * environment.repetitions


def test_challengers_play_the_first_two_agents_in_every_seat():
    environments = environments_of("aucarena-standard", "a", "b", "c")
    assert [environment.lineups.agents for environment in environments] == [("c",), ("script:rule",)]
    assert [matches(environment) for environment in environments] == [60, 60]
    first = environments[0]
    seats = [first.lineups.at(0, ROLES, repetition=repetition) for repetition in range(3)]
    assert all(sorted(lineup.values()) == ["a", "b", "c"] for lineup in seats)
    assert {lineup["p1"] for lineup in seats} == {"a", "b", "c"}
    # All challengers get the same draws.
    assert {environment.seeds for environment in environments} == {"instance"}
    assert environments[0].configurations == environments[1].configurations


def test_model_plays_itself_with_and_without_planning():
    (environment,) = environments_of("aucarena-modules", "m")
    assert matches(environment) == 20
    assert [agent.settings["strategy"] for agent in environment.agents.values()] == ["adaptive", "static", "none"]


@pytest.mark.parametrize("repetition", range(REPETITIONS))
def test_each_model_bids_once_for_profit_and_once_for_items(repetition):
    (environment,) = environments_of("aucarena-objectives", "a", "b")
    assert matches(environment) == 30
    config = environment.configurations[0]
    lineup = environment.lineups.at(0, ("p1", "p2", "p3", "p4"), repetition=repetition)
    seatings = Counter(zip(lineup.values(), config["objectives"], strict=True))
    assert seatings == Counter([("a", "profit"), ("a", "items"), ("b", "profit"), ("b", "items")])


@pytest.mark.parametrize("name", PRESETS)
def test_every_configuration_is_valid(name):
    for environment in environments_of(name, "a", "b"):
        for config in environment.configurations:
            configure(ItemAuction, config)
