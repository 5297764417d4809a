"""`make stand-in-llm` as a developer uses it: a separate process that can play every game."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import openai
import pytest

from games import registry
from games.play import configure
from llm_agents.standins.__main__ import KINDS, TOOL_KINDS, Misbehaviour, StandInModel, serve

ROOT = Path(__file__).parent.parent
GAMES = {"bargaining": '{"rounds": 2}', "negotiation": '{"rounds": 2}', "persuasion": '{"rounds": 2}'}
"""Configurations with few rounds; other games use their default configuration."""
TIMEOUT = 60


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@contextmanager
def run_server(*options: str) -> Iterator[tuple[dict[str, str], str]]:
    """Run the server and stop it with Ctrl+C; yield the environment variables that it prints and its output."""
    command = [sys.executable, "-m", "llm_agents.standins", *options]
    with subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        try:
            lines = []
            for line in process.stdout:
                lines.append(line)
                if "Ctrl+C" in line:
                    break
            output = "".join(lines)
            yield dict(re.findall(r"export (\w+)=(\S+)", output)), output
            process.send_signal(signal.SIGINT)
            remaining_output = process.communicate(timeout=TIMEOUT)[0]
            assert process.returncode == 0
            assert re.fullmatch(r"Stopped after \d+ calls\.\n", remaining_output)
        finally:
            process.kill()


def simulate(variables: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": "/usr/bin:/bin", "DATABASE_URL": "postgres://nobody:none@127.0.0.1:1/none", **variables}
    command = [sys.executable, "manage.py", "simulate", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment, timeout=TIMEOUT)


def send_question(variables: Mapping[str, str], *, timeout: float = 3, **options: Any) -> Any:
    """Ask the server for a move through the official SDK; return the answer."""
    client = openai.OpenAI(
        api_key=variables["OPENAI_API_KEY"], base_url=variables["OPENAI_BASE_URL"], max_retries=0, timeout=timeout
    )
    question = 'It is your turn. Pay.\nJSON object with these keys and no others:\n- "amount" (number, at least 0)'
    message: Any = {"role": "user", "content": question}
    with client:
        return client.chat.completions.create(model="stand-in", messages=[message], **options)


@pytest.fixture(scope="module")
def server() -> Iterator[dict[str, str]]:
    """Run one server for all tests of this module; yield its environment variables."""
    with run_server("--port", str(free_port())) as (variables, _output):
        yield variables


@pytest.mark.slow  # llm_agents/tests/test_standins.py plays every game in this process
@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
@pytest.mark.parametrize("game", registry.keys())
def test_plays_every_game_in_both_protocols(server, game, protocol):
    config = GAMES.get(game, "{}")
    role = configure(registry.get(game), json.loads(config)).roles()[-1]
    process = simulate(server, game, "--config", config, "--seat", f"{role}={protocol}:stand-in")
    assert (process.returncode, process.stderr) == (0, "")
    assert f"{role} ({protocol}:stand-in)" in process.stdout


@pytest.mark.slow
def test_suggested_command_works():
    with run_server("--port", str(free_port()), "--prose", "--seed", "5") as (variables, output):
        arguments = re.search(r"manage\.py simulate (.+)", output)[1].split()
        process = simulate(variables, *arguments)
        assert (process.returncode, process.stderr) == (0, "")
        assert "alice (openai:stand-in)" in process.stdout and "bob (anthropic:stand-in)" in process.stdout
        answer = send_question(variables).choices[0].message.content
        assert answer.startswith("I have weighed") and "```json\n{" in answer


@pytest.mark.slow
def test_same_seed_plays_the_same_match():
    outcomes = []
    for seed in ("1", "1", "2"):
        with run_server("--port", str(free_port()), "--seed", seed) as (variables, _output):
            outcomes.append(simulate(variables, "persuasion", "--seat", "alice=openai:stand-in", "--json").stdout)
    assert outcomes[0] == outcomes[1] != outcomes[2]


def test_next_free_port_is_used_and_announced():
    with socket.create_server(("127.0.0.1", 0)) as blocker:
        port = blocker.getsockname()[1]
        with run_server("--port", str(port)) as (variables, output):
            assert f"Port {port} is in use." in output
            assert int(variables["OPENAI_BASE_URL"].split(":")[2].removesuffix("/v1")) > port
            assert send_question(variables).choices[0].message.content


@pytest.mark.slow
def test_delay_option_delays_the_answer():
    with (
        run_server("--port", str(free_port()), "--delay", "30") as (variables, _output),
        pytest.raises(openai.APITimeoutError),
    ):
        send_question(variables)


EXPECTED_ERRORS: dict[str, Any] = {
    "slow": openai.APITimeoutError, "hang": openai.APITimeoutError, "drip": openai.APITimeoutError,
    "rate-limit": openai.RateLimitError, "error": openai.InternalServerError, "overloaded": openai.InternalServerError,
    "echo": openai.APIError, "cut": openai.APIConnectionError, "failing": openai.APIError,
    "disconnect": openai.APIConnectionError, "model": openai.NotFoundError, "malformed": json.JSONDecodeError,
}  # fmt: skip
"""The SDK's exception for each kind of failure; all other kinds give an answer that is not a move."""
LEGAL_MOVE = re.compile(r'\{"amount": [0-9.]+\}')


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in TOOL_KINDS])
def test_each_misbehaviour_occurs_when_due(kind):
    slow = kind in ("slow", "drip")
    model = StandInModel(seed=0, delay=0, prose=False, misbehaves=[Misbehaviour(kind, 2)])
    with serve(model, free_port()) as standin:
        legal_answer = send_question(standin.environment).choices[0].message.content
        assert LEGAL_MOVE.fullmatch(legal_answer)
        if error := EXPECTED_ERRORS.get(kind):
            with pytest.raises(error):
                send_question(standin.environment, timeout=1 if slow else 3)
            return
        choices = send_question(standin.environment).choices
        assert not choices or not LEGAL_MOVE.fullmatch(choices[0].message.content or "")


def test_misbehaviours_are_set_on_the_command_line():
    options = ("--port", str(free_port()), "--misbehave", "error:2", "--misbehave", "refusal:3")
    with run_server(*options) as (variables, _output):
        assert LEGAL_MOVE.fullmatch(send_question(variables).choices[0].message.content)
        with pytest.raises(openai.InternalServerError):
            send_question(variables)
        assert send_question(variables).choices[0].message.refusal


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--misbehave", "sulk"], "“sulk”; use one of slow, hang"),
        (["--misbehave", "hang:0"], "“0” must be a positive"),
        (["--misbehave", "hang:"], "a positive whole number"),
        (["--port", "70000"], "from 1 to 65535"),
        (["--delay", "-1"], "from 0 to 3600"),
    ],
)
def test_invalid_options_are_explained(options, reason):
    command = [sys.executable, "-m", "llm_agents.standins", *options]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT)
    assert process.returncode == 2
    assert reason in process.stderr and "Traceback" not in process.stderr
