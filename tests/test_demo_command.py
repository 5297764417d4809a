"""The demo says what it does from its first second, opens a browser where there is one, and shares only if asked."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
import webbrowser
from io import StringIO
from pathlib import Path

import pytest

from config.children import ROOT
from config.management.commands import demo
from config.supervisor import StackError

SIGN_IN = {"admin": "admin", "password": "a secret"}


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> demo.Command:
    command = demo.Command(stdout=StringIO(), no_color=True)
    command._began_at = time.time()
    return command


def prepared_stack(folder: Path, address: str = "") -> demo.DemoStack:
    stack = demo.DemoStack(folder, address=address)
    stack.port = 8000
    (folder / "logs").mkdir()
    return stack


def test_summary_has_one_address_the_sign_in_the_data_and_the_way_out(tmp_path: Path, command: demo.Command):
    summary = "\n".join(command._summary(prepared_stack(tmp_path), SIGN_IN))
    assert set(re.findall(r"http://[^/\s]+", summary)) == {"http://127.0.0.1:8000"}
    assert "user admin, password a secret" in summary
    assert str(tmp_path) in summary
    assert summary.endswith("Stop with Ctrl+C.")


def test_shared_demo_says_who_reaches_what(tmp_path: Path, command: demo.Command):
    stack = prepared_stack(tmp_path, "192.0.2.7")
    summary = "\n".join(command._summary(stack, SIGN_IN))
    assert "network: http://192.0.2.7:8000" in summary
    assert "in this network can play" in summary
    assert stack.environment["PARLEY_DEMO_SHARED_URL"] == "http://192.0.2.7:8000"
    assert "0.0.0.0" in stack._commands()["web"]


def test_demo_that_is_not_shared_serves_this_computer_only(tmp_path: Path):
    stack = prepared_stack(tmp_path)
    assert stack.environment["PARLEY_DEMO"] == "1"
    assert stack.environment["PARLEY_DEMO_SHARED_URL"] == ""
    assert "127.0.0.1" in stack._commands()["web"] and "0.0.0.0" not in stack._commands()["web"]


def test_sharing_without_a_network_is_refused(monkeypatch: pytest.MonkeyPatch):
    def unreachable(*_arguments: object) -> None:
        raise OSError("Network is unreachable")

    monkeypatch.setattr(socket.socket, "connect", unreachable)
    with pytest.raises(StackError, match="needs a network"):
        demo.address_in_network()


@pytest.mark.parametrize(
    ("circumstances", "opens"),
    [
        ({}, True), ({"terminal": False}, False), ({"display": ""}, False), ({"user": 0}, False),
        ({"ci": "true"}, False), ({"browser": webbrowser.GenericBrowser("lynx")}, False),
    ],
    ids=["desktop", "no terminal", "no display", "root", "ci", "text browser"],
)  # fmt: skip
def test_browser_opens_where_someone_sees_it(monkeypatch: pytest.MonkeyPatch, circumstances: dict, opens: bool):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: circumstances.get("terminal", True), raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: circumstances.get("user", 1000))
    browser = circumstances.get("browser", webbrowser.BackgroundBrowser("firefox"))
    monkeypatch.setattr(webbrowser, "get", lambda: browser)
    for name, value in (("DISPLAY", circumstances.get("display", ":0")), ("CI", circumstances.get("ci", ""))):
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert demo.browser_can_open() is opens


@pytest.mark.parametrize(("code", "said"), [(0, "The samples are ready."), (1, "samples could not be made")])
def test_end_of_the_samples_is_reported(
    tmp_path: Path, command: demo.Command, monkeypatch: pytest.MonkeyPatch, code: int, said: str
):
    stack = prepared_stack(tmp_path)
    made = [sys.executable, "-c", f"raise SystemExit({code})"]
    monkeypatch.setattr(stack, "start_manage", lambda name: stack.start_job(name, made))
    command._make_samples(stack, install=False)
    assert said in command.stdout._out.getvalue()


def test_job_and_what_it_started_end_with_the_stack(tmp_path: Path):
    stack = prepared_stack(tmp_path)
    stack.start_job("job", ["bash", "-c", "sleep 60 & echo $!; wait"])
    deadline = time.monotonic() + 20
    while not stack.log("job").strip():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    started = Path(f"/proc/{int(stack.log('job'))}/cmdline")
    stack.stop()
    while started.exists() and started.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def in_progress(script: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", f". deploy/setup/progress.sh\n{script}"],
        cwd=ROOT, env={**os.environ, **variables}, capture_output=True, text=True,
    )  # fmt: skip


def test_messages_of_set_up_begin_with_the_seconds_since_make_began():
    told = in_progress("say Installing packages", PARLEY_BEGAN=str(int(time.time()) - 12))
    assert re.fullmatch(r"  1[2-5] s  Installing packages\n", told.stdout)


def test_failed_set_up_shows_the_end_of_its_output():
    told = in_progress("working() { echo working; }; during working bash -c 'echo no space left; exit 3'")
    assert (told.returncode, told.stderr) == (3, "no space left\n")
