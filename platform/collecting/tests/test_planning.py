"""A collection's plan and the match for each number."""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from random import Random

import pytest

from collecting.errors import BadPlan
from collecting.models import Collection
from collecting.planning import Plan, make_collection, planned_match
from collecting.presets import load
from games.grids import table
from games.lineups import Lineups
from games.seats import numbered_roles
from opponents.agents import Agent

pytestmark = pytest.mark.django_db


def plan(**changes) -> Plan:
    return Plan(
        **{
            "title": "Scripts",
            "slug": "scripts",
            "game": "bargaining",
            "configurations": [{"rounds": 2}, {"rounds": 4}],
            "agents": ["script:fair", "script:haggler"],
            "repetitions": 3,
            "seed": 7,
            **changes,
        }
    )


def test_every_ordered_pair_plays_every_configuration():
    collection = make_collection(plan())
    assert collection.planned == 2 * 4 * 3
    played = Counter()
    for number in range(1, collection.planned + 1):
        match = planned_match(collection, number)
        played[match.config["rounds"], match.players["alice"].agent, match.players["bob"].agent] += 1
    assert set(played.values()) == {3}
    assert len(played) == 2 * 4


def test_first_matches_cover_all_configurations():
    collection = make_collection(plan())
    assert [planned_match(collection, number).config["rounds"] for number in (1, 2, 3, 4)] == [2, 4, 2, 4]


def test_self_play_can_be_switched_off():
    collection = make_collection(plan(same=False))
    pairs = {tuple(p.agent for p in planned_match(collection, n).players.values()) for n in range(1, 13)}
    assert pairs == {("script:fair", "script:haggler"), ("script:haggler", "script:fair")}


def test_seed_determines_the_plan():
    first, same, other = (make_collection(plan(slug=slug, seed=seed)) for slug, seed in [("a", 7), ("b", 7), ("c", 8)])
    numbers = range(1, first.planned + 1)
    assert [planned_match(first, n) for n in numbers] == [planned_match(same, n) for n in numbers]
    assert not {planned_match(first, n).seed for n in numbers} & {planned_match(other, n).seed for n in numbers}
    assert first.sha256 == same.sha256


def test_content_is_complete_and_hashed():
    collection = make_collection(plan(configurations=table("bargaining", "glee"), repetitions=1))
    assert len(collection.content["configurations"]) == 384
    assert "{{ you }}" in collection.content["texts"]["instructions"]
    assert len(collection.sha256) == 64
    assert collection.sha256 != make_collection(plan(slug="other")).sha256


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"game": "chess"}, "no game “chess”"),
        ({"configurations": []}, "at least one configuration"),
        ({"configurations": [{}, {"colour": 1}]}, "Configuration 2: .*colour"),
        ({"agents": []}, "Add at least one agent"),
        ({"agents": ["script:fair", "script:fair"]}, "each must be listed only once"),
        ({"configurations": [{}, {}]}, "Configuration 2 is the same as 1"),
        ({"cycle": 3}, "cannot be divided into groups of 3"),
        ({"stages": 2}, "cannot create configurations from earlier results"),
        ({"lineups": Lineups(rule="subsets", agents=("script:fair",))}, "need 2 different ones"),
        ({"lineups": Lineups(agents=("script:fair",), fixed={"carol": "script:fair"})}, "no seat “carol”"),
        ({"agents": ["script:nobody"]}, "no scripted player “nobody”"),
        ({"agents": ["robot"]}, "is not a valid agent"),
        ({"agents": ["script:fair"], "same": False}, "has no matches"),
        ({"repetitions": 0}, "at least 1"),
        ({"repetitions": 1_000_000}, "per collection"),
        ({"concurrency": 0}, "concurrency"),
        ({"slug": "not a slug"}, "slug"),
        ({"budget": Decimal(-1)}, "budget"),
        ({"prices": {"openai:m": {"input": -1, "output": 1}}}, "dollars per million"),
        ({"agents": ["openai:unheard-of"], "budget": Decimal(1)}, "needs the price of openai:unheard-of"),
    ],
)
def test_unplayable_plan_is_refused_with_the_reason(changes, reason):
    with pytest.raises(BadPlan, match=reason):
        make_collection(plan(**changes))
    assert not Collection.objects.exists()


def test_budget_needs_prices():
    prices = {"openai:unheard-of": {"input": 1, "output": 2}}
    collection = make_collection(plan(agents=["openai:unheard-of"], budget=Decimal(1), prices=prices))
    assert collection.budget == 1


def test_duplicate_short_name_is_refused():
    make_collection(plan())
    with pytest.raises(BadPlan, match="slug"):
        make_collection(plan())


# ---- computed, not stored ----------------------------------------------------------------------------


def test_large_plan_is_small_and_has_no_rows():
    collection = make_collection(
        plan(configurations=[{"rounds": rounds} for rounds in range(1, 101)], repetitions=250, agents=FOUR[:2])
    )
    assert collection.planned == 100_000 and not collection.items.exists()
    assert len(json.dumps(collection.content)) < 100_000
    last = planned_match(collection, 100_000)
    assert (last.repetition, last.config["rounds"], last.players["alice"].agent) == (250, 100, FOUR[1])


FOUR = ("script:fair", "script:haggler", "script:random", "script:equilibrium")


def test_agents_meet_the_same_instances():
    collection = make_collection(plan())
    seeds: dict[tuple[int, int], set[int]] = {}
    for number in range(1, collection.planned + 1):
        match = planned_match(collection, number)
        seeds.setdefault((match.configuration, match.repetition), set()).add(match.seed)
    assert all(len(instance_seeds) == 1 for instance_seeds in seeds.values()), "no matter who plays"
    assert len(set.union(*seeds.values())) == len(seeds) == 2 * 3, "each instance once"
    other_collection = make_collection(plan(slug="alone", configurations=[{"rounds": 4}], agents=["script:random"]))
    assert planned_match(other_collection, 1).seed == planned_match(collection, 2).seed, (
        "another collection with this seed"
    )


def test_seeds_by_match_differ():
    collection = make_collection(plan(seeds="match"))
    assert len({planned_match(collection, number).seed for number in range(1, 25)}) == 24


def test_configurations_may_differ_in_their_seats():
    rule = Lineups(rule="combinations", agents=("script:random", "script:rational"))
    collection = make_collection(
        plan(game="beauty_contest", configurations=[{"players": 2}, {"players": 3}], lineups=rule, repetitions=2)
    )
    assert collection.planned == (3 + 4) * 2
    played = [planned_match(collection, number) for number in range(1, 15)]
    assert all(tuple(match.players) == numbered_roles(match.config["players"]) for match in played)
    assert len({(match.config["players"], match.repetition, tuple(match.players.values())) for match in played}) == 14


def test_cycles_rotate_configurations_and_seats():
    rule = Lineups(rule="together", agents=("script:random", "script:rational"), rotate=True)
    limits = [{"players": 2, "upper": upper} for upper in (11, 12, 13, 101, 102, 103)]
    collection = make_collection(
        plan(game="beauty_contest", configurations=limits, lineups=rule, cycle=3, repetitions=3)
    )
    played = [planned_match(collection, number) for number in range(1, collection.planned + 1)]
    assert [match.config["upper"] for match in played] == [11, 101, 12, 102, 13, 103]
    assert [match.players["p1"].label for match in played] == [rule.agents[r % 2] for r in (0, 0, 1, 1, 2, 2)]


def test_one_model_may_have_several_labels_and_settings():
    agents = {
        "thinks": Agent(spec="openai:m", settings={"strategy": "chain_of_thought"}),
        "plain": Agent(spec="openai:m"),
    }
    collection = make_collection(
        plan(lineups=Lineups(agents=tuple(agents)), agents_by_label=agents, configurations=[{}])
    )
    player = planned_match(collection, 1).players["alice"]
    assert (player.label, player.agent, player.settings.strategy) == ("thinks", "openai:m", "chain_of_thought")


# ---- the earlier format --------------------------------------------------------------------------------


def earlier_match(seed: int, content: dict, number: int):
    """Return the match with this number as collections in the earlier format define it."""
    remainder, configuration = divmod(number - 1, len(content["configurations"]))
    agents = content["assignments"][remainder % len(content["assignments"])]
    return content["configurations"][configuration], agents, Random(f"{seed}/{number}").getrandbits(48)


@pytest.mark.parametrize("settings", ["settings", "none"])
def test_old_format_collections_keep_their_matches(settings):
    agents = ("script:fair", "openai:m")
    content = {
        "game": "bargaining",
        "rules_version": 1,
        "configurations": table("bargaining", "glee")[:5],
        "assignments": [{"alice": alice, "bob": bob} for alice in agents for bob in agents],
        "repetitions": 2,
        "texts": {"instructions": ""},
        "edited": False,
        "delay": 0.5,
        **({"settings": {"tries_after_first": 1}} if settings == "settings" else {}),
        **({"tries_after_first": 1, "call_seconds": 30} if settings == "none" else {}),
        "prices": {},
    }
    collection = Collection.objects.create(
        title="Old", slug="old", game="bargaining", content=content, sha256="0" * 64, planned=40, begun=40, seed=9
    )
    for number in range(1, 41):
        match = planned_match(collection, number)
        players = {role: player.agent for role, player in match.players.items()}
        assert (match.config, players, match.seed) == earlier_match(9, content, number)
        assert {player.delay for player in match.players.values()} <= {0, 0.5}
        assert all(player.settings.tries_after_first == 1 for player in match.players.values())


def test_glee_collections_keep_their_matches():
    [collection, *_other_collections] = load("glee-llm", agents=["openai:m", "script:random"], seed=5)
    listed = {
        "configurations": table("bargaining", "glee"),
        "assignments": [
            {"alice": alice, "bob": bob}
            for alice in collection.content["agents"]
            for bob in collection.content["agents"]
        ],
    }
    for number in (1, 2, 384, 385, 1000, collection.planned):
        match = planned_match(collection, number)
        players = {role: player.agent for role, player in match.players.items()}
        assert (match.config, players, match.seed) == earlier_match(5, listed, number)
