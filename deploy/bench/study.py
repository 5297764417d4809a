"""The study that the benchmark's workers play; run inside the stack by `Stack.call`."""

from __future__ import annotations

from matches.models import Match
from studies import freezing
from studies.models import Study


def launch(slug: str) -> None:
    """A bargaining study without an end in sight: neither the workers nor their opponent ever accept."""
    study = Study.objects.create(
        slug=slug,
        title="Benchmark",
        game="bargaining",
        config={"rounds": None, "cap": 100_000},
        roles=["alice"],
        agent="script:fair",
        purpose=Match.Purpose.DEMO,
        entry=Study.Entry.OPEN,
        quota=1_000_000,
        minutes=1_000,
    )
    freezing.launch(study)
