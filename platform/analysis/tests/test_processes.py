"""Two processes produce the same results and files as one."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from analysis.command import analyse
from analysis.processes import fork_is_possible, in_two
from analysis.tests.building import dataset, match

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
ROOT = Path(__file__).resolve().parents[3]
NAMES = ["general.flow", "general.outcomes", "general.agreement", "general.power"]
IN_TWO = f"""
import sys
from pathlib import Path
from analysis.command import analyse
from analysis.processes import fork_is_possible

assert fork_is_possible()
outcomes = analyse([sys.argv[1]], Path(sys.argv[2]), only={NAMES})
assert [outcome.analysis.id for outcome in outcomes] == {NAMES}
"""


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.slow
def test_one_process_and_two_write_the_same_bytes(tmp_path):
    rows = [match(i, payoffs_alice=i % 5, config_money=100 * (i % 2), agreement=i % 3 > 0) for i in range(200)]
    folder = dataset(tmp_path / "data", {"matches": rows})
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'platform'}{os.pathsep}{ROOT}"}
    subprocess.run([sys.executable, "-c", IN_TWO, str(folder), str(tmp_path / "two")], env=environment, check=True)
    analyse([folder], tmp_path / "one", only=NAMES, processes=1)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert any(name.endswith(".png") for name in contents(tmp_path / "one"))


def test_both_processes_work_and_results_are_in_order():
    def work(index: int) -> tuple[int, int]:
        time.sleep(0.02)
        return index, os.getpid()

    results = in_two(work, range(8))
    assert [index for index, _process in results] == list(range(8))
    assert {os.getpid()} < {process for _index, process in results}


@pytest.mark.slow
def test_stopping_in_the_middle_ends_the_other_process(tmp_path):
    pid_file, parent = tmp_path / "begun", os.getpid()

    def work(index: int) -> None:
        if os.getpid() != parent:
            pid_file.write_text(str(os.getpid()))
            time.sleep(60)

    def indices():
        yield 0  # the fork's
        while not pid_file.exists() or not pid_file.read_text():
            time.sleep(0.01)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_two(work, indices())
    with pytest.raises(ProcessLookupError):
        for _wait in range(100):
            os.kill(int(pid_file.read_text()), 0)
            multiprocessing.active_children()
            time.sleep(0.05)


@pytest.mark.parametrize("library", ["sklearn", "vl_convert"])
def test_process_with_library_threads_is_not_forked(monkeypatch, library):
    monkeypatch.setitem(sys.modules, library, sys)
    assert not fork_is_possible()
