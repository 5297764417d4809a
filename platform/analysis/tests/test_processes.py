"""Two processes produce the same results and files as one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from analysis.command import analyse
from analysis.processes import fork_is_possible, in_parallel
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


def no_progress(done: int, index: int) -> None:
    """Ignore the progress."""


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


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

    results = in_parallel(work, 8, no_progress)
    assert [index for index, _process in results] == list(range(8))
    assert results[0][1] == os.getpid() != results[7][1]


@pytest.mark.slow
def test_progress_counts_the_work_of_both():
    calls = []
    in_parallel(lambda index: time.sleep(0.02), 6, lambda done, index: calls.append((done, index)))
    assert calls[0][1] == 0 and [done for done, _at in calls] == sorted(done for done, _at in calls)


@pytest.mark.slow
def test_work_of_a_process_that_died_is_repeated():
    def work(index: int) -> int:
        if os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
        return index * index

    parent = os.getpid()
    assert in_parallel(work, 5, no_progress) == [0, 1, 4, 9, 16]


@pytest.mark.slow
def test_errors_from_either_process_are_raised():
    def work(index: int) -> int:
        return 1 // (3 - index)

    with pytest.raises(ZeroDivisionError):
        in_parallel(work, 4, no_progress)


@pytest.mark.slow
def test_stopping_in_the_middle_ends_the_other_process(tmp_path):
    pid_file = tmp_path / "begun"

    def work(index: int) -> None:
        pid_file.write_text(str(os.getpid()))
        time.sleep(60)

    def stop(done: int, index: int) -> None:
        while not pid_file.exists() or not pid_file.read_text():
            time.sleep(0.01)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_parallel(work, 4, stop)
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid_file.read_text()), 0)


@pytest.mark.parametrize("library", ["sklearn", "vl_convert"])
def test_process_with_library_threads_is_not_forked(monkeypatch, library):
    monkeypatch.setitem(sys.modules, library, sys)
    assert not fork_is_possible()
