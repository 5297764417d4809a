"""Run the test groups one after the other, each in its own pytest, and add up their results.

Groups are needed because sync Playwright leaves an event loop behind, and because the services tests run a
second time on PostgreSQL. A group of few files collects only those, unless the arguments name paths. The slow
runs repeat every property test with new examples.
Usage: tests.py [--slow] [pytest arguments]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent.parent
NOTHING_COLLECTED, STOPPED = 5, 1
FOLDERS = ("games", "llm_agents", "platform", "tests")
MAX_REASON_LENGTH = 300
"""Maximum length of the reason for a skipped test."""
SLOW_TEST_SECONDS = 3600
"""Maximum seconds for a slow test; pyproject.toml has the limit for the others."""
GROUP_SECONDS = 2400
"""Seconds after which a group of quick tests is stopped, so that the other groups still run if it hangs."""

GROUPS = [
    ("all but the browser, on SQLite", "not browser and (not services or both)", "sqlite", ["-n", "2"], ""),
    (
        "concurrency, channels and workers, on PostgreSQL",
        "services and not browser",
        "postgres",
        ["-n", "2"],
        "services",
    ),
    ("browser", "browser and not otree", "sqlite", ["-n", "2", "--dist", "loadfile"], "browser"),
    ("beside a real oTree", "otree", "sqlite", [], "otree"),
]
"""Name, marks, database, options, and the mark whose files contain the group's tests; "" for all files."""
NIGHTLY = (
    "services, on SQLite",
    "services and not both and not browser and not slow",
    "sqlite",
    ["-n", "2"],
    "services",
)
PROPERTY_TESTS = ("property tests, with new examples", "hypothesis and not browser", "sqlite", ["-n", "2"], "")
SEARCHING_PROFILE = "--hypothesis-profile=searching"


def files_with(mark: str) -> list[str]:
    """Return the test files that contain the mark; none if there is no mark."""
    if not mark:
        return []
    tests = (path for folder in FOLDERS for path in (ROOT / folder).rglob("test_*.py"))
    return sorted(str(path.relative_to(ROOT)) for path in tests if f"mark.{mark}" in path.read_text())


def run(
    name: str, marks: str, database: str, options: list[str], report: Path
) -> tuple[int, dict[str, int], list[str]]:
    """Run one group; return pytest's exit code, counts of passed, failed and skipped tests, and the skips' reasons."""
    print(f"\n=== {name} ===", flush=True)
    environment = {key: value for key, value in os.environ.items() if key != "DJANGO_SETTINGS_MODULE"}
    command = [sys.executable, "-m", "pytest", "-q", "-m", marks, f"--junitxml={report}", *options]
    limit = None if f"--timeout={SLOW_TEST_SECONDS}" in options else GROUP_SECONDS
    try:
        code = subprocess.run(
            command, cwd=ROOT, env={**environment, "TEST_DATABASE": database}, timeout=limit
        ).returncode
    except subprocess.TimeoutExpired:
        print(f"Stopped: it took longer than {limit} s.", flush=True)
        code = STOPPED
    counts, reasons = {"passed": 0, "failed": 0, "skipped": 0}, dict[str, None]()
    if report.exists():
        suite = next(ElementTree.parse(report).iter("testsuite"))
        results = {key: int(suite.get(key, 0)) for key in ("tests", "failures", "errors", "skipped")}
        counts["failed"] = results["failures"] + results["errors"]
        counts["skipped"] = results["skipped"]
        counts["passed"] = results["tests"] - counts["failed"] - counts["skipped"]
        reasons = dict.fromkeys(" ".join(str(skipped.get("message")).split()) for skipped in suite.iter("skipped"))
    return code, counts, list(reasons)


def main() -> int:
    arguments = sys.argv[1:]
    speed = "slow" if "--slow" in arguments else "not slow"
    options = [argument for argument in arguments if argument != "--slow"]
    started_at = time.monotonic()
    total = {"passed": 0, "failed": 0, "skipped": 0}
    failed_groups, lines = [], []
    with tempfile.TemporaryDirectory() as folder:
        groups = [(name, f"({marks}) and {speed}", *other_settings) for name, marks, *other_settings in GROUPS]
        if speed == "slow":
            groups += [NIGHTLY, PROPERTY_TESTS]
            options += [SEARCHING_PROFILE, f"--timeout={SLOW_TEST_SECONDS}"]
        chosen = any((ROOT / option.split("::")[0]).exists() for option in options)
        for i, (name, marks, database, group_options, mark) in enumerate(groups):
            report = Path(folder) / f"{i}.xml"
            group_started_at = time.monotonic()
            files = [] if chosen else files_with(mark)
            code, counts, reasons = run(name, marks, database, [*group_options, *options, *files], report)
            total = {key: total[key] + counts[key] for key in total}
            lines.append(f"{name}: {_summary(counts)} in {time.monotonic() - group_started_at:.0f} s")
            lines += [f"  skipped: {reason[:MAX_REASON_LENGTH]}" for reason in reasons]
            if code == NOTHING_COLLECTED and speed == "slow":
                continue
            if code:
                failed_groups.append(name)
    print("", *lines, sep="\n")
    for name in failed_groups:
        print(f"FAILED: {name}")
    print(_summary(total), f"in {time.monotonic() - started_at:.0f} s")
    return 1 if failed_groups else 0


def _summary(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {outcome}" for outcome, count in counts.items())


if __name__ == "__main__":
    sys.exit(main())
