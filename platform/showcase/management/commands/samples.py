"""`manage.py samples`: make the samples, or what is still missing of them."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from recruiters import simulated
from showcase.samples import making
from showcase.samples.overview import report_progress
from studies.models import Placement


class Command(BaseCommand):
    help = (
        "Makes the demo's samples: two finished studies with simulated participants, a finished collection, and their "
        "datasets and reports. Continues what an earlier run has begun, and does nothing if all is there."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--anyway", action="store_true", help="also outside a demo, if nobody has taken part in a study here"
        )

    def handle(self, *, anyway: bool, **options: Any) -> None:
        refuse_real_data(anyway=anyway)
        started_at = time.monotonic()
        self._say(started_at, "Making the samples")
        try:
            for line in making.everything():
                report_progress(line.seconds_left)
                self._say(started_at, line.text)
        finally:
            report_progress(0)
        self._say(started_at, "The samples are ready")

    def _say(self, started_at: float, text: str) -> None:
        self.stdout.write(f"{time.monotonic() - started_at:5.1f} s  {text}")
        self.stdout.flush()


def refuse_real_data(*, anyway: bool) -> None:
    """Raise CommandError where samples might be mistaken for research.

    A demo's own studies are trials. Elsewhere, samples need `--anyway`, and are never made beside a
    study in which people have taken part, because ledgers cannot be deleted.
    """
    if settings.DEMO:
        return
    if not anyway:
        raise CommandError("This is not a demo. To make the samples here, add --anyway.", returncode=2)
    real = Placement.objects.exclude(enrolment__identity__recruiter=simulated.KIND)
    if (
        slug := real.filter(version__study__draft__purpose="study")
        .values_list("version__study__slug", flat=True)
        .first()
    ):
        raise CommandError(
            f"People have taken part in “{slug}”: samples belong on a server of their own.", returncode=1
        )
