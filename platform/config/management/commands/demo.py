"""The demo: all of Parley on this machine, with every game and samples of finished studies.

`make demo` runs this module itself and not `manage.py demo`: loading every app before the first message takes seconds.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
import webbrowser
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from config.children import ROOT
from config.serving import default_processes
from config.supervisor import Stack, StackError

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
RULE = "─" * 72
ANALYSIS = ["nice", str(ROOT / "deploy/setup/venv.sh"), "requirements.lock", "requirements-analysis.lock"]
"""Installs the libraries of reports, which are as large as everything else and not needed for playing."""
SAMPLES_SECONDS = 60
"""About how many seconds the samples take."""


class Command(BaseCommand):
    help = "Serve every game on this machine, with a private Redis and an SQLite database."
    requires_system_checks: list[str] = []  # the child processes run the checks, with their own settings

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=8000, help="the first port to try (8000)")
        parser.add_argument("--llm", action="store_true", help="add a small language model on this machine")
        parser.add_argument(
            "--share", action="store_true", help="let other devices in this network play; research stays on this one"
        )
        parser.add_argument("--no-browser", action="store_true", help="do not open the browser")

    def handle(self, *, port: int, llm: bool, share: bool, no_browser: bool, **options: Any) -> None:
        self._began_at = float(os.environ.get("PARLEY_BEGAN") or time.time())
        for number in SIGNALS:
            signal.signal(number, _interrupt)
        try:
            address = address_in_network() if share else ""
            with DemoStack(
                settings.DATA_DIR,
                address=address,
                local_model=llm,
                say=self._say_when,
                web_port=port,
                web_processes=default_processes(),
            ) as stack:
                if stack.port != port:
                    self._say_when(f"Port {port} is in use; Parley uses {stack.port}.")
                self._say(RULE, *self._summary(stack, stack.demo), RULE)
                if not no_browser and browser_can_open():
                    webbrowser.open(stack.url)
                self._make_samples(stack, install=not stack.can_report)
                signal.pause()
        except KeyboardInterrupt:
            self._say("Stopped.")
        except StackError as error:
            raise CommandError(str(error)) from None

    def _say(self, *lines: str) -> None:
        self.stdout.write("\n".join(lines))
        self.stdout.flush()

    def _say_when(self, line: str) -> None:
        self._say(f"{time.time() - self._began_at:4.0f} s  {line}")

    def _summary(self, stack: DemoStack, demo: dict[str, Any]) -> list[str]:
        """Return what a newcomer needs: one address, how to sign in, where the data are, how to stop."""
        lines = [f"Parley is ready after {time.time() - self._began_at:.0f} s: {stack.url}", ""]
        if stack.shared_url:
            lines += [
                f"Other devices in your network: {stack.shared_url}",
                "  Everyone in this network can play the games there and watch models play.",
                "  Researchers' pages and all settings stay on this computer.",
                "",
            ]
        return [
            *lines,
            "Researchers' pages: one click on that page signs you in on this computer;",
            f"  or sign in at {stack.url}/admin/: user {demo['admin']}, password {demo['password']}",
            f"Samples of finished studies are being made, which takes about {SAMPLES_SECONDS} s.",
            "",
            f"Data and logs: {stack.data_dir}",
            "Stop with Ctrl+C.",
        ]

    def _make_samples(self, stack: Stack, *, install: bool) -> None:
        """Make the samples, and install meanwhile what their reports need, if anything is missing."""
        own_environment = Path(sys.prefix) == ROOT / ".venv" and not (ROOT / ".venv").is_symlink()
        installing = stack.start_job("packages", ANALYSIS) if install and own_environment else None
        made = stack.start_manage("samples").wait() == 0
        if installing is not None and installing.wait() == 0:
            made = stack.start_manage("samples").wait() == 0  # the reports
        if made:
            self._say_when("The samples are ready.")
        else:
            self._say_when(f"The samples could not be made: see {stack.data_dir}/logs/samples.log. The rest works.")


class DemoStack(Stack):
    """A stack whose home page is the showcase.

    Args:
        address: this machine's address in its network, for other devices; empty: only this machine reaches the stack.

    Attributes:
        demo: how to sign in as its administrator (`showcase.demo.Demo`), once it has started.
        can_report: whether the libraries of reports are installed.
    """

    def __init__(self, *arguments: Any, address: str, **options: Any) -> None:
        super().__init__(*arguments, shared=bool(address), **options)
        self._address = address
        self.demo: dict[str, Any] = {}
        self.can_report = True

    def _fill(self) -> None:
        with self.step("Creating the games' studies"):
            self.demo = self.call("showcase.demo.create_demo", self.model_url if self._local_model else None)
            self.can_report = self.call("reports.background.available")
            self.close_calls()

    @property
    def shared_url(self) -> str:
        """The web server's address for other devices; empty if they do not reach it."""
        return f"http://{self._address}:{self.port}" if self._address else ""

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, "PARLEY_DEMO": "1", "PARLEY_DEMO_SHARED_URL": self.shared_url}


def address_in_network() -> str:
    """Return this machine's IPv4 address in its network.

    Raises:
        StackError: it has none.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # a documentation address: this only chooses a route, and sends nothing
            address = str(probe.getsockname()[0])
        except OSError:
            address = ""
    if not address or address.startswith("127."):
        raise StackError("--share needs a network, and this machine has no address in one.")
    return address


def browser_can_open() -> bool:
    """Return whether someone sits at this terminal and has a browser with windows."""
    if not sys.stdout.isatty() or os.environ.get("CI") or os.geteuid() == 0:
        return False
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return False
    return type(browser) is not webbrowser.GenericBrowser  # such as lynx, which would take over this terminal


def _interrupt(*_: object) -> None:
    """Stop at once, even during the start; nothing interrupts the stopping."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    os.write(1, "\nStopping …\n".encode())  # `print` may have been interrupted itself
    raise KeyboardInterrupt


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    Command().run_from_argv(["manage.py", "demo", *sys.argv[1:]])
