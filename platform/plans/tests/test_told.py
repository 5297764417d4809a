"""What models of the published collections are told, against the facts of each system's program."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

from games.errors import UnknownGame
from plans.library import ready_made
from plans.telling import ToldSeat, collections_named, facts_of, told_in

COLLECTIONS = ready_made("collections")
TURNS = 15


def words(seat: ToldSeat) -> str:
    """Return everything that a seat is told, with the schemas of its answers."""
    return "\n".join([seat.words(), *(json.dumps(turn.request.schema) for turn in seat.turns)])


def everything(name: str, config: Mapping[str, Any], turns: int = TURNS) -> str:
    """Return what all models of a collection are told."""
    seats = (
        seat for environment in told_in(COLLECTIONS[name], config=config, turns=turns) for seat in environment.seats
    )
    return "\n".join(map(words, seats))


@pytest.mark.every_case
@pytest.mark.parametrize("name", COLLECTIONS)
def test_models_are_told_the_published_facts_and_no_others(name: str):
    facts = facts_of(COLLECTIONS[name])
    texts = {key: everything(name, json.loads(key)) for key in {json.dumps(fact.parameters) for fact in facts}}
    wrong = [f for f in facts if bool(re.search(f.find, texts[json.dumps(f.parameters)])) is not f.told]
    assert [f"{fact.when}: {fact.fact}" for fact in wrong] == []


def test_buyers_without_memory_are_told_counts_and_no_round():
    (ready,) = collections_named("glee-llm-persuasion")
    (environment,) = told_in(ready, config={"buyer_type": "myopic"}, seat="bob", turns=3)
    text = words(environment.seats[0])
    assert "Products bought so far: 0. Of these, of high quality: 0." in text
    assert "Round" not in text and "20 rounds" not in text


def test_a_bidder_without_plans_sees_no_estimates():
    (ready,) = collections_named("aucarena-modules")
    (environment,) = told_in(ready, turns=8)
    by_agent = {seat.agent: words(seat) for seat in environment.seats}
    assert "Your estimate" in by_agent["static"] and "Your estimate" not in by_agent["none"]


def test_the_last_period_is_announced_only_then():
    (ready,) = collections_named("econevals-scheduling")
    (environment,) = told_in(ready, config={"periods": 3}, turns=3)
    turns = [words(ToldSeat("agent", "", seat.settings, [turn])) for seat in environment.seats for turn in seat.turns]
    assert ["last period" in text for text in turns] == [False, False, True]


def test_every_published_collection_is_told_as_published():
    for name, ready in ready_made("collections").items():
        for environment in told_in(ready):
            assert {seat.settings.information for seat in environment.seats} == {"published"}, name


def test_lists_the_known_names():
    with pytest.raises(UnknownGame, match="coopeval-none"):
        collections_named("nothing")
