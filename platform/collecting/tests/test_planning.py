"""What a collection is to play."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

import pytest

from collecting.errors import BadPlan
from collecting.models import Collection
from collecting.planning import Plan, make_collection, wanted
from games.grids import table

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


def test_every_configuration_is_played_by_every_ordered_pair_as_often_as_asked():
    collection = make_collection(plan())
    assert collection.planned == collection.items.count() == 2 * 4 * 3
    played = Counter()
    for number in range(1, collection.planned + 1):
        one = wanted(collection, number)
        played[one.config["rounds"], one.players["alice"].agent, one.players["bob"].agent] += 1
    assert set(played.values()) == {3}
    assert len(played) == 2 * 4


def test_the_first_matches_go_through_all_configurations():
    collection = make_collection(plan())
    assert [wanted(collection, number).config["rounds"] for number in (1, 2, 3, 4)] == [2, 4, 2, 4]


def test_an_agent_plays_against_itself_unless_that_is_not_wanted():
    collection = make_collection(plan(same=False))
    pairs = {tuple(p.agent for p in wanted(collection, n).players.values()) for n in range(1, 13)}
    assert pairs == {("script:fair", "script:haggler"), ("script:haggler", "script:fair")}


def test_the_same_seed_plans_the_same_matches_and_another_seed_other_luck():
    one, same, other = (make_collection(plan(slug=slug, seed=seed)) for slug, seed in [("a", 7), ("b", 7), ("c", 8)])
    numbers = range(1, one.planned + 1)
    assert [wanted(one, n) for n in numbers] == [wanted(same, n) for n in numbers]
    assert not {wanted(one, n).seed for n in numbers} & {wanted(other, n).seed for n in numbers}
    assert one.sha256 == same.sha256


def test_the_content_is_complete_and_hashed():
    collection = make_collection(plan(configurations=table("bargaining", "glee"), repetitions=1))
    assert len(collection.content["configurations"]) == 384
    assert "{{ you }}" in collection.content["texts"]["instructions"]
    assert len(collection.sha256) == 64
    assert collection.sha256 != make_collection(plan(slug="other")).sha256


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"game": "chess"}, "no game “chess”"),
        ({"configurations": []}, "no configuration"),
        ({"configurations": [{}, {"colour": 1}]}, "Configuration 2: .*colour"),
        ({"agents": []}, "Agents are needed"),
        ({"agents": ["script:fair", "script:fair"]}, "each named once"),
        ({"agents": ["script:nobody"]}, "no scripted player “nobody”"),
        ({"agents": ["robot"]}, "is no agent"),
        ({"agents": ["script:fair"], "same": False}, "nothing to play"),
        ({"repetitions": 0}, "at least 1"),
        ({"repetitions": 1_000_000}, "are the most in one collection"),
        ({"concurrency": 0}, "concurrency"),
        ({"slug": "not a slug"}, "slug"),
        ({"budget": Decimal(-1)}, "budget"),
        ({"prices": {"openai:m": {"input": -1, "output": 1}}}, "dollars per million"),
        ({"agents": ["openai:unheard-of"], "budget": Decimal(1)}, "needs the price of openai:unheard-of"),
    ],
)
def test_what_cannot_be_played_is_refused_naming_it(changes, reason):
    with pytest.raises(BadPlan, match=reason):
        make_collection(plan(**changes))
    assert not Collection.objects.exists()


def test_a_budget_is_possible_once_the_price_is_given():
    priced = {"openai:unheard-of": {"input": 1, "output": 2}}
    made = make_collection(plan(agents=["openai:unheard-of"], budget=Decimal(1), prices=priced))
    assert made.budget == 1


def test_a_short_name_is_taken_once():
    make_collection(plan())
    with pytest.raises(BadPlan, match="slug"):
        make_collection(plan())
