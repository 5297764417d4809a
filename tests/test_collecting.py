"""On a live stack, a collection is started, paused and resumed from the shell, and killed repeatedly."""

from __future__ import annotations

import json
import time

import pytest
from django.core.management import CommandError, call_command

pytestmark = pytest.mark.services

KILLS = 5
SECONDS_BETWEEN_KILLS = 4.0


def collect(stack, name: str, *arguments: str) -> dict:
    """Run `manage.py collect`; return the last status that it prints."""
    return json.loads(stack.manage("collect", name, "--json", *arguments).splitlines()[-1])


def wait_until_done(stack, name: str, seconds: float) -> dict:
    end = time.monotonic() + seconds
    while (now := stack.call("tests.actions.collection_progress", name))["status"] == "running":
        assert time.monotonic() < end, now
        time.sleep(0.5)
    return now


@pytest.mark.slow
def test_collection_completes_despite_repeated_kills(stack):
    config = json.dumps({"rounds": 12})
    agents = "script:haggler,script:fair"
    plan = ["--game", "bargaining", "--config", config, "--agents", agents, "--repetitions", "125", "--seed", "1"]
    collect(stack, "killed", *plan, "--delay", "0.2", "--concurrency", "60", "--no-wait")
    for _number in range(KILLS):
        time.sleep(SECONDS_BETWEEN_KILLS)
        stack.kill("collector")
    now = wait_until_done(stack, "killed", seconds=150)
    assert (now["status"], now["finished"], now["failed"]) == ("done", 500, 0)
    summary = stack.call("tests.actions.count_complete_matches", "killed")
    assert summary == {"matches": 500, "replayed": 500, "numbered_without_gaps": 500, "decisions": now["decisions"]}


@pytest.mark.slow
def test_collection_is_started_paused_and_resumed_from_the_shell(stack):
    config = json.dumps({"rounds": 2})
    plan = ["--game", "bargaining", "--config", config, "--agents", "script:haggler", "--repetitions", "8"]
    collect(stack, "paused", *plan, "--delay", "2", "--concurrency", "2", "--no-wait")
    assert collect(stack, "paused", "--pause")["status"] == "paused"
    status = collect(stack, "paused")
    assert status["finished"] < 8
    now = collect(stack, "paused", "--resume")
    assert (now["status"], now["finished"]) == ("done", 8)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--game", "bargaining", "--agents", "script:fair", "--grid", '{"colour": [1]}'], "no parameter “colour”"),
        (["--game", "bargaining", "--agents", "script:fair", "--grid", '{"rounds": [0]}'], "“rounds” cannot be 0"),
        (["--game", "bargaining", "--agents", "script:fair", "--grid", "rounds"], "--grid is not valid JSON"),
        (["--game", "bargaining"], "needs --game and --agents"),
        ([], "There is no collection “nothing”"),
    ],
)
@pytest.mark.django_db
def test_invalid_collections_are_explained_in_one_line(arguments, reason):
    with pytest.raises(CommandError) as refused:
        call_command("collect", "nothing", *arguments)
    assert refused.value.returncode == 2
    assert reason in str(refused.value) and "\n" not in str(refused.value)
