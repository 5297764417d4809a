"""The `pilot` command: simulated participants go through a study as it is saved."""

from __future__ import annotations

import json
import threading
import time
from decimal import Decimal
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection, transaction

from audit import services as audit
from audit.actions import Action
from matches.management.arguments import invalid_argument
from piloting import driver, services
from piloting.errors import CannotPilot
from piloting.models import Pilot, Walker
from piloting.report import Report, report
from studies.models import Study
from studies.texts import in_currency

PROGRESS_SECONDS = 2.0


class Command(BaseCommand):
    help = (
        "Run simulated participants through a study as it is saved now. No one is paid and nothing enters the dataset."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="the study's short name")
        parser.add_argument("--people", type=int, default=10, metavar="N")
        parser.add_argument(
            "--failing", type=int, default=0, metavar="N", help=("number of participants who fail deliberately")
        )
        parser.add_argument(
            "--player",
            default="",
            metavar="AGENT",
            help=(
                "script or model that plays for the participants, such as script:rational (default: the game's "
                "own script)"
            ),
        )
        parser.add_argument("--json", action="store_true", help="print the report as one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        study = Study.objects.filter(slug=options["study"]).first()
        if study is None:
            raise invalid_argument(f"There is no study “{options['study']}”. Enter its short name, as in its link.")
        try:
            with transaction.atomic():
                numbers = {name: options[name] for name in ("people", "failing")}
                pilot = services.begin(study, player=options["player"], **numbers)
                details = {**numbers, "player": pilot.player, "sha256": pilot.sha256}
                audit.record(action=Action.PILOTED, user=None, target=pilot, of=study, details=details)
        except CannotPilot as error:
            raise invalid_argument(error) from None
        self._run(pilot, quietly=options["json"])
        figures = report(pilot)
        if options["json"]:
            self.stdout.write(json.dumps({"pilot": pilot.number, "sha256": pilot.sha256, **figures.as_dict()}))
        else:
            self.stdout.write("\n".join(report_lines(pilot, figures)))
        if figures.counts[Walker.Status.STUCK]:
            raise CommandError(
                f"{figures.counts[Walker.Status.STUCK]} of {pilot.people} participants got stuck.", returncode=1
            )

    def _run(self, pilot: Pilot, *, quietly: bool) -> None:
        """Run the pilot in this process, or wait for the worker that already runs it; print the progress."""
        while pilot.running:
            thread = threading.Thread(target=_drive, args=(pilot.pk,), daemon=True)
            thread.start()
            thread.join(PROGRESS_SECONDS)
            while thread.is_alive():
                if not quietly:
                    done = pilot.walkers.filter(status__in=[Walker.Status.ARRIVED, Walker.Status.STUCK]).count()
                    self.stdout.write(f"{done} of {pilot.people} participants")
                thread.join(PROGRESS_SECONDS)
            pilot.refresh_from_db()
            if pilot.running:
                time.sleep(PROGRESS_SECONDS)


def _drive(pilot_id: int) -> None:
    try:
        driver.drive(pilot_id)
    finally:
        connection.close()


def report_lines(pilot: Pilot, figures: Report) -> list[str]:
    """Return the report as text for a terminal."""

    def money(amount: float) -> str:
        return in_currency(Decimal(str(amount)), figures.currency)

    stuck = figures.counts[Walker.Status.STUCK]
    lines = [f"{pilot}: {figures.people} participants, {figures.completed} completed, {stuck} stuck."]
    lines += [f"  {label}: {count}" for _state, label, count in figures.endings]
    lines += [f"  stuck: {problem} ({count})" for problem, count in figures.stuck]
    lines += [
        f"  #{number} had an unexpected ending: {plan}, but ended with: {state}"
        for number, plan, state in figures.unexpected
    ]
    lines += ["Minutes per participant (estimated from words read, choices and moves):"]
    lines += [f"  {step.title}: {step.minutes:.1f} ({step.words} words)" for step in figures.steps]
    lines += [f"Payoff of {role_payoffs.role}: mean {role_payoffs.mean:,.2f}" for role_payoffs in figures.payoffs]
    lines += [
        f"Cell {cell.number}, {cell.title}: {cell.completed} of {cell.people} completed"
        + (f", {cell.minutes:.1f} minutes, mean bonus {money(cell.bonus)}" if cell.minutes and cell.bonus else "")
        for cell in figures.cells
        if cell.people
    ]
    if figures.bonuses is not None:
        lines += [f"Bonus: mean {money(figures.bonuses.mean)}; announced: {money(figures.bonuses.announced)}"]
    costs = figures.costs
    lines += [f"{title}: {expected}, at most {at_most}" for title, expected, at_most in costs.rows]
    lines += [text for text in (costs.hourly_sentence, costs.minimum_note, *costs.notes, *costs.warnings) if text]
    models = figures.models
    if models.calls:
        lines += [
            f"Models: {models.calls} calls, ${models.cost:.4f} in total, ${models.cost_per_match:.4f} per match; "
            f"{models.rule_breaks} illegal moves, {models.failed} failed calls."
        ]
    lines += [f"Moves by fallbacks: {count} by {fallback}" for fallback, count in models.fallbacks.items()]
    return lines
