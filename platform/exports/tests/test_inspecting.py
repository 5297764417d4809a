"""Agents' transcripts as logs of Inspect."""

from __future__ import annotations

import json
import os
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from collecting.tests.kit import drive, new_collection
from config.supervisor import ROOT
from exports.tests import building
from llm_agents.standins import OpenAIStandIn
from llm_agents.standins.player import answer
from matches.models import Match
from opponents.models import Call
from studies.tests.kit import use_standin

pytestmark = pytest.mark.django_db(transaction=True)
SHORT = {"level": "small", "periods": 2, "instance_seed": 3}
READ = """
import json, sys
from inspect_ai.log import list_eval_logs, read_eval_log, read_eval_log_sample_summaries
for info in list_eval_logs(sys.argv[1]):
    log = read_eval_log(info, resolve_attachments=True)
    summaries = read_eval_log_sample_summaries(info)
    assert [one.id for one in summaries] == [one.id for one in log.samples] and all(one.completed for one in summaries)
    tools = [event for one in log.samples for event in one.events if event.event == "tool"]
    models = [event for one in log.samples for event in one.events if event.event == "model"]
    print(json.dumps({
        "task": log.eval.task, "model": log.eval.model, "status": log.status, "samples": len(log.samples),
        "mean": {score.name: score.metrics["mean"].value for score in log.results.scores},
        "payoff": [one.scores["payoff"].as_float() for one in log.samples],
        "calls": len(models), "tools": len(tools), "inputs": [len(event.input) for event in models],
        "tokens": sum(usage.total_tokens for one in log.samples for usage in one.model_usage.values()),
        "messages": [[message.role for message in one.messages] for one in log.samples],
    }))
"""


def played(monkeypatch: pytest.MonkeyPatch, game: str, asking: dict[str, Any], config: dict[str, Any]) -> str:
    """Play one match by a stand-in model; return the collection's short name."""
    slug = game.replace("_", "-")
    with OpenAIStandIn(lambda request: answer(request, seed=2)) as standin:
        use_standin(monkeypatch, standin)
        drive(new_collection(slug, title=game, game=game, asking=asking, configurations=[config], agents=["openai:m"]))
    return slug


def logs_in(folder: Path) -> list[zipfile.ZipFile]:
    return [zipfile.ZipFile(path) for path in sorted(folder.iterdir())]


def contents(log: zipfile.ZipFile) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a log's header and its samples."""
    names = [name for name in log.namelist() if name.startswith("samples/")]
    return json.loads(log.read("header.json")), [json.loads(log.read(name)) for name in names]


def input_of(event: dict[str, Any], sample: dict[str, Any]) -> list[dict[str, Any]]:
    pool = sample["events_data"]["messages"]
    return [message for first, end in event["input_refs"] for message in pool[first:end]]


def test_a_conversation_is_read_back_as_it_was_sent(tmp_path, monkeypatch, capsys):
    slug = played(monkeypatch, "bargaining", {}, {"rounds": 4})
    call_command("export_inspect", slug, "--to", str(tmp_path / "logs"))
    (log,) = logs_in(tmp_path / "logs")
    header, samples = contents(log)
    match = Match.objects.get()
    assert f"{Path(log.filename).name}: 2 samples" in capsys.readouterr().out
    assert {sample["id"] for sample in samples} == {f"{match.uid}-alice", f"{match.uid}-bob"}
    assert header["eval"]["task"] == "bargaining" and header["eval"]["model"] == "openai/m"
    assert header["eval"]["task_args"] == match.config
    means = {score["name"]: score["metrics"]["mean"]["value"] for score in header["results"]["scores"]}
    assert means["payoff"] == sum(match.payoffs.values()) / 2
    for sample in samples:
        role = sample["metadata"]["role"]
        assert sample["scores"]["payoff"]["value"] == match.payoffs[role]
        assert sample["metadata"]["config"] == match.config and sample["metadata"]["seed"] == match.seed
        calls = list(Call.objects.filter(role=role).order_by("pk"))
        models = [event for event in sample["events"] if event["event"] == "model"]
        assert [input_of(event, sample) for event in models] == [
            [{"role": one["role"], "content": one["content"]} for one in call.record["messages"]] for call in calls
        ]
        assert [event["output"]["completion"] for event in models] == [call.record["answer"] for call in calls]
        assert sample["model_usage"]["openai/m"]["total_tokens"] == 18 * len(calls)
        events = [event["data"]["kind"] for event in sample["events"] if event["event"] == "info"]
        assert events[0] == "start" and events[-1] == "end"
        # What a call repeats of the one before is read once.
        assert sum(message["role"] == "system" for message in sample["messages"]) == 1


def test_tools_are_called_and_answered_in_one_conversation(tmp_path, monkeypatch):
    slug = played(monkeypatch, "scheduling", {"strategy": "tools"}, SHORT)
    call_command("export_dataset", slug, "--to", str(tmp_path / "data"))
    for name in ("one", "two"):
        call_command("export_inspect", str(tmp_path / "data"), "--to", str(tmp_path / name))
    (path,) = (tmp_path / "one").iterdir()
    assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()
    header, (sample,) = contents(zipfile.ZipFile(path))
    manifest = json.loads((tmp_path / "data" / "manifest.json").read_text())
    assert header["eval"]["metadata"]["dataset_sha256"] == manifest["sha256"]
    recorded = [tool for call in Call.objects.order_by("pk") for tool in call.record["tools"]]
    assert {tool["kind"] for tool in recorded} == {"look", "note", "move"}
    events = [event for event in sample["events"] if event["event"] == "tool"]
    assert [(event["function"], event["result"]) for event in events] == [
        (tool["name"], tool["result"]) for tool in recorded
    ]
    assert [event["arguments"] for event in events] == [json.loads(tool["arguments"]) for tool in recorded]
    asked = {call["id"] for message in sample["messages"] for call in message.get("tool_calls", ())}
    assert asked == {message["tool_call_id"] for message in sample["messages"] if message["role"] == "tool"}
    models = [event for event in sample["events"] if event["event"] == "model"]
    first_answer = models[0]["output"]["choices"][0]["message"]
    results = [message for message in sample["messages"] if message["role"] == "tool"]
    assert input_of(models[1], sample)[2:] == [first_answer, *results[: len(first_answer["tool_calls"])]]


def test_only_what_the_dataset_holds_enters(tmp_path, capsys):
    study = building.new_study(agents="script:fair")
    person = building.complete(study, worker="A1FIRSTWORKER", name="Maria", messages=["I am Maria"])
    building.save_call(
        building.match_of(person),
        messages=[{"role": "user", "content": "Maria says: I am Maria"}],
        answer='{"decision": "accept"}',
    )
    building.save_call(building.match_of(person), messages=[], error="Overloaded: try later")
    left = building.arrive(study, worker="A2SECONDWORKER")
    building.consent(left, name="Kim")
    call_command("export_inspect", study.slug, "--to", str(tmp_path / "logs"))
    (log,) = logs_in(tmp_path / "logs")
    header, (sample,) = contents(log)
    text = b"".join(log.read(name) for name in log.namelist()).decode()
    assert not [secret for secret in ("Maria", "A1FIRSTWORKER", "Kim", "A2SECONDWORKER") if secret in text]
    assert sample["metadata"]["role"] == "bob" and sample["metadata"]["players"]["alice"] == "human"
    failed = [event for event in sample["events"] if event["event"] == "model" and event["error"]]
    assert [event["error"] for event in failed] == ["Overloaded: try later"]
    assert header["results"]["completed_samples"] == 1


def test_a_changed_dataset_or_a_full_folder_is_refused(tmp_path, dataset):
    with pytest.raises(CommandError, match="“nothing”"):
        call_command("export_inspect", "nothing", "--to", str(tmp_path / "logs"))
    with pytest.raises(CommandError, match="not an empty folder"):
        call_command("export_inspect", str(dataset), "--to", str(dataset))
    (dataset / "transcripts.jsonl").write_text("{}\n")
    with pytest.raises(CommandError, match="changed after the export") as refused:
        call_command("export_inspect", str(dataset), "--to", str(tmp_path / "logs"))
    assert refused.value.returncode == 2


@pytest.fixture(scope="session")
def inspect_python() -> Path:
    """Return a Python with inspect_ai, installed if missing; INSPECT_PYTHON can name another one."""
    if named := os.environ.get("INSPECT_PYTHON"):
        return Path(named)
    process = subprocess.run([ROOT / "deploy/setup/inspect.sh"], capture_output=True, text=True)
    if process.returncode:
        reason = (process.stderr.strip() or "no message").splitlines()[-1]
        pytest.skip(f"inspect_ai cannot be installed here: {reason}")
    return ROOT / ".venv-inspect" / "bin" / "python"


@pytest.mark.slow
def test_inspect_reads_every_log(tmp_path, monkeypatch, inspect_python):
    found = {}
    for game, asking, config in (
        ("bargaining", {}, {"rounds": 4}),
        ("item_auction", {"strategy": "adaptive"}, {}),
        ("scheduling", {"strategy": "tools"}, SHORT),
    ):
        slug = played(monkeypatch, game, asking, config)
        call_command("export_inspect", slug, "--to", str(tmp_path / slug))
        environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path), "PYTHONPATH": "", "NO_COLOR": "1"}
        read = [inspect_python, "-c", READ, tmp_path / slug]
        lines = subprocess.run(read, capture_output=True, text=True, check=True, env=environment).stdout.splitlines()
        (found[game],) = map(json.loads, lines)
        (log,) = (tmp_path / slug).iterdir()
        inspect = [inspect_python.with_name("inspect"), "log"]
        dumped = subprocess.run([*inspect, "dump", log], capture_output=True, text=True, check=True, env=environment)
        assert json.loads(dumped.stdout)["status"] == "success"
        listed = subprocess.run(
            [*inspect, "list", "--json", "--log-dir", tmp_path / slug],
            capture_output=True, text=True, check=True, env=environment,
        )  # fmt: skip
        assert [entry["task"] for entry in json.loads(listed.stdout)] == [game.replace("_", "-")]
        _header, samples = contents(zipfile.ZipFile(log))
        calls = [event for sample in samples for event in sample["events"] if event["event"] == "model"]
        assert found[game]["calls"] == len(calls)
        assert found[game]["inputs"] == [sum(end - first for first, end in event["input_refs"]) for event in calls]
        assert found[game]["mean"]["payoff"] == pytest.approx(sum(found[game]["payoff"]) / len(samples))
        assert found[game]["tokens"] == 18 * len(calls)
    assert (found["bargaining"]["tools"], found["item_auction"]["samples"]) == (0, 3)
    assert found["scheduling"]["tools"] > 0
