"""Economics Arena's collections and remarks, as in the specification's tables."""

from __future__ import annotations

import pytest

import games.play
from games import registry, strategies
from games.beauty_contest.published import PRESETS as CONTEST
from games.lineups import Environment
from games.sealed_auction.published import PRESETS as SEALED

AGENTS = [f"script:{name}" for name in ("random", "rational", "no_answer", "a", "b", "c")]
PRESETS = {"beauty_contest": CONTEST["econarena-contest"], "sealed_auction": SEALED["econarena-sealed"]}


def environments_of(key: str, agents: list[str] = AGENTS, seed: int = 1) -> dict[str, Environment]:
    return {environment.name: environment for environment in PRESETS[key].environments_for(agents, seed)}


def matches(key: str, environment: Environment) -> int:
    """Return the number of matches in the collection."""
    game = games.play.configure(registry.get(key), environment.configurations[0])
    treatments = len(environment.configurations) // environment.cycle
    return treatments * environment.lineups.count(game.roles()) * environment.repetitions


@pytest.mark.parametrize("key", PRESETS)
class TestPresets:
    def test_environments_have_the_published_number_of_sessions(self, key):
        sizes = {name: matches(key, environment) for name, environment in environments_of(key).items()}
        assert sizes == {
            "melee": 150,
            "rational": 150 * 6,
            "cot": 150 * 6,
            "senior": 100,
            "melee-history": 30,
            "rational-history": 30 * 6,
            "self": 30 * 6,
        }

    def test_all_configurations_are_valid(self, key):
        for environment in environments_of(key).values():
            for config in environment.configurations:
                games.play.configure(registry.get(key), config)

    def test_sessions_rotate_the_seats(self, key):
        melee = environments_of(key)["melee"]
        roles = games.play.configure(registry.get(key), melee.configurations[0]).roles()
        assert list(melee.lineups.at(0, roles, repetition=2).values()) == [*AGENTS[2:], *AGENTS[:2]]

    def test_agent_plays_four_announced_rational_agents(self, key):
        rational = environments_of(key)["rational"]
        roles = games.play.configure(registry.get(key), rational.configurations[0]).roles()
        seats = list(rational.lineups.at(0, roles, repetition=0).values())
        assert seats == ["script:random", *["script:rational"] * 4]
        assert {config["told_of_others"] for config in rational.configurations} == {"rational"}

    def test_only_the_first_five_agents_are_seniors(self, key):
        assert environments_of(key)["senior"].lineups.labels() == tuple(AGENTS[:5])
        assert "senior" not in environments_of(key, AGENTS[:4])

    def test_unreadable_answers_count_as_fouls_not_failures(self, key):
        settings = PRESETS[key].settings
        assert (settings["tries_after_first"], settings["script"], settings["script_counts"]) == (0, "no_answer", True)


def test_contest_limits_are_drawn_by_group_and_seed():
    limits = [config["upper"] for config in environments_of("beauty_contest")["melee"].configurations]
    for group_number, (low, high) in enumerate([(10, 100), (100, 1000), (1000, 10_000)]):
        group = limits[50 * group_number : 50 * (group_number + 1)]
        assert all(low <= limit < high for limit in group) and len(set(group)) > 10
    assert limits == [config["upper"] for config in environments_of("beauty_contest")["rational"].configurations]
    assert limits != [config["upper"] for config in environments_of("beauty_contest", seed=2)["melee"].configurations]


@pytest.mark.parametrize(
    ("key", "first", "later"),
    [
        ("beauty_contest", ["understanding", "popular_answer", "reason"], ["goal", "previous_answer", "reason"]),
        ("sealed_auction", ["understanding", "reason"], ["goal", "previous_bid", "previous_payoff", "reason"]),
    ],
)
def test_remarks_change_once_the_history_is_shown(key, first, later):
    for depth, second in ((0, first), (1, later)):
        game = games.play.configure(registry.get(key), {"players": 2, "runs": 3, "history_depth": depth})
        play, _events = games.play.start(game, 1)
        remarks = strategies.of(game)["published"].remarks
        assert [remark.key for remark in remarks(game, play.state, "p1")] == first
        for role in ("p1", "p2"):
            play, _events = games.play.submit(play, role, games.play.script_move(play, role, "random"))
        assert [remark.key for remark in remarks(game, play.state, "p1")] == second
