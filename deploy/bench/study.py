"""The studies that the benchmark's workers play; run inside the stack by `Stack.call`."""

from __future__ import annotations

from matches.models import Match
from opponents.endpoints import MEMORY
from opponents.models import Endpoint
from studies import freezing
from studies.models import Study

HUNG = "hung"


def launch(slug: str) -> None:
    """A bargaining study without an end in sight: neither the workers nor their opponent ever accept."""
    _launch(slug, agent="script:fair")


def launch_hung(slug: str, url: str) -> None:
    """The same against a model at `url`, for which a person waits as long as the benchmark lasts."""
    Endpoint.objects.create(name=HUNG, title="Hung", protocol="openai", base_url=url, concurrency=1_000)
    MEMORY.grow_old()
    _launch(slug, agent=f"{HUNG}:any", asking={"call_seconds": 600.0, "limit_seconds": 600.0})


def _launch(slug: str, **values: object) -> None:
    study = Study.objects.create(
        slug=slug,
        title="Benchmark",
        game="bargaining",
        config={"rounds": None, "cap": 100_000},
        roles=["alice"],
        purpose=Match.Purpose.DEMO,
        entry=Study.Entry.OPEN,
        quota=1_000_000,
        minutes=1_000,
        **values,
    )
    freezing.launch(study)
