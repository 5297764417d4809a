"""The dataset of a collection: every planned match is accounted for, and its contents can be verified."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from collecting import driver, services
from collecting.models import Collection, Item
from collecting.tests.kit import new_collection
from exports import sources
from exports.dataset import export
from exports.errors import UnknownSource
from exports.tests import building
from exports.tests.test_verify import edit_csv
from exports.verify import verify
from llm_agents.standins import OpenAIStandIn
from opponents.endpoints import MEMORY, Memory
from opponents.models import Endpoint
from plans.files import loads

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def played() -> Collection:
    configurations = [{"rounds": 4}, {"rounds": None, "messages_allowed": False}]
    plan = {"title": "Scripts among themselves", "configurations": configurations, "repetitions": 2}
    collection = services.start(new_collection(seed=5, **plan))
    driver.drive(collection, slot=0)
    collection.refresh_from_db()
    return collection


def rows(folder: Path, table: str) -> list[dict[str, str]]:
    with (folder / f"{table}.csv").open(newline="") as opened:
        return list(csv.DictReader(opened))


def test_a_collection_dataset_has_every_match_and_verifies(tmp_path, played):
    manifest = export(played, tmp_path / "d")
    assert verify(tmp_path / "d") == []
    assert manifest.flow["matches"] == {"seen": 16, "in_dataset": 16, "unverified": 0, "excluded": {}}
    matches = rows(tmp_path / "d", "matches")
    assert len(matches) == 16
    assert {(row["purpose"], row["source"]) for row in matches} == {("collection", "parley")}
    cells = rows(tmp_path / "d", "cells")
    assert "participants" not in cells[0] and {row["quota"] for row in cells} == {str(16 // len(cells))}
    played_in = Counter(row["cell"] for row in matches)
    assert {row["cell"]: int(row["matches_in_dataset"]) for row in cells} == played_in
    assert {(row["player_alice"], row["player_bob"]) for row in matches} == {
        (alice, bob) for alice in ("script:fair", "script:haggler") for bob in ("script:fair", "script:haggler")
    }
    assert manifest.study == {
        "slug": "scripts", "title": "Scripts among themselves", "purpose": "collection", "source": "parley",
    }  # fmt: skip
    frozen = json.loads((tmp_path / "d" / "versions.json").read_text())
    assert [(v["sha256"], v["content"]["plan"]["repetitions"]) for v in frozen] == [(played.sha256, 2)]


def test_unstarted_and_failed_items_are_counted_with_reasons(tmp_path, played):
    begun, failed = played.items.order_by("number")[:2]
    Item.objects.filter(pk=begun.pk).update(match=None, status=Item.Status.WAITING)
    failed.match.status = failed.match.Status.ABANDONED
    failed.match.save()
    manifest = export(played, tmp_path / "d")
    assert manifest.flow["matches"] == {
        "seen": 16, "in_dataset": 14, "unverified": 0, "excluded": {"not_begun": 1, "match_not_finished": 1},
    }  # fmt: skip
    assert verify(tmp_path / "d") == []


def test_a_process_that_has_read_no_endpoints_exports_their_matches(tmp_path, monkeypatch):
    def answer(request: dict[str, Any]) -> str:
        offers = "alice_gain" in request["messages"][-1]["content"]
        return '{"alice_gain": 5000, "bob_gain": 5000}' if offers else '{"decision": "accept"}'

    with OpenAIStandIn(answer) as standin:
        Endpoint.objects.create(name="new", base_url=f"http://127.0.0.1:{standin.port}/v1")
        collection = services.start(new_collection("model", title="Model", agents=["new:small"], seed=5))
        driver.drive(collection, slot=0)
    monkeypatch.setattr(MEMORY, "__dict__", vars(Memory()))
    manifest = export(collection, tmp_path / "d")
    assert manifest.flow["matches"]["in_dataset"] == 1
    assert verify(tmp_path / "d") == []


def test_a_changed_result_is_detected(tmp_path, played):
    export(played, tmp_path / "d")
    path = tmp_path / "d" / "transcripts.jsonl"
    path.write_text(path.read_text().replace('"rounds_played":1', '"rounds_played":2', 1))
    assert any("metrics" in difference for difference in verify(tmp_path / "d"))


def test_a_changed_record_is_named(tmp_path):
    collection = services.start(
        new_collection("rounds", game="beauty_contest", configurations=[{"players": 2}], agents=["script:rational"])
    )
    driver.drive(collection, slot=0)
    export(collection, tmp_path / "d", formats=("csv", "jsonl"))
    columns = [name for name in rows(tmp_path / "d", "rounds")[0] if name != "match"]
    for column in columns:
        edit_csv(tmp_path / "d" / "rounds.csv", column, lambda value: f"1{value}")
    differences = verify(tmp_path / "d")
    assert [c for c in columns if not any(f"rounds.csv: row 1: {c} is" in d for d in differences)] == []


def test_the_command_takes_studies_and_collections_alike(tmp_path, played, capsys):
    building.new_study(slug="with-people")
    call_command("export_dataset", "scripts", "--to", str(tmp_path / "d"))
    assert "16 of 16 matches" in capsys.readouterr().out
    with pytest.raises(UnknownSource, match="Existing ones: scripts, with-people"):
        sources.source_named("nobody")


def test_factors_are_columns_and_tell_matches_of_one_configuration_apart(tmp_path):
    words = {"by": "wording", "values": {"give": "You give, {{ you }}.", "take": "You take, {{ you }}."}}
    plan = {"factors": {"wording": {"levels": ["give", "take"]}}, "instructions": words, "agents": ["script:fair"]}
    collection = services.start(new_collection(seed=5, repetitions=2, **plan))
    driver.drive(collection, slot=0)
    export(collection, tmp_path / "d")
    assert verify(tmp_path / "d") == []
    assert [row["factor_wording"] for row in rows(tmp_path / "d", "cells")] == ["give", "take"]
    played = [(row["cell"], row["factor_wording"]) for row in rows(tmp_path / "d", "matches")]
    assert played == [("1", "give"), ("2", "take")] * 2
    assert loads((tmp_path / "d" / "plan-v1.yaml").read_text()) == collection.document
