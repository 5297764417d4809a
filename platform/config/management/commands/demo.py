"""`manage.py demo`: all of Parley on this machine, with a demo study of every game."""

from __future__ import annotations

import os
import signal
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from config.serving import default_processes
from config.supervisor import Stack, StackError

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
RULE = "─" * 72


class Command(BaseCommand):
    help = "Serve a demo study of every game on this machine, with a private Redis and an SQLite database."
    requires_system_checks: list[str] = []  # the child processes run the checks, with their own settings

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=8000, help="the first port to try (8000)")
        parser.add_argument("--llm", action="store_true", help="add a small language model on this machine")

    def handle(self, *, port: int, llm: bool, **options: Any) -> None:
        for number in SIGNALS:
            signal.signal(number, _interrupt)
        self._say("Starting Parley …")
        try:
            web_options = {"web_port": port, "web_processes": default_processes()}
            with Stack(settings.DATA_DIR, local_model=llm, say=self._say, **web_options) as stack:
                with stack.step("Creating the demo studies"):
                    demo = stack.call("showcase.demo.create_demo", stack.model_url if llm else None)
                    stack.close_calls()
                if stack.port != port:
                    self._say(f"Port {port} is in use; Parley uses {stack.port}.")
                self._print_links(stack, demo)
                signal.pause()
        except KeyboardInterrupt:
            self._say("Stopped.")
        except StackError as error:
            raise CommandError(str(error)) from None

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()

    def _print_links(self, stack: Stack, demo: dict[str, Any]) -> None:
        lines = [RULE, f"Parley is ready: {stack.url}"]
        lines += ["", f"Research: {stack.url}/admin/", f"  user {demo['admin']}, password {demo['password']}"]
        lines += ["", f"Data and logs: {stack.data_dir}", "Stop with Ctrl+C.", RULE]
        self._say("\n".join(lines))


def _interrupt(*_: object) -> None:
    """Stop at once, even during the start; nothing interrupts the stopping."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    os.write(1, "\nStopping …\n".encode())  # `print` may have been interrupted itself
    raise KeyboardInterrupt
