"""`manage.py mcp --user NAME`: let an assistant look at studies over the Model Context Protocol."""

from __future__ import annotations

import contextlib
import sys
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from api.mcp import Session
from rights.parts import is_staff_member


class Command(BaseCommand):
    help = "Serves an assistant on standard input and output (Model Context Protocol), with a user's rights."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--user", required=True, metavar="NAME", help="the username whose rights hold")
        parser.add_argument("--write", action="store_true", help="also offer to save drafts and to request datasets")

    def handle(self, *, user: str, write: bool, **options: Any) -> None:
        """Answer messages until the input ends.

        Raises:
            CommandError: there is no such user with access to the admin.
        """
        member = User.objects.filter(username=user).first()
        if member is None or not is_staff_member(member):
            raise CommandError(f"There is no user named “{user}” with access to the admin.")
        output = sys.stdout
        with contextlib.redirect_stdout(sys.stderr):  # nothing but the protocol
            Session(member, writing=write).serve(sys.stdin, output)
