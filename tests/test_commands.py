"""The commands simulate, replay and show run in their own process, without database, broker or migrations."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import execute_from_command_line

from llm_agents.standins import AnthropicStandIn, Failure, OpenAIStandIn
from llm_agents.standins.server import KEY

MANAGE = Path(__file__).parent.parent / "manage.py"
OFFER = {"alice_gain": 6000, "bob_gain": 4000, "message": "Take it."}
MOVES = [
    {"role": "alice", "move": OFFER},
    {"role": "bob", "move": {"decision": "reject"}},
    {"role": "bob", "move": {"alice_gain": 5000, "bob_gain": 5000}},
    {"role": "alice", "move": {"decision": "accept"}},
]


@pytest.fixture
def manage(tmp_path):
    """Return a function that runs a command without database or broker and returns the finished process."""

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": "/usr/bin:/bin",
            "PARLEY_DATA": str(tmp_path / "data"),
            "DATABASE_URL": "postgres://nobody:none@127.0.0.1:1/none",
            "REDIS_URL": "redis://127.0.0.1:1/0",
            **variables,
        }
        command = [sys.executable, str(MANAGE), *arguments]
        return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=60)

    return run


@pytest.fixture
def manage_here(capsys):
    """Return a function that does the same as `manage` in this process, in a tenth of the time."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        try:
            execute_from_command_line([str(MANAGE), *arguments])
            code: Any = 0
        except SystemExit as leaving:
            code = leaving.code
        printed = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, code, printed.out, printed.err)

    return run


@pytest.fixture
def write_file(tmp_path):
    def write(content: Any, name: str = "file.json") -> str:
        text = content if isinstance(content, str) else json.dumps(content)
        (tmp_path / name).write_text(text, encoding="utf-8")
        return str(tmp_path / name)

    return write


def parsed_lines(process: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in process.stdout.splitlines()]


def assert_refused(process: subprocess.CompletedProcess[str], *reasons: str) -> None:
    """Check for exit code 2 and one line that contains the reasons, without a traceback."""
    assert process.returncode == 2, process.stderr
    assert process.stdout == ""
    assert "Traceback" not in process.stderr
    assert len(process.stderr.strip().splitlines()) == 1, process.stderr
    for reason in reasons:
        assert reason in process.stderr


@pytest.mark.slow
def test_each_json_line_is_a_complete_match(manage):
    config = json.dumps({"money": 100, "rounds": None})
    process = manage("simulate", "bargaining", "--config", config, "--seat", "bob=script:fair", "--seed", "7", "--json")
    assert (process.returncode, process.stderr) == (0, "")
    (line,) = parsed_lines(process)
    assert list(line) == ["game", "config", "seed", "agents", "events", "payoffs", "metrics"]
    assert (line["game"], line["seed"]) == ("bargaining", 7)
    assert line["agents"] == {"alice": "script:random", "bob": "script:fair"}
    assert line["config"] == {
        "money": 100, "delta_alice": 0.9, "delta_bob": 0.9, "rounds": None, "complete_information": True,
        "messages_allowed": True, "cap": 99,
    }  # fmt: skip
    assert [event["number"] for event in line["events"]] == list(range(1, len(line["events"]) + 1))
    assert line["events"][0]["kind"] == "start" and line["events"][-1]["kind"] == "end"
    assert {"kind", "role", "move"} < line["events"][1].keys()
    assert line["payoffs"].keys() == {"alice", "bob"}
    assert all(math.isfinite(payoff) for payoff in line["payoffs"].values())
    assert line["metrics"]["agreement"] in (True, False)


@pytest.mark.slow
def test_seeds_are_consecutive_and_determine_the_output(manage):
    first_run = manage("simulate", "bargaining", "--matches", "3", "--seed", "5", "--json")
    repeated = manage("simulate", "bargaining", "--matches", "2", "--seed", "6", "--json")
    assert [line["seed"] for line in parsed_lines(first_run)] == [5, 6, 7]
    assert first_run.stdout.splitlines()[1:] == repeated.stdout.splitlines()


@pytest.mark.slow
def test_output_without_json_is_readable(manage):
    process = manage("simulate", "bargaining", "--matches", "2")
    assert process.returncode == 0
    assert "seed 0:" in process.stdout and "seed 1:" in process.stdout and "alice (script:random)" in process.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "standin"),
    [("openai", OpenAIStandIn), pytest.param("anthropic", AnthropicStandIn, marks=pytest.mark.slow)],
)
def test_model_plays_with_the_sdk_environment_variables(manage, kind, standin):
    def answer(request: dict[str, Any]) -> str:
        question = request["messages"][-1]["content"]
        return '{"alice_gain": "5,000", "bob_gain": 5000}' if "alice_gain" in question else '{"decision": "accept"}'

    with standin(answer) as server:
        process = manage("simulate", "bargaining", "--seat", f"alice={kind}:m", "--seat", "bob=script:fair", "--json",
                      **server.environment)  # fmt: skip
    (line,) = parsed_lines(process)
    assert process.returncode == 0 and "failed" not in line
    assert line["events"][1]["move"] == {"alice_gain": 5000, "bob_gain": 5000}


@pytest.mark.slow
def test_match_and_command_fail_without_a_legal_move(manage):
    with OpenAIStandIn(["I would rather not."]) as server:
        process = manage("simulate", "bargaining", "--seat", "alice=openai:m", "--json", **server.environment)
    (line,) = parsed_lines(process)
    assert process.returncode == 1
    assert "No legal move in 4 tries" in line["failed"]
    assert line["payoffs"] == {"alice": None, "bob": None}
    assert len(server.requests) == 4
    assert "Traceback" not in process.stderr


@pytest.mark.slow
def test_provider_failure_fails_the_match_and_hides_the_key(manage):
    with AnthropicStandIn([Failure(401, f"invalid key {KEY}")]) as server:
        process = manage("simulate", "bargaining", "--seat", "bob=anthropic:m", "--json", **server.environment)
    assert process.returncode == 1
    assert KEY not in process.stdout + process.stderr
    assert "did not accept the key" in parsed_lines(process)[0]["failed"]


@pytest.mark.parametrize(
    ("arguments", "reasons"),
    [
        (["nope"], ["no game “nope”"]),
        (["bargaining", "--config", "{"], ["--config is not valid JSON"]),
        (["bargaining", "--config", "[]"], ["must be a JSON object"]),
        (["bargaining", "--config", '{"money": NaN}'], ["NaN is not JSON"]),
        (["bargaining", "--config", '{"money": -Infinity}'], ["-Infinity is not JSON"]),
        (["bargaining", "--config", '{"money": 1e999}'], ["money", "finite"]),
        (["bargaining", "--config", '{"money": true}'], ["money", "must be a number"]),
        (["bargaining", "--config", '{"colour": 1, "money": -1}'], ["colour", "money", "more than 0"]),
        (["bargaining", "--seat", "alice"], ["must be ROLE=AGENT"]),
        (["bargaining", "--seat", "carol=script:fair"], ["no role “carol”", "alice, bob"]),
        (["bargaining", "--seat", "alice=script:clever"], ["no scripted player “clever”", "fair"]),
        (["bargaining", "--seat", "alice=robot:x"], ["“robot:x”", "openai:MODEL"]),
        (["bargaining", "--matches", "0"], ["--matches"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_invalid_simulations_are_explained(manage_here, arguments, reasons):
    assert_refused(manage_here("simulate", *arguments, "--json"), *reasons)


@pytest.mark.slow
def test_error_is_one_line_in_a_separate_process(manage):
    assert_refused(manage("simulate", "bargaining", "--config", '{"money": NaN}', "--json"), "NaN is not JSON")


def test_replay_reports_how_a_match_ended(manage_here, write_file):
    process = manage_here(
        "replay", write_file({"game": "bargaining", "config": {}, "seed": 1, "moves": MOVES}), "--json"
    )
    assert (process.returncode, process.stderr) == (0, "")
    (line,) = parsed_lines(process)
    assert list(line) == ["over", "waiting_for", "payoffs", "metrics"]
    assert (line["over"], line["waiting_for"]) == (True, [])
    assert line["payoffs"] == {"alice": 4500, "bob": 4500}
    assert line["metrics"]["rounds_played"] == 2


def test_replay_reports_whose_move_it_is(manage_here, write_file):
    process = manage_here(
        "replay", write_file({"game": "bargaining", "config": {}, "seed": 1, "moves": MOVES[:1]}), "--json"
    )
    assert parsed_lines(process) == [
        {"over": False, "waiting_for": ["bob"], "payoffs": {"alice": None, "bob": None}, "metrics": {}}
    ]


def test_simulated_moves_replay_to_the_same_result(manage_here, write_file):
    (line,) = parsed_lines(manage_here("simulate", "bargaining", "--seed", "11", "--json"))
    moves = [{"role": e["role"], "move": e["move"]} for e in line["events"] if e["kind"] == "move"]
    replay_file = write_file({"game": line["game"], "config": line["config"], "seed": line["seed"], "moves": moves})
    (repeated,) = parsed_lines(manage_here("replay", replay_file, "--json"))
    assert (repeated["payoffs"], repeated["metrics"]) == (line["payoffs"], line["metrics"])


def _replay(**changes: Any) -> dict[str, Any]:
    return {"game": "bargaining", "config": {}, "seed": 1, "moves": MOVES, **changes}


@pytest.mark.parametrize(
    ("content", "reasons"),
    [
        (_replay(moves=[*MOVES[:1], {"role": "alice", "move": {"decision": "accept"}}]), ["Move 2 by alice", "turn"]),
        (_replay(moves=[{"role": "alice", "move": {**OFFER, "alice_gain": 1}}]), ["Move 1 by alice", "add up"]),
        (_replay(moves=[*MOVES, MOVES[0]]), ["Move 5 by alice", "over"]),
        (_replay(config={"messages_allowed": False}), ["Move 1 by alice", "without messages"]),
        (_replay(moves=[{"role": "carol", "move": {}}]), ["Move 1 by carol", "no role"]),
        (_replay(moves=[{"role": "alice", "move": [1]}]), ["Move 1 by alice", "JSON object"]),
        (_replay(moves=[{"move": OFFER}]), ["Move 1 must be an object"]),
        (_replay(moves={}), ["must be a list"]),
        (_replay(game="nope"), ["no game “nope”"]),
        (_replay(game=3), ["game must be a name"]),
        (_replay(seed=True), ["seed must be a whole"]),
        (_replay(config={"delta_bob": 2}), ["delta_bob", "at most 1"]),
        ([], ["game, config, seed and moves"]),
        ("{", ["is not valid JSON"]),
        ('{"game": "bargaining", "moves": [NaN]}', ["NaN is not JSON"]),
        ("[" * 100_000, ["is not valid JSON"]),
    ],
    ids=lambda value: value[0] if isinstance(value, list) and value and isinstance(value[0], str) else "",
)
def test_invalid_replays_are_explained(manage_here, write_file, content, reasons):
    assert_refused(manage_here("replay", write_file(content), "--json"), *reasons)


def test_missing_file_is_named(manage_here, tmp_path):
    assert_refused(manage_here("replay", str(tmp_path / "none.json"), "--json"), "none.json", "No such file")


def test_prompt_shows_what_a_model_would_be_sent_in_every_process(manage, manage_here, write_file):
    command = ["show", "bargaining", "--role", "bob", "--moves", write_file(MOVES[:1]), "--as", "prompt"]
    process = manage(*command)
    assert (process.returncode, process.stderr) == (0, "")
    assert process.stdout.startswith("[system]\n# ")
    assert '"Take it."</message>' in process.stdout
    assert '"decision" (one of "accept", "reject")' in process.stdout
    assert manage_here(*command).stdout == process.stdout


def test_prompt_out_of_turn_shows_what_the_role_knows(manage_here, write_file):
    process = manage_here("show", "bargaining", "--role", "alice", "--moves", write_file(MOVES[:1]), "--as", "prompt")
    assert process.returncode == 0
    assert "This is what you know:" in process.stdout


def test_config_option_overrides_the_replay_file(manage_here, write_file):
    replay_file = write_file(_replay(config={"money": 777_000}, moves=[]))
    from_file = manage_here("show", "bargaining", "--role", "bob", "--moves", replay_file, "--as", "prompt")
    overridden = manage_here(
        "show", "bargaining", "--role", "bob", "--moves", replay_file, "--config", "{}", "--as", "prompt"
    )
    assert "$777,000" in from_file.stdout
    assert "$777,000" not in overridden.stdout and "$10,000" in overridden.stdout


@pytest.mark.parametrize("form", ["html", "prompt"])
def test_hidden_values_do_not_change_the_output(manage_here, write_file, form):
    def printed_view(hidden: float) -> str:
        config = {"complete_information": False, "delta_alice": hidden}
        moves = write_file(_replay(config=config, moves=MOVES[:1]))
        process = manage_here("show", "bargaining", "--role", "bob", "--moves", moves, "--as", form)
        assert process.returncode == 0, process.stderr
        return process.stdout

    assert printed_view(0.95) == printed_view(0.8)


def test_page_contains_what_the_prompt_contains(manage_here, write_file):
    process = manage_here("show", "bargaining", "--role", "bob", "--moves", write_file(MOVES[:1]), "--as", "html")
    assert (process.returncode, process.stderr) == (0, "")
    assert "Take it." in process.stdout and "4,000" in process.stdout
    assert "csrf" not in process.stdout and "nonce" not in process.stdout


@pytest.mark.parametrize(
    ("arguments", "content", "reasons"),
    [
        (["--role", "carol"], [], ["no role “carol”"]),
        (["--role", "bob"], [{"role": "bob", "move": OFFER}], ["Move 1 by bob", "not your turn"]),
        (["--role", "bob"], {"game": "chess", "moves": []}, ["is from chess, not bargaining"]),
        (["--role", "bob", "--config", "3"], [], ["must be a JSON object"]),
    ],
    ids=lambda value: "",
)
def test_invalid_show_commands_are_explained(manage_here, write_file, arguments, content, reasons):
    assert_refused(
        manage_here("show", "bargaining", *arguments, "--moves", write_file(content), "--as", "prompt"), *reasons
    )


def test_seat_option_accepts_ranges_and_lists(manage_here):
    process = manage_here(
        "simulate", "beauty_contest", "--seat", "p2..p4=script:rational", "--seat", "p1,p5=script:level_1", "--json"
    )
    assert json.loads(process.stdout)["agents"] == {
        "p1": "script:level_1", **{f"p{seat}": "script:rational" for seat in (2, 3, 4)}, "p5": "script:level_1"
    }  # fmt: skip
    for invalid in ("p2..p9", "p4..p2", "p2,p2"):
        assert manage_here("simulate", "beauty_contest", "--seat", f"{invalid}=script:rational").returncode == 2


@pytest.mark.parametrize(
    ("service", "module"),
    [
        ("llm", "llm_agents.standins"),
        ("mturk", "marketplaces.mturk.standin"),
        ("panel", "panels.standin"),
        ("prolific", "marketplaces.prolific.standin"),
    ],
)
def test_make_targets_start_the_stand_in_servers(service: str, module: str):
    make = ["make", "--dry-run", "--no-print-directory", f"stand-in-{service}", "STAND_IN=--help"]
    process = subprocess.run(make, capture_output=True, text=True, cwd=MANAGE.parent, check=True)
    assert process.stdout.splitlines()[-1].endswith(f"python -m {module} --help")


@pytest.mark.parametrize(
    ("command", "without"),
    [
        (["simulate", "bargaining"], {"django.db.models", "celery", "redis", "numpy", "openai", "anthropic"}),
        (["show", "bargaining", "--role", "alice", "--as", "html"], {"matches.models", "celery", "redis", "numpy"}),
        (["verify_dataset", "--help"], {"django.db.models", "celery", "redis", "numpy", "openai", "anthropic"}),
        (["told", "econarena-contest-self"], {"django.db.models", "celery", "redis", "numpy", "openai", "anthropic"}),
        (["replay_calls", "--help"], {"studies.admin", "numpy"}),
    ],
)
def test_commands_start_without_what_they_do_not_need(manage, command, without):
    started = manage(*command, PYTHONPROFILEIMPORTTIME="1")
    assert started.returncode == 0
    loaded = {line.rpartition("|")[2].strip() for line in started.stderr.splitlines()}
    assert "games.registry" in loaded
    assert not without & loaded
