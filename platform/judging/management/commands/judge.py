"""`manage.py judge COLLECTION|FOLDER --judge MODEL [--second MODEL] [--cap DOLLARS] [--to FOLDER]`.

Models label the justifications of a collection, or of a dataset's folder with CSV tables. The command writes the
labels to labels.csv, and shares and Cohen's kappa to labels.json. For a dataset they go into its folder unless --to
is given. A text is sent to each judge only once.
"""

from __future__ import annotations

import hashlib
from argparse import RawDescriptionHelpFormatter
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from collecting.models import Collection
from judging import runs, services
from judging.errors import JudgingError
from judging.texts import of_collection, of_folder
from matches.management.arguments import as_command_error


class Command(BaseCommand):
    help = __doc__

    def create_parser(self, *names: str, **options: Any) -> CommandParser:
        return super().create_parser(*names, formatter_class=RawDescriptionHelpFormatter, **options)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "what", metavar="COLLECTION|FOLDER", help="a collection's short name, or a dataset's folder"
        )
        parser.add_argument("--judge", required=True, metavar="MODEL", help="such as openai:gpt-4o-mini")
        parser.add_argument("--second", default="", metavar="MODEL", help="a second judge, to measure agreement")
        parser.add_argument("--cap", metavar="DOLLARS", help="the most that judging may cost in total")
        parser.add_argument("--to", type=Path, metavar="FOLDER", help="the folder for labels.csv and labels.json")

    def handle(self, *, what: str, judge: str, second: str, cap: str | None, to: Path | None, **options: Any) -> None:
        with as_command_error(JudgingError):
            self._judge(what, [judge, second], _dollars(cap), to)

    def _judge(self, source: str, judges: list[str], cap: Decimal | None, folder: Path | None) -> None:
        collection = Collection.objects.filter(slug=source).first()
        if collection is not None:
            game, justifications, budget = collection.game, list(of_collection(collection)), runs.budget_of(collection)
            folder = folder or Path()
        else:
            game, justifications = of_folder(Path(source))
            budget = f"judge:{hashlib.sha256((Path(source) / 'matches.csv').read_bytes()).hexdigest()[:16]}"
            folder = folder or Path(source)
        rubric = services.rubric_of(game)
        if rubric is None:
            raise JudgingError(f"The game {game} has no labels for justifications.")
        judge_names = services.validate_judges(judges, cap)
        progress = services.judge(
            rubric, justifications, judge_names, budget_of=budget, cap=cap, keep_going=self._print_progress
        )
        rows = services.table(rubric, justifications, judge_names)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "labels.csv").write_bytes(services.as_csv(rubric, rows))
        (folder / "labels.json").write_text(services.summary(rubric, rows, judge_names), "utf-8")
        self.stdout.write(
            f"{len(justifications)} justifications; {progress.known} of {progress.wanted} judged; "
            f"{folder / 'labels.csv'}"
        )
        if progress.known < progress.wanted:
            raise CommandError(progress.problem or "Some texts were not judged.")

    def _print_progress(self, judged: int) -> bool:
        self.stderr.write(f"{judged} judged")
        return True


def _dollars(text: str | None) -> Decimal | None:
    try:
        amount = None if text is None else Decimal(text)
        if amount is not None and not (amount.is_finite() and amount > 0):
            raise InvalidOperation
    except InvalidOperation:
        raise JudgingError("--cap must be an amount in US dollars, such as 5.00.") from None
    return amount
