"""Stages: later configurations created from earlier results and frozen with their sources."""

from __future__ import annotations

import pytest

from collecting import driver, services
from collecting.models import Stage
from collecting.planning import planned_match
from collecting.tests.kit import new_collection
from games.registry import get

pytestmark = pytest.mark.django_db(transaction=True)


def test_later_stage_is_created_from_earlier_results(monkeypatch):
    stage_calls = []

    def stage_configurations(cls, stage, results):
        stage_calls.append((stage, list(results)))
        return [{"money": 100 * stage + len(results)}]

    monkeypatch.setattr(get("bargaining"), "stage_configurations", classmethod(stage_configurations))
    plan = dict(
        title="In stages", slug="stages", game="bargaining", configurations=[{"rounds": 1}, {"rounds": 2}],
        agents=["script:fair"], repetitions=2, stages=3, seed=1, delay=0.001,
    )  # fmt: skip
    collection = services.start(new_collection(**plan))
    while collection.status == "running":
        driver.drive(collection, slot=0)
        collection.refresh_from_db()
    assert (collection.status, collection.planned) == ("done", 4 + 2 + 2)
    assert [(stage, len(results)) for stage, results in stage_calls] == [(1, 4), (2, 6)]
    assert {"config", "agents", "payoffs", "metrics", "records", "repetition"} == stage_calls[0][1][0].keys()
    first, second = Stage.objects.order_by("number")
    assert [source["number"] for source in second.sources] == [1, 2, 3, 4, 5, 6] and len(first.sources) == 4
    amounts = [planned_match(collection, number).config["money"] for number in range(1, 9)]
    assert amounts == [10_000] * 4 + [104] * 2 + [206] * 2
    assert [planned_match(collection, number).stage for number in (4, 5, 8)] == [0, 1, 2]
