"""Slow computations at the start of a match run before anything is locked, and replay verifies them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.db import connection

from collecting.tests.kit import drive, new_collection
from games.errors import LogMismatch
from games.play import replay_events
from games.procurement import optimum
from matches.models import Match
from tests.visitors import Visitor, arrived_participant, launched_study

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def solved(monkeypatch) -> list[bool]:
    """Record, for each computed optimum, whether a transaction was open."""
    in_transaction: list[bool] = []
    solve = optimum._Model.best

    def watched(model):
        in_transaction.append(connection.in_atomic_block)
        return solve(model)

    monkeypatch.setattr(optimum._Model, "best", watched)
    optimum._solve.cache_clear()
    return in_transaction


def test_participants_optimum_is_computed_once_without_locks(solved):
    config = {"level": "small", "periods": 2}
    study = launched_study(game="procurement", roles=["agent"], agents={}, config=config)
    optimum._solve.cache_clear()
    solved.clear()  # computed at launch, when the texts are checked
    person = Visitor(arrived_participant(study)).walk_to("match")
    assert solved == [False]
    person.see()
    match = Match.objects.get()
    assert match.play().state.optimum > 0
    assert solved == [False], "it is kept with the match and not computed again"


def test_collections_optima_are_computed_once_without_locks(solved):
    plan = dict(
        title="Two", slug="two", game="procurement", agents=["script:greedy", "script:random"], seed=1, repetitions=1,
        configurations=[{"periods": 2, "instance_seed": number} for number in range(2)],
    )  # fmt: skip
    drive(new_collection(**plan))
    assert Match.objects.filter(status="finished").count() == 4
    assert solved == [False, False]


def test_replay_detects_a_wrong_optimum():
    plan = dict(
        title="One", slug="one", game="procurement", agents=["script:greedy"], seed=1, repetitions=1,
        configurations=[{"periods": 1, "instance_seed": 1}],
    )  # fmt: skip
    drive(new_collection(**plan))
    match = Match.objects.get()
    log = match.log()
    replay_events(match.configured(), log)
    at = next(index for index, event in enumerate(log) if event.data.get("name") == "optimum")
    workers = log[at].data["value"]["workers"]
    log[at] = replace(log[at], data={**log[at].data, "value": {**log[at].data["value"], "workers": workers + 1}})
    with pytest.raises(LogMismatch):
        replay_events(match.configured(), log)
