"""A collection's plan and the match for each number."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from random import Random

import pytest

from collecting.models import Collection
from collecting.planning import planned_match
from collecting.presets import load
from collecting.tests.kit import document, new_collection
from games.grids import table
from games.lineups import Lineups
from games.seats import numbered_roles
from plans.canonical import sha256_of
from plans.reading import BadPlan

pytestmark = pytest.mark.django_db


def collection_of(**changes) -> Collection:
    return new_collection(**{"configurations": [{"rounds": 2}, {"rounds": 4}], "repetitions": 3, "seed": 7, **changes})


def test_every_ordered_pair_plays_every_configuration():
    collection = collection_of()
    assert collection.planned == 2 * 4 * 3
    played = Counter()
    for number in range(1, collection.planned + 1):
        match = planned_match(collection, number)
        played[match.config["rounds"], match.players["alice"].agent, match.players["bob"].agent] += 1
    assert set(played.values()) == {3}
    assert len(played) == 2 * 4


def test_first_matches_cover_all_configurations():
    collection = collection_of()
    assert [planned_match(collection, number).config["rounds"] for number in (1, 2, 3, 4)] == [2, 4, 2, 4]


def test_self_play_can_be_switched_off():
    collection = collection_of(same=False)
    pairs = {tuple(p.agent for p in planned_match(collection, n).players.values()) for n in range(1, 13)}
    assert pairs == {("script:fair", "script:haggler"), ("script:haggler", "script:fair")}


def test_seed_determines_the_plan():
    first, same, other = (collection_of(slug=slug, seed=seed) for slug, seed in [("a", 7), ("b", 7), ("c", 8)])
    numbers = range(1, first.planned + 1)
    assert [planned_match(first, n) for n in numbers] == [planned_match(same, n) for n in numbers]
    assert not {planned_match(first, n).seed for n in numbers} & {planned_match(other, n).seed for n in numbers}
    assert first.sha256 == same.sha256


def test_content_is_complete_and_hashed():
    collection = collection_of(configurations=table("bargaining", "glee"), repetitions=1)
    assert len(collection.content["configurations"]) == 384
    assert "{{ you }}" in collection.content["instructions"]
    assert collection.sha256 == sha256_of(collection.content)
    assert collection.sha256 != collection_of(slug="other").sha256


def changed(name: str, value: object) -> dict:
    plan = document()
    plan["journey"][0][name] = value
    return plan


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"plan": changed("game", "chess")}, "no game “chess”"),
        ({"plan": {**document(), "journey": []}}, "journey is one game"),
        ({"configurations": [{}, {"colour": 1}]}, "configuration = c2: .*no parameter “colour”"),
        ({"plan": {**document(), "agents": {}}}, "no agent “script:fair”. Describe it"),
        ({"lineups": Lineups(agents=("script:fair", "script:fair"))}, "listed only once"),
        ({"configurations": [{}, {}]}, "Configuration 2 is the same as 1"),
        ({"cycle": 3}, "into groups of 3"),
        ({"stages": 2}, "configurations from earlier results"),
        ({"lineups": Lineups(rule="subsets", agents=("script:fair",))}, "need 2 different ones"),
        ({"lineups": Lineups(agents=("script:fair",), fixed={"carol": "script:fair"})}, "no seat “carol”"),
        ({"agents": ["script:nobody"]}, "no script “nobody”"),
        ({"agents": ["robot:x"]}, "is not a valid agent"),
        ({"agents": ["script:fair"], "same": False}, "has no matches"),
        ({"repetitions": 0}, "repetitions: "),
        ({"repetitions": 1_000_000}, "the maximum is 1,000,000"),
        ({"concurrency": 0}, "concurrency"),
        ({"slug": "not a slug"}, "slug"),
        ({"budget": "-1"}, "budget"),
        ({"prices": {"openai:m": {"input": -1, "output": 1}}}, "This should be at least 0"),
        ({"agents": ["openai:unheard-of"], "budget": "1"}, "needs the price of openai:unheard-of"),
    ],
)
def test_unplayable_plan_is_refused_with_the_reason(changes, reason):
    with pytest.raises(BadPlan, match=reason):
        collection_of(**changes)
    assert not Collection.objects.exists()


def test_budget_needs_prices():
    prices = {"openai:unheard-of": {"input": 1, "output": 2}}
    collection = collection_of(agents=["openai:unheard-of"], budget="1", prices=prices)
    assert collection.budget == 1


def test_duplicate_short_name_is_refused():
    collection_of()
    with pytest.raises(BadPlan, match="slug"):
        collection_of()


# ---- computed, not stored ----------------------------------------------------------------------------


def test_large_plan_is_small_and_has_no_rows():
    collection = collection_of(
        configurations=[{"rounds": rounds} for rounds in range(1, 101)], repetitions=250, agents=FOUR[:2]
    )
    assert collection.planned == 100_000 and not collection.items.exists()
    assert len(json.dumps(collection.content)) < 100_000
    last = planned_match(collection, 100_000)
    assert (last.repetition, last.config["rounds"], last.players["alice"].agent) == (250, 100, FOUR[1])


FOUR = ("script:fair", "script:haggler", "script:random", "script:equilibrium")


def test_agents_meet_the_same_instances():
    collection = collection_of()
    seeds: dict[tuple[int, int], set[int]] = {}
    for number in range(1, collection.planned + 1):
        match = planned_match(collection, number)
        seeds.setdefault((match.configuration, match.repetition), set()).add(match.seed)
    assert all(len(instance_seeds) == 1 for instance_seeds in seeds.values()), "no matter who plays"
    assert len(set.union(*seeds.values())) == len(seeds) == 2 * 3, "each instance once"
    other_collection = collection_of(slug="alone", configurations=[{"rounds": 4}], agents=["script:random"])
    assert planned_match(other_collection, 1).seed == planned_match(collection, 2).seed, (
        "another collection with this seed"
    )


def test_seeds_by_match_differ():
    collection = collection_of(seeds="match")
    assert len({planned_match(collection, number).seed for number in range(1, 25)}) == 24


def test_configurations_may_differ_in_their_seats():
    rule = Lineups(rule="combinations", agents=("script:random", "script:rational"))
    collection = collection_of(
        game="beauty_contest", configurations=[{"players": 2}, {"players": 3}], lineups=rule, repetitions=2
    )
    assert collection.planned == (3 + 4) * 2
    played = [planned_match(collection, number) for number in range(1, 15)]
    assert all(tuple(match.players) == numbered_roles(match.config["players"]) for match in played)
    assert len({(match.config["players"], match.repetition, tuple(match.players.values())) for match in played}) == 14


def test_cycles_rotate_configurations_and_seats():
    rule = Lineups(rule="together", agents=("script:random", "script:rational"), rotate=True)
    limits = [{"players": 2, "upper": upper} for upper in (11, 12, 13, 101, 102, 103)]
    collection = collection_of(game="beauty_contest", configurations=limits, lineups=rule, cycle=3, repetitions=3)
    played = [planned_match(collection, number) for number in range(1, collection.planned + 1)]
    assert [match.config["upper"] for match in played] == [11, 101, 12, 102, 13, 103]
    assert [match.players["p1"].label for match in played] == [rule.agents[r % 2] for r in (0, 0, 1, 1, 2, 2)]


def test_one_model_may_have_several_labels_and_settings():
    model = {"endpoint": "openai", "model": "m"}
    collection = collection_of(agents={"thinks": {**model, "strategy": "chain_of_thought"}, "plain": model})
    player = planned_match(collection, 1).players["alice"]
    assert (player.label, player.agent, player.settings.strategy) == ("thinks", "openai:m", "chain_of_thought")


# ---- published collections -------------------------------------------------------------------------------


def test_glee_collections_keep_their_matches():
    collection = load("glee-llm-bargaining", agents=["openai:m", "script:random"], seed=5)
    configurations = table("bargaining", "glee")
    for number in (1, 2, 384, 385, 1000, collection.planned):
        remainder, configuration = divmod(number - 1, 384)
        match = planned_match(collection, number)
        agents = ("openai:m", "script:random")
        players = {"alice": agents[remainder // 2], "bob": agents[remainder % 2]}
        assert {role: player.agent for role, player in match.players.items()} == players
        assert match.config == configurations[configuration]
        assert match.seed == Random(f"5/{number}").getrandbits(48)


def test_contest_sessions_keep_their_limits_and_seeds():
    collection = load(
        "econarena-contest-melee", agents=[f"script:{name}" for name in ("random", "rational", "level_1")]
    )
    assert collection.planned == 150
    for number in (1, 2, 3, 4, 150):
        session, group = divmod(number - 1, 3)
        limits = {"L": (10, 100), "M": (100, 1000), "H": (1000, 10_000)}["LMH"[group]]
        match = planned_match(collection, number)
        assert match.config["upper"] == Random(f"econarena-contest/1/{'LMH'[group]}/{session}").randrange(*limits)
        digest = hashlib.sha256(json.dumps(match.config, sort_keys=True).encode()).hexdigest()
        assert match.seed == Random(f"1/{digest}/{session}").getrandbits(48)
        assert match.config["players"] == 3 and match.repetition == session + 1
