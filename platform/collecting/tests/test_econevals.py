"""EconEvals as published: complete collections, and every environment at full length."""

from __future__ import annotations

import json
import os
import resource
import time
from pathlib import Path

import pytest

from collecting.tests.kit import drive, new_collection
from exports.dataset import export
from exports.verify import verify
from games import registry
from games.econevals import LEVELS
from games.play import configure, script_move, start, submit
from games.procurement import optimum
from llm_agents.standins import OpenAIStandIn
from llm_agents.standins.player import answer
from matches.models import Event, Match
from opponents.models import Call
from plans.library import ready_made
from studies.tests.kit import use_standin

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
AGENTS = {
    "procurement": ["script:greedy", "script:random", "script:optimum"],
    "scheduling": ["script:repair", "script:random", "script:optimum"],
    "pricing": ["script:climb", "script:random", "script:optimum"],
}
LENGTHS = {"procurement": 100, "scheduling": 100, "pricing": 100, "task_allocation": 30, "duopoly": 300, "patience": 40}
"""Periods (patience: questions) of the published defaults."""


class Cost:
    """Measures seconds and memory, stored in the file named by BENCH_FIGURES."""

    def __init__(self, name: str):
        self.name = name

    def __enter__(self) -> Cost:
        self.started_at, self.cpu_at_start = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_nothing: object) -> None:
        figures = {
            "what": self.name,
            "seconds": round(time.perf_counter() - self.started_at, 1),
            "cpu_seconds": round(time.process_time() - self.cpu_at_start, 1),
            "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
            "load": os.getloadavg()[0],
        }
        if path := os.environ.get("BENCH_FIGURES"):
            with Path(path).open("a") as file:
                file.write(json.dumps(figures) + "\n")


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("key", AGENTS)
def test_twelve_instances_are_collected_exported_and_verified(tmp_path, key: str, level: str):
    plan = ready_made("collections")[f"econevals-{key}"].adapted(AGENTS[key])
    plan["factors"]["level"]["levels"] = [level]
    collection = new_collection("instances", plan=plan, seed=1)
    with Cost(f"{key} {level}: collect {collection.planned}"):
        assert drive(collection).status == "done"
    matches = Match.objects.filter(status="finished")
    assert matches.count() == collection.planned == 12 * len(AGENTS[key])
    scores = {label: [match.metrics["score"] for match in matches.filter(seats__label=label)] for label in AGENTS[key]}
    assert scores["script:optimum"] == pytest.approx([1] * 12)
    with Cost(f"{key} {level}: export"):
        export(collection, tmp_path / "d")
    optimum._solve.cache_clear()  # verifying a dataset computes the optima again
    with Cost(f"{key} {level}: verify"):
        assert verify(tmp_path / "d") == []


@pytest.mark.parametrize("key", LENGTHS)
def test_a_model_plays_the_full_length_with_tools(monkeypatch, tmp_path, key: str):
    asking = {"strategy": "plain" if key == "patience" else "tools"}
    plan = {"game": key, "configurations": [{"level": "basic"} if key in AGENTS else {}], "agents": ["openai:m"]}
    with OpenAIStandIn(lambda request: answer(request, seed=2)) as standin:
        use_standin(monkeypatch, standin)
        with Cost(f"{key}: {LENGTHS[key]} periods by a model"):
            collection = drive(new_collection("whole", asking=asking, seed=1, **plan))
    match = Match.objects.get()
    problem = collection.items.get().problem
    assert (match.status, problem) == ("finished", "")
    periods = match.metrics["questions" if key == "patience" else "periods_played"]
    assert periods == LENGTHS[key] or (key == "scheduling" and match.metrics["solved"])
    seats = len(match.configured().roles())
    moves = [event.data["move"] for event in Event.objects.filter(match=match, kind="move").order_by("number")]
    assert sum("note" not in move for move in moves) == periods * seats
    if key != "patience":
        assert any("note" in move for move in moves)
        assert all(call.record["tools"] for call in Call.objects.all()[:50])
    export(collection, tmp_path / "d")
    assert verify(tmp_path / "d") == []


def test_every_script_plays_the_full_length():
    for key, length in LENGTHS.items():
        game = configure(registry.get(key), {})
        for script in sorted(game.scripts):
            play, _events = start(game, 3)
            while not play.over:
                role = play.waiting_for()[0]
                play, _events = submit(play, role, script_move(play, role, script))
            periods = play.metrics().get("periods_played", play.metrics().get("questions"))
            assert periods == length or (key == "scheduling" and play.metrics()["solved"]), (key, script)
