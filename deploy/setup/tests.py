"""Run the test groups, two at a time, each in its own pytest, and add up their results.

Groups are needed because sync Playwright leaves an event loop behind, and because the services tests run on
PostgreSQL. Browsers, services and oTree mostly wait, so that a second group fills the cores. A group of few files
collects only those, unless the arguments name paths.

Usage: tests.py [--all | --rest] [--lint] [--minutes NUMBER] [pytest arguments]
  (neither)  the quick tests: what guards every change
  --rest     the slow tests, and services on SQLite, too
  --all      both, every property test with new examples, and all faults while people meet (40 minutes)
  --lint     `make lint`, beside the tests
  --minutes  stop the slow tests after so many minutes, and say which groups were not finished
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent.parent
NOTHING_COLLECTED = 5
FOLDERS = ("games", "llm_agents", "platform", "tests")
MAX_REASON_LENGTH = 300
"""Maximum length of the reason for a skipped test."""
SLOW_TEST_SECONDS = 3600
"""Maximum seconds for a slow test; pyproject.toml has the limit for the others."""
QUICK_GROUP_SECONDS = 1200
"""Seconds after which a group of quick tests is stopped, so that the others still run if it hangs."""
AT_ONCE = 2
"""How many groups run at a time."""
STOPPING_SECONDS = 60
"""How long pytest may take to stop and to write its report."""


@dataclass(frozen=True)
class Group:
    """Tests that run in one pytest.

    Attributes:
        marks: pytest's expression for its tests.
        options: pytest's options.
        mark: the mark whose files contain the group's tests; "" for all files.
        seconds: after which it is stopped; None for never.
    """

    name: str
    marks: str
    database: str = "sqlite"
    options: tuple[str, ...] = ("-n", "2")
    mark: str = ""
    seconds: float | None = None


GROUPS = (
    Group("all but the browser, on SQLite", "not browser and not otree and (not services or both)"),
    Group("browser", "browser and not otree and not faults", options=(), mark="browser"),
    Group(
        "concurrency, channels and workers, on PostgreSQL",
        "services and not browser and not otree",
        "postgres",
        ("-n", "2", "--dist", "loadgroup"),
        "services",
    ),
    Group("beside a real oTree", "otree", options=(), mark="otree"),
)
SERVICES_ON_SQLITE = Group("services, on SQLite", "services and not both and not browser", mark="services")
PROPERTY_TESTS = Group(
    "property tests, with new examples",
    "hypothesis and not browser",
    options=("-n", "2", "--hypothesis-profile=searching"),
)
FAULTS = Group("people meet while services are down", "faults", "postgres", options=(), mark="faults")


@dataclass(frozen=True)
class Result:
    """What came of a group: whether it failed or was stopped, the counts, why tests were skipped, and its seconds."""

    failed: bool
    stopped: bool
    counts: dict[str, int]
    reasons: tuple[str, ...]
    seconds: float


def files_with(mark: str) -> list[str]:
    """Return the test files that contain the mark; none if there is no mark."""
    if not mark:
        return []
    tests = (path for folder in FOLDERS for path in (ROOT / folder).rglob("test_*.py"))
    return sorted(str(path.relative_to(ROOT)) for path in tests if f"mark.{mark}" in path.read_text())


class Run:
    """A group's pytest, from its start. Its output goes to `output`, or to the terminal."""

    def __init__(self, group: Group, arguments: list[str], folder: Path, *, output: IO[str] | None) -> None:
        self.group, self.output = group, output
        self.report = folder / f"{group.name}.xml"
        environment = {key: value for key, value in os.environ.items() if key != "DJANGO_SETTINGS_MODULE"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # every process would compile all tests again
        environment["TEST_DATABASE"] = group.database
        if not group.mark:  # it collects every file
            environment["TEST_COUNT_FILE"] = str(folder / "count")
        self.started_at = time.monotonic()
        options = ["-q", "-m", group.marks, f"--junitxml={self.report}", *group.options]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *options, *arguments],
            cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT if output else None,
        )  # fmt: skip

    def result(self, until: float | None) -> Result:
        """Wait for the end, at most until then, in `time.monotonic`, or the group's seconds; pytest then reports."""
        deadline = until if self.group.seconds is None else self.started_at + self.group.seconds
        stopped = False
        try:
            code = self.process.wait(None if deadline is None else max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            stopped = True
            self.process.send_signal(signal.SIGINT)
            try:
                code = self.process.wait(STOPPING_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                code = self.process.wait()
        if self.output is not None:
            self.output.seek(0)
            print(f"\n=== {self.group.name} ===\n{self.output.read()}", flush=True)
        counts, reasons = _read_report(self.report)
        # A group that had to be stopped may exit with anything, also without a report.
        failed = bool(counts["failed"]) or (not stopped and code not in (0, NOTHING_COLLECTED))
        return Result(failed, stopped, counts, reasons, time.monotonic() - self.started_at)


def _read_report(report: Path) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return the counts of passed, failed and skipped tests, and the reasons of the skipped ones."""
    if not report.exists():
        return {"passed": 0, "failed": 0, "skipped": 0}, ()
    suite = next(ElementTree.parse(report).iter("testsuite"))
    results = {key: int(suite.get(key, 0)) for key in ("tests", "failures", "errors", "skipped")}
    failed = results["failures"] + results["errors"]
    counts = {"passed": results["tests"] - failed - results["skipped"], "failed": failed, "skipped": results["skipped"]}
    messages = (" ".join(str(skipped.get("message")).split()) for skipped in suite.iter("skipped"))
    return counts, tuple(dict.fromkeys(message[:MAX_REASON_LENGTH] for message in messages))


def quick(group: Group) -> Group:
    return replace(group, marks=f"({group.marks}) and not slow", seconds=QUICK_GROUP_SECONDS)


def slow(group: Group) -> Group:
    options = (*group.options, f"--timeout={SLOW_TEST_SECONDS}")
    return replace(group, name=f"slow: {group.name}", marks=f"({group.marks}) and slow", options=options)


def main() -> int:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--rest", action="store_true")
    parser.add_argument("--lint", action="store_true")
    parser.add_argument("--minutes", type=float)
    chosen, arguments = parser.parse_known_args()
    batches = [] if chosen.rest else [[quick(group) for group in GROUPS]]
    if chosen.rest or chosen.all:
        batches += [[slow(group) for group in GROUPS], [SERVICES_ON_SQLITE]]
    batches += [[PROPERTY_TESTS], [FAULTS]] if chosen.all else []
    names_paths = any((ROOT / argument.split("::")[0]).exists() for argument in arguments)

    started_at = time.monotonic()
    slow_until: float | None = None
    total = {"passed": 0, "failed": 0, "skipped": 0}
    failed, unfinished, lines = [], [], []
    style = start_lint() if chosen.lint else None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number, batch in enumerate(batches):
            are_quick = number == 0 and not chosen.rest
            if not are_quick:
                if slow_until is None and chosen.minutes is not None:
                    slow_until = time.monotonic() + 60 * chosen.minutes
                if slow_until is not None and slow_until - time.monotonic() < STOPPING_SECONDS:
                    unfinished += [group.name for group in batch]
                    continue
            for group, result in zip(batch, run(batch, arguments, folder, names_paths, slow_until), strict=True):
                total = {key: total[key] + result.counts[key] for key in total}
                lines.append(f"{group.name}: {_summary(result.counts)} in {result.seconds:.0f} s")
                lines += [f"  skipped: {reason}" for reason in result.reasons]
                nothing_ran = not names_paths and are_quick and not any(result.counts.values())
                if result.failed or nothing_ran or (result.stopped and are_quick):
                    failed.append(group.name)
                if result.stopped:
                    unfinished.append(group.name)
        if style is not None:
            print("\n=== make lint ===", style.communicate()[0], sep="\n")
            failed += ["make lint"] if style.returncode else []
        lines += [f"NOT FINISHED in time: {name}" for name in unfinished]
        lines += [f"FAILED: {name}" for name in failed]
        print("", *lines, *_others(folder / "count", chosen), sep="\n")
    print(_summary(total), f"in {time.monotonic() - started_at:.0f} s")
    return 1 if failed else 0


def start_lint() -> subprocess.Popen[str]:
    """Start `make lint`, which waits for one core while the tests wait for browsers."""
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MAKELEVEL")}
    return subprocess.Popen(
        ["nice", "make", "--no-print-directory", "lint"],
        cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def run(
    batch: Sequence[Group], arguments: list[str], folder: Path, names_paths: bool, until: float | None
) -> list[Result]:
    """Run groups, a few at a time; the terminal shows the first one, and the others when they have ended.

    They may run until then, in `time.monotonic`, or for their own seconds.
    """
    print(f"\n=== {batch[0].name} ===", flush=True)

    def result_of(group: Group) -> Result:
        paths = [] if names_paths else files_with(group.mark)
        if group is batch[0]:
            return Run(group, [*arguments, *paths], folder, output=None).result(until)
        with tempfile.TemporaryFile("w+") as output:
            return Run(group, [*arguments, *paths], folder, output=output).result(until)

    with ThreadPoolExecutor(AT_ONCE) as slots:
        return list(slots.map(result_of, batch))


def _others(count_file: Path, chosen: argparse.Namespace) -> list[str]:
    """Return what the other command would run or leave out."""
    if not count_file.exists():
        return []
    count = json.loads(count_file.read_text())
    if chosen.all:
        return [f"Of these, `make test` runs {count['quick']:,}; it leaves out {count['slow']:,} slow ones."]
    if chosen.rest:
        return [f"`make test` runs {count['quick']:,} more, the quick ones."]
    return [
        f"`make test-all` adds {count['slow']:,} slow tests: more cases of the same tests, both databases everywhere, "
        "more kills and journeys, and property tests with new examples."
    ]


def _summary(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {outcome}" for outcome, count in counts.items())


if __name__ == "__main__":
    sys.exit(main())
