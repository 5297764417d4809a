"""Run the test groups one after the other, each in its own pytest, and add up their results.

Groups are needed because sync Playwright leaves an event loop behind, and because the services tests run on
PostgreSQL. A group of few files collects only those, unless the arguments name paths.

Usage: tests.py [--all | --rest] [--minutes NUMBER] [pytest arguments]
  (neither)  the quick tests: what guards every change
  --rest     the slow tests, and services on SQLite, too
  --all      both, and every property test with new examples
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
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent.parent
NOTHING_COLLECTED, INTERRUPTED = 5, 2
FOLDERS = ("games", "llm_agents", "platform", "tests")
MAX_REASON_LENGTH = 300
"""Maximum length of the reason for a skipped test."""
SLOW_TEST_SECONDS = 3600
"""Maximum seconds for a slow test; pyproject.toml has the limit for the others."""
QUICK_GROUP_SECONDS = 1200
"""Seconds after which a group of quick tests is stopped, so that the other groups still run if it hangs."""
STOPPING_SECONDS = 60
"""How long pytest may take to stop and to write its report."""


@dataclass(frozen=True)
class Group:
    """Tests that run in one pytest.

    Attributes:
        marks: pytest's expression for its tests.
        options: pytest's options.
        mark: the mark whose files contain the group's tests; "" for all files.
    """

    name: str
    marks: str
    database: str = "sqlite"
    options: tuple[str, ...] = ("-n", "2")
    mark: str = ""


GROUPS = (
    Group("all but the browser, on SQLite", "not browser and (not services or both)"),
    Group("concurrency, channels and workers, on PostgreSQL", "services and not browser", "postgres", mark="services"),
    Group("browser", "browser and not otree", options=("-n", "2", "--dist", "loadfile"), mark="browser"),
    Group("beside a real oTree", "otree", options=(), mark="otree"),
)
SERVICES_ON_SQLITE = Group("services, on SQLite", "services and not both and not browser", mark="services")
PROPERTY_TESTS = Group(
    "property tests, with new examples",
    "hypothesis and not browser",
    options=("-n", "2", "--hypothesis-profile=searching"),
)


@dataclass(frozen=True)
class Result:
    """What came of a group: whether it failed, whether it was stopped, the counts, and why tests were skipped."""

    failed: bool
    stopped: bool
    counts: dict[str, int]
    reasons: tuple[str, ...]


def files_with(mark: str) -> list[str]:
    """Return the test files that contain the mark; none if there is no mark."""
    if not mark:
        return []
    tests = (path for folder in FOLDERS for path in (ROOT / folder).rglob("test_*.py"))
    return sorted(str(path.relative_to(ROOT)) for path in tests if f"mark.{mark}" in path.read_text())


def run(group: Group, arguments: list[str], folder: Path, *, seconds: float | None) -> Result:
    """Run one group for at most so many seconds; pytest then stops and reports what it has finished."""
    print(f"\n=== {group.name} ===", flush=True)
    report = folder / f"{len(list(folder.iterdir()))}.xml"
    environment = {key: value for key, value in os.environ.items() if key != "DJANGO_SETTINGS_MODULE"}
    environment["TEST_DATABASE"] = group.database
    if not group.mark:  # it collects every file
        environment["TEST_COUNT_FILE"] = str(folder / "count")
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", "-m", group.marks, f"--junitxml={report}", *group.options, *arguments],
        cwd=ROOT,
        env=environment,
    )
    stopped = False
    try:
        code = process.wait(seconds)
    except subprocess.TimeoutExpired:
        stopped = True
        process.send_signal(signal.SIGINT)
        try:
            code = process.wait(STOPPING_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
    counts, reasons = _read_report(report)
    failed = bool(counts["failed"]) or code not in (0, NOTHING_COLLECTED, INTERRUPTED if stopped else 0)
    return Result(failed, stopped, counts, reasons)


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
    return Group(group.name, f"({group.marks}) and not slow", group.database, group.options, group.mark)


def slow(group: Group) -> Group:
    options = (*group.options, f"--timeout={SLOW_TEST_SECONDS}")
    return Group(f"slow: {group.name}", f"({group.marks}) and slow", group.database, options, group.mark)


def main() -> int:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--rest", action="store_true")
    parser.add_argument("--minutes", type=float)
    chosen, arguments = parser.parse_known_args()
    quick_groups = [] if chosen.rest else [*map(quick, GROUPS)]
    slow_groups = [*map(slow, GROUPS), SERVICES_ON_SQLITE] if chosen.rest or chosen.all else []
    slow_groups += [PROPERTY_TESTS] if chosen.all else []
    names_paths = any((ROOT / argument.split("::")[0]).exists() for argument in arguments)

    started_at = time.monotonic()
    slow_until: float | None = None
    total = {"passed": 0, "failed": 0, "skipped": 0}
    failed, unfinished, lines = [], [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for group in (*quick_groups, *slow_groups):
            seconds: float | None = QUICK_GROUP_SECONDS
            if group in slow_groups:
                if slow_until is None and chosen.minutes is not None:
                    slow_until = time.monotonic() + 60 * chosen.minutes
                seconds = None if slow_until is None else slow_until - time.monotonic()
                if seconds is not None and seconds < STOPPING_SECONDS:
                    unfinished.append(group.name)
                    continue
            group_started_at = time.monotonic()
            files = [] if names_paths else files_with(group.mark)
            result = run(group, [*arguments, *files], folder, seconds=seconds)
            total = {key: total[key] + result.counts[key] for key in total}
            lines.append(f"{group.name}: {_summary(result.counts)} in {time.monotonic() - group_started_at:.0f} s")
            lines += [f"  skipped: {reason}" for reason in result.reasons]
            nothing_ran = not names_paths and group in quick_groups and not any(result.counts.values())
            if result.failed or nothing_ran or (result.stopped and group in quick_groups):
                failed.append(group.name)
            if result.stopped:
                unfinished.append(group.name)
        lines += [f"NOT FINISHED in time: {name}" for name in unfinished]
        lines += [f"FAILED: {name}" for name in failed]
        print("", *lines, *_others(folder / "count", chosen), sep="\n")
    print(_summary(total), f"in {time.monotonic() - started_at:.0f} s")
    return 1 if failed else 0


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
