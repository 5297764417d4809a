"""Web processes share a socket that stays open while one of them is replaced, and every restart is known."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path

import httpx
import pytest

from config.children import ROOT
from config.supervisor import HOST, free_port
from monitoring import restarts

pytestmark = pytest.mark.services

TIMEOUT = 20.0
ANSWERS_ITS_PID = """
import os
import time

async def application(scope, receive, send):
    if scope["type"] == "http" and scope["path"] == "/busy":
        time.sleep(0.2)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(os.getpid()).encode()})
"""


@contextmanager
def served(folder: Path, application: str) -> Iterator[tuple[subprocess.Popen[bytes], str, Path]]:
    """Run two web processes of a small application; yield the parent, the address and the log."""
    (folder / "small.py").write_text(ANSWERS_ITS_PID)
    port, log = free_port(), folder / "log"
    paths = os.pathsep.join(map(str, (ROOT / "platform", ROOT, folder)))
    arguments = ["--application", application, "--port", str(port), "--processes", "2"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "config.serving", *arguments],
            env={**os.environ, "PYTHONPATH": paths, "PARLEY_DATA": str(folder), "WEB_CONCURRENCY": ""},
            stderr=output,
        )
    try:
        yield process, f"http://{HOST}:{port}/", log
    finally:
        process.kill()
        process.wait()


def await_open(url: str) -> None:
    deadline = time.monotonic() + TIMEOUT
    while True:
        try:
            httpx.get(url, timeout=TIMEOUT)
            return
        except httpx.ConnectError:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def pids_that_answer(url: str, number: int) -> set[int]:
    """Ask until `number` processes have answered; every request must be answered."""
    pids, deadline = set[int](), time.monotonic() + TIMEOUT
    while len(pids) < number and time.monotonic() < deadline:
        pids.add(int(httpx.get(url, timeout=TIMEOUT).text))
    return pids


def test_killed_web_process_is_replaced_while_the_port_stays_open(tmp_path):
    with served(tmp_path, "small:application") as (parent, url, log):
        await_open(url)
        before = pids_that_answer(url, 2)
        os.kill(min(before), signal.SIGKILL)
        deadline = time.monotonic() + TIMEOUT
        while (after := pids_that_answer(url, 2)) == before and time.monotonic() < deadline:
            pass
        assert len(after) == 2 and len(after & before) == 1
        assert "killed by SIGKILL; starting another" in log.read_text()
        (reason,) = restarts.recent(tmp_path)
        assert reason.startswith("web ") and reason.endswith("was killed by SIGKILL")
        parent.terminate()
        assert parent.wait(TIMEOUT) == 0
        with pytest.raises(httpx.ConnectError):
            httpx.get(url)
        for pid in after:
            assert not Path(f"/proc/{pid}").exists()


def test_connections_are_shared_evenly_and_nobody_waits_for_a_process_that_hangs(tmp_path):
    with served(tmp_path, "small:application") as (_parent, url, _log), ExitStack() as ending:
        await_open(url)
        hanging = min(pids_that_answer(url, 2))

        def ask(path: str) -> HTTPConnection:
            person = ending.enter_context(closing(HTTPConnection(url.split("/")[2], timeout=TIMEOUT)))
            person.request("GET", path)
            return person

        def answered(person: HTTPConnection) -> int:
            return int(person.getresponse().read())

        ask("/busy")  # for a moment one process accepts nobody
        crowd = Counter(answered(person) for person in [ask("/") for _person in range(40)])
        assert crowd.most_common(1)[0][1] <= 28
        os.kill(hanging, signal.SIGSTOP)
        try:
            assert hanging not in {answered(ask("/")) for _person in range(10)}
        finally:
            os.kill(hanging, signal.SIGCONT)


def test_application_that_cannot_start_ends_the_server_with_its_error(tmp_path):
    with served(tmp_path, "none:application") as (parent, _url, log):
        assert parent.wait(TIMEOUT) > 0
        assert 'Could not import module "none"' in log.read_text()
        assert "the server cannot start" in log.read_text()
        assert restarts.recent(tmp_path) == []


def test_only_recent_restarts_count_and_the_file_stays_small(tmp_path):
    assert restarts.recent(tmp_path) == []
    now = int(time.time())
    lines = [f"{now - 90_000 + i} worker: ended with code {i}\n" for i in range(restarts.KEPT)]
    (tmp_path / restarts.FILE).write_text("".join(lines))
    restarts.note(tmp_path, "web 1", "was killed by SIGKILL")
    assert restarts.recent(tmp_path) == ["web 1: was killed by SIGKILL"]
    assert len((tmp_path / restarts.FILE).read_text().splitlines()) == restarts.KEPT
