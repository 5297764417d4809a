"""The stack on one machine restarts services that die, and no process outlives it."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from config import supervisor
from config.children import ROOT
from config.supervisor import HOST, Stack, StackError, free_port, hold_port
from conftest import slow_except
from monitoring import restarts
from tests.conftest import LiveStack

pytestmark = pytest.mark.services

TIMEOUT = 20.0


def eventually(condition: Callable[[], object], seconds: float = TIMEOUT) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False


def alive(pid: int) -> bool:
    """Return whether the process runs (a zombie does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("name", slow_except(["redis", "web", "worker", "collector", "beat"], ["web"]))
def test_killed_service_is_restarted(stack: LiveStack, name: str):
    pids_before = stack.pids
    stack.kill(name)
    assert eventually(lambda: stack.pids.get(name, pids_before[name]) != pids_before[name])
    assert {other: pid for other, pid in stack.pids.items() if other != name} == {
        other: pid for other, pid in pids_before.items() if other != name
    }
    assert eventually(stack.is_healthy)
    assert f"{name}: was killed by SIGKILL" in restarts.recent(stack.data_dir)


@pytest.mark.slow
def test_halted_service_stays_down_until_restarted(stack: LiveStack):
    stack.halt("beat")
    time.sleep(1)
    assert "beat" not in stack.pids
    stack.restart("beat")
    assert "beat" in stack.pids


def test_call_runs_inside_the_stack_and_returns_its_errors(stack: Stack):
    assert stack.call("os.getenv", "PARLEY_DATA") == str(stack.data_dir)
    with pytest.raises(StackError, match="ZeroDivisionError"):
        stack.call("operator.truediv", 1, 0)
    assert stack.call("operator.add", 1, 2) == 3


@pytest.mark.slow
def test_second_stack_on_the_same_data_is_refused(stack: Stack):
    with pytest.raises(StackError, match="already running"):
        Stack(stack.data_dir).start()
    assert stack.is_healthy()


def test_next_free_port_is_used_if_the_port_is_taken():
    with socket.socket() as listener:
        listener.bind((HOST, free_port()))
        listener.listen()
        port = listener.getsockname()[1]
        assert free_port(port) > port


@pytest.mark.slow
def test_stacks_that_start_together_take_different_ports():
    first_port = free_port()
    ports = {}
    for _ in range(2):
        port, reservation = hold_port(first_port)
        ports[port] = reservation  # the open socket reserves the port
    for reservation in ports.values():
        reservation.close()
    assert len(ports) == 2
    port, reservation = hold_port(first_port)
    reservation.close()
    assert port == first_port


class Beginning(Stack):
    """A stack that consists of a Redis and a web server of a few lines, without a database."""

    def __init__(self, folder: Path, script: str, **options: Any) -> None:
        super().__init__(folder, **options)
        self._script = textwrap.dedent(script)

    def call(self, *_arguments: Any, **_keywords: Any) -> None:
        """Migrate nothing."""

    def _commands(self) -> dict[str, list[str]]:
        return {"web": [sys.executable, "-c", self._script, str(self.port)]}


def test_start_waits_for_a_slow_service_and_says_what_for(tmp_path, monkeypatch):
    monkeypatch.setattr(supervisor, "REPORT_SECONDS", 0.02)
    script = """
        import pathlib, sys, time
        from http.server import BaseHTTPRequestHandler, HTTPServer
        class Healthy(BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.end_headers()
        while not pathlib.Path("waited").exists():
            time.sleep(0.01)
        HTTPServer(("127.0.0.1", int(sys.argv[1])), Healthy).serve_forever()
    """
    said: list[str] = []

    def say(line: str) -> None:
        said.append(line)
        if line.startswith("  Starting the web server: "):
            (tmp_path / "waited").touch()

    waiting = Beginning(tmp_path, script.replace('"waited"', repr(str(tmp_path / "waited"))), say=say)
    with waiting:
        assert "web" in waiting.pids
    assert [line for line in said if line.endswith(" …")] == [
        "Starting Redis …", "Preparing the database …", "Starting the web server …"
    ]  # fmt: skip
    assert any(re.fullmatch(r"  Starting .*: \d+ s so far", line) for line in said)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("print('no such table'); raise SystemExit(3)", "web ended with code 3."),
        ("import time; print('no such table', flush=True); time.sleep(60)", "web runs, but has not"),
    ],
    ids=["ends", "hangs"],
)
def test_failed_start_shows_the_last_lines_of_the_service(tmp_path, script: str, reason: str):
    beginning = Beginning(tmp_path, script)
    with pytest.raises(StackError) as refused:
        beginning.start(patience=1)
    assert str(refused.value).startswith(reason)
    assert str(refused.value).endswith(f"{tmp_path}/logs/web.log:\nno such table")
    assert beginning.pids == {}


@pytest.mark.slow
@pytest.mark.parametrize("signal_number", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_nothing_outlives_the_supervisor(tmp_path: Path, signal_number: signal.Signals):
    script = """
        import json, signal, sys, threading
        from config.supervisor import Stack
        stop = threading.Event()
        signal.signal(signal.SIGTERM, lambda *_: stop.set())
        with Stack(sys.argv[1], worker_concurrency=2) as stack:
            print(json.dumps(stack.pids), flush=True)
            stop.wait()
    """
    supervisor = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'platform'}{os.pathsep}{ROOT}"},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert supervisor.stdout is not None
        pids = json.loads(supervisor.stdout.readline())
        assert set(pids) == {"redis", "web", "worker", "collector", "beat"}
        assert all(alive(pid) for pid in pids.values())
        supervisor.send_signal(signal_number)
        supervisor.wait(TIMEOUT)
        assert eventually(lambda: not any(alive(pid) for pid in pids.values()))
    finally:
        supervisor.kill()
        supervisor.wait()
