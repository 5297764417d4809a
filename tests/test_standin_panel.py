"""`make stand-in-panel` as a researcher uses it: a separate process that sends twelve people to a study."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys

import httpx
import pytest

from config.children import ROOT

pytestmark = pytest.mark.slow
STUDY = "http://127.0.0.1:8000/join/my-study"


@pytest.fixture
def standin(tmp_path):
    """Run the server and stop it with Ctrl+C; yield the address that it prints."""
    variables = {
        "PYTHONPATH": f"{ROOT / 'platform'}{os.pathsep}{ROOT}",
        "SECRET_KEY": "x",
        "PARLEY_DATA": str(tmp_path),
    }
    command = [sys.executable, "-m", "panels.standin", STUDY, "--preset", "sona", "--port", "0"]
    with subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, **variables}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        line = process.stdout.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+", line)
        assert address is not None, line + process.stderr.read()
        yield address[0]
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 0


def test_panel_sends_twelve_people_and_shows_their_returns(standin):
    people = re.findall(r"/go\?person=(\w+)", httpx.get(f"{standin}/").text)
    assert len(set(people)) == 12
    responses = [httpx.get(f"{standin}/go", params={"person": person}) for person in people]
    assert {answer.status_code for answer in responses} == {303}
    assert all(answer.headers["location"].startswith(f"{STUDY}?") for answer in responses)
    assert len({answer.headers["location"] for answer in responses}) == 12
    returned = httpx.get(f"{standin}/webstudy_credit.aspx?survey_code={people[0]}")
    assert f"Noted for {people[0]}" in returned.text
    assert "webstudy_credit.aspx" in httpx.get(f"{standin}/").text
    assert httpx.get(f"{standin}/go?person=nobody").status_code == 404


def test_makefile_and_guide_name_the_panel_stand_in():
    guide = (ROOT / "docs" / "recruiting.md").read_text()
    assert "make stand-in-panel" in guide and "stand-in-panel:" in (ROOT / "Makefile").read_text()
