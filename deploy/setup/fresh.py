"""Check what a new user does: clone into an empty folder, `make demo`, open its pages, Ctrl+C.

Usage: python3 deploy/setup/fresh.py [PYTHON]: with that interpreter instead of the one that Parley would choose.
Needs only Python's standard library, git and make. Exits with 1 and the demo's output if a step fails.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from http.cookiejar import CookieJar
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE = 900
"""Seconds for the installation and the start."""
STOP_SECONDS = 60
SILENT_SECONDS = 15
"""The longest time in which a newcomer may see nothing new: messages come every 5 s, later on a noisy machine."""
OURS = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "SITE_URL", "VIRTUAL_ENV", "PYTHONPATH", "DJANGO_SETTINGS_MODULE")
"""Variables that a new user does not have."""


class FreshError(RuntimeError):
    """The new user would have been stopped here."""


def main() -> int:
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in OURS and not name.startswith(("PARLEY_", "MAKE"))
    }
    if sys.argv[1:]:
        environment["PARLEY_PYTHON"] = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="parley-fresh-") as folder:
        clone = Path(folder) / "parley"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True, env=environment)
        started_at = time.monotonic()
        demo = subprocess.Popen(
            ["make", "demo"],
            cwd=clone, env=environment, text=True, errors="replace", start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        output: list[str] = []
        said_at = [started_at]
        reader = threading.Thread(target=_read, args=(demo, output, said_at), daemon=True)
        reader.start()
        try:
            address = _await_address(demo, output)
            seconds = time.monotonic() - started_at
            silence = max(later - earlier for earlier, later in pairwise(said_at))
            _visit(address)
            os.killpg(demo.pid, signal.SIGINT)
            _check_end(demo, reader, output, clone)
        except (FreshError, OSError, subprocess.TimeoutExpired) as error:
            print(f"FAILED: {error}", file=sys.stderr)
            return 1
        finally:
            if demo.poll() is None:
                os.killpg(demo.pid, signal.SIGKILL)  # the demo's own children end with it
                demo.wait()
    print(f"A fresh clone served its demo after {seconds:.0f} s, never silent for over {silence:.0f} s, and stopped.")
    if silence > SILENT_SECONDS:
        print(f"It should not be silent for more than {SILENT_SECONDS} s.", file=sys.stderr)
        return 1
    return 0


def _read(demo: subprocess.Popen[str], output: list[str], said_at: list[float]) -> None:
    assert demo.stdout is not None
    for line in demo.stdout:
        said_at.append(time.monotonic())
        output.append(line)
        print("  " + line, end="", flush=True)


def _await_address(demo: subprocess.Popen[str], output: list[str]) -> str:
    """Return the address of the demo's home page once it is ready."""
    deadline = time.monotonic() + PATIENCE
    while not any("Stop with" in line for line in output):
        if demo.poll() is not None:
            raise FreshError(f"make demo ended with code {demo.returncode}")
        if time.monotonic() > deadline:
            raise FreshError(f"make demo was not ready after {PATIENCE} s")
        time.sleep(0.2)
    return next(re.finditer(r"http://127\.0\.0\.1:\d+", "".join(output)))[0]


def _visit(address: str) -> None:
    """Open the home page and the page for signing in to the admin, and begin a match, as a browser does."""
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    begin = b"role=alice"
    for path, form, mark in (
        ("/", None, "Bargaining"),
        ("/admin/", None, 'type="password"'),
        ("/join/demo-bargaining/", begin, "/p/"),
    ):
        with browser.open(address + path, data=form, timeout=60) as answer:
            if mark not in answer.url + answer.read().decode():
                raise FreshError(f"{path} led to {answer.url}, which does not contain {mark}")


def _check_end(demo: subprocess.Popen[str], reader: threading.Thread, output: list[str], clone: Path) -> None:
    code = demo.wait(STOP_SECONDS)
    reader.join(STOP_SECONDS)
    if code not in (0, 2, -signal.SIGINT):  # make itself reports the interruption
        raise FreshError(f"make demo ended with code {code}")
    end = "".join(output).partition("Stop with")[2]
    if "Stopped." not in end or "Traceback" in end:
        raise FreshError("make demo did not stop cleanly")
    left = [path.name for path in Path("/proc").glob("[0-9]*") if _works_in(path, clone)]
    if left:
        raise FreshError(f"processes are left: {', '.join(left)}")


def _works_in(process: Path, clone: Path) -> bool:
    try:
        return (process / "cwd").resolve(strict=True).is_relative_to(clone)
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(main())
